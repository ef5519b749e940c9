/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon_device as another vendor implements it (fake_device.h): scopes on
 * its streams, alone and together with CUDA's, and what the reader of events
 * promises to every vendor.
 *
 * links: testing
 * timeout: 300 */
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda.h"
#include "fake_device.h"
#include "device/timers.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "probe_profile.h"
#include "sanitizer.h"

#define US 1000u
#define MS 1000000u

static toy_context *main_context;
static toy_stream *stream;

static void ignore_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    (void)slot;
}

static void begin(void)
{
    gnomon__test_set(1000);
    setenv("GNOMON_CUDA_LIBRARY", "/nonexistent", 0);
    main_context = toy_device_context(0);
    stream = toy_make_stream(main_context);
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
}

static gnomon_profile *snapshot(void)
{
    return profile_of("timed", 0);
}

static void end(gnomon_profile *p)
{
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    CHECK_EQ(toy_faults, 0);
}

static gnomon_device_scope toy_begin(const char *name, toy_stream *on)
{
    return gnomon_begin_on(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE),
                           &toy, on);
}

static void scope_on(const char *name, toy_stream *on, uint64_t ns)
{
    gnomon_device_scope s = toy_begin(name, on);
    toy_launch(on == &toy_own ? toy_mine : on, ns);
    pass(10 * US);
    gnomon_end_on(s);
}

/* ---- Times --------------------------------------------------------------------- */

TEST(scopes_nest_and_overlap)
{
    begin();
    toy_stream *other = toy_make_stream(main_context);
    for (unsigned i = 1; i <= 2; i++) {
        gnomon_device_scope outer = toy_begin("outer", stream);
        toy_launch(stream, i * MS);
        gnomon_device_scope inner = toy_begin("inner", stream);
        toy_launch(stream, 3 * MS);
        gnomon_device_scope aside = toy_begin("aside", other);
        toy_launch(other, 100 * MS);
        gnomon_end_on(aside);
        gnomon_end_on(inner);
        gnomon_end_on(outer);
        pass(200 * MS);
        gnomon_profile_free(snapshot()); /* timers are there again */
    }
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "outer", 2, 9 * MS, 3 * MS, 4 * MS, 5 * MS);
    CHECK_DEVICE(p, "outer>inner", 2, 6 * MS, 6 * MS, 3 * MS, 3 * MS);
    CHECK_DEVICE(p, "outer>inner>aside", 2, 200 * MS, 200 * MS, 100 * MS,
                 100 * MS);
    CHECK_EQ(device_of(p, "outer").cell_count, 2);
    CHECK_EQ(device_of(p, "outer>inner").cell_count, 1);
    end(p);
    CHECK_EQ(toy_alive(), 2 * 3); /* timers are kept, clocks are not */
}

TEST(stages_are_apart)
{
    begin();
    for (unsigned i = 1; i <= 2; i++) {
        gnomon_stage_begin(i == 1 ? "fit" : "test");
        scope_on("a", stream, i * MS);
        pass(10 * MS);
        gnomon_profile *p = snapshot();
        CHECK_DEVICE(p, "a", 1, i * MS, i * MS, i * MS, i * MS);
        gnomon_profile_free(p);
        gnomon_stage_end();
    }
    end(NULL);
}

TEST(both_vendors_in_one_report)
{
    fake_cuda_use();
    begin();
    void *cuda_stream = cuda->stream(cuda->context(0));
    toy_stream *second = toy_make_stream(toy_device_context(1));
    gnomon_device_scope outer = toy_begin("outer", stream);
    {
        GNOMON_SCOPE_ON("on cuda", cuda_stream);
        cuda->launch(cuda_stream, 7 * MS);
        scope_on("inner", stream, 2 * MS);
        scope_on("second", second, 4 * MS);
    }
    gnomon_end_on(outer);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "outer", 1, 2 * MS, 0, 2 * MS, 2 * MS);
    CHECK_DEVICE(p, "outer>on cuda", 1, 7 * MS, 7 * MS, 7 * MS, 7 * MS);
    CHECK_DEVICE(p, "outer>on cuda>inner", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    CHECK_DEVICE(p, "outer>on cuda>second", 1, 4 * MS, 4 * MS, 4 * MS, 4 * MS);
    end(p);
    fake_cuda_is_well();
}

