/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * optimized: yes
 * labels: guest once
 * timeout: 600
 * A thread of the asynchronous type is cancelled at an instruction of a mark, one
 * thread for each of many. Whatever it was doing, others go on marking, control calls do
 * not wait, hooks get one stop at most for a start, and the profile holds together:
 * at most the one scope is missing or one too many, and counted as left open. */
#include <unistd.h>

#include "recording_threads.h"
#include "mark/thread.h"
#include "stepping.h"

LIVE_KEEPER(keeper, "keeper");
LIVE_KEEPER(other_keeper, "other_keeper");

static gnomon_region a = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "a", NULL, NULL);
static gnomon_region b = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "b", NULL, NULL);
static gnomon_region range =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
static gnomon_region counter =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "counter", NULL, NULL);
static gnomon_region moment =
    GNOMON_REGION_INIT(GNOMON_KIND_MARK, "moment", NULL, NULL);

/* Threads of a test, at least; in a soak one for each instruction. Each steps through all
 * before its own: 25 us for an instruction, of up to 50000. Of few instructions more
 * are taken, as long as threads that run to the end make MORE steps in all. */
#define RUNS(all) (EACH > 1 || (all) > 20000 ? 3 : 7)
#define MORE (EACH > 1 ? 10000 : 20000)

/* Where the thread is cancelled: a number of an instruction. Else it runs to the end:
 * by steps; by steps, where what the last thread left open may be counted; without. */
#define NEVER 0
#define AFTER_A_DEATH (-1)
#define NOT_STEPPED (-2)

static volatile long cancel_at, steps; /* of the thread that is stepped */

/* ---- Marks ----------------------------------------------------------------------- */

/* Only the library's code is cancelled: clang 14 emits wrong unwind tables
 * for some optimized instructions (tests/unwind_tables). */
#ifdef __clang__
#pragma clang optimize off
#endif

static void nothing(void)
{
}

static void scopes(void)
{
    gnomon_token outer = gnomon_begin(&a), inner = gnomon_begin(&b);
    gnomon_end(inner);
    gnomon_end(outer);
}

static void known_scopes_before(void)
{
    for (int i = 0; i < 3; i++)
        scopes();
}

static void crossed_scopes(void)
{
    gnomon_token outer = gnomon_begin(&a), inner = gnomon_begin(&b);
    gnomon_end_alone(outer);
    gnomon_end_alone(inner);
    outer = gnomon_begin(&a);
    gnomon_begin(&b);
    gnomon_end(outer);
}

static void actions(void)
{
    gnomon_start("act");
    gnomon_start("inner");
    gnomon_stop("act");
    gnomon_stop("inner");
}

static void known_actions_before(void)
{
    actions();
    actions();
}

static void other_kinds(void)
{
    gnomon_range_end(gnomon_range_begin(&range));
    gnomon_counter(&counter, 1);
    gnomon_mark(&moment);
    gnomon_token t = gnomon_begin(&a);
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_end(t);
    gnomon_step();
}

static void known_kinds_before(void)
{
    other_kinds();
    other_kinds();
}

/* Many paths, so that every buffer of the thread grows. */
static void new_paths(void)
{
    static gnomon_region many[18];
    static char names[18][8];
    gnomon_token open[18];
    for (int i = 0; i < 18; i++) {
        if (!*names[i]) {
            snprintf(names[i], sizeof names[i], "n%d", i);
            gnomon_region r =
                GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, names[i], NULL, NULL);
            memcpy(&many[i], &r, sizeof r);
        }
        open[i] = gnomon_begin(&many[i]);
    }
    for (int i = 18; i-- > 0;)
        gnomon_end(open[i]);
}

#ifdef __clang__
#pragma clang optimize on
#endif

/* ---- A hook ---------------------------------------------------------------------- */

/* Its slot is the scope's token, until its stop; a second one would free again what
 * the first freed. */
static long starts, stops, faults;

static void hook_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    faults += *slot != 0;
    *slot = f->token;
    starts++;
}

static void hook_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    faults += *slot != f->token;
    *slot = 0;
    stops++;
}

static const gnomon_profiler hook = {
    .struct_size = sizeof hook,
    .abi = GNOMON_ABI,
    .name = "hook",
    .start = hook_start,
    .stop = hook_stop,
};
static const gnomon_profiler other_hook = {
    .struct_size = sizeof other_hook,
    .abi = GNOMON_ABI,
    .name = "other_hook",
    .start = hook_start,
    .stop = hook_stop,
};

/* ---- A thread for each instruction ------------------------------------------------ */

typedef struct stepped {
    void (*before)(void), (*marks)(void);
} stepped;

static const stepped *current;
static volatile sig_atomic_t
    marking; /* outside the code that enters and leaves the mark */

static void at_step(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (!marking || !stepping_is_in_program(context))
        return;
    steps++;
    if (cancel_at == NOT_STEPPED || steps == cancel_at)
        stepping_leave(context); /* a guarded region delays the cancellation */
    if (steps == cancel_at)
        pthread_cancel(pthread_self());
}

static void mark(void)
{
    marking = 1;
    current->marks();
    marking = 0;
}

/* Not by its result: glibc 2.36 sets none where a thread dies as it allows cancelling
 * again, and pthread_join gives that of an earlier thread. */
