/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Actions on the short path: of one tree, of a tree and a tape or the times of steps, of
 * one hook or two, of a tree and hooks, and with all of these. What each of them recorded must be the same, also
 * where the stop finds something else than the start left.
 *
 * links: testing */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"
#include "step_times.h"
#include "taping.h"

static uint64_t starts, stops, unfinished;

static void hook_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    CHECK_EQ(f->flags, GNOMON_FRAME_ACTION);
    *slot = f->token;
    starts++;
}

static void hook_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    CHECK_EQ(*slot, f->token);
    stops++;
    unfinished += (f->flags & GNOMON_FRAME_UNFINISHED) != 0;
}

static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                     .abi = GNOMON_ABI,
                                     .name = "hook",
                                     .start = hook_start,
                                     .stop = hook_stop};
static const gnomon_profiler timer = {.struct_size = sizeof timer,
                                      .abi = GNOMON_ABI,
                                      .wants =
                                          GNOMON_WANT_TREE | GNOMON_WANT_STEPS,
                                      .name = "timer"};

enum way { TREE, TAPE, STEPS, HOOK, HOOKS, TREE_HOOK, TREE_HOOKS, ALL, WAYS };

static const struct {
    const char *tree; /* whose profile has one */
    int has_probe, has_timer, has_tape, hooks;
} ways[WAYS] = {
    [TREE] = {"probe", .has_probe = 1},
    [TAPE] = {"taper", .has_tape = 1},
    [STEPS] = {"timer", .has_timer = 1},
    [HOOK] = {NULL, .hooks = 1},
    [HOOKS] = {NULL, .hooks = 2},
    [TREE_HOOK] = {"probe", .has_probe = 1, .hooks = 1},
    [TREE_HOOKS] = {"probe", .has_probe = 1, .hooks = 2},
    [ALL] = {"taper", .has_timer = 1, .has_tape = 1, .hooks = 1},
};
static int selves[2];

static void attach(int way)
{
    if (ways[way].has_probe)
        CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
    if (ways[way].has_timer)
        CHECK_EQ(gnomon_attach(&timer, NULL, NULL), GNOMON_OK);
    if (ways[way].has_tape)
        CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < ways[way].hooks; i++)
        CHECK_EQ(gnomon_attach(&hook, &selves[i], NULL), GNOMON_OK);
    starts = stops = unfinished = 0;
}

static void detach(int way)
{
    if (ways[way].has_probe)
        gnomon_detach(&probe, NULL);
    if (ways[way].has_tape)
        gnomon_detach(&taper, NULL);
    if (ways[way].has_timer)
        gnomon_detach(&timer, NULL);
    for (int i = 0; i < ways[way].hooks; i++)
        gnomon_detach(&hook, &selves[i]);
}

/* `calls` executions of `name` are over, of `total` ns. */
static void check_calls(int way, const char *name, uint64_t calls,
                        uint64_t total)
{
    if (ways[way].tree) {
        gnomon_profile *p = profile_of(ways[way].tree, 0);
        CHECK_EQ(calls_of(p, name), calls);
        gnomon_profile_free(p);
    }
    if (ways[way].has_tape) {
        gnomon_profile *p = profile_of("taper", 0);
        gnomon_event_info e;
        uint64_t taped = 0, ns = 0;
        for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++) {
            gnomon_node_info n;
            if (!gnomon_profile_node(p, e.node, &n) &&
                strcmp(node_name(p, &n), name) == 0) {
                taped++;
                ns += e.duration_ns;
            }
        }
        CHECK_EQ(taped, calls);
        CHECK_EQ(ns, total);
        gnomon_profile_free(p);
    }
    if (way == STEPS) {
        gnomon_step();
        gnomon_profile *p = profile_of("timer", 0);
        uint64_t ns = 0;
        for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++)
            ns += step_stats(p, i, name).total_ns;
        CHECK_EQ(ns, total);
        gnomon_profile_free(p);
    }
}

static void action(const char *name, uint64_t ns)
{
    gnomon_start(name);
    pass(ns);
    gnomon_stop(name);
}

/* ---- Each way records the same ---------------------------------------------------- */

TEST(each_way_counts_all)
{
    for (int way = 0; way < WAYS; way++) {
        gnomon_health before = health_now();
        attach(way);
        for (int i = 0; i < 100; i++) {
            gnomon_start("outer");
            action("inner", 3);
            action("other", 2);
            action("inner", 3);
            gnomon_stop("outer");
        }
        check_calls(way, "inner", 200, 600);
        check_calls(way, "other", 100, 200);
        CHECK_EQ(stops, 400 * (uint64_t)ways[way].hooks);
        CHECK_EQ(starts, stops);
        CHECK_HEALTH(before, .twice = 0);
        detach(way);
    }
}

/* A stop in the wrong order leaves the others open, and what it leaves behind does not
 * grow. */