/* ---- Threads -------------------------------------------------------------------- */

static void *mark_thread(void *name)
{
    toy_stream *own = toy_make_stream(main_context);
    for (int i = 0; i < 100; i++) {
        gnomon_device_scope s = toy_begin(name, own);
        toy_launch(own, 1 * US);
        gnomon_end_on(s);
    }
    return NULL;
}

TEST(threads)
{
    static char names[8][8];
    pthread_t threads[8];
    begin();
    for (int i = 0; i < 8; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        pthread_create(&threads[i], NULL, mark_thread, names[i]);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    pass(100 * MS);
    gnomon_profile *p = snapshot();
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(device_of(p, names[i]).count, 100);
        CHECK_EQ(device_of(p, names[i]).total_ns, 100 * US);
    }
    CHECK_EQ(health_now().timers_full, 0);
    CHECK_EQ(health_now().timers_failed, 0);
    end(p);
}

static void *mark_slow(void *unused)
{
    toy_mine = stream;
    scope_on("slow", &toy_own, TOY_NEVER);
    return unused;
}

/* One handle that is a different stream on each thread: a late one delays no
 * other, and a thread that ended still gets its times. */
TEST(streams_of_threads)
{
    begin();
    toy_mine = toy_make_stream(main_context);
    scope_on("quick", &toy_own, 1 * MS);
    on_thread(mark_slow, NULL);
    scope_on("quick", &toy_own, 2 * MS);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "slow", 0, 0, 0, 0, 0);
    CHECK_DEVICE(p, "quick", 2, 3 * MS, 3 * MS, 1 * MS, 2 * MS);
    gnomon_profile_free(p);
    toy_finish(stream);
    p = snapshot();
    uint64_t all = 10 * MS + 20 * US;
    CHECK_DEVICE(p, "slow", 1, all, all, all, all);
    end(p);
}

/* ---- Contexts that are destroyed ----------------------------------------- */

TEST(a_device_that_is_reset)
{
    begin();
    scope_on("a", stream, 1 * MS);
    gnomon_device_scope half = toy_begin("half", stream);
    toy_reset(main_context, 1);
    gnomon_end_on(half);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "a").count + device_of(p, "half").count, 0);
    gnomon_profile_free(p);
    stream = toy_make_stream(main_context);
    scope_on("a", stream, 1 * MS);
    pass(10 * MS);
    p = snapshot();
    CHECK_DEVICE(p, "a", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(health_now().timers_failed + health_now().timers_captured, 2);
    end(p);
}

/* Ten devices, one after the other. */
static void *enter_devices(void *unused)
{
    for (int i = 0; i < 10; i++) {
        toy_context *c = toy_device_context(i);
        toy_stream *s = toy_make_stream(c);
        uint32_t streams = toy_stream_count;
        scope_on("a", s, 1 * MS);
        pass(10 * MS);
        gnomon_profile_free(snapshot());
        CHECK_EQ(toy_stream_count, streams + 1); /* its clock's */
        toy_reset(c, 0);
        gnomon_profile_free(snapshot());
    }
    return unused;
}

/* Clocks: 16 live contexts at most. */
TEST(contexts_come_and_go)
{
    begin();
    enter_devices(NULL);
    on_thread(enter_devices, NULL);
    gnomon_profile *p = snapshot();
    CHECK_EQ(calls_of(p, "a"), 20);
    CHECK_EQ(health_now().timers_full, 0);
    CHECK_EQ(health_now().timers_failed, 0);
    end(p);
}

