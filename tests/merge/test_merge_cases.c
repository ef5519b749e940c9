/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Merging, case by case: which of two records of one run is kept, what belongs to no
 * run or to the file, inputs that change meanwhile, and merging without memory.
 * links: testing
 * threads: none
 * needs: cli */
#include "file_edit.h"
#include "merging.h"
#include "full_profile.h"

#include "platform/memory.h"

static gnomon_builder *new_builder(void)
{
    gnomon_builder *b = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    return b;
}

/* The file of what was built. */
static bytes file_of(gnomon_builder *b)
{
    gnomon_profile *p = full_finish(b);
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return file;
}

/* ---- Readings of one run ------------------------------------------------- */

typedef struct life {
    gnomon_builder *b;
    uint32_t run, track, region, stage, node;
} life;

/* `host`: NULL, or of its node. */
static life begin_life(const gnomon_stats *host, uint32_t flags)
{
    life l = {.b = new_builder()};
    l.run = gnomon_add_run(l.b, &(gnomon_run_info){.rank = 1, .uuid = "u"});
    l.track = gnomon_add_track(
        l.b, &(gnomon_track_info){.run = l.run, .name = "main"});
    l.region = gnomon_add_region(l.b, &(gnomon_region_info){.name = "r"});
    l.stage = gnomon_add_stage(
        l.b, &(gnomon_stage_info){
                 .run = l.run, .ordinal = 1, .name = "fit", .end_ns = 100});
    l.node = gnomon_add_node(
        l.b, &(gnomon_node_info){.track = l.track,
                                 .stage = l.stage,
                                 .region = l.region,
                                 .flags = GNOMON_NODE_PARTIAL | flags,
                                 .host = host});
    return l;
}

/* Counts and durations grow between readings. */
static bytes reading(int is_later)
{
    life l = begin_life(NULL, 0);
    gnomon_add_step(l.b, &(gnomon_step_info){.stage = l.stage,
                                             .number = 7,
                                             .phase = is_later ? 2 : 1,
                                             .begin_ns = 10,
                                             .end_ns = is_later ? 90 : 0});
    gnomon_add_link(l.b, &(gnomon_link_info){.from = l.node,
                                             .to = l.node,
                                             .count = is_later ? 5 : 2});
    gnomon_add_loss(l.b, &(gnomon_loss_info){.run = l.run,
                                             .kind = "lost_events",
                                             .count = is_later ? 9 : 4,
                                             .begin_ns = is_later ? 15 : 20,
                                             .end_ns = is_later ? 60 : 30});
    gnomon_add_metadata(
        l.b, &(gnomon_metadata_info){
                 .run = l.run, .key = "k", .json = is_later ? "8" : "3"});
    return file_of(l.b);
}

TEST(the_later_reading_holds)
{
    bytes early = reading(0), late = reading(1);
    gnomon_profile *p = merged_both_ways(early, late);
    gnomon_step_info step;
    gnomon_link_info link;
    gnomon_loss_info loss;
    gnomon_metadata_info data;
    CHECK_EQ(gnomon_profile_step(p, 1, &step), GNOMON_OK);
    CHECK(step.phase == 2 && step.begin_ns == 10 && step.end_ns == 90);
    CHECK_EQ(gnomon_profile_link(p, 1, &link), GNOMON_OK);
    CHECK_EQ(link.count, 5);
    CHECK_EQ(gnomon_profile_loss(p, 1, &loss), GNOMON_OK);
    CHECK(loss.count == 9 && loss.begin_ns == 15 && loss.end_ns == 60);
    CHECK_EQ(gnomon_profile_metadata(p, 1, &data), GNOMON_OK);
    CHECK_STR(data.json, "8");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LOSSES), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_METADATA), 1);
    gnomon_profile_free(p);
    free(early.at);
    free(late.at);
}

/* A range counts in no other node, also where a scope has its name; and stands behind it,
 * in whatever order they came. */
TEST(a_range_is_not_the_scope_of_its_name)
{
    const gnomon_cell cell = {10, 0, 1};
    const gnomon_stats s = {sizeof s, 0, 1, 10, 10, 10, 10, &cell, 1};
    bytes scope = file_of(begin_life(&s, 0).b),
          range = file_of(begin_life(&s, GNOMON_NODE_RANGE).b);
    gnomon_profile *p = merged_both_ways(scope, range);
    gnomon_node_info n;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 2);
    CHECK_EQ(gnomon_profile_node(p, 2, &n), GNOMON_OK);
    CHECK(n.flags & GNOMON_NODE_RANGE);
    gnomon_profile_free(p);
    free(scope.at);
    free(range.at);
}

