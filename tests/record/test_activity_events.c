/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Single records of work as events of a profile, with the calls that launched them; and
 * what happens to many.
 *
 * links: testing
 * timeout: 600 */
#include "toy_source.h"

#include "child.h"
#include "event_runs.h"
#include "platform/memory.h"
#include "sanitizer.h"

static gnomon_region outer_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "outer", NULL, NULL);

static const gnomon_profiler tracer = {
    .struct_size = sizeof tracer,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE_WORK | GNOMON_WANT_EVENTS,
    .name = "tracer"};

static void trace(const char *options)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&tracer, NULL, options), GNOMON_OK);
    gnomon_thread_name("main");
}

/* A line for each event of a device's or call's track, in their order: its track, path,
 * begin and duration, and the begin of the call that launched it. */
static const char *events_of(toy_text *t, const gnomon_profile *p)
{
    gnomon_event_info e;
    t->used = 0;
    t->at[0] = 0;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++) {
        gnomon_track_info k;
        gnomon_link_info l;
        gnomon_profile_track(p, e.track, &k);
        if (k.kind == GNOMON_TRACK_THREAD)
            continue;
        toy_print(t, "%s ", k.name);
        toy_print_path(t, p, e.node);
        toy_print(t, " %" PRIu64 "+%" PRIu64, e.begin_ns, e.duration_ns);
        for (size_t n = 1; !gnomon_profile_link(p, n, &l); n++) {
            gnomon_event_info from = {.begin_ns = 0};
            if (l.to_instance != e.instance)
                continue;
            CHECK_EQ(l.kind, GNOMON_LINK_LAUNCH);
            CHECK_EQ(l.to, e.node);
            for (size_t m = 1; !gnomon_profile_event(p, m, &from); m++)
                if (from.instance == l.from_instance)
                    break;
            CHECK_EQ(from.node, l.from);
            toy_print(t, " by %" PRIu64, from.begin_ns);
        }
        toy_print(t, "\n");
    }
    return t->at;
}

#define CHECK_EVENTS(all_stages, text) \
    do { \
        static toy_text shown_; \
        gnomon_profile *p_ = profile_of("tracer", all_stages); \
        CHECK_STR(events_of(&shown_, p_), text); \
        check_event_runs(p_); \
        gnomon_profile_free(p_); \
    } while (0)

static void launch(const char *kernel, uint64_t at, uint64_t begin, uint64_t ns)
{
    toy_work(&toy, GNOMON_DEVICE_CALL, "launch", at, 10);
    gnomon_device_work *r = toy_kernel(kernel, begin, ns);
    r->correlation--; /* the call's */
}

/* ---- Events ------------------------------------------------------------------------- */

TEST(events_of_work_have_their_launch)
{
    trace(NULL);
    {
        GNOMON_SCOPE("step");
        launch("b", 1100, 3000, 500);
        launch("a", 1200, 2000, 600); /* on another stream */
        toy.records[toy.count - 1].stream = 13;
        launch("c", 1300, 2500, 400);
    }
    toy_record(&toy, GNOMON_DEVICE_KERNEL, "stray", 2600, 100);
    CHECK_EVENTS(0, "calls of main step>launch 1100+10\n"
                    "calls of main step>launch 1200+10\n"
                    "calls of main step>launch 1300+10\n"
                    "stream 7 step>c 2500+400 by 1300\n"
                    "stream 7 stray 2600+100\n"
                    "stream 7 step>b 3000+500 by 1100\n"
                    "stream 13 step>a 2000+600 by 1200\n");
}

TEST(no_events_where_nobody_wants_them)
{
    toy_begin();
    GNOMON_SCOPE("step");
    launch("a", 1100, 2000, 500);
    gnomon_profile *p = profile_of("worker", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 0);
    gnomon_profile_free(p);
}

/* Many records of one launch, as of a graph: each has its own instance. */
TEST(work_of_one_launch_has_instances_of_its_own)
{
    trace(NULL);
    GNOMON_SCOPE("step");
    launch("a", 1100, 2000, 500);
    const gnomon_device_work first = toy.records[toy.count - 1];
    for (int i = 1; i < 3; i++) {
        gnomon_device_work *r = &toy.records[toy.count++];
        *r = first;
        r->begin_ns += 1000 * (uint64_t)i;
        r->end_ns += 1000 * (uint64_t)i;
    }
    CHECK_EVENTS(0, "calls of main step>launch 1100+10\n"
                    "stream 7 step>a 2000+500 by 1100\n"
                    "stream 7 step>a 3000+500 by 1100\n"
                    "stream 7 step>a 4000+500 by 1100\n");
}