/* A thread can have pending work of 16 contexts. */
TEST(more_contexts_than_a_thread_has_room_for)
{
    begin();
    for (int i = 0; i < 20; i++)
        scope_on("a", toy_make_stream(toy_device_context(i)), 1 * MS);
    CHECK_EQ(health_now().timers_full, 4);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "a").count, 16);
    CHECK_EQ(stats_at(p, "a").count, 20);
    gnomon_profile_free(p);
    /* One after another, each works as the first did. */
    for (int i = 0; i < 40; i++) {
        scope_on("b", toy_make_stream(toy_device_context(i)), 1 * MS);
        pass(10 * MS);
        gnomon_profile_free(snapshot());
    }
    p = snapshot();
    CHECK_DEVICE(p, "b", 40, 40 * MS, 40 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(health_now().timers_full, 4);
    end(p);
}

static void *visit_four(void *unused)
{
    for (int i = 0; i < 4; i++)
        scope_on("there", toy_make_stream(toy_device_context(i)), 1 * MS);
    return unused;
}

/* Contexts of another thread have timers, and no clocks any more. */
TEST(more_contexts_than_there_are_clocks)
{
    begin();
    for (int i = 0; i < 16; i++)
        scope_on("a", toy_make_stream(toy_device_context(i)), 1 * MS);
    pass(10 * MS);
    gnomon_profile_free(snapshot());
    uint32_t streams = toy_stream_count;
    on_thread(visit_four, NULL);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(toy_stream_count, streams + 4);
    CHECK_DEVICE(p, "there", 4, 4 * MS, 4 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(health_now().timers_full, 0);
    end(p);
}

/* ---- Calls that fail ----------------------------------------------------- */

/* The profile's cost of the device's events, in ns; -1: it has none. */
static long reported_cost(const gnomon_profile *p, const char *key)
{
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_METADATA); i++) {
        gnomon_metadata_info m;
        if (!gnomon_profile_metadata(p, i, &m) && strcmp(m.key, key) == 0)
            return strtol(m.json, NULL, 10);
    }
    return -1;
}

static void check_refusing(const gnomon_device *device, const char *key)
{
    begin();
    for (int i = 0; i < 3; i++) {
        gnomon_device_scope s = gnomon_begin_on(
            gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE), device, stream);
        toy_launch(stream, 1 * MS);
        gnomon_end_on(s);
        pass(10 * MS);
        gnomon_profile_free(snapshot());
    }
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "a", 3, 3 * MS, 3 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(health_now().timers_failed, 0);
    CHECK_EQ(reported_cost(p, key), -1);
    end(p);
    CHECK_EQ(toy_alive(), 2); /* the timer's */
}

static int few_create(const gnomon_device_context *context, void **event)
{
    return toy_event_count < 12 ? toy_event_create(context, event)
                                : GNOMON_ENOMEM;
}

/* Too few events to measure their cost: those that were created are
 * destroyed. */
TEST(few_events)
{
    static gnomon_device few;
    few = toy;
    few.name = "few";
    few.event_create = few_create;
    check_refusing(&few, "gnomon.few.0.event_ns");
    CHECK_EQ(toy_event_count, 12);
}

static int mute_describe(const gnomon_device_context *context, int32_t *index,
                         char *name, size_t size)
{
    (void)toy_describe(context, index, name, size);
    return GNOMON_ESTATE;
}

TEST(a_device_without_a_name)
{
    static gnomon_device mute;
    mute = toy;
    mute.name = "mute";
    mute.describe = mute_describe;
    check_refusing(&mute, "gnomon.mute.0.event_ns");
    CHECK(toy_event_count < 12);
}

/* Without steps, and with nothing under way, an anchor a second is all. */
TEST(an_idle_context_is_not_entered)
{
    begin();
    scope_on("a", stream, 10 * US);
    pass(1 * MS);
    for (int i = 0; i < 4; i++)
        gnomon_profile_free(snapshot());
    uint64_t before = toy_entries;
    for (int i = 0; i < 100; i++)
        gnomon_profile_free(snapshot());
    CHECK(before > 0 && toy_entries - before < 50);
    end(snapshot());
}