static volatile int was_cancelled;

static void *run_stepped(void *of)
{
    current = of;
    current->before();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    step_through(mark, at_step);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
    was_cancelled = 0;
    return NULL;
}

/* Whether it was cancelled. */
static int run_one(const stepped *s, long at)
{
    pthread_t thread;
    gnomon_health before = live_health();
    long open = starts - stops;
    steps = 0;
    marking = 0;
    was_cancelled = 1;
    cancel_at = at;
    if (!CHECK_EQ(pthread_create(&thread, NULL, run_stepped, (void *)(size_t)s),
                  0))
        return 0;
    pthread_join(thread, NULL);
    gnomon_health now = live_health();
    CHECK_EQ(now.threads, before.threads);
    if (!was_cancelled && at != AFTER_A_DEATH)
        CHECK_EQ(now.left_open, before.left_open);
    /* All that was open on the thread, and the one scope in progress in each
     * hook. */
    CHECK(starts - stops - open <= 2);
    CHECK(stops <= starts);
    CHECK_EQ(faults, 0);
    return was_cancelled;
}

static long long count_of_a(void)
{
    long long n = live_count_of("keeper", "a");
    known_scopes_before();
    CHECK_EQ(live_count_of("keeper", "a"), n + 3);
    return n;
}

/* Instructions of a run that is not cancelled, and not the process' first. One after a
 * thread's death has more than others: it clears up. */
static long length_of_run(const stepped *s)
{
    run_one(s, NEVER);
    long usual = steps;
    run_one(s, usual / 2 + 1);
    run_one(s, AFTER_A_DEATH);
    return steps > usual ? steps : usual;
}

/* Threads that died at each `stride`-th of `all` instructions, or of those of a run. */
static long die_at_each(const stepped *s, long all, long stride)
{
    long died = 0;
    for (long at = 1; at <= all && !test_failures && run_one(s, at);
         at += stride) {
        if (at % 4 == 0)
            count_of_a();
        if (at % 16 == 0)
            CHECK_EQ(gnomon_stage_begin("another"), GNOMON_OK);
        died++;
    }
    return died;
}

static void in_each_step(const stepped *s, const gnomon_profiler *const *all)
{
    long died = 0;
    if (!CAN_STEP)
        SKIP("no single steps here");
    alarm(500);
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    for (int i = 0; all[i]; i++)
        CHECK_EQ(gnomon_attach(all[i], NULL, NULL), GNOMON_OK);
    known_scopes_before();
    run_one(s, NOT_STEPPED);
    if (!steps)
        SKIP("no single steps here");
    long all_steps = length_of_run(s), runs = MORE / all_steps;
    long fewest = RUNS(all_steps);
    /* A run may have much fewer instructions than that one had. */
    long stride =
        live_times(all_steps / (runs > fewest ? runs : fewest) + 1, 1);
    for (; died <= fewest / 2 && stride > 0 && !test_failures; stride /= 2)
        died += die_at_each(s, all_steps, stride);
    fprintf(stderr, "    %ld of %ld instructions\n", died, all_steps);
    CHECK(died > fewest / 2);
    run_one(s, NOT_STEPPED); /* a new thread works */
    for (int i = 0; all[i]; i++)
        CHECK_EQ(gnomon_detach(all[i], NULL), GNOMON_OK);
    CHECK_EQ(gnomon_configure(NULL), GNOMON_OK);
    count_of_a();
}

/* A new thread's first marks: every buffer is new. */
#define EACH_STEP(name, before, marks, ...) \
    TEST(name) \
    { \
        static const stepped s = {before, marks}; \
        static const gnomon_profiler *const all[] = {__VA_ARGS__, NULL}; \
        in_each_step(&s, all); \
    }

EACH_STEP(first_scopes, nothing, scopes, NULL)
EACH_STEP(scopes, known_scopes_before, scopes, NULL)
EACH_STEP(scopes_of_a_hook, known_scopes_before, scopes, &hook)
EACH_STEP(first_scopes_of_a_hook, nothing, scopes, &hook)
EACH_STEP(scopes_of_two_hooks, known_scopes_before, scopes, &hook, &other_hook)
EACH_STEP(scopes_of_two_trees, known_scopes_before, scopes, &other_keeper)
EACH_STEP(scopes_of_all, known_scopes_before, scopes, &hook, &other_keeper,
          &other_hook)
EACH_STEP(crossed_scopes, known_scopes_before, crossed_scopes, NULL)
EACH_STEP(crossed_scopes_of_all, known_scopes_before, crossed_scopes, &hook,
          &other_keeper)
EACH_STEP(first_actions, nothing, actions, NULL)
EACH_STEP(actions, known_actions_before, actions, NULL)
EACH_STEP(actions_of_all, known_actions_before, actions, &hook, &other_keeper)
EACH_STEP(first_other_kinds, nothing, other_kinds, NULL)
EACH_STEP(other_kinds, known_kinds_before, other_kinds, NULL)
EACH_STEP(other_kinds_of_a_hook, known_kinds_before, other_kinds, &hook)
EACH_STEP(new_paths, nothing, new_paths, NULL)
EACH_STEP(new_paths_of_all, nothing, new_paths, &hook, &other_keeper)
