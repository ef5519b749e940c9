/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Executions that cross: actions that overlap, with totals and selfs computed by
 * hand; scopes ended by the end of one around them, with views that see some of
 * them; ends that leave open what is inside; and scopes that always overlap.
 * links: testing */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"

/* ---- Selfs of crossed actions, by hand ---------------------------------------------------- */

/* Each letter: start it, or stop it if it is open; a digit: so many ns. */
static void play(const char *program)
{
    char open[128] = {0}, name[2] = {0};
    for (; *program; program++) {
        if (*program >= '0' && *program <= '9') {
            pass((uint64_t)(*program - '0'));
            continue;
        }
        name[0] = *program;
        char *is_open = &open[(unsigned char)*program & 127];
        if (*is_open)
            gnomon_stop(name);
        else
            gnomon_start(name);
        *is_open = !*is_open;
    }
}

TEST(two_that_cross)
{
    attach_probe();
    play("A1B2A4B"); /* A from 0 to 3, B from 1 to 7 */
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "A", 1, 3, 1);
    CHECK_NODE(p, "A>B", 1, 6, 6);
    gnomon_profile_free(p);
}

TEST(three_that_cross_inside_one)
{
    attach_probe();
    /* O [0, 30]; A [1, 6], B [3, 12], C [5, 20]; each ends the first begun. */
    play("O1A2B2C1A6B8C9O");
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "O", 1, 29, 1 + 9);
    CHECK_NODE(p, "O>A", 1, 5, 2);
    CHECK_NODE(p, "O>A>B", 1, 9, 2);
    CHECK_NODE(p, "O>A>B>C", 1, 15, 15);
    gnomon_profile_free(p);
}

TEST(the_middle_one_goes_first)
{
    attach_probe();
    /* B stops while C is open, then C, then A: A is innermost again. */
    play("A1B2C3B4C5A");
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "A", 1, 15, 6);
    CHECK_NODE(p, "A>B", 1, 5, 2);
    CHECK_NODE(p, "A>B>C", 1, 7, 7);
    gnomon_profile_free(p);
}

TEST(always_crossing)
{
    attach_probe();
    for (int i = 0; i < 100; i++)
        play("A1B2A4B"); /* prediction must not mix the paths */
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 2);
    CHECK_NODE(p, "A", 100, 300, 100);
    CHECK_NODE(p, "A>B", 100, 600, 600);
    gnomon_profile_free(p);
}

/* One scope was open at all times: selfs add up to the time that passed. */
TEST(always_one_is_open)
{
    attach_probe();
    gnomon_start("A");
    for (int i = 0; i < 500; i++) {
        gnomon_start("B");
        pass(3);
        gnomon_stop("A");
        pass(4);
        gnomon_start("A");
        pass(5);
        gnomon_stop("B");
        pass(6);
    }
    gnomon_stop("A");
    uint64_t self = 0;
    gnomon_profile *p = profile_of("probe", 0);
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        self += n.host->self_ns;
    }
    CHECK_EQ(self, 500 * 18);
    CHECK_EQ(calls_of(p, "A"), 501);
    CHECK_EQ(calls_of(p, "B"), 500);
    gnomon_profile_free(p);
}

/* ---- Scopes of several views -------------------------------------------------------- */

static uint64_t starts, stops;

static void on_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    starts++;
    *slot = frame->token;
}

static void on_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    stops += *slot == frame->token;
}

static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                     .abi = GNOMON_ABI,
                                     .name = "hook",
                                     .start = on_start,
                                     .stop = on_stop};

static gnomon_token begin(const char *name)
{
    return gnomon_begin(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE));
}

/* The end of `outer` ends `inner`, though nobody sees both. */
static void cross_once(const char *outer, const char *inner)
{
    gnomon_health before = health_now();
    gnomon_token a = begin(outer);
    pass(1);
    gnomon_token b = begin(inner);
    pass(2);
    gnomon_end(a);
    CHECK_HEALTH(before, .crossed = 1);
    pass(4);
    gnomon_end(b);
    CHECK_HEALTH(before, .crossed = 1, .unmatched = 1);
}

