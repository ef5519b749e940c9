/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * timeout: 300
 * Stages and cycles end while threads mark without a pause, in so little memory that
 * events are overwritten while they are read: also then each is there or counted, once. */
#include <semaphore.h>

#include "child.h"
#include "gnomon/profile.h"
#include "platform/os.h"
#include "recording_threads.h"
#include "stepping.h"
#include "taping.h"
#include "turns.h"

enum { THREADS = 3 };

static gnomon_region outer_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "outer", NULL, NULL);
static gnomon_region inner_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "inner", NULL, NULL);
static gnomon_region range_region =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
static gnomon_region mark_region =
    GNOMON_REGION_INIT(GNOMON_KIND_MARK, "mark", NULL, NULL);
static gnomon_region loss_region =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "loss", NULL, NULL);

static uint32_t is_over;
static uint64_t made[THREADS];

/* Makes events of every kind. A scope that is open when a stage ends, ends in the next. */
static void *mark_until_over(void *count)
{
    uint64_t *events_made = count;
    while (!load_relaxed(&is_over)) {
        gnomon_token outer = gnomon_begin(&outer_region);
        gnomon_range range = gnomon_range_begin(&range_region);
        for (int i = 0; i < 8; i++)
            gnomon_end(gnomon_begin(&inner_region));
        gnomon_mark(&mark_region);
        gnomon_counter(&loss_region, 1);
        gnomon_range_end(range);
        gnomon_end(outer);
        store_relaxed(events_made, *events_made + 12);
    }
    return NULL;
}

static void end_stages(const char *spec, long stages)
{
    pthread_t threads[THREADS];
    gnomon_profile *p = NULL;
    uint64_t sum = 0;
    memset(made, 0, sizeof made);
    store_relaxed(&is_over, 0u);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    gnomon_stage_begin("fit");
    live_start(threads, THREADS, mark_until_over, made, sizeof *made);
    for (uint32_t tries = 0; !load_relaxed(&made[THREADS - 1]);)
        give_turn(&tries); /* or all stages are over before one has run */
    for (long i = 0; i < stages; i++) {
        usleep((useconds_t)(i * 37 % 1500));
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
        CHECK_EQ(gnomon_stage_begin(i % 3 ? "fit" : "validate"), GNOMON_OK);
    }
    store_relaxed(&is_over, 1u);
    live_join(threads, THREADS);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon_profile_load(&p, "run.gnomon"), GNOMON_OK);
    for (int i = 0; i < THREADS; i++)
        sum += made[i];
    CHECK_EQ(events(p) + missing(p, NULL), sum);
    CHECK(events(p) > 0);
    gnomon_profile_free(p);
    unlink("run.gnomon");
}

TEST(stages_end_while_threads_mark)
{
    child_folder();
    end_stages("trace(on_trace_ready=none),file=run.gnomon,mem=1MiB",
               live_times(40, 2000));
}

TEST(stages_end_while_threads_have_no_room)
{
    child_folder();
    end_stages("trace(on_trace_ready=none,keep=first),file=run.gnomon,mem=1MiB",
               live_times(40, 2000));
}

/* ---- Calls and events -------------------------------------------------------------- */

enum { SIX = 6, STAGES = 20 };

static gnomon_range handed[SIX]; /* open ones, by the thread that ends them */

/* Ends ranges of another thread, and leaves its own to a third. */
static void *hand_ranges_on(void *own)
{
    const size_t self = (size_t)((gnomon_range *)own - handed);
    int rounds = 0;
    do {
        gnomon_token outer = gnomon_begin(&outer_region);
        gnomon_range mine = gnomon_range_begin(&range_region);
        gnomon_end(gnomon_begin(&inner_region));
        mine = swap_acq_rel(&handed[(self + 1) % SIX], mine);
        if (mine)
            gnomon_range_end(mine);
        gnomon_end(outer);
        usleep(10);
        /* On a busy machine the end of a stage would take longer than what is made
         * meanwhile, and more is made each time. */
    } while (++rounds < 3000 && !load_relaxed(&is_over));
    return NULL;
}

/* How many nodes have another number of calls than of executions. */
static size_t unlike_nodes(const gnomon_profile *p)
{
    const size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    uint64_t *calls = calloc(nodes + 1, sizeof *calls);
    size_t unlike = 0;
    gnomon_event_info e;
    gnomon_node_info n;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++)
        calls[e.node] += e.kind == GNOMON_EVENT_EXECUTION;
    for (uint32_t i = 1; !gnomon_profile_node(p, i, &n); i++)
        unlike += calls[i] != (n.host ? n.host->count : 0);
    free(calls);
    return unlike;
}

/* An event is in the stage that counts its call. What is missing are the ranges that nobody
 * ended. */
