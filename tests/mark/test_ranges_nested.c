/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranges inside others: their paths, whichever thread and whatever order they end in.
 * links: testing */

#include "mark/thread.h"
#include "marks.h"
#include "probe_profile.h"

static gnomon_region *region(const char *name)
{
    return gnomon_region_get(name, NULL, GNOMON_KIND_RANGE);
}

static gnomon_range begin_in(const char *name, gnomon_range around)
{
    return gnomon_range_begin_in(region(name), around);
}

TEST(a_range_in_a_range_has_its_path)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token scope = gnomon_begin(region("scope"));
    gnomon_range a = begin_in("a", 0), b = begin_in("b", a), c;
    for (int i = 0; i < 3; i++) {
        c = begin_in("c", b);
        pass(2);
        gnomon_range_end(c);
    }
    gnomon_range_end(b);
    c = begin_in("c", a);
    gnomon_range_end(a); /* the outer one first */
    pass(1);
    gnomon_range_end(c);
    gnomon_end(scope);
    CHECK_HEALTH(before, .unmatched = 0);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 5);
    CHECK_NODE(p, "scope", 1, 7, 7);
    CHECK_NODE(p, "a", 1, 6, 0);
    CHECK_NODE(p, "a>b", 1, 6, 0);
    CHECK_NODE(p, "a>b>c", 3, 6, 0);
    CHECK_NODE(p, "a>c", 1, 1, 0);
    for (size_t i = 1; i <= 5; i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        CHECK_EQ(n.flags, path_is(p, i, "scope") ? 0 : GNOMON_NODE_RANGE);
    }
    gnomon_profile_free(p);
}

TEST(it_may_end_on_another_thread)
{
    attach_probe();
    gnomon_range a = begin_in("a", 0), b = begin_in("b", a);
    pass(3);
    end_range_there(b);
    gnomon_range_end(a);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_NODE(p, "a>b", 1, 3, 0);
    CHECK_EQ(calls_of(p, "a"), 1);
    gnomon_profile_free(p);
}

static void *begin_and_end_in(void *around)
{
    gnomon_range b = begin_in("b", *(gnomon_range *)around);
    pass(3);
    gnomon_range_end(b);
    return NULL;
}

TEST(it_may_begin_on_another_thread)
{
    attach_probe();
    gnomon_range a = begin_in("a", 0);
    on_thread(begin_and_end_in, &a);
    gnomon_range_end(a);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "a>b", 1, 3, 0);
    gnomon_profile_free(p);
}

/* What is no open range is nothing to be in. */
TEST(in_what_is_over_it_has_no_path)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token scope = gnomon_begin(region("scope"));
    gnomon_range over = begin_in("over", 0);
    gnomon_range_end(over);
    const gnomon_range around[] = {over, scope, 4711, UINT64_MAX};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        gnomon_range_end(begin_in("alone", around[i]));
    gnomon_end(scope);
    CHECK_HEALTH(before, .unmatched = 0);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "alone", 4, 0, 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 3);
    gnomon_profile_free(p);
}

/* A slot has room for the keys of 19 ranges around. */
TEST(deeper_ones_are_in_the_deepest_that_has_room)
{
    enum { DEEP = 30, ROOM = 19 };
    gnomon_range open[DEEP];
    char name[8], path[200] = "";
    attach_probe();
    for (int i = 0; i < DEEP; i++) {
        snprintf(name, sizeof name, "r%d", i);
        open[i] = begin_in(name, i ? open[i - 1] : 0);
    }
    for (int i = DEEP; i--;)
        gnomon_range_end(open[i]);
    gnomon_profile *p = profile_of("probe", 1);
    for (int i = 0; i < DEEP; i++) {
        size_t used = strlen(path);
        snprintf(path + used, sizeof path - used, "%sr%d", i ? ">" : "", i);
        CHECK_NODE(p, path, 1, 0, 0);
        if (i >= ROOM)
            path[used] = '\0';
    }
    gnomon_profile_free(p);
}

