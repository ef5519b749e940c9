/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * The tape: single executions, marks, samples, links and steps, as the profile's events,
 * exact on the test clock; its windows; and what is counted when its memory is full. */
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "mark/tape.h"
#include "marks.h"
#include "probe_profile.h"
#include "taping.h"

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

static int attach_taper(const char *options)
{
    gnomon__test_set(1000);
    return CHECK_EQ(gnomon_attach(&taper, NULL, options), GNOMON_OK);
}

static gnomon_profile *taped(void)
{
    return profile_of("taper", 0);
}

static gnomon_event_info event_at(const gnomon_profile *p, size_t number)
{
    gnomon_event_info e;
    CHECK_EQ(gnomon_profile_event(p, number, &e), GNOMON_OK);
    return e;
}

static void check_event(const gnomon_profile *p, size_t number,
                        const char *path, uint64_t begin, uint64_t duration)
{
    gnomon_event_info e = event_at(p, number);
    CHECK_EQ(e.kind, GNOMON_EVENT_EXECUTION);
    CHECK(path_is(p, e.node, path));
    CHECK_EQ(e.begin_ns, begin);
    CHECK_EQ(e.duration_ns, duration);
}

static void nest(uint64_t before, uint64_t inside, uint64_t after)
{
    gnomon_token outer = gnomon_begin(&outer_region);
    pass(before);
    gnomon_token inner = gnomon_begin(&inner_region);
    pass(inside);
    gnomon_end(inner);
    pass(after);
    gnomon_end(outer);
}

/* ---- Executions --------------------------------------------------------------- */

TEST(executions_in_the_order_of_their_begins)
{
    attach_taper(NULL);
    nest(5, 10, 2);
    pass(100);
    nest(1, 2, 3);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 4);
    check_event(p, 1, "outer", 1000, 17);
    check_event(p, 2, "outer>inner", 1005, 10);
    check_event(p, 3, "outer", 1117, 6);
    check_event(p, 4, "outer>inner", 1118, 2);
    CHECK_EQ(missing(p, "events_lost"), 0);
    gnomon_profile_free(p);
}

/* Parents that begin with their children, and take no longer, come first. */
TEST(equal_times_nest)
{
    attach_taper(NULL);
    nest(0, 0, 0);
    nest(0, 7, 0);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 4);
    check_event(p, 1, "outer", 1000, 7);
    check_event(p, 2, "outer>inner", 1000, 7);
    check_event(p, 3, "outer", 1000, 0);
    check_event(p, 4, "outer>inner", 1000, 0);
    gnomon_profile_free(p);
}

/* 32 bits of ticks are 1.65 s; scopes of hours are whole. */
TEST(long_executions)
{
    attach_taper(NULL);
    nest(3600000000000u, 4294967295u, 4294967296u);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 2);
    check_event(p, 1, "outer", 1000,
                3600000000000u + 4294967295u + 4294967296u);
    check_event(p, 2, "outer>inner", 1000 + 3600000000000u, 4294967295u);
    gnomon_profile_free(p);
}

/* Also on a node whose bounds take them all in, where most ends are on the hot path. */
TEST(executions_of_all_lengths_on_one_node)
{
    static const uint64_t ticks[] = {
        100, 0,           1ull << 33,  15, 16, 4294967295u,
        17,  4294967296u, 4294967297u, 1,  50};
    enum { LENGTHS = sizeof ticks / sizeof *ticks, ROUNDS = 4 };
    attach_taper(NULL);
    uint64_t begin = 1000, sum = 0;
    for (int i = 0; i < ROUNDS * LENGTHS; i++) {
        gnomon_token t = gnomon_begin(&outer_region);
        pass(ticks[i % LENGTHS]);
        gnomon_end(t);
        pass(1);
    }
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), ROUNDS * LENGTHS);
    for (int i = 0; i < ROUNDS * LENGTHS; i++) {
        uint64_t length = ticks[i % LENGTHS];
        check_event(p, (size_t)i + 1, "outer", begin, length);
        begin += length + 1;
        sum += length;
    }
    gnomon_stats s = stats_at(p, "outer");
    CHECK_EQ(s.count, ROUNDS * LENGTHS);
    CHECK_EQ(s.total_ns, sum);
    CHECK_EQ(s.min_ns, 0);
    CHECK_EQ(s.max_ns, 1ull << 33);
    gnomon_profile_free(p);
}