/* Where no calls are recorded: of the executions of the scope that launched it the one
 * that was open then, and none where that has no event. */
TEST(events_of_work_have_the_scope_of_their_launch)
{
    trace(NULL);
    gnomon_token outer = gnomon_begin(&outer_region);
    for (uint64_t i = 0; i < 3; i++) {
        GNOMON_SCOPE("step");
        pass(10);
        toy_kernel("a", 2000 + 1000 * i, 100);
        if (i == 1)
            toy_kernel("b", 6000, 200);
        pass(10);
    }
    toy_kernel("c", 7000, 300);
    pass(10);
    toy_tell(&toy);
    CHECK_EVENTS(0, "stream 7 outer>step>a 2000+100 by 1000\n"
                    "stream 7 outer>step>a 3000+100 by 1020\n"
                    "stream 7 outer>step>a 4000+100 by 1040\n"
                    "stream 7 outer>step>b 6000+200 by 1020\n"
                    "stream 7 outer>c 7000+300\n");
    gnomon_end(outer);
    CHECK_EVENTS(0, "stream 7 outer>step>a 2000+100 by 1000\n"
                    "stream 7 outer>step>a 3000+100 by 1020\n"
                    "stream 7 outer>step>a 4000+100 by 1040\n"
                    "stream 7 outer>step>b 6000+200 by 1020\n"
                    "stream 7 outer>c 7000+300 by 1000\n");
}

/* An event is of the stage of its launch, as its time is. */
TEST(events_are_of_the_stage_of_their_launch)
{
    trace("at=end");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    pass(1000);
    {
        GNOMON_SCOPE("step");
        toy_kernel("a", 9000, 100);
        pass(1000);
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    pass(1000);
    {
        GNOMON_SCOPE("step");
        toy_kernel("b", 9500, 200);
        pass(1000);
    }
    toy_tell(&toy);
    gnomon_profile *p = profile_of("tracer", 1);
    gnomon_event_info e;
    int seen = 0;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++) {
        gnomon_node_info n;
        gnomon_stage_info s = {.name = ""};
        gnomon_profile_node(p, e.node, &n);
        gnomon_profile_stage(p, n.stage, &s);
        if (e.begin_ns < 9000)
            continue;
        CHECK_STR(s.name, e.begin_ns == 9000 ? "fit" : "test");
        seen++;
    }
    CHECK_EQ(seen, 2);
    gnomon_profile_free(p);
    CHECK_EVENTS(0, "stream 7 step>b 9500+200 by 4000\n");
}

/* The stage of each event of a device, as "NAME:BEGIN "; a sum without an event too, as
 * "NAME! ". */
static void stages_of_events(char *out, size_t size, const gnomon_profile *p)
{
    size_t used = 0;
    *out = 0;
    gnomon_node_info n;
    for (uint32_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        gnomon_event_info e;
        gnomon_stage_info stage = {.name = "-"};
        uint64_t count = n.device ? n.device->count : 0;
        gnomon_profile_stage(p, n.stage, &stage);
        for (size_t k = 1; !gnomon_profile_event(p, k, &e); k++)
            if (e.node == i && n.device) {
                used += (size_t)snprintf(out + used, size - used, "%s:%d ",
                                         stage.name, (int)e.begin_ns);
                count--;
            }
        if (count)
            used +=
                (size_t)snprintf(out + used, size - used, "%s! ", stage.name);
    }
}

#define CHECK_STAGES(all_stages, text) \
    do { \
        char shown_[256]; \
        gnomon_profile *p_ = profile_of("tracer", all_stages); \
        stages_of_events(shown_, sizeof shown_, p_); \
        CHECK_STR(shown_, text); \
        gnomon_profile_free(p_); \
    } while (0)

/* A trace that begins between two stages: work of the first that is told later is in its
 * stage, as is its time. Nobody noted its launch, as nobody recorded then. */