/* Three executions of 300 ns in all: `first` of them in cell `low`. */
static bytes histogram(uint32_t low, uint64_t first)
{
    const gnomon_cell cells[] = {{low, 0, first}, {99, 0, 3 - first}};
    const gnomon_stats s = {sizeof s, 0, 3, 300, 300, 50, 150, cells, 2};
    return file_of(begin_life(&s, 0).b);
}

/* Equal sums do not hide different histograms. */
TEST(readings_that_differ_in_a_cell_alone)
{
    bytes few = histogram(80, 1), more = histogram(80, 2),
          above = histogram(81, 1);
    gnomon_profile *p = merged_both_ways(few, more);
    gnomon_node_info n;
    gnomon_profile_node(p, 1, &n);
    CHECK(n.host->count == 3 && n.host->cells[0].count == 2);
    gnomon_profile_free(p);
    p = merged_both_ways(more, above);
    gnomon_profile_node(p, 1, &n);
    CHECK(n.host->count == 3 && n.host->cells[0].cell == 81);
    gnomon_profile_free(p);
    free(few.at);
    free(more.at);
    free(above.at);
}

/* One slow step, of which no bin is known. */
static bytes without_bins(uint64_t width)
{
    gnomon_builder *b = new_builder();
    const gnomon_slow_step slow = {.struct_size = sizeof slow, .ns = width};
    gnomon_add_run(b, &(gnomon_run_info){.rank = 1});
    gnomon_add_stage(
        b, &(gnomon_stage_info){.run = 1, .ordinal = 1, .name = "fit"});
    gnomon_add_strip(
        b, &(gnomon_strip_info){
               .stage = 1, .width = width, .slow = &slow, .slow_count = 1});
    return file_of(b);
}

TEST(strips_without_bins)
{
    bytes narrow = without_bins(2), wide = without_bins(8);
    gnomon_profile *p = merged_both_ways(narrow, wide);
    gnomon_strip_info s;
    gnomon_profile_strip(p, 1, &s);
    CHECK_EQ(s.width, 8);
    CHECK_EQ(s.slow_count, 2);
    gnomon_profile_free(p);
    free(narrow.at);
    free(wide.at);
}

/* A counter of `count` samples of `value`, and `nans` NaN ones, of a run
 * without identity. */
static bytes counted(uint64_t count, double value, uint64_t nans)
{
    gnomon_builder *b = new_builder();
    double sum = (double)count * value;
    gnomon_add_run(b, &(gnomon_run_info){.rank = 1});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .name = "main"});
    gnomon_add_region(b, &(gnomon_region_info){.name = "loss"});
    gnomon_add_counter(b, &(gnomon_counter_info){.track = 1,
                                                 .region = 1,
                                                 .count = count,
                                                 .last = value,
                                                 .min = value,
                                                 .max = value,
                                                 .sum = sum,
                                                 .nans = nans});
    return file_of(b);
}

/* The zero sum of a counter without samples is no value. */
TEST(counters_without_numbers)
{
    bytes none = counted(0, 0, 2), below = counted(3, -5, 1),
          above = counted(2, 7, 0);
    gnomon_counter_info c;
    gnomon_profile *p = merged_both_ways(none, below);
    CHECK_EQ(gnomon_profile_counter(p, 1, &c), GNOMON_OK);
    CHECK(c.count == 3 && c.max < 0 && c.last < 0 && c.nans == 3);
    gnomon_profile_free(p);
    p = merged_both_ways(none, above);
    CHECK_EQ(gnomon_profile_counter(p, 1, &c), GNOMON_OK);
    CHECK(c.count == 2 && c.min > 0 && c.sum > 13 && c.nans == 2);
    gnomon_profile_free(p);
    p = merged_both_ways(none, none);
    CHECK_EQ(gnomon_profile_counter(p, 1, &c), GNOMON_OK);
    CHECK(c.count == 0 && c.nans == 4);
    gnomon_profile_free(p);
    p = merged_both_ways(below, above);
    CHECK_EQ(gnomon_profile_counter(p, 1, &c), GNOMON_OK);
    CHECK(c.count == 5 && c.min < 0 && c.max > 0 && c.nans == 1);
    gnomon_profile_free(p);
    free(none.at);
    free(below.at);
    free(above.at);
}