TEST(a_hook_sees_one_and_a_tree_the_other)
{
    CHECK_EQ(gnomon_attach(&probe, NULL, "filter=tree*"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, "filter=hook*"), GNOMON_OK);
    cross_once("hook", "tree");
    CHECK_EQ(starts, 1);
    CHECK_EQ(stops, 1);
    cross_once("tree", "hook");
    CHECK_EQ(starts, 2);
    CHECK_EQ(stops, 2);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "tree", 2, 2 + 3, 5);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    gnomon_profile_free(p);
}

/* What a tree alone saw begin last ends first. */
TEST(the_newest_ends_first)
{
    CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, "filter=hook*"), GNOMON_OK);
    gnomon_token outer = begin("outer");
    begin("hook");
    begin("inner");
    gnomon_end(outer);
    gnomon_profile *p = profile_of("probe", 0);
    gnomon_node_info n[2];
    gnomon_profile_node(p, node_at(p, 0, 0, "outer>hook>inner"), &n[0]);
    gnomon_profile_node(p, node_at(p, 0, 0, "outer>hook"), &n[1]);
    CHECK(n[0].first < n[1].first);
    gnomon_profile_free(p);
}

/* What began inside one that ended alone ends with the next one around it. */
TEST(a_hook_sees_one_inside_two_of_a_tree)
{
    CHECK_EQ(gnomon_attach(&probe, NULL, "filter=tree*"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, "filter=hook*"), GNOMON_OK);
    for (int i = 0; i < 6; i++) {
        gnomon_health before = health_now();
        uint64_t was = stops;
        gnomon_token outer = begin("tree outer"), inner = 0, above = 0;
        if (i % 2)
            gnomon_start("tree action");
        else
            inner = begin("tree inner");
        begin("hook");
        if (i / 2 == 1)
            above = begin("tree above");
        if (i % 2)
            gnomon_stop("tree action");
        else
            gnomon_end_alone(inner);
        if (above)
            gnomon_end(above);
        CHECK_EQ(stops, was);
        gnomon_end(outer);
        CHECK_EQ(stops, was + 1);
        CHECK_HEALTH(before, .crossed = 1);
    }
}

TEST(two_trees_see_one_each)
{
    CHECK_EQ(gnomon_attach(&probe, NULL, "filter=one"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other_probe, NULL, "filter=two"), GNOMON_OK);
    cross_once("one", "two");
    cross_once("two", "one");
    gnomon_profile *p = profile_of("probe", 0);
    gnomon_profile *q = profile_of("other_probe", 0);
    CHECK_NODE(p, "one", 2, 3 + 2, 5);
    CHECK_NODE(q, "two", 2, 2 + 3, 5);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

/* Each observer sees both: a tree and a hook. */
TEST(a_tree_and_a_hook_see_both)
{
    attach_probe();
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    cross_once("a", "b");
    CHECK_EQ(starts, 2);
    CHECK_EQ(stops, 2);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 3, 1);
    CHECK_NODE(p, "a>b", 1, 2, 2);
    gnomon_profile_free(p);
}

/* ---- Ends that need not nest ------------------------------------------------- */

/* `a` ends 3 ns after it began, `b`, begun after 1, goes on to 7, `c` to 9. */
static void end_alone(void)
{
    gnomon_token a = begin("a");
    pass(1);
    gnomon_token b = begin("b");
    pass(2);
    gnomon_end_alone(a);
    pass(1);
    gnomon_token c = begin("c");
    pass(3);
    gnomon_end_alone(b);
    pass(2);
    gnomon_end_alone(c);
}

static void check_alone(gnomon_profile *p, uint64_t times)
{
    CHECK_NODE(p, "a", times, 3 * times, times);
    CHECK_NODE(p, "a>b", times, 6 * times, 3 * times);
    CHECK_NODE(p, "a>b>c", times, 5 * times, 5 * times);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    gnomon_profile_free(p);
}