/* An execution has its path though its parent is open and has no event. */
TEST(inside_what_is_open)
{
    attach_taper(NULL);
    gnomon_token outer = gnomon_begin(&outer_region);
    for (uint64_t i = 0; i < 3; i++) {
        gnomon_token inner = gnomon_begin(&inner_region);
        pass(i + 1);
        gnomon_end(inner);
    }
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 3);
    check_event(p, 1, "outer>inner", 1000, 1);
    check_event(p, 3, "outer>inner", 1003, 3);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 1);
    gnomon_profile_free(p);
    gnomon_end(outer);
}

TEST(actions_that_cross)
{
    attach_taper(NULL);
    gnomon_start("a");
    pass(1);
    gnomon_start("b");
    pass(2);
    gnomon_stop("a");
    pass(4);
    gnomon_stop("b");
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 2);
    check_event(p, 1, "a", 1000, 3);
    check_event(p, 2, "a>b", 1001, 6);
    gnomon_profile_free(p);
}

/* A scope that ends with the one around it. */
TEST(crossed_scopes)
{
    attach_taper(NULL);
    gnomon_token outer = gnomon_begin(&outer_region);
    pass(1);
    (void)gnomon_begin(&inner_region);
    pass(2);
    gnomon_end(outer);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 2);
    check_event(p, 1, "outer", 1000, 3);
    check_event(p, 2, "outer>inner", 1001, 2);
    gnomon_profile_free(p);
}

static gnomon_token handed;

static void *end_handed(void *unused)
{
    (void)unused;
    gnomon_end(handed);
    return NULL;
}

TEST(ends_of_other_threads)
{
    attach_taper(NULL);
    handed = gnomon_begin(&outer_region);
    pass(9);
    on_thread(end_handed, NULL);
    pass(100);
    nest(1, 1, 1);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 3);
    check_event(p, 1, "outer", 1000, 9);
    gnomon_profile_free(p);
}

TEST(ranges)
{
    attach_taper(NULL);
    gnomon_range open_range = gnomon_range_begin(&range_region);
    nest(1, 2, 3);
    end_range_there(open_range);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 3);
    size_t found = 0;
    for (size_t i = 1; i <= events(p); i++) {
        gnomon_event_info e = event_at(p, i);
        if (!e.instance)
            continue;
        found++;
        CHECK_EQ(e.instance, open_range);
        CHECK_EQ(e.begin_ns, 1000);
        CHECK_EQ(e.duration_ns, 6);
    }
    CHECK_EQ(found, 1);
    gnomon_profile_free(p);
}

/* With hooks a scope has a frame; with a second tree no tree is hot. */
static uint64_t hook_begins, hook_ends;

static void count_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    (void)f;
    (void)slot;
    hook_begins++;
}

static void count_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    (void)slot;
    hook_ends += f->end_ns - f->begin_ns;
}

static const gnomon_profiler hooked = {.struct_size = sizeof hooked,
                                       .abi = GNOMON_ABI,
                                       .wants = GNOMON_WANT_TIMES,
                                       .name = "hooked",
                                       .start = count_start,
                                       .stop = count_stop};

static void check_nest_events(void)
{
    nest(1, 2, 4);
    gnomon_start("act");
    pass(3);
    gnomon_stop("act");
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 3);
    check_event(p, 1, "outer", 1000, 7);
    check_event(p, 2, "outer>inner", 1001, 2);
    check_event(p, 3, "act", 1007, 3);
    gnomon_profile_free(p);
}

