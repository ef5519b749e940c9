/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * The callback `window` of profilers: each phase once, in order, by one
 * thread at a time, and nothing after they are detached; and profilers that
 * decline to run. */

#include "child.h"
#include "recording_threads.h"

typedef struct watcher {
    char text[256]; /* a letter for each call: n, w, r, l; s a step */
    int inside, last_phase, gone, faults;
    pthread_t on;
} watcher;

static void watch_window(void *self, const gnomon_window_event *event)
{
    watcher *w = self;
    int32_t phase = event->phase;
    if (__atomic_add_fetch(&w->inside, 1, __ATOMIC_SEQ_CST) != 1 ||
        __atomic_load_n(&w->gone, __ATOMIC_SEQ_CST))
        __atomic_add_fetch(&w->faults, 1, __ATOMIC_SEQ_CST);
    size_t n = strlen(w->text);
    if (n + 1 < sizeof w->text)
        w->text[n] = "nwrl"[phase];
    w->faults += w->last_phase == phase;
    __atomic_store_n(&w->last_phase, phase, __ATOMIC_RELAXED);
    w->on = pthread_self();
    usleep(1); /* others may come meanwhile */
    __atomic_sub_fetch(&w->inside, 1, __ATOMIC_SEQ_CST);
}

static void watch_step(void *self, const gnomon_step_event *event)
{
    watcher *w = self;
    (void)event;
    size_t n = strlen(w->text);
    if (n + 1 < sizeof w->text)
        w->text[n] = 's';
}

static const gnomon_profiler watching = {
    .struct_size = sizeof watching,
    .abi = GNOMON_ABI,
    .name = "watching",
    .step = watch_step,
    .window = watch_window,
};
static const gnomon_profiler window_only = {
    .struct_size = sizeof window_only,
    .abi = GNOMON_ABI,
    .name = "window_only",
    .window = watch_window,
};

static void steps(int n)
{
    while (n--)
        gnomon_step();
}

TEST(each_phase_of_a_schedule)
{
    watcher w = {.text = ""};
    CHECK_EQ(gnomon_attach(&watching, &w,
                           "schedule=wait:1/warmup:1/active:2/repeat:2"),
             GNOMON_OK);
    steps(10);
    CHECK_STR(w.text, "swsrslsnswsrslsnss");
    CHECK_EQ(w.faults, 0);
    CHECK(pthread_equal(w.on, pthread_self()));
    CHECK_EQ(gnomon_detach(&watching, &w), GNOMON_OK);
}