/* Two opens since one time stay two, however often readings repeat them. */
TEST(open_since_one_moment)
{
    life l = begin_life(NULL, 0);
    uint32_t node = gnomon_add_node(l.b, &(gnomon_node_info){.track = l.track,
                                                             .stage = l.stage,
                                                             .region = l.region,
                                                             .parent = l.node,
                                                             .open = 2});
    for (int i = 0; i < 2; i++)
        gnomon_add_open(
            l.b,
            &(gnomon_open_info){.track = l.track, .node = node, .begin_ns = 6});
    bytes b = file_of(l.b);
    gnomon_profile *p = merged_both_ways(b, b);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 2);
    gnomon_profile_free(p);
    free(b.at);
}

/* So many readings that they are merged before all are read. */
TEST(many_events_of_one_run)
{
    enum { MANY = 3000 };
    life l = begin_life(NULL, 0);
    for (uint64_t i = 0; i < MANY; i++)
        gnomon_add_event(l.b, &(gnomon_event_info){.kind = GNOMON_EVENT_MARK,
                                                   .track = l.track,
                                                   .region = l.region,
                                                   .begin_ns = i / 2});
    bytes b = file_of(l.b), thrice[] = {b, b, b};
    bytes once = merged(&b, 1), again = merged(thrice, 3);
    CHECK(bytes_equal(&once, &again));
    gnomon_profile *p = read_back(&again);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), MANY);
    gnomon_profile_free(p);
    free(b.at);
    free(once.at);
    free(again.at);
}

/* ---- One stage ------------------------------------------------------------------- */

/* A mark with a path belongs to the path's stage; one without to the stage
 * of its time. */
TEST(events_of_one_stage)
{
    static const gnomon__stage_filter fit = {1, "fit", GNOMON__ALL_VIEWS};
    life l = begin_life(NULL, 0);
    gnomon_event_info e = {.kind = GNOMON_EVENT_MARK,
                           .track = l.track,
                           .region = l.region,
                           .begin_ns = 50};
    gnomon_add_stage(l.b, &(gnomon_stage_info){.run = l.run,
                                               .ordinal = 2,
                                               .name = "test",
                                               .begin_ns = 101,
                                               .end_ns = 200});
    gnomon_add_event(l.b, &e);
    e.begin_ns = 150;
    gnomon_add_event(l.b, &e);
    e.begin_ns = 160;
    e.node = l.node; /* of "fit", though late */
    gnomon_add_event(l.b, &e);
    gnomon_profile *p = full_finish(l.b), *out = NULL;
    gnomon__shared shared = {.m = NULL};
    gnomon__unite *u = NULL;
    CHECK_EQ(gnomon__shared_add(&shared, p), GNOMON_OK);
    CHECK_EQ(gnomon__shared_order(&shared), GNOMON_OK);
    CHECK_EQ(gnomon__unite_create(&u, &shared, 0), GNOMON_OK);
    CHECK_EQ(gnomon__unite_add(u, p, 1, &fit), GNOMON_OK);
    CHECK_EQ(gnomon__unite_finish(u, GNOMON_OK, &out), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(out, GNOMON_EVENTS), 2);
    gnomon_profile_event(out, 1, &e);
    CHECK_EQ(e.begin_ns, 50);
    gnomon_profile_event(out, 2, &e);
    CHECK_EQ(e.begin_ns, 160);
    gnomon_profile_free(p);
    gnomon_profile_free(out);
    gnomon__shared_free(&shared);
}

/* ---- Times of views ------------------------------------------------------ */

/* Of two views: `fit` was recorded by both, `test` too, but a time is lost, and `idle` by
 * the first alone. */