TEST(beside_hooks)
{
    attach_taper(NULL);
    CHECK_EQ(gnomon_attach(&hooked, NULL, NULL), GNOMON_OK);
    check_nest_events();
    CHECK_EQ(hook_begins, 3);
    CHECK_EQ(hook_ends, 12);
}

TEST(beside_another_tree)
{
    attach_taper(NULL);
    CHECK_EQ(gnomon_attach(&probe, NULL, "exclude=inner"), GNOMON_OK);
    check_nest_events();
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "inner"), 0);
    CHECK_EQ(events(p), 0);
    gnomon_profile_free(p);
}

TEST(after_another_tree)
{
    CHECK_EQ(gnomon_attach(&probe, NULL, "exclude=inner"), GNOMON_OK);
    attach_taper(NULL);
    CHECK_EQ(gnomon_attach(&hooked, NULL, NULL), GNOMON_OK);
    check_nest_events();
}

/* ---- Marks, samples, links, steps ------------------------------------------------ */

TEST(marks_and_samples)
{
    attach_taper(NULL);
    gnomon_mark(&mark_region);
    gnomon_token outer = gnomon_begin(&outer_region);
    pass(3);
    gnomon_counter(&loss_region, 2.5);
    gnomon_counter(&loss_region, (double)NAN);
    pass(4);
    gnomon_mark(&mark_region);
    gnomon_end(outer);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 5);
    gnomon_event_info e = event_at(p, 2);
    CHECK_EQ(e.kind, GNOMON_EVENT_MARK);
    CHECK_EQ(e.node, 0);
    CHECK_EQ(e.begin_ns, 1000);
    check_event(p, 1, "outer", 1000, 7);
    int values = 0, nans = 0;
    for (size_t i = 3; i <= 4; i++) {
        e = event_at(p, i);
        gnomon_region_info r;
        CHECK_EQ(e.kind, GNOMON_EVENT_COUNTER);
        CHECK_EQ(e.begin_ns, 1003);
        CHECK(path_is(p, e.node, "outer"));
        CHECK_EQ(gnomon_profile_region(p, e.region, &r), GNOMON_OK);
        CHECK_STR(r.name, "loss");
        values += e.value > 2.4 && e.value < 2.6;
        nans += isnan(e.value) != 0;
    }
    CHECK(values == 1 && nans == 1);
    e = event_at(p, 5);
    CHECK_EQ(e.kind, GNOMON_EVENT_MARK);
    CHECK(path_is(p, e.node, "outer"));
    gnomon_profile_free(p);
}

/* Links name executions; what the tape has is not counted from path to path once
 * more. */
TEST(links)
{
    attach_taper(NULL);
    gnomon_token outer = gnomon_begin(&outer_region);
    pass(3);
    gnomon_link link = gnomon_link_out();
    pass(1);
    gnomon_token between = gnomon_begin(&inner_region);
    (void)gnomon_link_out();
    pass(1);
    gnomon_end(between);
    (void)gnomon_link_out(); /* the first one counts */
    gnomon_end(outer);
    gnomon_token inner = gnomon_begin(&inner_region);
    pass(1);
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    pass(2);
    gnomon_end(inner);
    inner = gnomon_begin(&inner_region);
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_profile *p = taped(); /* the second effect is open */
    gnomon_link_info l;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 2);
    uint64_t count = 0, instances = 0;
    for (size_t i = 1; gnomon_profile_link(p, i, &l) == GNOMON_OK; i++) {
        count += l.count;
        CHECK(path_is(p, l.from, "outer"));
        CHECK(path_is(p, l.to, "inner"));
        if (l.from_instance) {
            instances++;
            CHECK_EQ(l.from_instance, event_at(p, 1).instance);
            CHECK_EQ(l.to_instance, event_at(p, 3).instance);
            CHECK_EQ(l.from_ns, event_at(p, 1).begin_ns + 3);
            CHECK_EQ(l.to_ns, event_at(p, 3).begin_ns + 1);
        }
    }
    CHECK_EQ(count, 2);
    CHECK_EQ(instances, 1);
    gnomon_profile_free(p);
    gnomon_end(inner);
}

