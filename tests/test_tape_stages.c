/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * timeout: 300
 * Stages and cycles end while threads mark without a pause, in so little memory that
 * events are overwritten while they are read: also then each is there or counted, once. */
#include "child.h"
#include "recording_threads.h"
#include "taping.h"

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
        *events_made += 12;
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
    CHECK_EQ(gnomon_configure(spec), GNOMON_OK);
    gnomon_stage_begin("fit");
    live_start(threads, THREADS, mark_until_over, made, sizeof *made);
    for (long i = 0; i < stages; i++) {
        usleep((useconds_t)(i * 37 % 1500));
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
        CHECK_EQ(gnomon_stage_begin(i % 3 ? "fit" : "validate"), GNOMON_OK);
    }
    store_relaxed(&is_over, 1u);
    live_join(threads, THREADS);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_configure(NULL), GNOMON_OK);
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
               live_times(100, 2000));
}

TEST(stages_end_while_threads_have_no_room)
{
    child_folder();
    end_stages("trace(on_trace_ready=none,keep=first),file=run.gnomon,mem=1MiB",
               live_times(100, 2000));
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
                                            .ready = add_cycle};

/* Windows without a gap. What was open when its cycle was read is there as open. */
TEST(cycles_end_while_threads_mark)
{
    pthread_t threads[THREADS];
    uint64_t sum = 0;
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_configure("passthrough,mem=1MiB"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&cycle_taper, NULL, "schedule=active:2"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    live_start(threads, THREADS, mark_until_over, made, sizeof *made);
    for (long i = 0; i < live_times(200, 4000); i++) {
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
    CHECK(told <= sum);
    CHECK(sum - told <= cycles * THREADS * NESTED);
    if (test_failures)
        fprintf(stderr, "    %llu of %llu in %llu cycles\n",
                (unsigned long long)told, (unsigned long long)sum,
                (unsigned long long)cycles);
}