TEST(work_of_a_stage_before_the_trace)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    for (int i = 0; i < 3; i++) {
        pass(1000);
        CHECK_EQ(gnomon_stage_begin(i ? "fit" : "sanity"), GNOMON_OK);
        pass(1000);
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&tracer, NULL, "at=end"), GNOMON_OK);
    pass(1000);
    toy_record(&toy, GNOMON_DEVICE_KERNEL, "a", 6500, 100);
    toy_tell(&toy);
    CHECK_STAGES(1, "fit:6500 ");
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    pass(1000);
    {
        GNOMON_SCOPE("step");
        toy_kernel("b", 9500, 200);
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_STAGES(1, "fit:6500 test:9500 ");
    CHECK_EQ(toy_health().activities_late, 1);
}

/* With a schedule sums are of all steps, and events of its windows. */
TEST(schedules_choose_events)
{
    trace("schedule=wait:1/active:1");
    static toy_source mine; /* a thread of ours flushes the other */
    mine.number = toy.number;
    for (uint64_t i = 0; i < 3; i++) {
        {
            GNOMON_SCOPE("step");
            toy_work(&mine, GNOMON_DEVICE_KERNEL, "k", 5000 + 1000 * i, 100);
            pass(10);
        }
        toy_tell(&mine);
        if (i == 1) /* in the window */
            CHECK_EVENTS(0, "stream 7 step>k 6000+100 by 1010\n");
        gnomon_step();
    }
    gnomon_profile *p = profile_of("tracer", 0);
    gnomon_node_info n;
    CHECK_EQ(gnomon_profile_node(p, node_at(p, 0, 0, "step>k"), &n), 0);
    CHECK(n.device && n.device->count == 3);
    gnomon_profile_free(p);
}

/* ---- Many ----------------------------------------------------------------------------- */

#define MANY (IS_SLOW ? 100000u : 1000000u)

static uint64_t lost_of(const gnomon_profile *p, const char *kind,
                        gnomon_loss_info *loss)
{
    for (size_t i = 1; !gnomon_profile_loss(p, i, loss); i++)
        if (strcmp(loss->kind, kind) == 0)
            return loss->count;
    return 0;
}

static uint64_t work_told;

static int add_work(void *self, const gnomon_profile *p,
                    const gnomon_writer *out)
{
    gnomon_event_info e;
    gnomon_track_info k;
    gnomon_loss_info loss;
    (void)self, (void)out;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++)
        work_told += !gnomon_profile_track(p, e.track, &k) &&
                     k.kind != GNOMON_TRACK_THREAD;
    work_told += lost_of(p, "activities_overwritten", &loss);
    return GNOMON_OK;
}

static void launch_three(toy_source *mine)
{
    gnomon_stage_begin("fit");
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("step");
        toy_work(mine, GNOMON_DEVICE_KERNEL, "k", 5000, 100);
        pass(10);
    }
    toy_tell(mine);
    gnomon_step();
    pass(1);
}

/* Cycles tell each event of a device once. If a cycle's profile finds no memory, its events
 * are missing in the next cycle. An event that finds no memory when it is recorded counts
 * in activities_lost instead; one whose sums alone find none counts in both. */
TEST(cycles_tell_each_event_of_work_once)
{
    static toy_source mine;
    gnomon_profiler cycler = tracer;
    uint64_t failing = 0;
    cycler.events = add_work;
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&cycler, NULL, "schedule=active:1"), GNOMON_OK);
    mine.number = toy.number;
    launch_three(&mine);
    gnomon_stage_end();
    do {
        launch_three(&mine);
        gnomon__test_fail_allocation(++failing);
        gnomon_stage_end();
    } while (gnomon__test_allocations() >= failing);
    gnomon__test_fail_allocation(0);
    launch_three(&mine);
    gnomon_stage_end();
    CHECK(failing > 10);
    CHECK(work_told <= 3 * (failing + 2));
    CHECK(work_told + toy_health().activities_lost >= 3 * (failing + 2));
}