/* Clock readings between events on the reader's streams. */
static int unmeasured_elapsed(void *from, void *to, double *ns)
{
    return ((toy_event *)from)->in == stream ? toy_event_elapsed(from, to, ns)
                                             : GNOMON_ESTATE;
}

TEST(a_device_that_does_not_say_what_an_event_costs)
{
    static gnomon_device unmeasured;
    unmeasured = toy;
    unmeasured.name = "unmeasured";
    unmeasured.event_elapsed = unmeasured_elapsed;
    toy_event_ns = 500;
    begin();
    gnomon_device_scope s = gnomon_begin_on(
        gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE), &unmeasured, stream);
    toy_launch(stream, 1 * MS);
    gnomon_end_on(s);
    pass(10 * MS);
    for (int i = 0; i < 3; i++) {
        gnomon_profile_free(snapshot());
        pass(1 * MS);
    }
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "a", 1, 1 * MS + 500, 1 * MS + 500, 1 * MS + 500,
                 1 * MS + 500);
    CHECK_EQ(reported_cost(p, "gnomon.unmeasured.0.event_ns"), 0);
    toy_event_ns = 0;
    end(p);
}

/* Every 30th event on a stream that is not the host's. */
static int held_up_record(void *event, void *on)
{
    static uint32_t records;
    if (on != stream && ++records % 30 == 0)
        pass(100 * MS);
    return toy_event_record(event, on);
}

/* A reader that was delayed between two events reports no cost. */
TEST(a_reader_that_is_held_up)
{
    static gnomon_device held_up;
    held_up = toy;
    held_up.name = "held up";
    held_up.event_record = held_up_record;
    toy_event_ns = 500;
    begin();
    for (int i = 0; i < 3; i++) {
        gnomon_end_on(gnomon_begin_on(
            gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE), &held_up, stream));
        pass(1 * MS);
        gnomon_profile_free(snapshot());
    }
    gnomon_profile *p = snapshot();
    CHECK_EQ(reported_cost(p, "gnomon.held up.0.event_ns"), 500);
    toy_event_ns = 0;
    end(p);
}

/* The next queries of `stream` take 2 s each, together longer than a call may; the
 * answer is the state at the begin of the query. */
static uint32_t slow_questions;

static int slow_event_done(void *event)
{
    int code = toy_event_done(event);
    if (((toy_event *)event)->in == stream &&
        load_relaxed(&slow_questions) != 0) {
        add_relaxed(&slow_questions, UINT32_MAX);
        usleep(2000000);
    }
    return code;
}

/* A wait for times that meets an earlier slow pass waits for its end, and
 * then again as long as any call may take. */
TEST(a_reader_waits_for_a_slow_one_before_it)
{
    static gnomon_device slow;
    slow = toy;
    slow.name = "slow";
    slow.event_done = slow_event_done;
    gnomon__test_hang_ns = 3500000000;
    begin();
    toy_launch(stream, TOY_NEVER);
    gnomon_end_on(gnomon_begin_on(
        gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE), &slow, stream));
    store_relaxed(&slow_questions, 2);
    while (load_relaxed(&slow_questions) != 1)
        usleep(1000);
    toy_finish(stream);
    gnomon_profile *p = snapshot();
    CHECK_EQ(load_relaxed(&slow_questions), 0);
    CHECK_EQ(device_of(p, "a").count, 1);
    end(p);
}

/* On the clock's own stream, whose row of events takes seconds this way. */
static int slow_event_record(void *event, void *on)
{
    if (on != stream)
        usleep(40000);
    return toy_event_record(event, on);
}

/* Each event is one call that returned: a waiting thread must not take the
 * reader for hanging, after which no pass waits for the next. */