static gnomon_profile *of_two_views(void)
{
    static const char *const names[] = {"fit", "test", "idle"};
    life l = begin_life(NULL, 0);
    uint32_t view[2];
    for (uint32_t i = 0; i < 2; i++)
        view[i] = gnomon_add_view(
            l.b, &(gnomon_view_info){.words = i ? "schedule=active:1" : ""});
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t stage =
            gnomon_add_stage(l.b, &(gnomon_stage_info){.run = l.run,
                                                       .ordinal = i + 2,
                                                       .name = names[i],
                                                       .end_ns = 100,
                                                       .recorded_ns = 100});
        for (uint32_t k = 0; k < (i == 2 ? 1 : 2); k++)
            gnomon_add_node(l.b, &(gnomon_node_info){.track = l.track,
                                                     .stage = stage,
                                                     .view = view[k],
                                                     .region = l.region});
        gnomon_view_time_info t = {
            .stage = stage, .view = view[0], .recorded_ns = 100};
        gnomon_add_view_time(l.b, &t);
        t.view = view[1];
        t.recorded_ns = 25;
        if (i == 0)
            gnomon_add_view_time(l.b, &t);
    }
    return full_finish(l.b);
}

/* The stage of this name in the second view: its recorded time; -1: it is left out. */
static int recorded_in_view(const gnomon_profile *p, uint32_t ordinal,
                            const char *name)
{
    const gnomon__stage_filter only = {ordinal, name, 2};
    gnomon__shared shared = {.m = NULL};
    gnomon__unite *u = NULL;
    gnomon_profile *out = NULL;
    gnomon_stage_info s;
    CHECK_EQ(gnomon__shared_add(&shared, p), GNOMON_OK);
    CHECK_EQ(gnomon__shared_order(&shared), GNOMON_OK);
    CHECK_EQ(gnomon__unite_create(&u, &shared, 0), GNOMON_OK);
    CHECK_EQ(gnomon__unite_add(u, p, 1, &only), GNOMON_OK);
    int has_stages = gnomon__unite_has_stages(u);
    CHECK_EQ(gnomon__unite_finish(u, GNOMON_OK, &out), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(out, GNOMON_STAGES), (size_t)has_stages);
    CHECK_EQ(gnomon_profile_count(out, GNOMON_VIEW_TIMES), 0);
    int ns = gnomon_profile_stage(out, 1, &s) ? -1 : (int)s.recorded_ns;
    gnomon_profile_free(out);
    gnomon__shared_free(&shared);
    return ns;
}

TEST(a_stage_of_one_view_has_the_time_of_that_view)
{
    gnomon_profile *p = of_two_views();
    CHECK_EQ(recorded_in_view(p, 2, "fit"), 25);
    CHECK_EQ(recorded_in_view(p, 3, "test"), 100);
    CHECK_EQ(recorded_in_view(p, 4, "idle"), -1);
    gnomon_profile_free(p);
}

/* ---- Entities of no run -------------------------------------------------- */

/* Of two executions of so many ns each. */
static bytes of_no_run(uint64_t ns)
{
    gnomon_cell cell;
    const gnomon_stats s = full_stats(&cell, 2, ns, 2 * ns);
    gnomon_builder *b = new_builder();
    gnomon_add_track(b, &(gnomon_track_info){.name = "main"});
    gnomon_add_region(b, &(gnomon_region_info){.name = "r"});
    gnomon_add_node(b,
                    &(gnomon_node_info){.track = 1, .region = 1, .host = &s});
    gnomon_add_loss(b, &(gnomon_loss_info){.kind = "k", .count = 3});
    return file_of(b);
}

/* They are summed, and stay of no run unless others have one. */
TEST(profiles_of_no_run)
{
    bytes none = of_no_run(50), some = file_of(begin_life(NULL, 0).b);
    gnomon_profile *p = merged_both_ways(none, none);
    gnomon_node_info n;
    gnomon_loss_info l;
    gnomon_run_info run;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_TRACKS), 1);
    CHECK_EQ(gnomon_profile_node(p, 1, &n), GNOMON_OK);
    CHECK_EQ(n.host->count, 4);
    CHECK_EQ(gnomon_profile_loss(p, 1, &l), GNOMON_OK);
    CHECK_EQ(l.count, 6);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LOSSES), 1);
    gnomon_profile_free(p);
    p = merged_both_ways(none, some);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 2);
    CHECK_EQ(gnomon_profile_run(p, 1, &run), GNOMON_OK);
    CHECK_EQ(run.rank, -1);
    CHECK_EQ(gnomon_profile_loss(p, 1, &l), GNOMON_OK);
    CHECK(l.run == 1 && l.count == 3);
    gnomon_profile_free(p);
    free(none.at);
    free(some.at);
}