TEST(calls_are_events_on_every_node)
{
    pthread_t threads[SIX];
    gnomon_profile *p = NULL;
    child_folder();
    CHECK_EQ(
        gnomon_attach(NULL, NULL,
                      "trace(on_trace_ready=none),file=run.gnomon,mem=1GiB"),
        GNOMON_OK);
    gnomon_stage_begin("fit");
    live_start(threads, SIX, hand_ranges_on, handed, sizeof *handed);
    for (uint32_t tries = 0; !load_relaxed(&handed[SIX - 1]);)
        give_turn(&tries);
    for (int i = 0; i < STAGES; i++) {
        usleep((useconds_t)(i * 37 % 500));
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
        CHECK_EQ(gnomon_stage_begin(i % 3 ? "fit" : "validate"), GNOMON_OK);
    }
    store_relaxed(&is_over, 1u);
    live_join(threads, SIX);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon_profile_load(&p, "run.gnomon"), GNOMON_OK);
    CHECK(events(p) > 0);
    CHECK_EQ(missing(p, NULL), SIX);
    CHECK_EQ(unlike_nodes(p), 0);
    gnomon_profile_free(p);
}

/* ---- A thread that stays inside one mark --------------------------------------- */

static sem_t stopped, may_go_on;
static uint32_t stop_at, steps_made;

static void stop_once(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (!stepping_is_in_program(context) || ++steps_made != stop_at)
        return;
    sem_post(&stopped);
    while (sem_wait(&may_go_on) != 0)
        continue;
    stepping_leave(context);
}

static void mark_some(void)
{
    for (int i = 0; i < 5; i++)
        gnomon_end(gnomon_begin(&inner_region));
}

static void *stop_inside_a_mark(void *unused)
{
    for (int i = 0; i < 1000; i++) /* more than a few blocks hold */
        mark_some();
    step_through(mark_some, stop_once);
    mark_some();
    sem_post(&stopped); /* also where the steps came to an end before */
    return unused;
}

/* Ends a stage while a thread is stopped at instruction `stop_at` of its marks. Returns
 * whether the end gave up waiting for it. */