TEST(a_clock_that_is_slow_to_set)
{
    static gnomon_device slow;
    slow = toy;
    slow.name = "slow";
    slow.event_record = slow_event_record;
    gnomon__test_hang_ns = 2000000000;
    begin();
    for (uint64_t i = 1; i <= 2; i++) {
        gnomon_end_on(gnomon_begin_on(
            gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE), &slow, stream));
        pass(1 * MS);
        gnomon_profile *p = snapshot();
        CHECK_EQ(device_of(p, "a").count, i);
        gnomon_profile_free(p);
    }
    end(NULL);
}

/* ---- Forks inside a device's calls -------------------------------------------- */

static __thread uint32_t forks_at; /* number of the call, on this thread */
static pid_t forked;

static void fork_now(void)
{
    if (!forks_at || --forks_at)
        return;
    pthread_mutex_lock(&toy_lock); /* the reader may hold it */
    forked = fork();
    pthread_mutex_unlock(&toy_lock);
}

static int forking_context_of(void *on, gnomon_device_context *out)
{
    fork_now();
    return toy_context_of(on, out);
}

static int forking_record(void *event, void *on)
{
    fork_now();
    return toy_event_record(event, on);
}

/* The child continues inside the mark, and exits. */
static void fork_at_call(uint32_t number)
{
    if (IS_TSAN)
        SKIP("the sanitizer starts no thread in a child of threads");
    static gnomon_device forking;
    forking = toy;
    int status = -1;
    forking.context_of = forking_context_of;
    forking.event_record = forking_record;
    forks_at = number;
    forked = -1;
    begin();
    pid_t self = getpid();
    {
        GNOMON_SCOPE_ON_DEVICE("a", &forking, stream);
    }
    if (getpid() != self) {
        GNOMON_SCOPE_ON_DEVICE("b", &forking, stream);
        exit(test_failures || toy_faults);
    }
    CHECK_EQ(waitpid(forked, &status, 0), forked);
    CHECK_EQ(status, 0);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "a", 1, 0, 0, 0, 0);
    end(p);
}

TEST(a_fork_before_the_begin)
{
    fork_at_call(1); /* of context_of, and then of event_record */
}

TEST(a_fork_at_the_begin)
{
    fork_at_call(2);
}

/* It begins to record as soon as it marks. */
TEST(a_fork_at_the_begin_that_is_followed)
{
    setenv("GNOMON", "cuda(file=/dev/null),fork=follow", 1);
    fork_at_call(2);
}

TEST(a_fork_at_the_end)
{
    fork_at_call(3);
}

TEST(a_captured_stream)
{
    begin();
    stream->is_captured = 1;
    scope_on("a", stream, 1 * MS);
    gnomon_device_scope half = {.token = 0};
    stream->is_captured = 0;
    half = toy_begin("half", stream);
    stream->is_captured = 1;
    gnomon_end_on(half);
    stream->is_captured = 0;
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "a").count + device_of(p, "half").count, 0);
    CHECK_EQ(health_now().timers_captured, 2);
    end(p);
}

/* The time of the outer scope is lost while the inner one waits, and its
 * timer is reused at once: the waiting scope must not get that time. */
TEST(an_outer_one_that_is_lost_first)
{
    begin();
    gnomon_device_scope outer = toy_begin("outer", stream);
    scope_on("inner", stream, 50 * MS);
    stream->is_captured = 1;
    gnomon_end_on(outer);
    stream->is_captured = 0;
    gnomon_profile_free(snapshot()); /* the outer's timer is free */
    toy_stream *other = toy_make_stream(main_context);
    for (int i = 0; i < 2; i++)
        scope_on("next", other, 60 * MS);
    pass(200 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "outer>inner", 1, 50 * MS, 50 * MS, 50 * MS, 50 * MS);
    CHECK_EQ(device_of(p, "next").count, 2);
    CHECK_EQ(device_of(p, "next").self_ns, device_of(p, "next").total_ns);
    end(p);
}

