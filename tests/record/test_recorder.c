/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * A second recorder besides call trees, with a window of its own: it gets exactly the
 * scopes that began in it, and the trees are the same as without it. */
#include "marks.h"
#include "probe_profile.h"
#include "ring_recorder.h"

#define THREADS 4

static gnomon_region outer_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "outer", NULL, NULL);
static gnomon_region inner_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "inner", NULL, NULL);

static ring_record records[RING_SLOTS];

/* Inner inside outer, of so many ns each. */
static void nest(uint64_t inner_ns, uint64_t outer_ns)
{
    gnomon_token outer = gnomon_begin(&outer_region);
    gnomon_token inner = gnomon_begin(&inner_region);
    pass(inner_ns);
    gnomon_end(inner);
    pass(outer_ns - inner_ns);
    gnomon_end(outer);
}

static void check_record(uint32_t i, const gnomon_region *region,
                         uint32_t ticks)
{
    CHECK_EQ(records[i].key, region->id);
    CHECK_EQ(records[i].ticks, ticks);
}

static long long counted(const char *path)
{
    gnomon_profile *p = profile_of("probe", 1);
    long long count = p ? (long long)stats_at(p, path).count : 0;
    gnomon_profile_free(p);
    return count;
}

/* Tree first or ring first: the lower bit is called first. */
static void attach_both(int tree_first, const char *options)
{
    if (tree_first)
        attach_probe();
    CHECK_EQ(ring_attach(options), GNOMON_OK);
    if (!tree_first)
        attach_probe();
}

static void check_window(int tree_first)
{
    uint64_t dropped;
    attach_both(tree_first, "schedule=wait:2/active:3/repeat:1");
    for (uint64_t step = 0; step < 10; step++) {
        nest(10 + step, 100 + step);
        gnomon_step();
    }
    CHECK_EQ(ring_read(0, records, &dropped), 6);
    CHECK_EQ(dropped, 0);
    for (uint32_t i = 0; i < 3; i++) {
        check_record(2 * i, &inner_region, 12 + i);
        check_record(2 * i + 1, &outer_region, 102 + i);
        CHECK(records[2 * i].begin >= records[2 * i + 1].begin);
    }
    CHECK_EQ(ring_steps, 10);
    CHECK_EQ(counted("outer"), 10);
    CHECK_EQ(counted("outer>inner"), 10);
}

TEST(its_window_after_a_tree)
{
    check_window(1);
}

TEST(its_window_before_a_tree)
{
    check_window(0);
}

/* The begin decides: scopes that are open when the window opens are not in
 * it, those that are open when it closes are. */
static void check_over_the_edge(int tree_first)
{
    uint64_t dropped;
    attach_both(tree_first, "schedule=wait:1/active:1/repeat:1");
    gnomon_token before = gnomon_begin(&outer_region);
    gnomon_step_at(1);
    gnomon_token over = gnomon_begin(&inner_region);
    gnomon_step_at(2);
    pass(7);
    gnomon_end(over);
    gnomon_end(before);
    CHECK_EQ(ring_read(0, records, &dropped), 1);
    check_record(0, &inner_region, 7);
    CHECK_EQ(counted("outer>inner"), 1);
}

TEST(the_begin_decides_after_a_tree)
{
    check_over_the_edge(1);
}

TEST(the_begin_decides_before_a_tree)
{
    check_over_the_edge(0);
}

TEST(alone)
{
    uint64_t dropped;
    CHECK_EQ(ring_attach("schedule=wait:1/active:1"), GNOMON_OK);
    for (uint64_t step = 0; step < 6; step++) {
        nest(step + 1, step + 10);
        gnomon_step();
    }
    CHECK_EQ(ring_read(0, records, &dropped), 6);
    for (uint32_t i = 0; i < 3; i++) {
        check_record(2 * i, &inner_region, 2 * i + 2);
        check_record(2 * i + 1, &outer_region, 2 * i + 11);
    }
}

/* Actions: an end-only recorder is called at the end only, by each path. */
static void check_actions(int tree_first)
{
    uint64_t dropped;
    attach_both(tree_first, NULL);
    for (uint64_t i = 0; i < 5; i++) {
        gnomon_start("act");
        pass(i + 1);
        gnomon_stop("act");
    }
    CHECK_EQ(ring_read(0, records, &dropped), 5);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_EQ(records[i].ticks, i + 1);
    CHECK_EQ(counted("act"), 5);
}

TEST(actions_after_a_tree)
{
    check_actions(1);
}

TEST(actions_before_a_tree)
{
    check_actions(0);
}

/* Two trees, neither of which is the hot one. */
TEST(with_two_trees)
{
    uint64_t dropped;
    attach_probe();
    CHECK_EQ(ring_attach("schedule=wait:1/active:1"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other_probe, NULL, "exclude=inner"), GNOMON_OK);
    for (uint64_t step = 0; step < 6; step++) {
        nest(step + 1, step + 10);
        gnomon_step();
    }
    CHECK_EQ(ring_read(0, records, &dropped), 6);
    check_record(4, &inner_region, 6);
    CHECK_EQ(counted("outer>inner"), 6);
    gnomon_profile *p = profile_of("other_probe", 1);
    CHECK_EQ(stats_at(p, "outer").count, 6);
    CHECK_EQ(calls_of(p, "inner"), 0);
    gnomon_profile_free(p);
}