/* A profile keeps the last 64 steps; the tape has all of its time. */
/* How many the profile of "taper" has, of all stages or the open one. */
static uint64_t links_of(int all_stages)
{
    gnomon_profile *p = profile_of("taper", all_stages);
    gnomon_link_info l;
    uint64_t count = 0;
    for (size_t i = 1; !gnomon_profile_link(p, i, &l); i++)
        count += l.count;
    gnomon_profile_free(p);
    return count;
}

static int read_nothing(void *self, const gnomon_profile *p,
                        const gnomon_writer *out)
{
    (void)self, (void)p, (void)out;
    return GNOMON_OK;
}

/* It keeps events of stages that are over. */
static const gnomon_profiler keeper = {TAPES("taper"), .events = read_nothing};

static void *be_an_effect(void *of)
{
    gnomon_token effect = gnomon_begin(&inner_region);
    gnomon_link_in(of, GNOMON_LINK_SUBMIT);
    gnomon_end(effect);
    return NULL;
}

/* The tree counts it in the stage of the second call; its cause began in another. */
TEST(a_link_over_the_end_of_a_stage_is_told_once)
{
    gnomon_attach(&keeper, NULL, NULL);
    gnomon_stage_begin("first");
    gnomon_token cause = gnomon_begin(&outer_region);
    gnomon_link link = gnomon_link_out();
    pass(1);
    gnomon_stage_begin("second");
    on_thread(be_an_effect, &link);
    CHECK_EQ(links_of(1), 1);
    gnomon_end(cause);
    CHECK_EQ(links_of(1), 1);
    gnomon_detach(&keeper, NULL);
}

/* What began before a stage's end is of that stage, at whichever moment. */
TEST(a_stage_ends_at_the_moment_of_its_last_begins)
{
    gnomon_node_info n = {.stage = 0};
    gnomon_attach(&keeper, NULL, NULL);
    gnomon_stage_begin("first");
    gnomon_token over = gnomon_begin(&outer_region);
    gnomon_end(gnomon_begin(&inner_region));
    gnomon_stage_begin("second");
    gnomon_end(over);
    gnomon_end(gnomon_begin(&range_region));
    gnomon_profile *p = profile_of("taper", 1);
    CHECK_EQ(events(p), 3);
    for (size_t i = 1; i <= 3; i++) {
        CHECK_EQ(gnomon_profile_node(p, event_at(p, i).node, &n), GNOMON_OK);
        CHECK_EQ(n.stage, path_is(p, event_at(p, i).node, "range") ? 2 : 1);
    }
    gnomon_profile_free(p);
    gnomon_detach(&keeper, NULL);
}

/* Its executions' paths lead to one that is open in the next stage. */
TEST(a_link_is_in_its_own_stage_alone)
{
    gnomon_attach(&keeper, NULL, NULL);
    gnomon_stage_begin("first");
    gnomon_token cause = gnomon_begin(&outer_region);
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_token inner = gnomon_begin(&inner_region);
    pass(1);
    gnomon_end_alone(cause);
    pass(1);
    gnomon_stage_begin("second");
    CHECK_EQ(links_of(0), 0);
    CHECK_EQ(links_of(1), 1);
    gnomon_end(inner);
    gnomon_detach(&keeper, NULL);
}

/* A link alone is no mark, so no stage is told of yet. */
TEST(a_link_in_a_stage_without_a_mark_is_told_later)
{
    gnomon_attach(&keeper, NULL, NULL);
    gnomon_stage_begin("first");
    gnomon_token cause = gnomon_begin(&outer_region);
    gnomon_stage_end();
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_end(cause);
    CHECK_EQ(links_of(1), 0);
    nest(1, 1, 1);
    CHECK_EQ(links_of(1), 1);
    gnomon_detach(&keeper, NULL);
}