TEST(an_end_alone_leaves_the_others_open)
{
    attach_probe();
    gnomon_health before = health_now();
    for (int i = 0; i < 100; i++)
        end_alone();
    CHECK_HEALTH(before, .crossed = 0);
    check_alone(profile_of("probe", 0), 100);
    /* With another tree each has a frame. */
    gnomon_detach(&probe, NULL);
    attach_probe();
    CHECK_EQ(gnomon_attach(&other_probe, NULL, NULL), GNOMON_OK);
    end_alone();
    CHECK_HEALTH(before, .crossed = 0);
    check_alone(profile_of("probe", 0), 1);
    check_alone(profile_of("other_probe", 0), 1);
}

TEST(the_innermost_may_end_alone)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token a = begin("a"), b = begin("b");
    pass(3);
    gnomon_end_alone(b);
    gnomon_end_alone(a);
    CHECK_HEALTH(before, .crossed = 0);
    gnomon_end_alone(a);
    CHECK_HEALTH(before, .unmatched = 1);
    gnomon_end_alone(0);
    gnomon_end_alone(a ^ 1ull << 60);
    CHECK_HEALTH(before, .unmatched = 1, .foreign = 1);
}

/* Callbacks see scopes nested, except actions. */
TEST(hooks_see_that_scopes_nest)
{
    attach_probe();
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    gnomon_health before = health_now();
    gnomon_token a = begin("a");
    pass(1);
    gnomon_token b = begin("b");
    pass(2);
    gnomon_end_alone(a);
    CHECK_HEALTH(before, .crossed = 1);
    CHECK_EQ(stops, 2);
    gnomon_end_alone(b);
    CHECK_HEALTH(before, .crossed = 1, .unmatched = 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a>b", 1, 2, 2);
    gnomon_profile_free(p);
}

/* The tree marks special nodes by bits of their tokens: a forged token with
 * such bits ends nothing. */
TEST(no_token_has_the_bits_of_a_node)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token a = begin("a"), b = begin("b"), c = begin("c");
    pass(1);
    gnomon_end_alone(b);
    gnomon_start("d");
    for (int bit = 61; bit < 64; bit++)
        gnomon_end(c ^ 1ull << bit);
    gnomon_open_scope open[4] = {{.struct_size = sizeof *open}};
    CHECK_EQ(gnomon_thread_stack(0, open, 4), 3);
    gnomon_end(open[2].token ^ 1ull << 62);
    CHECK_HEALTH(before, .unmatched = 4);
    pass(2);
    gnomon_stop("d");
    gnomon_end(c);
    gnomon_end(a);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a>b>c", 1, 3, 1);
    CHECK_NODE(p, "a>b>c>d", 1, 2, 2);
    CHECK_NODE(p, "a", 1, 3, 0);
    gnomon_profile_free(p);
}

/* Past the limit of depth there is one node, "(other)", and only a count of what is
 * open below it. */