/* Its time is in the stage in which it began, and its path too. */
TEST(one_that_ends_in_a_later_stage_has_its_path)
{
    attach_probe();
    gnomon_stage_begin("one");
    gnomon_range a = begin_in("a", 0), b = begin_in("b", a);
    pass(2);
    gnomon_stage_end();
    gnomon_stage_begin("two");
    pass(3);
    gnomon_range_end(b);
    gnomon_range_end(a);
    gnomon_stage_end();
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    CHECK_NODE(p, "a", 1, 5, 0);
    CHECK_NODE(p, "a>b", 1, 5, 0);
    gnomon_profile_free(p);
}

/* ---- Beside hooks --------------------------------------------------------------- */

static int started, stopped;

static void hook_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    *slot = UINT64_MAX;
    started++;
}

static void hook_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    stopped += *slot == UINT64_MAX;
}

/* Slots of hooks take the room of the keys: with ten there is none. */
TEST(hooks_and_paths_share_the_room)
{
    enum { HOOKS = 10, DEEP = 4 };
    static gnomon_profiler hook = {.struct_size = sizeof hook,
                                   .abi = GNOMON_ABI,
                                   .wants = GNOMON_WANT_TIMES,
                                   .name = "hook",
                                   .start = hook_start,
                                   .stop = hook_stop};
    static int self[HOOKS];
    attach_probe();
    for (int n = 1; n <= HOOKS; n++) {
        CHECK_EQ(gnomon_attach(&hook, &self[n - 1], NULL), GNOMON_OK);
        gnomon_range open[DEEP] = {0};
        for (int i = 0; i < DEEP; i++)
            open[i] = begin_in("r", i ? open[i - 1] : 0);
        started = stopped = started - stopped;
        for (int i = 0; i < DEEP; i++)
            gnomon_range_end(open[i]);
        CHECK_EQ(stopped - started, n * DEEP);
        started = stopped = 0;
    }
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(stats_at(p, "r>r>r>r").count, 8); /* 3 keys: up to 8 hooks */
    CHECK_EQ(stats_at(p, "r>r").count, 9 + 2); /* 1 key: with nine */
    CHECK_EQ(calls_of(p, "r"), HOOKS * DEEP);
    gnomon_profile_free(p);
}

/* ---- Threads -------------------------------------------------------------------- */

enum { ROUNDS = 5000 };
static gnomon_range shared;

static void *begin_in_shared(void *start)
{
    pthread_barrier_wait(start);
    for (int i = 0; i < ROUNDS; i++) {
        gnomon_range around = __atomic_load_n(&shared, __ATOMIC_RELAXED);
        gnomon_range b = begin_in("b", around);
        gnomon_range_end(begin_in("c", b));
        gnomon_range_end(b);
    }
    return NULL;
}

/* It has the whole path of a range, or none, though that ends meanwhile. */
TEST(in_ranges_that_end_meanwhile)
{
    pthread_barrier_t start;
    pthread_t threads[2];
    attach_probe();
    pthread_barrier_init(&start, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, begin_in_shared, &start);
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++) {
        gnomon_range outer = begin_in(i & 1 ? "o" : "u", 0);
        gnomon_range a = begin_in(i & 1 ? "p" : "v", outer);
        __atomic_store_n(&shared, a, __ATOMIC_RELAXED);
        gnomon_range_end(a);
        gnomon_range_end(outer);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    gnomon_profile *p = profile_of("probe", 1);
    static const char *const paths[] = {"b",     "b>c",     "o>p>b", "o>p>b>c",
                                        "u>v>b", "u>v>b>c", "o",     "o>p",
                                        "u",     "u>v"};
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        int known = 0;
        for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
            known |= path_is(p, i, paths[k]);
        CHECK(known);
    }
    CHECK_EQ(calls_of(p, "b"), 2 * ROUNDS);
    CHECK_EQ(calls_of(p, "c"), 2 * ROUNDS);
    gnomon_profile_free(p);
}

/* A daemon that goes on in its child, again and again: what sets tokens of processes apart
 * leaves the slot's number alone. */
TEST(a_process_below_many_forks_ends_its_ranges)
{
    gnomon__forks = 129;
    attach_probe();
    gnomon_health before = health_now();
    gnomon_range a = begin_in("a", 0), b = begin_in("b", a);
    pass(2);
    gnomon_range_end(b);
    gnomon_range_end(a);
    CHECK_HEALTH(before, .unmatched = 0);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "a", 1, 2, 0);
    CHECK_NODE(p, "a>b", 1, 2, 0);
    gnomon_profile_free(p);
}