static void *end_of(void *token)
{
    gnomon_end(*(gnomon_token *)token);
    return NULL;
}

/* Then the cause's path has an execution less than when it called. */
TEST(what_is_around_the_cause_of_a_link_ends_elsewhere)
{
    gnomon_attach(&taper, NULL, NULL);
    gnomon_token around = gnomon_begin(&outer_region),
                 cause = gnomon_begin(&inner_region);
    gnomon_link link = gnomon_link_out();
    on_thread(end_of, &around);
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_end(cause);
    CHECK_EQ(links_of(1), 1);
    gnomon_detach(&taper, NULL);
}

TEST(a_link_that_is_too_old_is_told_as_lost_alone)
{
    gnomon_attach(&taper, NULL, NULL);
    gnomon_health before = health_now();
    gnomon_token cause = gnomon_begin(&outer_region);
    gnomon_link link = gnomon_link_out();
    attach_probe();
    gnomon_token effect = gnomon_begin(&inner_region);
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_end(effect);
    gnomon_end(cause);
    CHECK_EQ(links_of(1), 0);
    CHECK_HEALTH(before, .lost_links = 1);
    gnomon_detach(&probe, NULL);
    gnomon_detach(&taper, NULL);
}

TEST(steps)
{
    attach_taper(NULL);
    for (int i = 0; i < 100; i++) {
        nest(1, 1, 1);
        gnomon_step();
    }
    gnomon_profile *p = taped();
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 101 - 1 + 0);
    gnomon_profile_free(p);
}

/* ---- Windows and cycles ------------------------------------------------------------ */

static struct {
    int calls;
    size_t events;
    uint64_t first, last, outer_calls, missing;
} ready_calls[16];
static int ready_count;

static int note_ready(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    size_t n = gnomon_profile_count(p, GNOMON_EVENTS);
    (void)self;
    CHECK(out->stream != NULL);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    ready_calls[ready_count].events = n;
    ready_calls[ready_count].first = n ? event_at(p, 1).begin_ns : 0;
    ready_calls[ready_count].last = n ? event_at(p, n).begin_ns : 0;
    ready_calls[ready_count].outer_calls = calls_of(p, "outer");
    ready_calls[ready_count].missing = missing(p, "events_lost");
    ready_count++;
    return GNOMON_OK;
}

static const gnomon_profiler cycler = {TAPES("cycler"), .events = note_ready};

/* Ten steps of 10 ns, in a stage. */
static void ten_steps(void)
{
    for (int i = 0; i < 10; i++) {
        nest(1, 8, 1);
        gnomon_step();
    }
}

TEST(cycles_of_a_schedule)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&cycler, NULL,
                           "schedule=wait:1/warmup:1/active:2/repeat:2"),
             GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    ten_steps();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(ready_count, 2);
    CHECK_EQ(ready_calls[0].events, 4); /* steps 2 and 3 */
    CHECK_EQ(ready_calls[0].first, 1020);
    CHECK_EQ(ready_calls[0].last, 1031);
    CHECK_EQ(ready_calls[1].events, 4); /* steps 6 and 7 */
    CHECK_EQ(ready_calls[1].first, 1060);
    CHECK(ready_calls[1].outer_calls >= 8); /* the tree has every step */
}

/* Also where no other cycle follows, and where it never ends. */
TEST(a_range_that_is_open_as_its_cycle_ends_is_lost_to_that)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&cycler, NULL, "schedule=active:2/repeat:2"),
             GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    gnomon_range over = gnomon_range_begin(&range_region);
    gnomon_range_end(gnomon_range_begin(&range_region));
    ten_steps();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    gnomon_range_end(over);
    CHECK_EQ(ready_count, 2);
    CHECK_EQ(ready_calls[0].events, 5);
    CHECK_EQ(ready_calls[0].missing, 1);
    CHECK_EQ(ready_calls[1].missing, 0);
}

