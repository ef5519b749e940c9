/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * labels: guest once
 * timeout: 300
 * A signal handler runs at each instruction of a mark. It forks, and the child returns
 * from the handler, goes on with the mark, and marks again; or it marks itself. */
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mark/tls.h"
#include "live_profile.h"
#include "recording_threads.h"
#include "mark/thread.h"
#include "programs/raw_fork.h"
#include "stepping.h"

#define WELL 42
/* Of the steps inside gnomon's lock, and of the others: one of so many. Of an instruction
 * only the first times. A soak takes all. */
#define STRIDE (is_soak ? 1 : EACH == 1 ? 25 : 2 * EACH)
#define CLONE_STRIDE (is_soak ? 1 : EACH == 1 ? 3 : 5)
#define FREE_STRIDE (is_soak ? 1 : EACH == 1 ? 3 : EACH)
#define MOST_TIMES (is_soak ? UINT_MAX : 4)

LIVE_KEEPER(keeper, "keeper");

static gnomon_region a = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "a", NULL, NULL);
static gnomon_region b = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "b", NULL, NULL);
static gnomon_region handled =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "handled", NULL, NULL);
static gnomon_region range =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
static gnomon_region counter =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "counter", NULL, NULL);
static gnomon_region moment =
    GNOMON_REGION_INIT(GNOMON_KIND_MARK, "moment", NULL, NULL);

static volatile int is_child, steps, busy_steps, free_steps, ill;
static int is_soak;

/* ---- Marks ----------------------------------------------------------------------- */

static void scopes(void)
{
    gnomon_token outer = gnomon_begin(&a), inner = gnomon_begin(&b);
    gnomon_end(inner);
    gnomon_end(outer);
}

static void ends_alone(void)
{
    gnomon_token outer = gnomon_begin(&a), inner = gnomon_begin(&b);
    gnomon_end_alone(outer);
    gnomon_end_alone(inner);
}

static void actions(void)
{
    gnomon_start("act");
    gnomon_stop("act");
}

static void other_kinds(void)
{
    gnomon_range_end(gnomon_range_begin(&range));
    gnomon_counter(&counter, 1);
    gnomon_mark(&moment);
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_step();
}

/* Tokens of scopes that the main thread and another one began. Each thread ends some of
 * the other's: `prepare` arranges that. */
static gnomon_token other_tokens[2], main_tokens[3];
static uint32_t is_prepared, is_over;

static void ends_of_other_thread(void)
{
    gnomon_end(other_tokens[0]);
    gnomon_end_alone(other_tokens[1]);
}

static void *begin_on_thread(void *unused)
{
    (void)unused;
    other_tokens[0] = gnomon_begin(&a);
    other_tokens[1] = gnomon_begin(&b);
    gnomon_end(main_tokens[0]);
    gnomon_end(main_tokens[1]);
    store_release(&is_prepared, 1);
    while (!load_acquire(&is_over))
        usleep(50);
    return NULL;
}

static void marks_after_foreign_ends(void)
{
    gnomon_token inner = gnomon_begin(&b);
    gnomon_end(inner);
    gnomon_end(main_tokens[2]);
}

static void prepare(pthread_t *thread)
{
    is_prepared = is_over = 0;
    main_tokens[0] = gnomon_begin(&a);
    main_tokens[1] = gnomon_begin(&b);
    main_tokens[2] = gnomon_begin(&a);
    CHECK_EQ(pthread_create(thread, NULL, begin_on_thread, NULL), 0);
    while (!load_acquire(&is_prepared))
        usleep(50);
}

static void everything(void)
{
    scopes();
    ends_alone();
    actions();
    other_kinds();
}

/* ---- Handlers -------------------------------------------------------------------- */

/* A fork waits some ms for a lock that its own thread holds: of these steps
 * it takes one of `stride`, and of the others one of `free_stride`. */
static int is_taken(const void *context, int stride, int free_stride,
                    unsigned most_times)
{
    if (!stepping_is_in_program(context))
        return 0;
    steps++;
    if (stepping_count(context) > most_times)
        return 0;
    if (gnomon__tls_now()->busy)
        return ++busy_steps % stride == 0;
    return ++free_steps % free_stride == 0;
}

static void look_at(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        status = -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != WELL)
        ill++;
}

