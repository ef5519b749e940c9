/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* step=: ends of scopes, functions, actions and ranges that are steps, in a program
 * that does not call gnomon_step.
 * links: testing
 * timeout: 300 */
#include <string.h>

#include "child.h"
#include "gnomon/tool.h"
#include "live_profile.h"
#include "recording_threads.h"
#include "marks.h"
#include "platform/error.h"

/* ---- Observers ----------------------------------------------------------- */

static uint32_t steps, stops, stops_before; /* stops when the last step came */
static uint32_t windows;

static void count_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self, (void)f, (void)slot;
    __atomic_add_fetch(&stops, 1, __ATOMIC_RELAXED);
}

static void count_step_event(void *self, const gnomon_step_event *event)
{
    (void)self;
    CHECK(event->end_ns >= event->begin_ns);
    __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&stops_before, __atomic_load_n(&stops, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

static void count_window(void *self, const gnomon_window_event *event)
{
    (void)self, (void)event;
    __atomic_add_fetch(&windows, 1, __ATOMIC_RELAXED);
}

static const gnomon_profiler listener = {.struct_size = sizeof listener,
                                         .abi = GNOMON_ABI,
                                         .wants = GNOMON_WANT_TREE,
                                         .name = "listener",
                                         .stop = count_stop,
                                         .step = count_step_event,
                                         .window = count_window};
LIVE_KEEPER(keeper, "keeper");

static void know(void)
{
    gnomon_host_get()->add_profiler(&listener);
    gnomon_host_get()->add_profiler(&keeper);
}

static unsigned long long steps_in_profile(const char *profiler)
{
    gnomon_profile *p = live_snapshot(profiler);
    gnomon_stage_info stage = {.steps = NULL};
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    unsigned long long n = stage.steps ? stage.steps->count : 0;
    gnomon_profile_free(p);
    return n;
}

static void one_step(void)
{
    GNOMON_SCOPE("train_step");
    GNOMON_SCOPE("forward");
}

/* ---- Ends that are steps ------------------------------------------------- */

TEST(each_kind_of_end_is_a_step)
{
    know();
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "keeper,step=train_*|an action|a range|alone"),
             GNOMON_OK);
    one_step();
    CHECK_EQ(steps_in_profile("keeper"), 1);
    gnomon_start("an action");
    gnomon_stop("an action");
    CHECK_EQ(steps_in_profile("keeper"), 2);
    gnomon_range_end(gnomon_range_begin(
        gnomon_region_get("a range", NULL, GNOMON_KIND_RANGE)));
    CHECK_EQ(steps_in_profile("keeper"), 3);
    gnomon_region *alone = gnomon_region_get("alone", NULL, GNOMON_KIND_SCOPE);
    gnomon_region *inner = gnomon_region_get("inner", NULL, GNOMON_KIND_SCOPE);
    gnomon_token outer = gnomon_begin(alone), within = gnomon_begin(inner);
    gnomon_end_alone(outer);
    gnomon_end(within);
    CHECK_EQ(steps_in_profile("keeper"), 4);
    gnomon_step(); /* the program's own is one more */
    CHECK_EQ(steps_in_profile("keeper"), 5);
    (void)gnomon_begin(alone); /* an open scope is no step */
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

/* An observer of the scope gets its end before the step: no part of the step
 * is in the next one. */
TEST(a_step_comes_after_the_end_that_makes_it)
{
    know();
    CHECK_EQ(gnomon_attach(NULL, NULL, "listener,step=train_step"), GNOMON_OK);
    for (uint32_t i = 1; i <= 3; i++) {
        one_step();
        CHECK_EQ(steps, i);
        CHECK_EQ(stops_before, 2 * i);
    }
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    live_check_no_trouble();
}

TEST(schedules_count_them)
{
    know();
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "keeper(schedule=wait:2/active:1),listener("
                           "schedule=wait:1/active:1),step=train_step"),
             GNOMON_OK);
    for (int i = 0; i < 9; i++)
        one_step();
    CHECK_EQ(live_count_of("keeper", "train_step"), 3);
    CHECK_EQ(live_count_of("keeper", "forward"), 3);
    CHECK_EQ(live_count_of("listener", "train_step"), 4);
    CHECK(windows > 4);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    live_check_no_trouble();
}

/* ---- Threads ------------------------------------------------------------------- */

#define MAKERS 4