/* It is told once, though it ends in the next run, which has the profiler too. */
TEST(a_range_that_is_open_as_the_run_ends_is_lost_to_that)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&cycler, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    gnomon_range over = gnomon_range_begin(&range_region);
    gnomon_range_end(gnomon_range_begin(&range_region));
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    gnomon_range_end(over);
    gnomon_range_end(gnomon_range_begin(&range_region));
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(ready_count, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ready_calls[i].events, 1);
        CHECK_EQ(ready_calls[i].missing, !i);
    }
}

/* A stage that ends inside a cycle delivers what there is; the next stage's cycles begin
 * anew. */
TEST(partial_cycles)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&cycler, NULL, "schedule=wait:8/active:5"),
             GNOMON_OK);
    for (int stage = 0; stage < 2; stage++) {
        CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
        ten_steps();
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
        CHECK_EQ(ready_count, stage + 1);
        CHECK_EQ(ready_calls[stage].events, 4); /* steps 8 and 9 */
        CHECK_EQ(ready_calls[stage].outer_calls, 10);
    }
}

/* Every step ends a cycle, and none is lost however late it is delivered. */
TEST(a_cycle_each_step)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&cycler, NULL, "schedule=active:1"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    ten_steps();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    size_t all = 0;
    for (int i = 0; i < ready_count; i++)
        all += ready_calls[i].events;
    CHECK_EQ(all, 20);
}

/* Without a schedule `events` comes once, at the end of the run, with all stages. */
TEST(ready_at_the_end_of_a_run)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&cycler, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    ten_steps();
    CHECK_EQ(gnomon_stage_begin("validate"), GNOMON_OK);
    ten_steps();
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(ready_count, 0);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(ready_count, 1);
    CHECK_EQ(ready_calls[0].events, 40);
}

/* No profile is made to be thrown away. */
static int times_ready;

static int count_time(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    (void)self, (void)p, (void)out;
    times_ready++;
    return GNOMON_OK;
}

static void nest_under(const char *options)
{
    static const gnomon_option_info known[] = {
        {sizeof *known, GNOMON_OPTION_TEXT, "on_trace_ready", "chrome", NULL},
        {.key = NULL}};
    static const gnomon_profiler ready = {TAPES("ready"), .options = known,
                                          .events = count_time};
    times_ready = 0;
    CHECK_EQ(gnomon_attach(&ready, NULL, options), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    nest(1, 2, 3);
    gnomon_step();
    nest(1, 2, 3);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&ready, NULL), GNOMON_OK);
}

TEST(no_events_are_ready_where_on_trace_ready_is_none)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    nest_under("on_trace_ready=chrome");
    CHECK_EQ(times_ready, 1);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    nest_under("on_trace_ready=none");
    CHECK_EQ(times_ready, 0);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    nest_under("on_trace_ready=none,schedule=active:1/repeat:2");
    CHECK_EQ(times_ready, 0);
}

/* ---- Losses ------------------------------------------------------------------------ */

#define MANY 100000

static void mark_many(int many)
{
    for (int i = 0; i < many; i++) {
        gnomon_token token = gnomon_begin(&inner_region);
        pass(1);
        gnomon_end(token);
    }
}

/* The last events are kept, and what is overwritten is counted exactly. */
TEST(the_last_are_kept)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach_taper(NULL);
    mark_many(MANY);
    gnomon_profile *p = taped();
    size_t n = events(p);
    CHECK(n > 20000 && n < MANY);
    CHECK_EQ(n + missing(p, "events_overwritten"), MANY);
    CHECK_EQ(missing(p, "events_lost"), 0);
    check_event(p, n, "inner", 1000 + MANY - 1, 1);
    check_event(p, 1, "inner", 1000 + MANY - n, 1);
    CHECK_EQ(stats_at(p, "inner").count, MANY);
    gnomon_profile_free(p);
}

