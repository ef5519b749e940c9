/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * labels: guest
 * Callbacks of a profiler that mark, allocate, print, detach themselves and make
 * every control call. Marks are refused and counted, control calls return
 * GNOMON_EBUSY, nothing waits for another, and the times stay exact. */
#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");

/* What the profiler's callbacks saw. */
typedef struct meddler {
    uint64_t calls, wrong_codes;
    int from_thread; /* a callback waits for another thread to mark */
} meddler;

static const gnomon_profiler meddling;
static gnomon_region forbidden_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "forbidden", NULL, NULL);

static void mark_all(void)
{
    gnomon_token t = gnomon_begin(&forbidden_region);
    CHECK_EQ(t, 0);
    gnomon_end(t);
    gnomon_start("forbidden");
    gnomon_stop("forbidden");
    gnomon_range_end(gnomon_range_begin(&forbidden_region));
    gnomon_counter(&forbidden_region, 1);
    gnomon_mark(&forbidden_region);
    gnomon_step();
    gnomon_thread_name("forbidden");
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    CHECK(gnomon_region_get("forbidden", NULL, GNOMON_KIND_SCOPE) != NULL);
}

/* A snapshot does not wait: it fails only where the sequence word is odd. */
static uint64_t control_all(meddler *m, int snapshot_code)
{
    static const gnomon_writer nowhere = {.struct_size = sizeof nowhere};
    gnomon_setup_options options = {.struct_size = sizeof options};
    gnomon_open_scope open[4] = {{.struct_size = sizeof *open}};
    gnomon_profile *p = NULL;
    char text[16];
    int codes[] = {
        gnomon_detach(&meddling, m),
        gnomon_attach(&meddling, m, NULL),
        gnomon_attach(NULL, NULL, "simple"),
        gnomon_setup(&options),
        gnomon_teardown(),
        gnomon_stage_begin("fit"),
        gnomon_stage_end(),
        gnomon_metadata("key", "1"),
        gnomon_summary("keeper", &nowhere),
    };
    uint64_t wrong = 0;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        wrong += codes[i] != GNOMON_EBUSY;
    wrong += gnomon_spec(text, sizeof text) != 0;
    wrong += gnomon_snapshot(&p, "keeper", 1) != snapshot_code;
    gnomon_profile_free(p);
    (void)gnomon_thread_stack(0, open, 4);
    (void)live_health();
    return wrong;
}

static void *mark_elsewhere(void *unused)
{
    GNOMON_SCOPE("elsewhere");
    return unused;
}

static void meddle(meddler *m)
{
    void *memory = malloc(1000 + load_relaxed(&m->calls) % 64);
    char *line = NULL;
    pthread_t thread;
    if (asprintf(&line, "call %d", (int)load_relaxed(&m->calls)) > 0)
        free(line);
    mark_all();
    add_relaxed(&m->wrong_codes, control_all(m, GNOMON_EBUSY));
    if (m->from_thread && load_relaxed(&m->calls) < 20) {
        m->from_thread = 0; /* whose marks call callbacks, too */
        CHECK_EQ(pthread_create(&thread, NULL, mark_elsewhere, NULL), 0);
        pthread_join(thread, NULL);
        m->from_thread = 1;
    }
    free(memory);
    add_relaxed(&m->calls, 1);
}

static void on_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    *slot = ~frame->token;
    meddle(self);
}

static void on_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    CHECK(*slot == ~frame->token);
    meddle(self);
}

static void on_step(void *self, const gnomon_step_event *event)
{
    (void)event;
    meddle(self);
}

static void on_mark(void *self, const gnomon_mark_event *event)
{
    (void)event;
    meddle(self);
}

static void on_counter(void *self, const gnomon_counter_event *event)
{
    (void)event;
    meddle(self);
}