TEST(they_need_not_nest)
{
    for (int way = 0; way < WAYS; way++) {
        gnomon_health before = health_now();
        attach(way);
        for (int i = 0; i < 5000; i++) {
            gnomon_start("first");
            pass(1);
            gnomon_start("second");
            pass(1);
            gnomon_stop("first");
            pass(1);
            gnomon_stop("second");
        }
        check_calls(way, "first", 5000, 10000);
        check_calls(way, "second", 5000, 10000);
        CHECK_EQ(starts, stops);
        CHECK_HEALTH(before, .twice = 0);
        detach(way);
    }
}

/* So many are open at once that the stack of frames removes those that are over. */
static void open_many(int count)
{
    char name[16];
    for (int i = 0; i < 2 * count; i++) {
        snprintf(name, sizeof name, "%d", i < count ? i : 2 * count - i - 1);
        if (i < count)
            gnomon_start(name);
        else
            gnomon_stop(name);
    }
}

static void *outlive_some(void *unused)
{
    for (int i = 0; i < 10; i++) { /* the first takes the slow path */
        gnomon_start("around");
        gnomon_start("outer");
        pass(1);
        gnomon_start("inner");
        pass(2);
        gnomon_stop("outer");
        open_many(20 * i);
        pass(40);
        gnomon_stop("inner");
        action("after", 1);
        pass(3);
        gnomon_stop("around");
    }
    return unused;
}

/* Each ns is of the innermost one that was open then. What begins when both are over is in
 * neither. A thread of its own has a small stack of frames. */
TEST(the_inner_one_outlives_the_outer)
{
    for (int way = 0; way < WAYS; way++) {
        pthread_t thread;
        attach(way);
        CHECK(!pthread_create(&thread, NULL, outlive_some, NULL));
        pthread_join(thread, NULL);
        if (ways[way].tree) {
            gnomon_profile *p = profile_of(ways[way].tree, 0);
            CHECK_EQ(stats_at(p, "around").self_ns, 30);
            CHECK_EQ(stats_at(p, "around>outer").self_ns, 10);
            CHECK_EQ(stats_at(p, "around>outer>inner").self_ns, 420);
            CHECK_EQ(stats_at(p, "around>after").self_ns, 10);
            gnomon_profile_free(p);
        }
        detach(way);
    }
}

/* ---- The name ---------------------------------------------------------------------- */

TEST(a_buffer_is_rewritten_between_start_and_stop)
{
    for (int way = 0; way < WAYS; way++) {
        char name[] = "one";
        gnomon_health before = health_now();
        attach(way);
        for (int i = 0; i < 10; i++) {
            memcpy(name, "one", sizeof name);
            gnomon_start(name);
            pass(1);
            memcpy(name, "two", sizeof name);
            gnomon_stop(name); /* is not open */
            gnomon_start(name);
            pass(1);
            gnomon_stop("two"); /* by another pointer */
            memcpy(name, "one", sizeof name);
            gnomon_start(name); /* is open */
            gnomon_stop(name);
        }
        check_calls(way, "one", 10, 20);
        check_calls(way, "two", 10, 10);
        CHECK_EQ(starts, stops);
        CHECK_HEALTH(before, .never_started = 10, .twice = 10);
        detach(way);
    }
}

/* ---- Others come and go while it is open --------------------------------------------- */

TEST(a_hook_comes_while_it_is_open)
{
    for (int way = TREE; way <= STEPS; way++) {
        attach(way);
        action("open", 1);
        gnomon_health before = health_now();
        gnomon_start("open");
        attach(HOOK);
        pass(2);
        gnomon_stop("open"); /* the hook saw no start */
        CHECK_EQ(stops, 0);
        action("open", 4);
        CHECK_EQ(stops, 1);
        detach(HOOK);
        check_calls(way, "open", 3, 7);
        CHECK_HEALTH(before, .twice = 0);
        detach(way);
    }
}

TEST(a_hook_goes_while_it_is_open)
{
    attach(HOOK);
    action("open", 1);
    gnomon_health before = health_now();
    gnomon_start("open");
    detach(HOOK);
    CHECK_EQ(stops, 2);
    CHECK_EQ(unfinished, 1);
    gnomon_stop("open");
    attach(HOOK);
    gnomon_stop("open"); /* was stopped, unseen */
    gnomon_start("open");
    gnomon_stop("open");
    CHECK_EQ(stops, 1);
    CHECK_HEALTH(before, .twice = 0);
    detach(HOOK);
}

TEST(a_recorder_goes_while_it_is_open)
{
    for (int way = TAPE; way <= STEPS; way++) {
        attach(TREE);
        attach(way);
        action("open", 1);
        gnomon_health before = health_now();
        gnomon_start("open");
        pass(2);
        detach(way);
        gnomon_stop("open");
        check_calls(TREE, "open", 2, 3);
        attach(way); /* its bits are used again */
        action("open", 4);
        check_calls(way, "open", 1, 4);
        CHECK_HEALTH(before, .twice = 0);
        detach(way);
        detach(TREE);
    }
}