/* Names that come when a ring is full take memory back from it. */
TEST(names_after_a_full_ring_are_in_the_tree)
{
    enum { NAMES = 2000 };
    char name[16];
    size_t named = 0;
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach_taper(NULL);
    mark_many(MANY);
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "n%d", i);
        gnomon_start(name);
        gnomon_stop(name);
    }
    gnomon_profile *p = taped();
    gnomon_region_info r;
    for (uint32_t i = 1; !gnomon_profile_region(p, i, &r); i++)
        named += r.name[0] == 'n';
    CHECK_EQ(named, NAMES);
    CHECK_EQ(events(p) + missing(p, NULL), MANY + NAMES);
    CHECK(events(p) >= 10000);
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    CHECK_EQ(h.lost_scopes, 0);
    gnomon_profile_free(p);
}

/* Each thread stays, and has executions of 30 ns to a minute on each path, which takes
 * the most memory. */
static sem_t has_marked, may_leave;

static void *mark_and_stay(void *number)
{
    char name[16];
    snprintf(name, sizeof name, "t%d", *(const int *)number);
    gnomon_thread_name(name);
    for (int i = 0; i < 700; i++)
        nest(30, 30ull << i % 24, 30);
    sem_post(&has_marked);
    sem_wait(&may_leave);
    return NULL;
}

TEST(threads_after_a_full_ring_are_in_the_tree)
{
    enum { THREADS = 120 };
    pthread_t threads[THREADS];
    gnomon_health h = {.struct_size = sizeof h};
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=4MiB"), GNOMON_OK);
    attach_taper(NULL);
    CHECK(!sem_init(&has_marked, 0, 0) && !sem_init(&may_leave, 0, 0));
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, mark_and_stay, &i), 0);
        sem_wait(&has_marked);
    }
    gnomon_profile *p = taped();
    CHECK_EQ(events(p) + missing(p, NULL), THREADS * 1400);
    CHECK(events(p) * sizeof(gnomon__tape_record) >= 256 << 10);
    gnomon_health_get(&h);
    CHECK_EQ(h.lost_scopes, 0);
    gnomon_profile_free(p);
    for (int i = 0; i < THREADS; i++)
        sem_post(&may_leave);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

TEST(the_first_are_kept)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&first_taper, NULL, NULL), GNOMON_OK);
    mark_many(MANY);
    gnomon_profile *p = taped();
    size_t n = events(p);
    CHECK(n > 20000 && n < MANY);
    CHECK_EQ(n + missing(p, "events_lost"), MANY);
    CHECK_EQ(missing(p, "events_overwritten"), 0);
    check_event(p, 1, "inner", 1000, 1);
    check_event(p, n, "inner", 1000 + n - 1, 1);
    gnomon_profile_free(p);
}

/* Of the last three steps and the open one; what is older is counted. */
TEST(the_last_steps_are_kept)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&first_taper, NULL, "keep=3steps"), GNOMON_OK);
    for (uint64_t i = 0; i < 50; i++) {
        gnomon_counter(&loss_region, 1);
        nest(1, 8, 1);
        gnomon_step();
        if (i >= 3 && i % 10)
            continue;
        uint64_t made = 3 * (i + 1), kept = i < 3 ? made : 9;
        gnomon_profile *p = taped();
        CHECK_EQ(events(p), kept);
        CHECK_EQ(event_at(p, 1).begin_ns, 1000 + 10 * (i < 3 ? 0 : i - 2));
        CHECK_EQ(missing(p, "events_overwritten"), made - kept);
        CHECK_EQ(missing(p, "events_lost"), 0);
        CHECK_EQ(stats_at(p, "outer").count, i + 1);
        gnomon_profile_free(p);
    }
    mark_many(5);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 9 + 5);
    gnomon_profile_free(p);
}

