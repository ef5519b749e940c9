/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * Each event is in the profile or counted as missing, once, also where the tree has no
 * path for it: below an "(other)", and without memory. */
#include "child.h"
#include "mark/arena.h"
#include "mark/tree.h"
#include "marks.h"
#include "platform/memory.h"
#include "probe_profile.h"
#include "record/rows.h"
#include "taping.h"

#define DEEP 1100

static gnomon_region mark_region =
    GNOMON_REGION_INIT(GNOMON_KIND_MARK, "mark", NULL, NULL);
static gnomon_region loss_region =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "loss", NULL, NULL);

static void ignore_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self, (void)f, (void)slot;
}

static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                     .abi = GNOMON_ABI,
                                     .name = "hook",
                                     .start = ignore_start};
static const gnomon_profiler other_taper = {TAPES("other")};

static void attach(const gnomon_profiler *p, const char *options)
{
    CHECK_EQ(gnomon_attach(p, NULL, options), GNOMON_OK);
}

static void check_counts(const char *profiler, uint64_t made)
{
    gnomon_profile *p = profile_of(profiler, 0);
    CHECK_EQ(events(p) + missing(p, NULL), made);
    gnomon_profile_free(p);
}

static void nest_with_marks(void)
{
    static gnomon_region regions[DEEP];
    static char names[DEEP][8];
    gnomon_token tokens[DEEP];
    for (int i = 0; i < DEEP; i++) {
        snprintf(names[i], sizeof names[i], "r%d", i);
        regions[i] = (gnomon_region)GNOMON_REGION_INIT(GNOMON_KIND_SCOPE,
                                                       names[i], NULL, NULL);
        tokens[i] = gnomon_begin(&regions[i]);
        gnomon_mark(&mark_region);
        gnomon_counter(&loss_region, i);
        pass(1);
    }
    for (int i = DEEP; i-- > 0;)
        gnomon_end(tokens[i]);
}

TEST(marks_below_other_count_once)
{
    attach(&taper, NULL);
    nest_with_marks();
    check_counts("taper", 3 * DEEP);
}

TEST(scopes_below_other_beside_a_hook)
{
    attach(&taper, NULL);
    attach(&hook, NULL);
    nest_with_marks();
    check_counts("taper", 3 * DEEP);
}

TEST(scopes_below_other_of_two_trees)
{
    attach(&taper, NULL);
    attach(&other_taper, "exclude=r0");
    nest_with_marks();
    check_counts("taper", 3 * DEEP);
    check_counts("other", 3 * DEEP - 1);
}

/* It is no event of the path that ended last, though that has its name. */
TEST(a_scope_below_other_is_lost)
{
    gnomon_profile *p;
    static gnomon_region again =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "again", NULL, NULL);
    static gnomon_region deep =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "deep", NULL, NULL);
    gnomon_token open[3];
    attach(&taper, NULL);
    attach(&hook, NULL);
    gnomon__test_depth = 2;
    open[0] = gnomon_begin(&deep);
    gnomon_end(gnomon_begin(&again));
    open[1] = gnomon_begin(&deep);
    open[2] = gnomon_begin(&deep);
    gnomon_end(gnomon_begin(&again));
    for (int i = 3; i-- > 0;)
        gnomon_end(open[i]);
    p = profile_of("taper", 0);
    CHECK_EQ(events(p), 4);
    CHECK_EQ(missing(p, "events_lost"), 1);
    gnomon_profile_free(p);
}

/* ---- In the parts of a file ------------------------------------------------------ */

static gnomon_region range_region =
    GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
static gnomon_region scope_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "scope", NULL, NULL);

/* What is open over the end of its stage, and ends here, there or on another thread. */
static void mark_over_stages(void)
{
    gnomon__test_set(1000);
    gnomon_stage_begin("fit");
    pass(1);
    gnomon_mark(&mark_region);
    gnomon_range here = gnomon_range_begin(&range_region),
                 there = gnomon_range_begin(&range_region);
    gnomon_token scope = gnomon_begin(&scope_region);
    gnomon_start("act");
    pass(1);
    gnomon_stage_end();
    gnomon_stage_begin("validate");
    pass(1);
    gnomon_token inside = gnomon_begin(&scope_region);
    pass(1);
    gnomon_end(inside);
    gnomon_stop("act");
    gnomon_range_end(here);
    pass(1);
    gnomon_stage_end();
    gnomon_stage_begin("test");
    pass(1);
    gnomon_end(scope);
    end_range_there(there);
    gnomon_mark(&mark_region);
    gnomon_stage_end();
}