/* A scope that began with one tree ends while the windows of two are open. */
TEST(a_second_tree_comes_inside)
{
    uint64_t dropped;
    attach_probe();
    CHECK_EQ(ring_attach(""), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other_probe, NULL, "schedule=wait:1/active:1"),
             GNOMON_OK);
    gnomon_token outer = gnomon_begin(&outer_region);
    gnomon_step_at(1);
    gnomon_token inner = gnomon_begin(&inner_region);
    pass(5);
    gnomon_end(inner);
    pass(6);
    gnomon_end(outer);
    CHECK_EQ(ring_read(0, records, &dropped), 2);
    check_record(0, &inner_region, 5);
    check_record(1, &outer_region, 11);
    CHECK_EQ(counted("outer"), 1);
    CHECK_EQ(counted("outer>inner"), 1);
}

/* Its filter is its own, too. */
TEST(its_filter)
{
    uint64_t dropped;
    attach_both(1, "exclude=outer");
    nest(1, 2);
    CHECK_EQ(ring_read(0, records, &dropped), 1);
    check_record(0, &inner_region, 1);
    CHECK_EQ(counted("outer>inner"), 1);
}

TEST(it_counts_what_it_dropped)
{
    uint64_t dropped;
    attach_both(1, "");
    for (uint32_t i = 0; i < RING_SLOTS + 100; i++) {
        gnomon_token token = gnomon_begin(&inner_region);
        pass(i);
        gnomon_end(token);
    }
    CHECK_EQ(ring_read(0, records, &dropped), RING_SLOTS);
    CHECK_EQ(dropped, 100);
    check_record(0, &inner_region, 100);
    check_record(RING_SLOTS - 1, &inner_region, RING_SLOTS + 99);
    CHECK_EQ(counted("inner"), RING_SLOTS + 100);
}

/* Detached and attached again: nothing of the first time is left. */
TEST(it_comes_and_goes)
{
    uint64_t dropped;
    attach_probe();
    for (uint32_t round = 0; round < 5; round++) {
        CHECK_EQ(ring_attach(""), GNOMON_OK);
        nest(1 + round, 2);
        CHECK_EQ(ring_read(0, records, &dropped), 2);
        check_record(0, &inner_region, 1 + round);
        CHECK_EQ(ring_detach(), GNOMON_OK);
        nest(1, 2);
    }
    CHECK_EQ(counted("outer>inner"), 10);
}

/* A stage ends: cuts are the trees', and leave the ring alone. */
TEST(a_stage_ends)
{
    uint64_t dropped;
    attach_both(0, "");
    gnomon_stage_begin("fit");
    gnomon_token token = gnomon_begin(&outer_region);
    gnomon_stage_end();
    pass(3);
    gnomon_end(token);
    CHECK_EQ(ring_read(0, records, &dropped), 1);
    check_record(0, &outer_region, 3);
}

static long long of_all_threads(void)
{
    gnomon_profile *p = profile_of("probe", 1);
    long long count = (long long)calls_of(p, "inner");
    gnomon_profile_free(p);
    return count;
}

static void *mark_much(void *argument)
{
    for (uint32_t i = 0; i < 20000; i++)
        nest(1, 2);
    return argument;
}

TEST(each_thread_has_its_own)
{
    pthread_t threads[THREADS];
    uint64_t dropped;
    attach_both(0, "");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_much, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(ring_total(&dropped), THREADS * 40000);
    CHECK(dropped > 0 && dropped <= THREADS * 40000 - RING_SLOTS);
    CHECK_EQ(of_all_threads(), THREADS * 20000);
}

/* Windows open and close while threads mark: whatever they record, the tree
 * has all. */
TEST(windows_while_threads_mark)
{
    pthread_t threads[THREADS];
    uint64_t dropped, total;
    attach_both(1, "schedule=wait:1/active:1");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_much, NULL);
    for (int i = 0; i < 1000; i++)
        gnomon_step();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    total = ring_total(&dropped);
    CHECK(total <= THREADS * 40000);
    CHECK_EQ(of_all_threads(), THREADS * 20000);
}

/* ---- What end-only recorders must record --------------------------------- */

TEST(it_gets_scopes_that_an_outer_end_ends)
{
    uint64_t dropped;
    attach_both(1, NULL);
    gnomon_token outer = gnomon_begin(&outer_region);
    pass(1);
    gnomon_begin(&inner_region);
    pass(5);
    gnomon_end(outer);
    CHECK_EQ(ring_read(0, records, &dropped), 2);
    check_record(0, &inner_region, 5);
    check_record(1, &outer_region, 6);
}

/* A later recorder may get the bit of a detached one. */
TEST(it_does_not_get_scopes_begun_before_it)
{
    uint64_t dropped;
    attach_both(1, NULL);
    gnomon_token outer = gnomon_begin(&outer_region);
    CHECK_EQ(ring_detach(), GNOMON_OK);
    CHECK_EQ(ring_attach(NULL), GNOMON_OK);
    gnomon_token inner = gnomon_begin(&inner_region);
    pass(3);
    gnomon_end(inner);
    gnomon_end(outer);
    CHECK_EQ(ring_read(0, records, &dropped), 1);
    check_record(0, &inner_region, 3);
    CHECK_EQ(counted("outer"), 1);
}