/* Their memory is used again, so that keep= is the limit and not mem=. */
TEST(memory_of_older_steps_is_used_again)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&first_taper, NULL, "keep=2 steps"), GNOMON_OK);
    for (int i = 0; i < 60; i++) {
        mark_many(7000);
        gnomon_step();
    }
    gnomon_profile *p = taped();
    CHECK_EQ(events(p), 2 * 7000);
    CHECK_EQ(missing(p, "events_overwritten"), 58 * 7000);
    CHECK_EQ(missing(p, "events_lost"), 0);
    gnomon_profile_free(p);
}

static const gnomon_profiler other_keeper = {.struct_size = sizeof other_keeper,
                                             .abi = GNOMON_ABI,
                                             .wants = GNOMON_WANT_TREE,
                                             .name = "other_keeper",
                                             KEEPS("first")};

/* Of a profiler without events keep= is its own business. */
TEST(a_wrong_keep_is_refused)
{
    CHECK_EQ(gnomon_attach(&first_taper, NULL, "keep=frist"), GNOMON_EINVAL);
    CHECK(strstr(gnomon_error_text(), "taper: keep=frist: say last") != NULL);
    static const char *const wrong[] = {
        "keep=0steps", "keep=65537steps", "keep=8",
        "keep=steps",  "keep=8stepss",    "keep=99999999999999999999steps"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_EQ(gnomon_attach(&first_taper, NULL, wrong[i]), GNOMON_EINVAL);
    CHECK_EQ(gnomon_attach(&first_taper, NULL, "keep=Last"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&other_keeper, NULL, "keep=frist"), GNOMON_OK);
}

/* Records of two parts never lie in two blocks. */
TEST(further_records_at_the_ends_of_blocks)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    attach_taper(NULL);
    uint64_t made = 0;
    for (int i = 0; i < 30000; i++) {
        mark_many(i % 3);
        gnomon_counter(&loss_region, i);
        made += (uint64_t)i % 3 + 1;
    }
    gnomon_profile *p = taped();
    CHECK_EQ(events(p) + missing(p, "events_overwritten"), made);
    double last = -1;
    for (size_t i = 1; i <= events(p); i++) {
        gnomon_event_info e = event_at(p, i);
        if (e.kind != GNOMON_EVENT_COUNTER)
            continue;
        CHECK(last < 0 || (int)e.value == (int)last + 1);
        last = e.value;
    }
    CHECK_EQ((int)last, 29999);
    gnomon_profile_free(p);
}

/* What a cycle gave is not missing when it is overwritten later. */
TEST(delivered_events_are_not_missing)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=1MiB"), GNOMON_OK);
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    for (int stage = 0; stage < 10; stage++) {
        CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
        mark_many(20000);
        gnomon_profile *p = taped();
        CHECK_EQ(events(p), 20000);
        CHECK_EQ(missing(p, "events_overwritten"), 0);
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
}

/* Scopes inside an "(other)" have no path of their own. */
TEST(below_other)
{
    attach_taper(NULL);
    enum { DEEP = 1100 };
    static gnomon_region regions[DEEP];
    static char names[DEEP][8];
    gnomon_token tokens[DEEP];
    for (int i = 0; i < DEEP; i++) {
        snprintf(names[i], sizeof names[i], "r%d", i);
        regions[i] = (gnomon_region)GNOMON_REGION_INIT(GNOMON_KIND_SCOPE,
                                                       names[i], NULL, NULL);
        tokens[i] = gnomon_begin(&regions[i]);
        pass(1);
    }
    for (int i = DEEP; i-- > 0;)
        gnomon_end(tokens[i]);
    gnomon_profile *p = taped();
    CHECK_EQ(events(p) + missing(p, "events_lost"), DEEP);
    CHECK(events(p) >= 1024);
    gnomon_profile_free(p);
}

TEST(detached_and_attached_again)
{
    for (int round = 0; round < 20; round++) {
        attach_taper(NULL);
        mark_many(5000);
        gnomon_profile *p = taped();
        CHECK_EQ(events(p), 5000);
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_detach(&taper, NULL), GNOMON_OK);
        mark_many(10);
    }
}