static int write_nothing(void *self, const gnomon_profile *p,
                         const gnomon_writer *out)
{
    (void)self, (void)p, (void)out;
    return GNOMON_OK;
}

/* Its summary needs the events of cycles that are over. */
static const gnomon_profiler summed_taper = {TAPES("summed"),
                                             .summary = write_nothing};

/* Of the first of two trees, which both see it, and a tape beside the second. */
TEST(a_window_closes_while_it_is_open)
{
    CHECK_EQ(gnomon_attach(&timer, NULL, "schedule=wait:1/warmup:1/active:2"),
             GNOMON_OK);
    gnomon_step();
    CHECK_EQ(gnomon_attach(&summed_taper, NULL,
                           "filter=open,schedule=active:1/wait:1"),
             GNOMON_OK);
    gnomon_step();
    gnomon_region *around = gnomon_region_get("around", NULL, 0);
    gnomon_token token = gnomon_begin(around);
    gnomon_step();
    gnomon_health before = health_now();
    gnomon_start("open");
    pass(2);
    gnomon_step();
    (void)gnomon_link_out();
    gnomon_stop("open");
    gnomon_profile *p = profile_of("summed", 0);
    CHECK_EQ(calls_of(p, "open"), 1);
    CHECK_EQ(events(p), 1);
    gnomon_profile_free(p);
    CHECK_HEALTH(before, .unmatched = 0);
    gnomon_end(token);
    gnomon_detach(&summed_taper, NULL);
    gnomon_detach(&timer, NULL);
}

/* Its mask is 0 in between. */
TEST(its_filter_changes_while_it_is_open)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple"), GNOMON_OK);
    action("open", 1);
    gnomon_health before = health_now();
    gnomon_start("open");
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple(exclude=open)"), GNOMON_OK);
    gnomon_stop("open");
    action("open", 1);
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple"), GNOMON_OK);
    action("open", 5);
    gnomon_profile *p = profile_of("simple", 0);
    CHECK_EQ(calls_of(p, "open"), 1);
    gnomon_profile_free(p);
    CHECK_HEALTH(before, .twice = 0);
}

/* All that saw it start are gone, but never were all gone: the second start is one too
 * many. Only after a time without any is the first one forgotten. */
TEST(a_second_start_is_counted_by_who_was_attached)
{
    attach(TREE);
    action("open", 1);
    detach(TREE);
    attach(TREE);
    action("other", 1);
    gnomon_start("open");
    attach(TAPE);
    detach(TREE);
    gnomon_health before = health_now();
    gnomon_start("open");
    CHECK_HEALTH(before, .twice = 1);
    detach(TAPE);
    attach(TREE);
    gnomon_start("open");
    gnomon_stop("open");
    CHECK_HEALTH(before, .twice = 1);
    check_calls(TREE, "open", 1, 0);
    detach(TREE);
}

/* ---- Stages and tokens ------------------------------------------------------------- */

/* `marks`: the stop is not the first mark after the stage's end. */
static void stop_after_a_stage(int way, int marks)
{
    attach(way);
    gnomon_health before = health_now();
    gnomon_stage_begin("first");
    action("open", 1);
    gnomon_start("open");
    pass(2);
    gnomon_stage_end();
    gnomon_stage_begin("second");
    if (marks)
        action("other", 1);
    pass(3);
    gnomon_stop("open");
    action("open", 7);
    if (ways[way].tree) {
        gnomon_profile *p = profile_of(ways[way].tree, 1);
        CHECK_EQ(calls_of(p, "open"), 3);
        gnomon_profile_free(p);
    }
    gnomon_stage_end();
    CHECK_EQ(starts, stops);
    gnomon_health after = health_now();
    CHECK_EQ(after.twice, before.twice);
    CHECK_EQ(after.never_started, before.never_started);
    detach(way);
}

TEST(it_is_open_at_the_end_of_a_stage)
{
    for (int way = 0; way < 2 * WAYS; way++)
        stop_after_a_stage(way / 2, way % 2);
}

/* The token of an action ends nothing, with the bits that it has in a node and without. */
TEST(no_token_ends_it)
{
    for (int way = 0; way < WAYS; way++) {
        attach(way);
        action("open", 1);
        gnomon_start("open");
        gnomon_open_scope open = {.struct_size = sizeof open};
        if (gnomon_thread_stack(0, &open, 1) == 1) {
            gnomon_health before = health_now();
            gnomon_end(open.token);
            gnomon_end(open.token ^ 1ull << 62);
            gnomon_end(open.token ^ 1ull << 63);
            gnomon_end(open.token ^ 3ull << 62);
            CHECK_HEALTH(before, .unmatched = 4);
        } else {
            CHECK(!ways[way].tree); /* nobody keeps a stack */
        }
        pass(4);
        gnomon_stop("open");
        check_calls(way, "open", 2, 5);
        CHECK_EQ(starts, stops);
        detach(way);
    }
}