static void come_out(pid_t child, void *context)
{
    if (child) {
        look_at(child);
        return;
    }
    is_child = 1;
    alarm(200);
    stepping_leave(context);
}

static void fork_at(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (is_taken(context, STRIDE, FREE_STRIDE, MOST_TIMES))
        come_out(fork(), context);
}

static void clone_at(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (is_taken(context, CLONE_STRIDE, FREE_STRIDE, MOST_TIMES))
        come_out(raw_fork(), context);
}

static void vfork_at(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (!is_taken(context, 1, 1, MOST_TIMES))
        return;
    pid_t child = vfork();
    if (child == 0) {
        scopes();
        _exit(WELL);
    }
    look_at(child);
}

static void mark_at(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (is_taken(context, 1, 1, UINT_MAX))
        gnomon_end(gnomon_begin(&handled));
}

/* ---- Runs ------------------------------------------------------------------------ */

/* What the child must do: run, also as a process of its own. */
static void leave_child(void)
{
    everything();
    if (gnomon_setup(NULL) == GNOMON_OK &&
        gnomon_attach(&keeper, NULL, NULL) == GNOMON_OK) {
        scopes();
        gnomon_profile *p = NULL;
        if (gnomon_snapshot(&p, "keeper", 1) || gnomon_profile_check(p))
            _exit(1);
    }
    _exit(WELL);
}

typedef struct run {
    void (*marks)(void);
    void (*at_step)(int, siginfo_t *, void *);
} run;

static void *run_stepped(void *of)
{
    const run *r = of;
    step_through(r->marks, r->at_step);
    if (is_child)
        leave_child();
    return NULL;
}

static void in_each_step(void (*marks)(void),
                         void (*at_step)(int, siginfo_t *, void *),
                         int on_new_thread)
{
    run r = {marks, at_step};
    pthread_t thread, other;
    int has_other =
        marks == ends_of_other_thread || marks == marks_after_foreign_ends;
    if (!CAN_STEP)
        SKIP("no single steps here");
    is_soak = getenv("GNOMON_SOAK") != NULL;
    /* A clone takes others of the steps than a fork. */
    free_steps = at_step == clone_at;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    everything();
    gnomon_end(gnomon_begin(&handled));
    uint64_t refused = live_health().reentered;
    long long known = live_count_of("keeper", "handled");
    if (has_other)
        prepare(&other);
    if (!on_new_thread) {
        run_stepped(&r);
    } else if (CHECK_EQ(pthread_create(&thread, NULL, run_stepped, &r), 0)) {
        pthread_join(thread, NULL);
    }
    store_release(&is_over, 1);
    if (has_other)
        pthread_join(other, NULL);
    if (!steps)
        SKIP("no single steps here");
    CHECK(steps > 100);
    CHECK_EQ(ill, 0);
    if (at_step == mark_at)
        CHECK_EQ((uint64_t)(live_count_of("keeper", "handled") - known) +
                     live_health().reentered - refused,
                 (uint64_t)steps);
    gnomon_profile *p = live_snapshot("keeper");
    if (has_other && marks == marks_after_foreign_ends && at_step != mark_at)
        CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    CHECK_EQ(live_health().foreign, 0);
    gnomon_profile_free(p);
}

#define EACH_WAY(name, marks, on_new_thread) \
    TEST(soak_a_fork_in_each_step_of_##name) \
    { \
        in_each_step(marks, fork_at, on_new_thread); \
    } \
    TEST(soak_a_clone_in_each_step_of_##name) \
    { \
        in_each_step(marks, clone_at, on_new_thread); \
    } \
    TEST(soak_a_vfork_in_each_step_of_##name) \
    { \
        in_each_step(marks, vfork_at, on_new_thread); \
    } \
    TEST(a_mark_in_each_step_of_##name) \
    { \
        in_each_step(marks, mark_at, on_new_thread); \
    }

EACH_WAY(scopes, scopes, 0)
EACH_WAY(ends_alone, ends_alone, 0)
EACH_WAY(actions, actions, 0)
EACH_WAY(ends_of_other_thread, ends_of_other_thread, 0)
EACH_WAY(marks_after_foreign_ends, marks_after_foreign_ends, 0)
EACH_WAY(other_kinds, other_kinds, 0)
EACH_WAY(a_thread_s_first_mark, scopes, 1)