static void *make_steps(void *n)
{
    for (long i = 0; i < *(long *)n; i++)
        one_step();
    return NULL;
}

TEST(threads_make_them_at_once)
{
    pthread_t threads[MAKERS];
    long n[MAKERS];
    know();
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "keeper(schedule=wait:3/active:2),listener,"
                           "step=train_step"),
             GNOMON_OK);
    for (int i = 0; i < MAKERS; i++)
        n[i] = live_times(5000, 100000);
    live_start(threads, MAKERS, make_steps, n, sizeof *n);
    for (int i = 0; i < 20; i++)
        gnomon_profile_free(live_snapshot("keeper"));
    live_join(threads, MAKERS);
    CHECK_EQ(steps, MAKERS * n[0]);
    CHECK_EQ(steps_in_profile("listener"), (unsigned long long)(MAKERS * n[0]));
    CHECK_EQ(live_count_of("listener", "train_step"), MAKERS * n[0]);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    live_check_no_trouble();
}

/* Others come and go meanwhile. */
TEST(profilers_come_and_go_meanwhile)
{
    pthread_t threads[MAKERS];
    long n[MAKERS];
    know();
    CHECK_EQ(gnomon_attach(NULL, NULL, "keeper,step=train_step"), GNOMON_OK);
    for (int i = 0; i < MAKERS; i++)
        n[i] = live_times(5000, 100000);
    live_start(threads, MAKERS, make_steps, n, sizeof *n);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(gnomon_attach(&listener, NULL, "filter=train_step"),
                 GNOMON_OK);
        while (gnomon_detach(&listener, NULL) == GNOMON_EBUSY)
            ;
    }
    live_join(threads, MAKERS);
    CHECK_EQ(steps_in_profile("keeper"), (unsigned long long)(MAKERS * n[0]));
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    live_check_no_trouble();
}

/* ---- Words ---------------------------------------------------------------------- */

static char lines[1024];

static void keep_line(const char *line)
{
    snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s\n", line);
}

TEST(a_spec_prints_its_steps)
{
    char spec[256];
    know();
    gnomon__test_log = keep_line;
    CHECK_EQ(gnomon_attach(NULL, NULL, "keeper,step=\"a, b*\",fold=off"),
             GNOMON_OK);
    gnomon_spec(spec, sizeof spec);
    CHECK(strstr(spec, ",step=\"a, b*\",fold=off"));
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK); /* as it was */
    CHECK_STR(lines, "");
    one_step();
    CHECK_EQ(gnomon_attach(NULL, NULL, "keeper"), GNOMON_OK);
    CHECK_STR(lines,
              "gnomon: step=a, b*: no mark of that name ended: no step was "
              "made\n");
    gnomon_spec(spec, sizeof spec);
    CHECK(!strstr(spec, "step=") && !strstr(spec, "fold="));
    *lines = 0;
    CHECK_EQ(gnomon_attach(NULL, NULL, "keeper,step=a,b"), GNOMON_EINVAL);
    CHECK_STR(lines, "gnomon: gnomon_attach: unknown profiler 'b': if step is "
                     "to have it, write step=a|b\n");
    *lines = 0;
    CHECK_EQ(gnomon_attach(NULL, NULL, "keeper(step=a)"), GNOMON_EINVAL);
    CHECK(strstr(lines, "keeper: 'step' is for the whole run: write it outside "
                        "of the brackets\n"));
    *lines = 0;
    CHECK_EQ(gnomon_attach(NULL, NULL, "mem=64MiB,step=a"), GNOMON_EINVAL);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_STR(lines, "gnomon: gnomon_attach: no profiler is named: write "
                     "simple,step=a\n");
}

/* Its files are numbered as before. */
TEST(a_step_takes_no_number_of_a_view)
{
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "step=train_step,profile(file=r.gnomon),"
                           "simple(file=r.gnomon,filter=forward,dir=d)"),
             GNOMON_OK);
    one_step();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(access("r.gnomon", F_OK), 0);
    CHECK_EQ(access("d/r.gnomon", F_OK), 0);
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "step=train_step,profile(file=s.gnomon),"
                           "simple(file=s.gnomon,filter=forward)"),
             GNOMON_OK);
    one_step();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(access("s.gnomon", F_OK), 0);
    CHECK_EQ(access("s-view4.gnomon", F_OK), 0);
}