static const gnomon_profiler meddling = {
    .struct_size = sizeof meddling,
    .abi = GNOMON_ABI,
    .name = "meddling",
    .start = on_start,
    .stop = on_stop,
    .step = on_step,
    .counter = on_counter,
    .mark = on_mark,
};

static void *work(void *rounds)
{
    for (long i = *(long *)rounds; i > 0; i--) {
        GNOMON_SCOPE("work");
        GNOMON_MARK("moment");
        GNOMON_COUNTER("sample", 1);
        gnomon_start("action");
        gnomon_step();
        gnomon_stop("action");
    }
    return NULL;
}

static void run(int threads, int from_thread)
{
    pthread_t all[4];
    long each[4];
    meddler m = {0, 0, from_thread};
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&meddling, &m, NULL), GNOMON_OK);
    for (int i = 0; i < threads; i++)
        each[i] = live_times(2000, 100000);
    live_start(all, threads, work, each, sizeof *each);
    live_join(all, threads);
    long long n = threads * each[0];
    CHECK_EQ(gnomon_detach(&meddling, &m), GNOMON_OK);
    uint64_t calls = load_relaxed(&m.calls);
    CHECK(calls >= (uint64_t)n * 7);
    CHECK_EQ(m.wrong_codes, 0);
    work(each); /* no call after the detach */
    CHECK_EQ(load_relaxed(&m.calls), calls);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(live_count(p, "work"), n + each[0]);
    CHECK_EQ(live_count(p, "action"), n + each[0]);
    CHECK_EQ(live_count(p, "moment"), n + each[0]);
    CHECK_EQ(live_count(p, "forbidden"), 0);
    CHECK(!from_thread || live_count(p, "elsewhere") > 0);
    gnomon_profile_free(p);
    gnomon_health h = live_health();
    CHECK(h.reentered >= 8 * calls);
    h.reentered = 0;
#define NONE(field, text) CHECK_EQ(h.field, 0);
    GNOMON_HEALTH(NONE)
#undef NONE
}

TEST(soak_a_meddler_on_one_thread)
{
    run(1, 0);
}

TEST(soak_a_meddler_on_four_threads)
{
    run(4, 0);
}

TEST(a_callback_that_waits_for_a_thread_that_marks)
{
    run(1, 1);
}

/* ---- Callbacks of control calls -------------------------------------------- */

static meddler control_meddler;
static uint64_t control_calls;

static void meddle_in_control(void)
{
    pthread_t thread;
    add_relaxed(&control_calls, 1);
    control_meddler.wrong_codes += control_all(&control_meddler, GNOMON_OK);
    free(malloc(5000));
    {
        GNOMON_SCOPE("allowed"); /* no mark is in progress: it is recorded */
    }
    CHECK_EQ(pthread_create(&thread, NULL, mark_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
}

static int on_setup(void *self, const gnomon_run_info *info, const char *stage)
{
    (void)self;
    (void)info;
    (void)stage;
    meddle_in_control();
    return GNOMON_OK;
}

static int on_summary(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    (void)self;
    (void)p;
    meddle_in_control();
    return out->print(out, "summary\n");
}

static void on_teardown(void *self, const char *stage)
{
    (void)self;
    (void)stage;
    meddle_in_control();
}

static const gnomon_profiler in_control = {
    .struct_size = sizeof in_control,
    .abi = GNOMON_ABI,
    .name = "in_control",
    .wants = GNOMON_WANT_TREE,
    .setup = on_setup,
    .summary = on_summary,
    .teardown = on_teardown,
};

TEST(setup_and_summary_may_mark_and_wait)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&in_control, NULL, "file=/dev/null"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&in_control, NULL), GNOMON_OK);
    CHECK(control_calls >= 4);
    CHECK_EQ(control_meddler.wrong_codes, 0);
    CHECK_EQ(live_count_of("keeper", "allowed"), control_calls);
    CHECK_EQ(live_count_of("keeper", "elsewhere"), control_calls);
    live_check_no_trouble();
}