/* How many events of the region, of a stage, a profile has. */
static int events_of(const gnomon_profile *p, const char *stage,
                     const char *region)
{
    int count = 0;
    gnomon_event_info e;
    gnomon_node_info n;
    gnomon_stage_info s;
    gnomon_region_info r;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++)
        count += e.kind == GNOMON_EVENT_EXECUTION &&
                 !gnomon_profile_node(p, e.node, &n) &&
                 !gnomon_profile_region(p, n.region, &r) &&
                 !gnomon_profile_stage(p, n.stage, &s) &&
                 strcmp(s.name, stage) == 0 && strcmp(r.name, region) == 0;
    return count;
}

TEST(events_that_end_after_their_stage_are_in_the_file)
{
    gnomon_profile *p;
    child_folder();
    CHECK_EQ(
        gnomon_attach(NULL, NULL, "trace(on_trace_ready=none),file=run.gnomon"),
        GNOMON_OK);
    mark_over_stages();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon_profile_load(&p, "run.gnomon"), GNOMON_OK);
    CHECK_EQ(events(p), 7);
    CHECK_EQ(missing(p, NULL), 0);
    CHECK_EQ(events_of(p, "fit", "range"), 2);
    CHECK_EQ(events_of(p, "fit", "scope"), 1);
    CHECK_EQ(events_of(p, "fit", "act"), 1);
    CHECK_EQ(events_of(p, "validate", "scope"), 1);
    gnomon_profile_free(p);
}

/* The thread has nothing else in the last part of the file, which counts it. */
TEST(a_lost_event_of_a_thread_without_nodes_counts)
{
    gnomon_profile *p;
    child_folder();
    CHECK_EQ(
        gnomon_attach(NULL, NULL, "trace(on_trace_ready=none),file=run.gnomon"),
        GNOMON_OK);
    gnomon__test_event_bytes = 0;
    gnomon_stage_begin("fit");
    gnomon_token scope = gnomon_begin(&scope_region);
    gnomon_stage_end();
    gnomon_stage_begin("validate");
    gnomon_range range = gnomon_range_begin(&range_region);
    gnomon_stage_end();
    gnomon_end(scope);
    end_range_there(range);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon_profile_load(&p, "run.gnomon"), GNOMON_OK);
    CHECK_EQ(missing(p, "events_lost"), 2);
    gnomon_profile_free(p);
}

/* Returns how many events it made. */
static uint64_t mark_four_stages(void)
{
    enum { SCOPES = 3000 };
    for (int stage = 0; stage < 4; stage++) {
        gnomon_stage_begin(stage % 2 ? "validate" : "fit");
        pass(1);
        for (int i = 0; i < SCOPES; i++) {
            gnomon_token outer = gnomon_begin(&scope_region);
            gnomon_mark(&mark_region);
            gnomon_range range = gnomon_range_begin(&range_region);
            pass(3);
            gnomon_range_end(range);
            gnomon_counter(&loss_region, i);
            gnomon_end(outer);
            pass(1);
            if (i % 500 == 499)
                gnomon_step();
        }
        gnomon_stage_end();
    }
    return 4ull * 4 * SCOPES;
}

static void check_file(const char *path, uint64_t made)
{
    gnomon_profile *p;
    CHECK_EQ(gnomon_profile_load(&p, path), GNOMON_OK);
    CHECK(events(p) > 0);
    CHECK(missing(p, NULL) > 0);
    CHECK_EQ(events(p) + missing(p, NULL), made);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    gnomon_profile_free(p);
}

/* What an earlier part of the file has is not missing where it is overwritten later, and
 * what an earlier part lacks is still missing. */
TEST(events_of_stages_in_little_memory_count_once)
{
    static const char *const specs[] = {
        "trace(on_trace_ready=none),file=0.gnomon,mem=300KiB",
        "trace(on_trace_ready=none,keep=first),file=1.gnomon",
        "trace(on_trace_ready=none,keep=2steps),file=2.gnomon",
        "gaps,file=3.gnomon", "gaps(at=end),file=4.gnomon"};
    child_folder();
    for (int i = 0; i < 5; i++) {
        char path[16];
        CHECK_EQ(gnomon_attach(NULL, NULL, specs[i]), GNOMON_OK);
        uint64_t made = mark_four_stages();
        CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
        snprintf(path, sizeof path, "%d.gnomon", i);
        check_file(path, made);
    }
}

static uint64_t told_by_report;

static int add_told(void *self, const gnomon_profile *p,
                    const gnomon_writer *out)
{
    (void)self, (void)out;
    told_by_report += events(p) + missing(p, NULL);
    return GNOMON_OK;
}

static int take_run(void *self, const gnomon_profile *p,
                    const gnomon_writer *out)
{
    (void)self, (void)p, (void)out;
    return GNOMON_OK;
}