/* Runs that overlap in the file, so that it is read for each of them; and it
 * has no end. */
static bytes ranks_cut(int32_t first, int32_t second)
{
    gnomon_builder *b = new_builder();
    gnomon_add_run(b, &(gnomon_run_info){.rank = first});
    gnomon_add_run(b, &(gnomon_run_info){.rank = second});
    for (uint32_t i = 0; i < 4; i++)
        gnomon_add_track(b, &(gnomon_track_info){.run = 1 + i % 2, .index = i});
    bytes file = file_of(b);
    file.size = find_section(&file, "END ");
    return file;
}

TEST(losses_of_a_file_count_once)
{
    bytes a = ranks_cut(0, 2), b = ranks_cut(1, 3);
    b.at[find_section(&b, "TRCK") + GNOMON__SECTION_HEADER] ^= 1;
    gnomon_profile *p = merged_both_ways(a, b);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 4);
    CHECK_EQ(loss_of(p, "the end of the file"), 2);
    CHECK(loss_of(p, "unreadable: bytes") > 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LOSSES), 2);
    gnomon_profile_free(p);
    free(a.at);
    free(b.at);
}

/* ---- Inputs that change -------------------------------------------------- */

TEST(an_input_that_changed_is_an_error)
{
    bytes old = file_of(begin_life(NULL, 0).b), other = of_no_run(50);
    bytes inputs[] = {old, other}; /* the first is closed for the second */
    gnomon__merge *m = merge_of(inputs, 2);
    gnomon_profile *p = full_of("0");
    inputs[0] = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    CHECK_EQ(gnomon__merge_run(m, 1, &p), GNOMON_EINVAL);
    CHECK(p == NULL);
    CHECK_STR(gnomon_error_text(),
              "it is not what it was: written anew while it was read?");
    gnomon__merge_free(m);
    free(old.at);
    free(other.at);
    free(inputs[0].at);
}

/* Ranks have no common zero time. */
TEST(links_of_a_sum_name_no_execution_or_moment)
{
    gnomon_builder *b = new_builder();
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .name = "main"});
    gnomon_add_region(b, &(gnomon_region_info){.name = "load"});
    gnomon_add_node(b, &(gnomon_node_info){.track = 1, .region = 1});
    gnomon_add_link(b, &(gnomon_link_info){.from = 1,
                                           .to = 1,
                                           .count = 1,
                                           .from_instance = 7,
                                           .to_instance = 8,
                                           .from_ns = 70,
                                           .to_ns = 80});
    bytes file = file_of(b), whole = merged(&file, 1),
          sum = summed(&file, 1, NULL);
    gnomon_link_info l;
    gnomon_profile *p = read_back(&whole);
    CHECK_EQ(gnomon_profile_link(p, 1, &l), GNOMON_OK);
    CHECK(l.from_instance == 7 && l.from_ns == 70 && l.to_ns == 80);
    gnomon_profile_free(p);
    p = read_back(&sum);
    CHECK_EQ(gnomon_profile_link(p, 1, &l), GNOMON_OK);
    CHECK(!l.from_instance && !l.to_instance && !l.from_ns && !l.to_ns);
    gnomon_profile_free(p);
    free(sum.at);
    free(whole.at);
    free(file.at);
}

TEST(a_missing_run_is_reported)
{
    bytes b = file_of(begin_life(NULL, 0).b);
    gnomon__merge *m = merge_of(&b, 1);
    gnomon_profile *p = read_back(&b);
    gnomon__unite *u;
    CHECK_EQ(gnomon__unite_create(&u, gnomon__merge_shared(m), 0), GNOMON_OK);
    CHECK_EQ(gnomon__unite_add(u, p, 2, NULL), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(),
              "it is not what it was: written anew while it was read?");
    gnomon__unite_free(u);
    gnomon_profile_free(p);
    gnomon__merge_free(m);
    free(b.at);
}

/* ---- Without memory -------------------------------------------------------------- */

