/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * timeout: 300
 * Stages end while threads mark without a pause, in so little memory that events are
 * overwritten while they are read: also then each is in the file or counted, once. */
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

/* Records of all lengths; what is open when a stage ends is late in the next one. */
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