static const gnomon_profiler told_taper = {TAPES("told"), .summary = add_told};
/* Its window keeps the events of all stages. */
static const gnomon_profiler late_taper = {TAPES("late"), .summary = add_told,
                                           .events = take_run};

TEST(each_stage_is_told_of_its_own_losses)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=300KiB"), GNOMON_OK);
    attach(&late_taper, NULL);
    uint64_t made = mark_four_stages();
    CHECK_EQ(told_by_report, made);
}

/* ---- Cycles ------------------------------------------------------------------------ */

static uint64_t told_in_cycles;

static int add_cycle(void *self, const gnomon_profile *p,
                     const gnomon_writer *out)
{
    (void)self, (void)out;
    told_in_cycles += events(p) + missing(p, NULL);
    return GNOMON_OK;
}

static const gnomon_profiler cycle_taper = {TAPES("cycles"),
                                            .events = add_cycle};

static void mark_a_cycle(void)
{
    gnomon_stage_begin("fit");
    for (int i = 0; i < 10; i++) {
        gnomon_end(gnomon_begin(&scope_region));
        pass(1);
    }
    gnomon_step();
    pass(1);
}

/* Each allocation with which a cycle is delivered fails in turn. */
TEST(events_of_a_cycle_without_memory_are_missing_in_the_next)
{
    uint64_t failing = 0;
    attach(&cycle_taper, "schedule=active:1");
    do {
        mark_a_cycle();
        gnomon__test_fail_allocation(++failing);
        gnomon_stage_end();
    } while (gnomon__test_allocations() >= failing);
    gnomon__test_fail_allocation(0);
    CHECK(failing > 10);
    mark_a_cycle();
    gnomon_stage_end();
    CHECK_EQ(told_in_cycles, 10 * (failing + 1));
}

/* Though our thread comes to the end of the first one only then. */
TEST(a_cycle_that_nobody_gets_has_no_loss_of_the_next)
{
    attach(&taper, "schedule=active:1");
    gnomon__test_event_bytes = 0;
    gnomon__readers_lock();
    gnomon_step();
    pass(1);
    gnomon_end(gnomon_begin(&scope_region));
    gnomon__readers_unlock();
    usleep(20000);
    check_counts("taper", 1);
}

/* A range goes on over the end of a cycle, and ends here or on a thread that is new. */
TEST(a_new_thread_tells_of_a_cycle_what_an_old_one_does)
{
    uint64_t told[2];
    attach(&cycle_taper, "schedule=active:1");
    for (int is_there = 0; is_there < 2; is_there++) {
        told_in_cycles = 0;
        mark_a_cycle();
        gnomon_range range = gnomon_range_begin(&range_region);
        pass(1);
        gnomon_stage_end();
        gnomon_stage_begin("fit");
        if (is_there)
            end_range_there(range);
        else
            gnomon_range_end(range);
        pass(1);
        gnomon_stage_end();
        told[is_there] = told_in_cycles;
    }
    CHECK_EQ(told[0], 11); /* the range is missing in the second cycle */
    CHECK_EQ(told[1], told[0]);
}

static int has_stages(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    gnomon_event_info e;
    gnomon_node_info n;
    (void)self, (void)out;
    told_in_cycles += events(p);
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++)
        CHECK(!gnomon_profile_node(p, e.node, &n) && n.stage);
    return GNOMON_OK;
}

/* As what a thread begins at the run's end before it is cut. */
TEST(what_begins_at_the_runs_end_is_of_its_last_stage)
{
    const gnomon_profiler p = {TAPES("run"), .events = has_stages};
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach(&p, NULL);
    gnomon_end(gnomon_begin(&scope_region));
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(told_in_cycles, 1);
}

/* What belongs to which stage is no matter of time. */
TEST(stages_at_one_moment)
{
    enum { STAGES = 3, SCOPES = 10 };
    uint64_t told[STAGES];
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach(&told_taper, NULL);
    for (int stage = 0; stage < STAGES; stage++) {
        gnomon_stage_begin("fit");
        for (int i = 0; i < SCOPES; i++) {
            gnomon_end(gnomon_begin(&scope_region));
            gnomon_counter(&loss_region, i);
        }
        gnomon_stage_end();
        told[stage] = told_by_report;
    }
    CHECK_EQ(told[0], 2 * SCOPES);
    CHECK_EQ(told[1], 4 * SCOPES);
    CHECK_EQ(told[2], 6 * SCOPES);
}

TEST(a_stage_has_no_events_of_others)
{
    attach(&taper, "at=end");
    uint64_t made = mark_four_stages();
    gnomon_stage_begin("test");
    gnomon_mark(&mark_region);
    check_counts("taper", 1);
    gnomon_profile *p = profile_of("taper", 1);
    CHECK_EQ(events(p), made + 1);
    gnomon_profile_free(p);
}