/* ---- Copies of the library ------------------------------------------------------ */

/* Each brings its own table of the same vendor's. */
TEST(copies_share_streams)
{
    begin();
    gnomon_device another = toy;
    gnomon_device_scope outer = toy_begin("outer", stream);
    toy_launch(stream, 1 * MS);
    gnomon_device_scope inner = gnomon_begin_on(
        gnomon_region_get("inner", NULL, GNOMON_KIND_SCOPE), &another, stream);
    toy_launch(stream, 2 * MS);
    gnomon_end_on(inner);
    gnomon_end_on(outer);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "outer", 1, 3 * MS, 1 * MS, 3 * MS, 3 * MS);
    CHECK_DEVICE(p, "outer>inner", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    end(p);
}

/* ---- Promises ------------------------------------------------------------------- */

TEST(errno_is_the_hosts)
{
    begin();
    errno = 33;
    for (int i = 0; i < 3; i++)
        gnomon_end_on(toy_begin("a", stream));
    CHECK_EQ(errno, 33);
    end(NULL);
}

TEST(invalid_devices_are_refused)
{
    static const gnomon_device other = {.struct_size = sizeof other,
                                        .abi = GNOMON_ABI + 1};
    static const gnomon_device small = {.struct_size = 16, .abi = GNOMON_ABI};
    begin();
    gnomon_region *a = gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE);
    gnomon_end_on(gnomon_begin_on(a, &other, stream));
    gnomon_end_on(gnomon_begin_on(a, &small, stream));
    gnomon_end_on(gnomon_begin_on(a, NULL, stream));
    gnomon_end_on(gnomon_begin_on(NULL, &toy, stream));
    gnomon_profile *p = snapshot();
    CHECK_NODE(p, "a", 3, 0, 0);
    CHECK_EQ(health_now().timers_failed, 3);
    end(p);
}

TEST(four_views_and_no_more)
{
    static gnomon_profiler views[5];
    begin();
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    for (int i = 0; i < 5; i++) {
        static char names[5][16], filters[5][16];
        views[i] = timed;
        snprintf(names[i], sizeof names[i], "view%d", i);
        snprintf(filters[i], sizeof filters[i], "filter=a|b%d", i);
        views[i].name = names[i];
        CHECK_EQ(gnomon_attach(&views[i], NULL, filters[i]),
                 i < 4 ? GNOMON_OK : GNOMON_EFULL);
    }
    CHECK(strstr(gnomon_error_text(),
                 "4 views have work or times of devices already"));
    scope_on("a", stream, 1 * MS);
    scope_on("b2", stream, 2 * MS);
    pass(10 * MS);
    for (int i = 0; i < 4; i++) {
        gnomon_profile *p = profile_of(views[i].name, 0);
        CHECK_DEVICE(p, "a", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
        CHECK_EQ(device_of(p, "b2").count, i == 2);
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_detach(&views[i], NULL), GNOMON_OK);
    }
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    scope_on("a", stream, 3 * MS);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "a", 1, 3 * MS, 3 * MS, 3 * MS, 3 * MS);
    end(p);
}