/* A window does not stay open from one stage to the next. */
TEST(without_a_schedule_and_over_stages)
{
    watcher w = {.text = ""}, scheduled = {.text = ""}, late = {.text = ""};
    CHECK_EQ(gnomon_attach(&window_only, &w, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&window_only, &scheduled, "schedule=active:9"),
             GNOMON_OK);
    CHECK_STR(w.text, "r");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    steps(3);
    CHECK_STR(w.text, "r");
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_STR(w.text, "rn");
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    CHECK_STR(w.text, "rnr");
    CHECK_EQ(gnomon_stage_begin("predict"), GNOMON_OK);
    CHECK_STR(w.text, "rnrnr");
    CHECK_STR(scheduled.text, w.text);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    steps(1);
    CHECK_STR(w.text, "rnrnrnr");
    CHECK_EQ(gnomon_stage_begin("last"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_STR(w.text, "rnrnrnrn");
    /* A detached profiler gets no window; an attached one gets its own
     * phase. */
    CHECK_EQ(gnomon_detach(&window_only, &scheduled), GNOMON_OK);
    CHECK_STR(w.text, "rnrnrnrn");
    CHECK_EQ(gnomon_attach(&window_only, &late, NULL), GNOMON_OK);
    CHECK_STR(late.text, "r");
    CHECK_EQ(w.faults + scheduled.faults + late.faults, 0);
    CHECK_EQ(gnomon_detach(&window_only, &w), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&window_only, &late), GNOMON_OK);
}

TEST(views_have_windows_of_their_own)
{
    watcher a = {.text = ""}, b = {.text = ""};
    CHECK_EQ(gnomon_attach(&window_only, &a, "schedule=wait:1/active:1"),
             GNOMON_OK);
    CHECK_EQ(gnomon_attach(&window_only, &b, "schedule=wait:3/active:1"),
             GNOMON_OK);
    steps(8);
    CHECK_STR(a.text, "lnlnlnln");
    CHECK_STR(b.text, "lnln");
    CHECK_EQ(gnomon_detach(&window_only, &a), GNOMON_OK);
    steps(8);
    CHECK_STR(a.text, "lnlnlnln");
    CHECK_STR(b.text, "lnlnlnln");
    CHECK_EQ(gnomon_detach(&window_only, &b), GNOMON_OK);
}

TEST(a_rank_that_is_left_out_has_no_window)
{
    watcher in = {.text = ""}, out = {.text = ""};
    gnomon_setup_options o = {
        .struct_size = sizeof o, .has_rank = 1, .rank = 1, .world_size = 2};
    CHECK_EQ(gnomon_attach(&window_only, &in, "ranks=1"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&window_only, &out, "ranks=0"), GNOMON_OK);
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
    steps(2);
    CHECK_STR(in.text, "r");
    CHECK(times_in(out.text, "r") <= 1); /* until the rank is known */
    CHECK_EQ(out.last_phase, GNOMON_PHASE_NONE);
    CHECK_EQ(gnomon_detach(&window_only, &in), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&window_only, &out), GNOMON_OK);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

/* ---- Threads ---------------------------------------------------------------- */

static int stepping_over;

static void *step_on(void *unused)
{
    while (!__atomic_load_n(&stepping_over, __ATOMIC_RELAXED)) {
        GNOMON_SCOPE("work");
        gnomon_step();
    }
    return unused;
}

/* Each phase is delivered once, by one thread at a time, and never after the
 * detach. */
TEST(threads_that_step_at_once)
{
    pthread_t threads[4];
    long times = live_times(120, 20000), called = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, step_on, NULL);
    for (long i = 0; i < times; i++) {
        watcher *w = calloc(1, sizeof *w); /* a late call finds it freed */
        CHECK_EQ(gnomon_attach(&window_only, w, "schedule=wait:1/active:1"),
                 GNOMON_OK);
        while (i % 8 == 0 && !__atomic_load_n(&w->last_phase, __ATOMIC_RELAXED))
            usleep(50);
        CHECK_EQ(gnomon_detach(&window_only, w), GNOMON_OK);
        __atomic_store_n(&w->gone, 1, __ATOMIC_SEQ_CST);
        CHECK_EQ(w->inside, 0);
        CHECK_EQ(w->faults, 0);
        called += w->text[0] != 0;
        free(w);
    }
    CHECK(called >= times / 8);
    __atomic_store_n(&stepping_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static int held, released;

static void hold_window(void *self, const gnomon_window_event *event)
{
    watch_window(self, event);
    __atomic_store_n(&held, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&released, __ATOMIC_SEQ_CST))
        usleep(50);
}

static const gnomon_profiler holding = {
    .struct_size = sizeof holding,
    .abi = GNOMON_ABI,
    .name = "holding",
    .window = hold_window,
};

static void *step_once(void *unused)
{
    gnomon_step();
    return unused;
}

/* Its thread would deliver the phases that came meanwhile. */
TEST(a_callback_that_hangs_is_the_last)
{
    watcher w = {.text = ""};
    pthread_t thread;
    CHECK_EQ(gnomon_attach(&holding, &w, "schedule=wait:1/active:1"),
             GNOMON_OK);
    pthread_create(&thread, NULL, step_once, NULL);
    while (!__atomic_load_n(&held, __ATOMIC_SEQ_CST))
        usleep(50);
    steps(1); /* does not wait */
    CHECK_EQ(gnomon_detach(&holding, &w), GNOMON_EBUSY);
    __atomic_store_n(&released, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_STR(w.text, "l");
    CHECK_EQ(gnomon_detach(&holding, &w), GNOMON_OK);
    steps(3);
    CHECK_STR(w.text, "l");
}

/* ---- Forks ------------------------------------------------------------------ */

TEST(a_child_gets_no_calls)
{
    watcher w = {.text = ""};
    CHECK_EQ(gnomon_attach(&window_only, &w, "schedule=wait:1/active:1"),
             GNOMON_OK);
    steps(1);
    CHECK_STR(w.text, "l");
    pid_t child = fork();
    if (child == 0) {
        steps(4);
        _exit(strcmp(w.text, "l") != 0);
    }
    CHECK_EQ(child_wait(child), 0);
    steps(1);
    CHECK_STR(w.text, "ln");
    CHECK_EQ(gnomon_detach(&window_only, &w), GNOMON_OK);
}

/* ---- Declined --------------------------------------------------------------- */

/* As if it had not been named: no callback and no message. */
TEST(a_profiler_that_declines)
{
    child_result r = host("GNOMON=" CHILD_PLUGIN("faulty") "(create=1)",
                          "do=one", "step", "spec", "respec");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "\nsame\n\n");
    r = host("GNOMON=simple," CHILD_PLUGIN("faulty") "(create=1,file=x)",
             "do=one", "check=simple");
    CHECK_TABLE(r.err, "Profiler Report", "one");
    CHECK_EQ(times_in(r.err, "faulty"), 0);
    CHECK_STR(r.out, "sound\n");
    r = host("GNOMON=" CHILD_PLUGIN("faulty") "(create=2)", "do=one");
    CHECK_EQ(times_in(r.err, "create failed"), 1); /* no other positive one */
}