TEST(an_end_alone_past_the_limit)
{
    static gnomon_token t[1040];
    attach_probe();
    for (int first = 1020; first < 1030; first++) {
        gnomon_health before = health_now();
        for (int i = 0; i < 1040; i++)
            t[i] = begin("deep");
        gnomon_end_alone(t[first]);
        gnomon_end_alone(t[1035]);
        for (int i = 1040; i-- > 0;)
            if (i != first && i != 1035)
                (i % 3 ? gnomon_end : gnomon_end_alone)(t[i]);
        gnomon_health after = health_now();
        CHECK_EQ(after.crossed, before.crossed);
        CHECK_EQ(after.unmatched, before.unmatched);
    }
    for (int i = 0; i < 1040; i++) /* where no end was gnomon_end_alone */
        t[i] = begin("deep");
    for (int i = 1040; i-- > 0;)
        gnomon_end(t[i]);
    gnomon_health before = health_now();
    gnomon_end(t[1039]);
    CHECK_HEALTH(before, .unmatched = 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    gnomon_profile_free(p);
}

static void end_in_callback(void *self, const gnomon_frame *frame,
                            uint64_t *slot)
{
    (void)self, (void)slot;
    gnomon_end_alone(frame->token);
}

static void *end_elsewhere(void *token)
{
    gnomon_end_alone(*(gnomon_token *)token);
    return NULL;
}

/* Inside a callback; and on a thread that has begun nothing it is the scope's end. */
TEST(ends_that_are_refused)
{
    static const gnomon_profiler ends = {.struct_size = sizeof ends,
                                         .abi = GNOMON_ABI,
                                         .name = "ends",
                                         .start = end_in_callback};
    attach_probe();
    CHECK_EQ(gnomon_attach(&ends, NULL, NULL), GNOMON_OK);
    gnomon_health before = health_now();
    gnomon_token a = begin("a");
    CHECK_HEALTH(before, .reentered = 1);
    pass(1);
    pthread_t thread;
    pthread_create(&thread, NULL, end_elsewhere, &a);
    pthread_join(thread, NULL);
    pass(1);
    gnomon_end_alone(a);
    CHECK_HEALTH(before, .reentered = 1, .unmatched = 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 1, 1);
    gnomon_profile_free(p);
}

/* ---- Always overlapping --------------------------------------------------------- */

#define MANY 3000

static int depth_of(const gnomon_profile *p)
{
    int most = 0;
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n = {.parent = (uint32_t)i};
        int depth = 0;
        for (; n.parent; depth++)
            gnomon_profile_node(p, n.parent, &n);
        most = depth > most ? depth : most;
    }
    return most;
}

static uint64_t self_of_all(const gnomon_profile *p)
{
    uint64_t self = 0;
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        self += n.host ? n.host->self_ns : 0;
    }
    return self;
}

/* As with coroutines that take turns on one thread: inner scopes keep their
 * count, and each moment belongs to one scope. */
TEST(scopes_that_always_overlap_nest_no_deeper)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token last = begin("job");
    for (int i = 0; i < MANY; i++) {
        gnomon_token next = begin("job");
        gnomon_token f = begin("f");
        pass(1);
        gnomon_end(f);
        gnomon_end_alone(last);
        last = next;
    }
    gnomon_end_alone(last);
    CHECK_HEALTH(before, .crossed = 0);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "job"), MANY + 1);
    CHECK_EQ(calls_of(p, "f"), MANY);
    CHECK(depth_of(p) <= 20);
    CHECK_EQ(self_of_all(p), MANY);
    gnomon_profile_free(p);
}

TEST(actions_that_always_overlap_nest_no_deeper)
{
    attach_probe();
    gnomon_start("a");
    for (int i = 0; i < MANY; i++) {
        gnomon_start(i & 1 ? "a" : "b");
        gnomon_token f = begin("f");
        pass(1);
        gnomon_end(f);
        gnomon_stop(i & 1 ? "b" : "a");
    }
    gnomon_stop("a");
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "a") + calls_of(p, "b"), MANY + 1);
    CHECK_EQ(calls_of(p, "f"), MANY);
    CHECK(depth_of(p) <= 20);
    CHECK_EQ(self_of_all(p), MANY);
    gnomon_profile_free(p);
}

/* The check of the profile: what an execution was, the innermost one, until then is time
 * of a path on which none of it counts. */
static void move_at_end_of(const char *second, const char *third)
{
    gnomon_token outer[20];
    gnomon_stage_begin("first");
    for (int i = 0; i < 20; i++)
        outer[i] = begin("outer");
    gnomon_token inner = begin("inner");
    pass(1);
    gnomon_stage_begin(second);
    gnomon_token fresh = begin("fresh");
    for (int i = 0; i < 20; i++)
        gnomon_end_alone(outer[i]);
    pass(1);
    gnomon_stage_begin(third);
    gnomon_profile_free(profile_of("probe", 1));
    gnomon_end(fresh);
    gnomon_end(inner);
    gnomon_profile_free(profile_of("probe", 1));
}

