/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads mark while profiles are read, hooks are attached and detached, and stages begin
 * and end. With the argument `race` they also have a data race on a variable of the
 * host. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <gnomon.h>
#include <gnomon/profile.h>
#include <gnomon/tool.h>

enum { THREADS = 2, ROUNDS = 300, SNAPSHOTS = 5 };

static int has_race;
static volatile int racy_count;

static void *work(void *unused)
{
    static gnomon_region range =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
    if (has_race)
        racy_count++; /* first: later a lock of gnomon may order the two threads */
    for (int i = 0; i < ROUNDS; i++) {
        GNOMON_SCOPE("outer");
        gnomon_start(i % 2 ? "odd" : "even");
        gnomon_stop(i % 2 ? "odd" : "even");
        gnomon_range_end(gnomon_range_begin(&range));
        GNOMON_COUNTER("counter", i);
        GNOMON_MARK("mark");
        gnomon_step();
    }
    return unused;
}

static void empty_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
}

static const gnomon_profiler keeper = {.struct_size = sizeof keeper,
                                       .abi = GNOMON_ABI,
                                       .wants = GNOMON_WANT_TREE,
                                       .name = "keeper"};
static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                     .abi = GNOMON_ABI,
                                     .name = "hook",
                                     .start = empty_start};

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int code = 0;
    has_race = argc > 1 && strcmp(argv[1], "race") == 0;
    code |= gnomon_attach(&keeper, NULL, NULL);
    for (int i = 0; i < THREADS; i++)
        code |= pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < SNAPSHOTS; i++) {
        gnomon_profile *p = NULL;
        code |= gnomon_attach(&hook, NULL, NULL);
        code |= gnomon_stage_begin("stage");
        code |= gnomon_snapshot(&p, "keeper", 1);
        gnomon_profile_free(p);
        code |= gnomon_stage_end();
        code |= gnomon_detach(&hook, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", code);
    return code != 0;
}