/* Events are overwritten, and counted; sums are of all. */
TEST(a_million_records)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,mem=8MiB"), GNOMON_OK);
    trace(NULL);
    uint64_t before = toy_health().heap_bytes, total = 0;
    {
        GNOMON_SCOPE("step");
        for (uint64_t i = 0; i < MANY; i++) {
            toy_kernel("k", 1000 * i, i % 977)->correlation = 1 + i;
            gnomon_host_get()->device_launched(toy.number, 1 + i);
            toy_tell(&toy);
            total += i % 977;
        }
    }
    CHECK(toy_health().heap_bytes - before < 64u << 10);
    gnomon_profile *p = profile_of("tracer", 0);
    gnomon_node_info n;
    gnomon_loss_info loss = {.count = 0};
    CHECK_EQ(gnomon_profile_node(p, node_at(p, 0, 0, "step>k"), &n), 0);
    if (CHECK(n.device != NULL)) {
        CHECK_EQ(n.device->count, MANY);
        CHECK_EQ(n.device->total_ns, total);
    }
    uint64_t lost = lost_of(p, "activities_overwritten", &loss);
    uint64_t kept = gnomon_profile_count(p, GNOMON_EVENTS);
    CHECK_EQ(lost + kept, MANY + 1); /* and the scope */
    CHECK(kept - 1 <= (8u << 20) / 4 / 48);
    CHECK(kept - 1 + 65536 / 48 >= (8u << 20) / 4 / 48); /* but one block */
    CHECK_EQ(loss.begin_ns, 0);
    CHECK_EQ(loss.end_ns, 1000 * (lost - 1));
    gnomon_profile_free(p);
}

/* Of more names than there is room for the rest is "(other)", and sums stay true. */
TEST_ALONE(a_hundred_thousand_names)
{
    const uint64_t many = IS_SLOW ? 70000 : 100000;
    char name[32];
    toy_begin();
    {
        GNOMON_SCOPE("step");
        for (uint64_t i = 0; i < many; i++) {
            snprintf(name, sizeof name, "kernel %d", (int)i);
            toy_kernel(name, 1, 1);
            toy_tell(&toy);
        }
    }
    gnomon_profile *p = profile_of("worker", 0);
    uint64_t count = 0, other = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        count += n.device ? n.device->count : 0;
        if (n.device && strcmp(node_name(p, &n), "(other)") == 0)
            other += n.device->count;
    }
    CHECK_EQ(count, many);
    CHECK_EQ(other, many - 65536);
    CHECK_EQ(toy_health().other_names, many - 65536);
    CHECK_EQ(toy_health().activities_lost, 0);
    gnomon_profile_free(p);
}

/* Of more shapes of a kernel than 64 the rest has none. */
TEST(shapes_of_a_kernel_are_bounded)
{
    toy_begin();
    {
        GNOMON_SCOPE("step");
        for (uint32_t i = 1; i <= 1000; i++) {
            toy_kernel("k", 1, 1)->grid[0] = i;
            toy_tell(&toy);
        }
    }
    gnomon_profile *p = profile_of("worker", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPS), 64);
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        if (n.device && !n.op)
            CHECK_EQ(n.device->count, 1000 - 64);
    }
    gnomon_profile_free(p);
}

/* Of more nodes than fit operations are left out, and paths stay. */
TEST_ALONE(operations_give_way_to_paths)
{
    enum { SCOPES = 3, SHAPES = 60, NAMES = 800, MOST = 131072 };
    static const char *const scopes[SCOPES] = {"a", "b", "c"};
    char name[32];
    toy_begin();
    for (uint32_t i = 0; i < SCOPES * SHAPES * NAMES; i++) {
        gnomon_token t = gnomon_begin(gnomon_region_get(
            scopes[i / (SHAPES * NAMES)], NULL, GNOMON_KIND_SCOPE));
        snprintf(name, sizeof name, "kernel %u", i % NAMES);
        toy_kernel(name, 1, 1)->grid[0] = 1 + i / NAMES % SHAPES;
        toy_tell(&toy);
        gnomon_end(t);
    }
    const uint64_t over = SCOPES * SHAPES * NAMES - MOST;
    uint64_t count = 0, bare = 0;
    gnomon_profile *p = profile_of("worker", 0);
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        if (!n.device)
            continue;
        CHECK(n.parent != 0);
        count += n.device->count;
        bare += n.op ? 0 : n.device->count;
    }
    CHECK_EQ(count, MOST + over);
    CHECK_EQ(bare, over);
    CHECK_EQ(toy_health().other_names, over);
    gnomon_profile_free(p);
}