TEST(the_end_of_a_stage_moves_what_is_open)
{
    attach_probe();
    move_at_end_of("second", "third");
    move_at_end_of("first", "second");
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(self_of_all(p), 4);
    CHECK_EQ(calls_of(p, "fresh"), 2);
    gnomon_profile_free(p);
}

/* ---- Windows ---------------------------------------------------------------------- */

/* The inner one began in another tree while the window of the outer one's was closed. */
TEST(a_scope_ends_those_of_another_view)
{
    gnomon_profiler other = probe;
    other.name = "other";
    CHECK_EQ(
        gnomon_attach(&probe, NULL, "filter=outer,schedule=wait:1/active:1"),
        GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other, NULL, "filter=inner"), GNOMON_OK);
    gnomon_health before = health_now();
    gnomon_step();
    gnomon_token outer =
        gnomon_begin(gnomon_region_get("outer", NULL, GNOMON_KIND_SCOPE));
    gnomon_step();
    gnomon_begin(gnomon_region_get("inner", NULL, GNOMON_KIND_SCOPE));
    gnomon_step();
    gnomon_start("neither"); /* from here on the end need not be slow */
    gnomon_end(outer);
    CHECK_HEALTH(before, .crossed = 1);
    gnomon_profile *p = profile_of("other", 0);
    CHECK_EQ(calls_of(p, "inner"), 1);
    gnomon_profile_free(p);
}

/* None of them is the hot tree, and the inner scope is a hook's alone. */
TEST(a_scope_of_one_of_two_trees_ends_those_of_a_hook)
{
    gnomon_profiler other = probe;
    other.name = "other";
    CHECK_EQ(gnomon_attach(&probe, NULL, "filter=outer"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other, NULL, "filter=other"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, "filter=inner"), GNOMON_OK);
    gnomon_health before = health_now();
    gnomon_token outer =
        gnomon_begin(gnomon_region_get("outer", NULL, GNOMON_KIND_SCOPE));
    gnomon_end(
        gnomon_begin(gnomon_region_get("inner", NULL, GNOMON_KIND_SCOPE)));
    gnomon_end(outer);
    outer = gnomon_begin(gnomon_region_get("outer", NULL, GNOMON_KIND_SCOPE));
    gnomon_begin(gnomon_region_get("inner", NULL, GNOMON_KIND_SCOPE));
    gnomon_end(outer);
    CHECK_HEALTH(before, .crossed = 1);
    CHECK_EQ(stops, 2);
}

/* None of them is the hot tree, and the outer scope is a hook's alone. */
TEST(a_scope_of_a_hook_ends_those_of_one_of_two_trees)
{
    CHECK_EQ(gnomon_attach(&probe, NULL, "filter=tree*"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other_probe, NULL, "filter=other"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, "filter=hook"), GNOMON_OK);
    cross_once("hook", "tree");
    CHECK_EQ(stops, 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "tree", 1, 2, 2);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    gnomon_profile_free(p);
}

/* The window of the inner scope's tree has closed: the other tree is the hot one. */
TEST(a_scope_of_a_hook_ends_those_of_a_closed_window)
{
    CHECK_EQ(
        gnomon_attach(&probe, NULL, "filter=tree,schedule=wait:1/active:1"),
        GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other_probe, NULL, "filter=other"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, "filter=hook"), GNOMON_OK);
    gnomon_health before = health_now();
    gnomon_step();
    gnomon_token outer = begin("hook");
    CHECK(begin("tree") != 0);
    gnomon_step();
    gnomon_end(begin("other"));
    gnomon_end(outer);
    CHECK_HEALTH(before, .crossed = 1);
    CHECK_EQ(stops, 1);
}