/* All of a merge, up to the first error. */
static int try_merge(bytes *inputs, size_t count)
{
    const gnomon__merge_inputs from = {count, merging_open, merging_close,
                                       inputs, 0};
    gnomon__merge *m;
    gnomon_profile *p = NULL;
    int code = gnomon__merge_create(&m, &from, GNOMON__EVERY_KIND);
    for (size_t i = 0; !code && i < count; i++)
        code = gnomon__merge_scan(m, i);
    if (!code)
        code = gnomon__merge_order(m);
    for (size_t i = 0; !code && i <= gnomon__merge_count(m); i++) {
        code = i < gnomon__merge_count(m) ? gnomon__merge_run(m, i, &p)
                                          : gnomon__merge_rest(m, &p);
        CHECK_EQ(!p, code != GNOMON_OK);
        gnomon_profile_free(p);
    }
    gnomon__merge_free(m);
    return code;
}

/* The n-th allocation of a scenario failed, or there are fewer. */
static int is_fair(int code, uint32_t n)
{
    int failed = gnomon__test_allocations() >= n;
    gnomon__test_fail_allocation(0);
    if (!CHECK_EQ(code, failed ? GNOMON_ENOMEM : GNOMON_OK) ||
        !CHECK(!code || strstr(gnomon_error_text(), "no memory")))
        fprintf(stderr, "    allocation %u: %s\n", (unsigned)n,
                gnomon_error_text());
    return failed;
}

static void merge_each(bytes *inputs, size_t count)
{
    uint32_t n = 0;
    int code;
    do {
        gnomon__test_fail_allocation(++n);
        code = try_merge(inputs, count);
    } while (is_fair(code, n) && CHECK(n < 1000));
}

/* Readings whose cells become more, stages that become more, sums of no run
 * whose cells become more, and damage. */
TEST(each_allocation_may_fail)
{
    uint64_t before = gnomon__heap_bytes();
    gnomon_cell cell;
    const gnomon_stats s = full_stats(&cell, 2, 50, 100);
    life l = begin_life(NULL, 0);
    for (uint32_t i = 2; i < 100; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u", (unsigned)i);
        gnomon_add_stage(l.b, &(gnomon_stage_info){
                                  .run = l.run, .ordinal = i, .name = name});
    }
    bytes all[] = {file_of(begin_life(&s, 0).b),
                   histogram(80, 1),
                   file_of(l.b),
                   of_no_run(50),
                   of_no_run(900),
                   ranks_cut(0, 2)};
    merge_each(NULL, 0);
    merge_each(all, sizeof all / sizeof *all);
    merge_each(&all[3], 2);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i].at);
    CHECK_EQ(gnomon__heap_bytes(), before);
}

/* A profile merged with itself, or what `only` selects of it. */
static int try_unite(const gnomon_profile *p, const gnomon__stage_filter *only)
{
    gnomon__shared shared = {.m = NULL};
    gnomon__unite *u = NULL;
    gnomon_profile *out = NULL;
    int code = gnomon__shared_add(&shared, p);
    if (!code)
        code = gnomon__shared_order(&shared);
    if (!code)
        code = gnomon__unite_create(&u, &shared, 0);
    if (!code)
        code = gnomon__unite_add(u, p, 1, only);
    if (!code)
        code = gnomon__unite_finish(u, GNOMON_OK, &out);
    else
        gnomon__unite_free(u);
    gnomon_profile_free(out);
    gnomon__shared_free(&shared);
    return code;
}

TEST(the_time_of_a_view_may_lack_memory)
{
    static const gnomon__stage_filter only = {2, "fit", 2};
    gnomon_profile *p = of_two_views();
    uint64_t before = gnomon__heap_bytes();
    uint32_t n = 0;
    int code;
    do {
        gnomon__test_fail_allocation(++n);
        code = try_unite(p, &only);
    } while (is_fair(code, n) && CHECK(n < 1000));
    CHECK_EQ(gnomon__heap_bytes(), before);
    gnomon_profile_free(p);
}

TEST(each_piece_may_lack_memory)
{
    uint64_t before = gnomon__heap_bytes();
    for (size_t pad = FULL_PAD_FROM; pad < FULL_PAD_TO; pad += FULL_PAD_STEP) {
        gnomon_profile *p = full_padded(pad);
        uint32_t n = 0;
        int code;
        do {
            gnomon__test_fail_allocation(++n);
            code = try_unite(p, NULL);
        } while (is_fair(code, n) && CHECK(n < 1000));
        gnomon_profile_free(p);
    }
    CHECK_EQ(gnomon__heap_bytes(), before);
}