TEST(reports_at_the_end_have_events)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach(&told_taper, "at=end");
    uint64_t made = mark_four_stages();
    CHECK_EQ(told_by_report, 0);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(told_by_report, made);
}

/* Returns how many events it made in steps 1, 3, 5, ... */
static uint64_t mark_two_hundred_steps(void)
{
    gnomon_stage_begin("fit");
    for (int step = 0; step < 200; step++) {
        pass(1);
        for (int i = 0; i < 100; i++) {
            gnomon_token scope = gnomon_begin(&scope_region);
            pass(1);
            gnomon_end(scope);
        }
        gnomon_step();
    }
    gnomon_stage_end();
    return 100 * 100;
}

/* More than fit one block of the thread. */
TEST(reports_of_a_schedule_have_all_its_events)
{
    attach(&told_taper, "schedule=wait:1/active:1");
    uint64_t made = mark_two_hundred_steps();
    CHECK_EQ(told_by_report, made);
}

TEST(reports_of_a_schedule_have_them_beside_a_trace)
{
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough"), GNOMON_OK);
    attach(&told_taper, "schedule=wait:1/active:1");
    attach(&late_taper, "schedule=wait:1/active:1");
    uint64_t made = mark_two_hundred_steps();
    CHECK_EQ(told_by_report, 2 * made);
}

/* The file has the events, whichever of its profilers is named first. */
TEST(a_file_of_two_profilers_has_events)
{
    static const char scheduled[] =
        "profile,trace(on_trace_ready=none,schedule=wait:1/active:1),"
        "file=2.gnomon";
    static const char *const specs[] = {
        "profile,trace(on_trace_ready=none),file=0.gnomon",
        "trace(on_trace_ready=none),profile,file=1.gnomon", scheduled};
    child_folder();
    for (int i = 0; i < 3; i++) {
        char path[16];
        gnomon_profile *p;
        CHECK_EQ(gnomon_attach(NULL, NULL, specs[i]), GNOMON_OK);
        uint64_t made = mark_two_hundred_steps();
        CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
        snprintf(path, sizeof path, "%d.gnomon", i);
        CHECK_EQ(gnomon_profile_load(&p, path), GNOMON_OK);
        CHECK_EQ(events(p), i == 2 ? made : 2 * made);
        gnomon_profile_free(p);
    }
}

/* ---- Without memory for paths -------------------------------------------------- */

enum { NAMES = 4000 };

static gnomon_region *many_region(int i, int kind)
{
    char name[16];
    snprintf(name, sizeof name, "%d-%d", kind, i);
    return gnomon_region_get(name, NULL, kind);
}

static void mark_many_names(void)
{
    for (int i = 0; i < NAMES; i++) {
        gnomon_token outer =
            gnomon_begin(many_region(i / 50, GNOMON_KIND_SCOPE));
        gnomon_range range =
            gnomon_range_begin(many_region(i, GNOMON_KIND_RANGE));
        gnomon_token inner =
            gnomon_begin(many_region(NAMES + i, GNOMON_KIND_SCOPE));
        gnomon_mark(many_region(i, GNOMON_KIND_MARK));
        pass(1);
        gnomon_end(inner);
        gnomon_range_end(range);
        gnomon_end(outer);
    }
}

TEST(names_without_memory)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach(&taper, NULL);
    mark_many_names();
    check_counts("taper", 4 * NAMES);
}

TEST(names_without_memory_beside_a_hook)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach(&taper, NULL);
    attach(&hook, NULL);
    mark_many_names();
    check_counts("taper", 4 * NAMES);
}

TEST(names_without_memory_of_two_trees)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach(&taper, NULL);
    attach(&other_taper, "exclude=zzz*");
    mark_many_names();
    check_counts("taper", 4 * NAMES);
    check_counts("other", 4 * NAMES);
}

static gnomon_range open_ranges[50];

static void *end_ranges(void *unused)
{
    for (int i = 0; i < 50; i++)
        gnomon_range_end(open_ranges[i]);
    return unused;
}

/* The thread that ends them has no memory for a tree. */
TEST(ranges_that_end_without_memory)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=128KiB"), GNOMON_OK);
    attach(&taper, NULL);
    for (int i = 0; i < 50; i++)
        open_ranges[i] = gnomon_range_begin(&range_region);
    mark_many_names();
    gnomon_health before = health_now();
    on_thread(end_ranges, NULL);
    CHECK_EQ(health_now().lost_scopes - before.lost_scopes, 50);
    check_counts("taper", 4 * NAMES);
}