static int end_stage_amid_a_mark(const char *profiler)
{
    char spec[80], file[32];
    pthread_t thread;
    gnomon_profile *p = NULL;
    steps_made = 0;
    snprintf(file, sizeof file, "run%u.gnomon", stop_at);
    snprintf(spec, sizeof spec, "%s,file=%s", profiler, file);
    sem_init(&stopped, 0, 0);
    sem_init(&may_go_on, 0, 0);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    gnomon_stage_begin("fit");
    CHECK_EQ(pthread_create(&thread, NULL, stop_inside_a_mark, NULL), 0);
    while (sem_wait(&stopped) != 0)
        continue;
    uint64_t began = gnomon__os_monotonic_ns();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    uint64_t took = gnomon__os_monotonic_ns() - began;
    CHECK_EQ(gnomon_stage_begin("validate"), GNOMON_OK);
    sem_post(&may_go_on);
    pthread_join(thread, NULL);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    if (!CHECK_EQ(gnomon_profile_load(&p, file), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    else if (!CHECK_EQ(events(p), 5010) || !CHECK_EQ(missing(p, NULL), 0))
        fprintf(stderr, "    stopped at instruction %u\n", stop_at);
    gnomon_profile_free(p);
    return took >= 1000000000u;
}

/* It is stopped at several instructions of a begin and an end. Its events must come with
 * the next stage. */
TEST(a_thread_stays_inside_one_mark_over_a_stages_end)
{
    int unreached = 0;
    if (!CAN_STEP)
        SKIP("no single steps here");
    child_folder();
    /* `gaps` needs no event once a stage is reported, so that full blocks are given back. */
    for (stop_at = 20; stop_at <= 140; stop_at += 24)
        unreached += end_stage_amid_a_mark(
            stop_at / 24 % 2 ? "trace(on_trace_ready=none)" : "gaps");
    if (!steps_made)
        SKIP("no single steps here");
    CHECK(unreached > 0);
}

/* ---- Cycles ---------------------------------------------------------------------- */

enum { NESTED = 3 }; /* as mark_until_over has open at one time */

static uint64_t cycles, told;

static int add_cycle(void *self, const gnomon_profile *p,
                     const gnomon_writer *out)
{
    (void)self, (void)out;
    cycles++;
    told += events(p) + missing(p, NULL);
    return GNOMON_OK;
}

static const gnomon_profiler cycle_taper = {TAPES("cycles"),
                                            .events = add_cycle};
static const gnomon_profiler first_cycle_taper = {
    TAPES("cycles"), KEEPS("first"), .events = add_cycle};

static gnomon_range ringed[THREADS][SIX]; /* open ones */

/* Ranges that another thread ends, up to six rounds later, or nobody. */
static void *pass_ranges_on(void *count)
{
    uint64_t *ranges_made = count;
    const size_t self = (size_t)(ranges_made - made);
    for (size_t i = 0; !load_relaxed(&is_over); i++) {
        gnomon_range mine = gnomon_range_begin(&range_region);
        store_relaxed(ranges_made, *ranges_made + (mine != 0));
        gnomon_range_end(swap_acq_rel(&ringed[(self + 1) % THREADS][i % SIX],
                                      i % 64 ? mine : 0));
    }
    return NULL;
}

/* Cycles of `p` end while threads make such marks. Returns how many they made. */
static uint64_t run_cycles(const gnomon_profiler *p, void *(*marks)(void *))
{
    pthread_t threads[THREADS];
    uint64_t sum = 0;
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(p, NULL, "schedule=active:2"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    live_start(threads, THREADS, marks, made, sizeof *made);
    for (long i = 0; i < live_times(100, 4000); i++) {
        usleep((useconds_t)(i * 37 % 700));
        gnomon_step();
    }
    store_relaxed(&is_over, 1u);
    live_join(threads, THREADS);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    for (int i = 0; i < THREADS; i++)
        sum += made[i];
    CHECK(cycles > 0);
    return sum;
}

/* Each range is an event of one cycle, or is missing in one: also those that were open when
 * that was read, and those that never end. */
static void tell_each_range_once(const gnomon_profiler *p)
{
    memset(made, 0, sizeof made);
    memset(ringed, 0, sizeof ringed);
    cycles = told = 0;
    store_relaxed(&is_over, 0u);
    const uint64_t sum = run_cycles(p, pass_ranges_on);
    CHECK_EQ(told, sum);
}

TEST(cycles_end_while_threads_pass_ranges_on)
{
    tell_each_range_once(&cycle_taper);
}

TEST(cycles_end_while_ranges_have_no_room)
{
    tell_each_range_once(&first_cycle_taper);
}

/* Also where its stage was reported, and nothing was marked since. */
static void leave_a_range_open(int ends_stage, int detaches)
{
    gnomon_profile *p = NULL;
    child_folder();
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(
        gnomon_attach(NULL, NULL, "trace(on_trace_ready=none),file=run.gnomon"),
        GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    gnomon_range open_range = gnomon_range_begin(&range_region);
    gnomon_range_end(gnomon_range_begin(&range_region));
    if (ends_stage)
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    if (detaches)
        CHECK_EQ(gnomon_attach(NULL, NULL, "-trace"), GNOMON_OK);
    else
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    gnomon_range_end(open_range);
    CHECK_EQ(gnomon_profile_load(&p, "run.gnomon"), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 1);
    CHECK_EQ(events(p), 1);
    CHECK_EQ(missing(p, "events_lost"), 1);
    gnomon_profile_free(p);
}

TEST(a_file_counts_what_is_open_at_the_end)
{
    leave_a_range_open(0, 0);
}

TEST(a_file_counts_what_is_open_since_an_earlier_stage)
{
    leave_a_range_open(1, 0);
}

TEST(a_file_counts_what_is_open_as_its_profiler_is_detached)
{
    leave_a_range_open(0, 1);
}

enum { OPEN = 256 };
static gnomon_range opened[THREADS][OPEN];

static void *end_all(void *ranges)
{
    for (int i = 0; i < OPEN; i++)
        gnomon_range_end(((gnomon_range *)ranges)[i]);
    return NULL;
}

TEST(the_run_ends_while_threads_end_ranges)
{
    pthread_t threads[THREADS];
    for (long round = 0; round < live_times(100, 4000); round++) {
        told = 0;
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
        CHECK_EQ(gnomon_attach(&cycle_taper, NULL, NULL), GNOMON_OK);
        for (int i = 0; i < THREADS * OPEN; i++)
            opened[i % THREADS][i / THREADS] =
                gnomon_range_begin(&range_region);
        live_start(threads, THREADS, end_all, opened, sizeof *opened);
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
        live_join(threads, THREADS);
        CHECK_EQ(gnomon_detach(&cycle_taper, NULL), GNOMON_OK);
        if (!CHECK_EQ(told, THREADS * OPEN))
            break;
    }
}

/* Windows without a gap. What was open when its cycle was read is there as open. */
TEST(cycles_end_while_threads_mark)
{
    const uint64_t sum = run_cycles(&cycle_taper, mark_until_over);
    CHECK(told <= sum);
    CHECK(sum - told <= cycles * THREADS * NESTED);
    if (test_failures)
        fprintf(stderr, "    %llu of %llu in %llu cycles\n",
                (unsigned long long)told, (unsigned long long)sum,
                (unsigned long long)cycles);
}