/* Where no bit is left for a profiler's hook, its view is not timed. */
TEST(more_hooks_than_there_are_bits)
{
    static gnomon_profiler all[31];
    static char names[31][16];
    int code = GNOMON_OK, count = 0;
    gnomon_profiler hook = probe;
    hook.start = ignore_start;
    hook.wants = 0;
    for (; !code && count < 31; count++) {
        snprintf(names[count], sizeof names[count], "hook%d", count);
        all[count] = hook;
        all[count].name = names[count];
        code = gnomon_attach(&all[count], NULL, NULL);
    }
    CHECK_EQ(code, GNOMON_OK);
    CHECK_EQ(gnomon_detach(&all[0], NULL), GNOMON_OK);
    hook.wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE;
    hook.name = "timed hook"; /* one bit is left, for its tree */
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_EFULL);
    CHECK_EQ(load_relaxed(&gnomon__timer_bits), 0);
    CHECK_EQ(gnomon_detach(&all[1], NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    CHECK(load_relaxed(&gnomon__timer_bits) != 0);
    CHECK_EQ(gnomon_detach(&hook, NULL), GNOMON_OK);
}

/* ---- Many paths ---------------------------------------------------------------- */

/* More paths than the table of their statistics has lists, each on its thread and on the
 * stream; and memory ends while they are copied, at each allocation. */
TEST(many_paths)
{
    enum { PATHS = 1500 };
    begin();
    for (int i = 0; i < PATHS; i++) {
        char name[16];
        snprintf(name, sizeof name, "path %d", i);
        scope_on(name, stream, (unsigned)(i + 10) * US);
        if (i % 500 == 499) {
            pass(1000 * MS);
            gnomon_profile_free(snapshot()); /* the timers are there again */
        }
    }
    gnomon_profile *p = NULL;
    uint64_t n = 0, failures = 0;
    do {
        gnomon_profile_free(p);
        n += getenv("GNOMON_SOAK") ? 1 : n > 300 ? 37 * SHARE : SHARE;
        gnomon__test_fail_allocation(n);
        int code = gnomon_snapshot(&p, "timed", 0);
        CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM);
        CHECK_EQ(p != NULL, code == GNOMON_OK);
        failures += code == GNOMON_ENOMEM;
    } while (n <= gnomon__test_allocations());
    gnomon__test_fail_allocation(0);
    CHECK(failures > 10);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 2 * PATHS);
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info node;
        if (!CHECK_EQ(gnomon_profile_node(p, i, &node), GNOMON_OK) ||
            !CHECK(node.device != NULL))
            break;
        CHECK_EQ(node.device->count, 1);
        CHECK_EQ(node.device->total_ns,
                 (uint64_t)(atoi(node_name(p, &node) + 5) + 10) * US);
    }
    end(p);
}

/* A scope for which the tree has no memory is not timed; the outer scope,
 * which the device has begun, is. */
TEST(too_deep_inside)
{
    begin();
    gnomon_profiler hook = probe; /* whose hook sees the scope */
    hook.start = ignore_start;
    hook.wants = 0;
    CHECK_EQ(gnomon_attach(&hook, NULL, "filter=deeper"), GNOMON_OK);
    gnomon_device_scope outer = toy_begin("outer", stream);
    gnomon_device_scope around = toy_begin("around", stream);
    gnomon_profile_free(snapshot()); /* hooks see both begin */
    static gnomon_token open[1023];
    gnomon_region *deep = gnomon_region_get("deep", NULL, GNOMON_KIND_SCOPE);
    for (int i = 0; i < 1023; i++)
        open[i] = gnomon_begin(deep);
    scope_on("deeper", stream, 1 * MS);
    gnomon_profile_free(snapshot());
    for (int i = 1023; i-- > 0;)
        gnomon_end(open[i]);
    gnomon_end_on(around);
    gnomon_end_on(outer);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "outer>around").count, 1);
    CHECK_EQ(device_of(p, "outer").count, 1);
    CHECK_EQ(health_now().timers_unended, 1);
    end(p);
}

/* A thread ends inside a scope; the next one of its name goes on with its
 * timers. */
static void *leave_open(void *unused)
{
    (void)toy_begin("open", stream);
    return unused;
}

static void *mark_after(void *unused)
{
    scope_on("after", stream, 1 * MS);
    return unused;
}

TEST(threads_that_end_inside)
{
    begin();
    on_thread(leave_open, NULL);
    CHECK_EQ(health_now().left_open, 1);
    on_thread(mark_after, NULL);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "open").count, 0);
    CHECK_DEVICE(p, "after", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(health_now().timers_unended, 1);
    end(p);
}
