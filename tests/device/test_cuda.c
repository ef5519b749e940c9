/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * Scopes on CUDA's streams, on a fake driver with the test clock: which times
 * nodes get, whatever the streams do, and that the host's CUDA is not disturbed. */
#include "child.h"
#include "fake_cuda.h"
#include "device/cuda_driver.h"
#include "platform/error.h"
#include "probe_profile.h"

#define US 1000u
#define MS 1000000u

static void *context, *stream;

static void begin(void)
{
    fake_cuda_use();
    context = cuda->context(0);
    stream = cuda->stream(context);
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
    fake_cuda_is_well();
}

static gnomon_health health(void)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    return h;
}

static void *current(void)
{
    void *now = NULL;
    (void)gnomon__cuda()->CtxGetCurrent(&now);
    return now;
}

/* One scope named `name` that launches `ns` of work and takes 10 us itself. */
static void scope_on(const char *name, void *on, uint64_t ns)
{
    gnomon_device_scope s =
        gnomon_begin_on(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE),
                        gnomon_cuda_device(), on);
    cuda->launch(on, ns);
    pass(10 * US);
    gnomon_end_on(s);
}

/* ---- Times ------------------------------------------------------------------ */

TEST(the_device_has_its_own_times)
{
    begin();
    scope_on("a", stream, 3 * MS);
    scope_on("a", stream, 1 * MS);
    scope_on("b", stream, 0);
    gnomon_profile *p = snapshot(); /* no event has completed */
    CHECK_DEVICE(p, "a", 0, 0, 0, 0, 0);
    CHECK_NODE(p, "a", 2, 20 * US, 20 * US);
    gnomon_profile_free(p);
    pass(10 * MS);
    p = snapshot();
    CHECK_DEVICE(p, "a", 2, 4 * MS, 4 * MS, 1 * MS, 3 * MS);
    CHECK_DEVICE(p, "b", 1, 0, 0, 0, 0);
    CHECK_NODE(p, "a", 2, 20 * US, 20 * US);
    CHECK_EQ(device_of(p, "a").cell_count, 2);
    end(p);
}

/* A device that reports an event before an earlier one. The measured time is
 * wrong, but neither negative nor longer than possible; later ones are
 * right. */
TEST(events_out_of_order)
{
    begin();
    gnomon_region *wrong = gnomon_region_get("wrong", NULL, GNOMON_KIND_SCOPE);
    gnomon_region *outer = gnomon_region_get("outer", NULL, GNOMON_KIND_SCOPE);
    const gnomon_device *d = gnomon_cuda_device();
    cuda->launch(stream, 5 * MS);
    gnomon_device_scope s = gnomon_begin_on(wrong, d, stream);
    cuda->early(stream, 1);
    gnomon_end_on(s); /* 5 ms before its begin */
    cuda->early(stream, 0);
    pass(1 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "wrong").count, 0);
    gnomon_profile_free(p);
    pass(10 * MS);
    s = gnomon_begin_on(outer, d, stream);
    scope_on("inner", stream, 2 * MS);
    cuda->early(stream, 1);
    gnomon_end_on(s); /* before that of the inner one */
    cuda->early(stream, 0);
    pass(10 * MS);
    scope_on("right", stream, 3 * MS);
    pass(10 * MS);
    p = snapshot();
    gnomon_stats its = device_of(p, "wrong"), out = device_of(p, "outer");
    CHECK_EQ(its.total_ns, 0);
    CHECK(out.total_ns <= 10 * US && out.self_ns <= out.total_ns);
    CHECK_EQ(its.count + out.count + health().timers_failed, 2);
    CHECK_DEVICE(p, "outer>inner", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    CHECK_DEVICE(p, "right", 1, 3 * MS, 3 * MS, 3 * MS, 3 * MS);
    end(p);
}

/* A timer that completes before an earlier one is read after it. */
TEST(an_early_event_behind_a_late_one)
{
    begin();
    scope_on("late", stream, UINT64_MAX);
    cuda->early(stream, 1);
    scope_on("early", stream, 0);
    cuda->early(stream, 0);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "late").count, 0);
    gnomon_profile_free(p);
    cuda->finish(stream);
    p = snapshot();
    CHECK_EQ(device_of(p, "late").count, 1);
    CHECK_DEVICE(p, "early", 1, 10 * US, 10 * US, 10 * US, 10 * US);
    end(p);
}

static void nested(void *inner)
{
    GNOMON_SCOPE_ON("outer", stream);
    cuda->launch(stream, 1 * MS);
    {
        GNOMON_SCOPE("between");
        GNOMON_SCOPE_ON("inner", inner);
        cuda->launch(inner, 2 * MS);
    }
    cuda->launch(stream, 4 * MS);
}

TEST(inner_scopes_of_a_stream_are_not_self_time)
{
    begin();
    nested(stream);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "outer", 1, 7 * MS, 5 * MS, 7 * MS, 7 * MS);
    CHECK_DEVICE(p, "outer>between>inner", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    CHECK_DEVICE(p, "outer>between", 0, 0, 0, 0, 0);
    end(p);
}

TEST(streams_overlap)
{
    begin();
    nested(cuda->stream(context));
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "outer", 1, 5 * MS, 5 * MS, 5 * MS, 5 * MS);
    CHECK_DEVICE(p, "outer>between>inner", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    end(p);
}

/* A late stream does not delay another. */
TEST(streams_are_read_apart)
{
    begin();
    void *other = cuda->stream(context);
    scope_on("slow", stream, UINT64_MAX);
    scope_on("quick", other, 1 * MS);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "slow", 0, 0, 0, 0, 0);
    CHECK_DEVICE(p, "quick", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
    gnomon_profile_free(p);
    cuda->finish(stream);
    p = snapshot();
    uint64_t all = 10 * MS + 20 * US;
    CHECK_DEVICE(p, "slow", 1, all, all, all, all);
    end(p);
}

TEST(devices)
{
    begin();
    void *second = cuda->context(1);
    void *other = cuda->stream(second);
    cuda->current(context);
    for (int i = 0; i < 3; i++) {
        scope_on("one", stream, 1 * MS);
        scope_on("two", other, 2 * MS); /* while the first is current */
    }
    pass(20 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "one", 3, 3 * MS, 3 * MS, 1 * MS, 1 * MS);
    CHECK_DEVICE(p, "two", 3, 6 * MS, 6 * MS, 2 * MS, 2 * MS);
    end(p);
}

TEST(default_streams)
{
    begin();
    scope_on("legacy", NULL, 1 * MS);
    scope_on("per thread", (void *)2, 1 * MS);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "legacy", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
    CHECK_DEVICE(p, "per thread", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
    end(p);
}

/* cudaStreamLegacy is stream 0 by another name. */
TEST(the_legacy_stream_has_two_names)
{
    begin();
    {
        GNOMON_SCOPE_ON("outer", NULL);
        cuda->launch(NULL, 1 * MS);
        {
            GNOMON_SCOPE_ON("inner", (gnomon_cuda_stream)1);
            cuda->launch((void *)1, 2 * MS);
        }
    }
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "outer", 1, 3 * MS, 1 * MS, 3 * MS, 3 * MS);
    CHECK_DEVICE(p, "outer>inner", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    end(p);
}

/* Stream 0 is then another device's. */
TEST(another_device_becomes_current_inside)
{
    begin();
    GNOMON_REGION(region, "half", NULL);
    gnomon_device_scope s =
        gnomon_begin_on(&region, gnomon_cuda_device(), NULL);
    cuda->context(1);
    gnomon_end_on(s);
    cuda->current(context);
    pass(MS);
    gnomon_profile *p = snapshot();
    CHECK_NODE(p, "half", 1, 0, 0);
    CHECK_EQ(device_of(p, "half").count, 0);
    CHECK_EQ(health().timers_failed, 1);
    end(p);
}

/* Only two of the driver's six calls are needed for a scope. */
TEST(no_needless_driver_calls)
{
    static const char *const calls[] = {"cuStreamIsCapturing", "cuStreamGetCtx",
                                        "cuCtxGetId", "cuEventRecord"};
    static const uint64_t once[] = {2, 1, 1, 2};
    uint64_t before[4];
    begin();
    scope_on("a", stream, 0); /* its events are made */
    pass(MS);
    gnomon_profile_free(snapshot());
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK); /* no thread */
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    uint64_t created = cuda->calls("cuEventCreate");
    for (int i = 0; i < 4; i++)
        before[i] = cuda->calls(calls[i]);
    scope_on("a", stream, 0);
    /* The reader asks for a context's id too, and puts events into a stream. */
    CHECK_EQ(cuda->calls(calls[0]) - before[0], once[0]);
    CHECK_EQ(cuda->calls(calls[1]) - before[1], once[1]);
    CHECK(cuda->calls(calls[2]) - before[2] >= once[2]);
    CHECK(cuda->calls(calls[3]) - before[3] >= once[3]);
    for (int i = 0; i < 100; i++) {
        pass(MS);
        gnomon_profile_free(snapshot());
        scope_on("a", stream, 0);
    }
    /* Events of the reader's clock, and none for each scope. */
    CHECK(cuda->calls("cuEventCreate") - created < 2 * 66);
    end(snapshot());
}

/* Elapsed time is a float of milliseconds: an hour away its resolution is a
 * quarter of a millisecond. The step's event is near. */
TEST(an_hour_is_exact)
{
    begin();
    uint64_t step = 1234567891, steps = 3000;
    GNOMON_REGION(region, "epoch", NULL);
    gnomon_device_scope s =
        gnomon_begin_on(&region, gnomon_cuda_device(), stream);
    gnomon_profile *p = snapshot(); /* its begin is read */
    gnomon_profile_free(p);
    for (uint64_t i = 0; i < steps; i++) {
        pass(step);
        gnomon_step();
        p = i % 100 ? NULL : snapshot();
        gnomon_profile_free(p);
    }
    gnomon_end_on(s);
    p = snapshot();
    uint64_t exact = step * steps, got = device_of(p, "epoch").total_ns;
    CHECK((got > exact ? got - exact : exact - got) < 20 * US);
    CHECK(((uint64_t)((float)exact / 1e6f * 1e6f) > exact + 20 * US) ||
          ((uint64_t)((float)exact / 1e6f * 1e6f) + 20 * US < exact));
    end(p);
}

/* ---- Threads ------------------------------------------------------------------- */

static void *many(void *name)
{
    cuda->current(context);
    void *own = cuda->stream(context);
    gnomon_region *region = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    for (int i = 0; i < 100; i++) {
        gnomon_device_scope s =
            gnomon_begin_on(region, gnomon_cuda_device(), own);
        cuda->launch(own, 1 * US);
        gnomon_end_on(s);
    }
    return NULL;
}

TEST(threads)
{
    pthread_t threads[8];
    static char name[8][8];
    begin();
    for (int i = 0; i < 8; i++) {
        snprintf(name[i], sizeof name[i], "t%d", i);
        pthread_create(&threads[i], NULL, many, name[i]);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    pass(100 * MS);
    gnomon_profile *p = snapshot();
    for (int i = 0; i < 8; i++)
        CHECK_EQ(device_of(p, name[i]).count, 100);
    CHECK_EQ(health().timers_full, 0);
    end(p);
}

/* ---- Lost times ---------------------------------------------------------- */

TEST(a_captured_stream_is_not_timed)
{
    begin();
    cuda->capture(stream, 1);
    scope_on("captured", stream, 1 * MS);
    scope_on("legacy", NULL, 1 * MS); /* cannot be queried now */
    void *other = cuda->stream(context);
    scope_on("other", other, 1 * MS); /* another stream goes on */
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "captured", 0, 0, 0, 0, 0);
    CHECK_NODE(p, "captured", 1, 10 * US, 10 * US);
    CHECK_DEVICE(p, "legacy", 0, 0, 0, 0, 0);
    CHECK_EQ(device_of(p, "other").count, 1);
    CHECK_EQ(health().timers_captured, 2);
    CHECK_EQ(health().timers_failed, 0);
    gnomon_profile_free(p);
    cuda->capture(stream, 0);
    scope_on("captured", stream, 1 * MS);
    pass(10 * MS);
    p = snapshot();
    CHECK_EQ(device_of(p, "captured").count, 1);
    end(p);
}

/* Steps outside the schedule are no loss, whatever the device reports. */
TEST(a_closed_window_asks_no_device)
{
    fake_cuda_use();
    context = cuda->context(0);
    stream = cuda->stream(context);
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "cuda(schedule=wait:2/active:2),file=/dev/null"),
             GNOMON_OK);
    for (int step = 0; step < 8; step++) {
        int is_closed = step % 4 < 2;
        uint64_t asked = cuda->calls("cuStreamIsCapturing");
        cuda->capture(stream, is_closed);
        for (int i = 0; i < 10; i++)
            scope_on("a", stream, 1 * US);
        cuda->capture(stream, 0);
        asked = cuda->calls("cuStreamIsCapturing") - asked;
        CHECK_EQ(asked, is_closed ? 0 : 20);
        pass(MS);
        gnomon_step();
    }
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_snapshot(&p, "cuda", 0), GNOMON_OK);
    CHECK_EQ(device_of(p, "a").count, 40);
    gnomon_profile_free(p);
    CHECK_EQ(health().timers_captured, 0);
    CHECK_EQ(health().timers_failed, 0);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    fake_cuda_is_well();
}

TEST(a_capture_that_begins_inside)
{
    begin();
    GNOMON_REGION(region, "half", NULL);
    gnomon_device_scope s =
        gnomon_begin_on(&region, gnomon_cuda_device(), stream);
    cuda->capture(stream, 1);
    gnomon_end_on(s);
    cuda->capture(stream, 0);
    pass(MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "half").count, 0);
    CHECK_NODE(p, "half", 1, 0, 0);
    CHECK_EQ(health().timers_captured, 1);
    end(p);
}

TEST(too_far_ahead_of_the_device)
{
    begin();
    cuda->launch(stream, UINT64_MAX);
    for (int i = 0; i < 1500; i++)
        scope_on("a", stream, 0);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "a").count, 0);
    CHECK_EQ(health().timers_full, 1500 - 1024);
    gnomon_profile_free(p);
    cuda->finish(stream);
    p = snapshot();
    CHECK_EQ(device_of(p, "a").count, 1024);
    gnomon_profile_free(p);
    scope_on("a", stream, 0); /* timers are there again */
    p = snapshot();
    CHECK_EQ(device_of(p, "a").count, 1025);
    CHECK_EQ(cuda->calls("cuEventCreate") <= 2 * 1024 + 2 + 65, 1);
    end(p);
}

/* The end of a stage waits for it, but not for ever. */
TEST(late_at_the_end_of_a_stage)
{
    begin();
    gnomon_detach(&timed, NULL);
    CHECK_EQ(gnomon_attach(NULL, NULL, "cuda(wait=5ms,file=/dev/null)"),
             GNOMON_OK);
    gnomon_stage_begin("fit");
    scope_on("a", stream, 1 * MS);
    scope_on("a", stream, UINT64_MAX);
    pass(10 * MS);
    gnomon_stage_end();
    CHECK_EQ(health().timers_late, 1);
    cuda->finish(stream);
    gnomon_profile *p = profile_of("cuda", 1);
    CHECK_EQ(device_of(p, "a").count, 1); /* it was counted as lost */
    gnomon_profile_free(p);
    gnomon_attach(NULL, NULL, "");
    fake_cuda_is_well();
}

/* A time that is late and then lost is counted once. */
TEST(late_and_then_reset)
{
    begin();
    gnomon_detach(&timed, NULL);
    CHECK_EQ(gnomon_attach(NULL, NULL, "cuda(wait=5ms,file=/dev/null)"),
             GNOMON_OK);
    gnomon_stage_begin("fit");
    scope_on("a", stream, UINT64_MAX);
    gnomon_stage_end();
    cuda->reset(0);
    gnomon_profile_free(profile_of("cuda", 1));
    CHECK_EQ(health().timers_late, 1);
    CHECK_EQ(health().timers_failed, 0);
    gnomon_attach(NULL, NULL, "");
    fake_cuda_is_well();
}

TEST(crossed_scopes)
{
    begin();
    gnomon_region *a = gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE);
    gnomon_region *b = gnomon_region_get("b", NULL, GNOMON_KIND_SCOPE);
    const gnomon_device *d = gnomon_cuda_device();
    gnomon_device_scope outer = gnomon_begin_on(a, d, stream);
    gnomon_device_scope inner = gnomon_begin_on(b, d, stream);
    cuda->launch(stream, 1 * MS);
    gnomon_end_on(outer); /* ends both */
    gnomon_end_on(inner);
    gnomon_end_on(inner);
    gnomon_end_on(outer);
    gnomon_device_scope lost = gnomon_begin_on(b, d, stream);
    gnomon_end(lost.token); /* its device's part is never ended */
    gnomon_device_scope forged_scope = {.struct_size = sizeof forged_scope,
                                        .timer = 12345678,
                                        .token = lost.token};
    gnomon_end_on(forged_scope);
    scope_on("a", stream, 2 * MS);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "a", 2, 3 * MS, 3 * MS, 1 * MS, 2 * MS);
    CHECK_EQ(device_of(p, "a>b").count, 0);
    CHECK_EQ(device_of(p, "b").count, 0);
    CHECK_EQ(health().timers_unended, 2);
    end(p);
}

static void *end_there(void *scope)
{
    cuda->current(context);
    gnomon_end_on(*(gnomon_device_scope *)scope);
    return NULL;
}

/* No profiler is left that could miss its time. */
TEST(a_scope_around_a_detach)
{
    begin();
    GNOMON_REGION(region, "outer", NULL);
    gnomon_device_scope s =
        gnomon_begin_on(&region, gnomon_cuda_device(), stream);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    scope_on("inner", stream, 1 * US);
    gnomon_end_on(s);
    pass(MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "inner").count, 1);
    CHECK_EQ(health().timers_unended, 0);
    end(p);
}

/* The scope is counted; its events belong to the thread that began it. */
TEST(ends_on_another_thread)
{
    pthread_t thread;
    begin();
    GNOMON_REGION(a, "a", NULL);
    gnomon_device_scope s = gnomon_begin_on(&a, gnomon_cuda_device(), stream);
    pthread_create(&thread, NULL, end_there, &s);
    pthread_join(thread, NULL);
    gnomon_end_on(s);
    CHECK_EQ(health().foreign, 0);
    CHECK_EQ(health().unmatched, 1);
    CHECK_EQ(health().timers_unended, 1);
    pass(MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(calls_of(p, "a"), 1);
    CHECK_EQ(device_of(p, "a").count, 0);
    end(p);
}

TEST(a_device_that_is_reset)
{
    begin();
    scope_on("a", stream, 1 * MS);
    GNOMON_REGION(half, "half", NULL);
    gnomon_device_scope s =
        gnomon_begin_on(&half, gnomon_cuda_device(), stream);
    cuda->reset(0);
    gnomon_end_on(s);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "a").count, 0);
    gnomon_profile_free(p);
    context = cuda->context(0);
    stream = cuda->stream(context);
    for (int i = 0; i < 3; i++)
        scope_on("a", stream, 1 * MS);
    pass(10 * MS);
    p = snapshot();
    CHECK_EQ(device_of(p, "a").count, 3);
    CHECK_EQ(health().timers_failed, 2);
    end(p);
}

/* The new context has the handle of the old one. */
TEST(a_device_that_is_reset_and_back_at_once)
{
    begin();
    scope_on("lost", stream, 1 * MS);
    cuda->reset(0);
    cuda->revive(context);
    gnomon_profile_free(snapshot());
    pass(10 * MS);
    stream = cuda->stream(context);
    for (int i = 0; i < 3; i++)
        scope_on("a", stream, 1 * MS);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "lost").count, 0);
    CHECK_DEVICE(p, "a", 3, 3 * MS, 3 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(health().timers_failed, 1);
    end(p); /* no event of the old one was touched */
}

static char logged[4096];

static void keep_log(const char *line)
{
    strncat(logged, line, sizeof logged - strlen(logged) - 1);
}

/* What only the reader meets is reported, too. */
TEST(a_context_that_is_gone_is_reported)
{
    begin();
    gnomon__test_log = keep_log;
    scope_on("a", stream, 1 * MS);
    cuda->reset(0);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    gnomon__test_log = NULL;
    CHECK_EQ(times_in(logged, "some device times are missing"), 1);
    CHECK_EQ(health().timers_failed, 1);
    end(p);
}

/* The stream exists before and after, but the event belongs to the destroyed
 * context. */
TEST(a_special_stream_over_a_reset)
{
    void *const streams[] = {NULL, (void *)1, (void *)2};
    GNOMON_REGION(region, "half", NULL);
    begin();
    for (int i = 0; i < 3; i++) {
        gnomon_device_scope s =
            gnomon_begin_on(&region, gnomon_cuda_device(), streams[i]);
        cuda->reset(0);
        cuda->revive(context);
        gnomon_end_on(s);
        pass(MS);
    }
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "half").count, 0);
    CHECK_EQ(health().timers_failed, 3);
    end(p);
}

/* A new clock counts from another moment. */
TEST(a_long_one_and_a_driver_that_refuses_once)
{
    begin();
    GNOMON_REGION(region, "long", NULL);
    gnomon_device_scope s =
        gnomon_begin_on(&region, gnomon_cuda_device(), stream);
    for (int i = 0; i < 200; i++) {
        if (i == 100)
            cuda->fail("cuCtxPushCurrent", 1, 1, 2);
        gnomon_profile_free(snapshot());
        cuda->fail(NULL, 0, 0, 0);
        if (i == 100)
            scope_on("short", stream, 0);
        pass(1000 * MS);
        gnomon_step();
    }
    gnomon_end_on(s);
    pass(MS);
    gnomon_profile *p = snapshot();
    double total = (double)device_of(p, "long").total_ns;
    CHECK(total > 199.99e9 && total < 200.01e9);
    end(p);
}

TEST(a_result_that_the_driver_cannot_name)
{
    begin();
    gnomon__test_log = keep_log;
    cuda->fail("cuEventRecord", 1, 1, 12345);
    scope_on("a", stream, 1 * MS);
    scope_on("a", stream, 1 * MS);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "a").count, 1);
    end(p);
    gnomon__test_log = NULL;
    CHECK(strstr(logged, "cuEventRecord: an unknown error (12345): some"));
}

/* Each driver call fails, once and from then on: the host's work is done,
 * losses are counted, and then everything works again. */
static void fail_calls(const char *const *calls)
{
    static const int results[] = {2, 700, 600, 906};
    uint64_t done = 0;
    for (; *calls; calls++) {
        for (size_t r = 0; r < 4; r++) {
            for (uint64_t n = 1; n < 4; n++) {
                cuda->fail(*calls, n, r % 2 ? 1 : 100, results[r]);
                for (int i = 0; i < 3; i++, done++)
                    scope_on("a", stream, 1 * US);
                pass(MS);
                gnomon_profile *p = snapshot();
                CHECK_NODE(p, "a", done, done * 10 * US, done * 10 * US);
                gnomon_profile_free(p);
                cuda->fail(NULL, 0, 0, 0);
            }
        }
    }
    pass(MS);
    gnomon_profile *p = snapshot();
    uint64_t timed_ones = device_of(p, "a").count;
    gnomon_health h = health();
    CHECK(timed_ones > 0 && timed_ones < done);
    CHECK_EQ(timed_ones + h.timers_failed + h.timers_captured, done);
    end(p);
}

TEST(every_call_fails)
{
    static const char *const calls[] = {"cuStreamIsCapturing",
                                        "cuStreamGetCtx",
                                        "cuCtxGetId",
                                        "cuCtxPushCurrent",
                                        "cuEventCreate",
                                        "cuEventRecord",
                                        "cuEventQuery",
                                        "cuEventElapsedTime",
                                        "cuStreamCreate",
                                        "cuCtxGetDevice",
                                        "cuDeviceGetName",
                                        "cuEventDestroy",
                                        NULL};
    begin();
    fail_calls(calls);
}

/* The second event of a pair cannot be created: the first is reused. */
TEST(one_event_of_two)
{
    begin();
    scope_on("a", stream, 0);
    pass(MS);
    for (int i = 0; i < 3; i++) /* the clock's and the row's events are made */
        gnomon_profile_free(snapshot());
    cuda->launch(stream, UINT64_MAX);
    scope_on("busy", stream, 0); /* uses the only pair */
    void *other = cuda->stream(context);
    uint64_t events = cuda->leaks();
    for (int i = 0; i < 50; i++) {
        cuda->fail("cuEventCreate", 2 - (i != 0), 1, 2);
        scope_on("half", other, 0);
        cuda->fail(NULL, 0, 0, 0);
    }
    CHECK_EQ(cuda->leaks(), events + 1);
    CHECK_EQ(health().timers_failed, 50);
    scope_on("whole", other, 0);
    CHECK_EQ(cuda->leaks(), events + 2);
    cuda->finish(stream);
    end(snapshot());
}

/* The cost of events cannot be measured; times can. */
TEST(the_row_of_events_fails)
{
    static const char *const calls[] = {"cuEventCreate", "cuEventRecord"};
    for (int i = 0; i < 2; i++) {
        begin();
        scope_on("a", stream, 1 * MS);
        cuda->fail(calls[i], 10, 100, 2); /* in the middle of it */
        pass(10 * MS);
        gnomon_profile *p = snapshot();
        cuda->fail(NULL, 0, 0, 0);
        CHECK_DEVICE(p, "a", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
        CHECK_EQ(health().timers_failed, 0);
        end(p);
    }
}

/* The same on a thread without a context: the calls that borrow one. */
TEST(every_call_in_a_borrowed_context_fails)
{
    static const char *const calls[] = {"cuCtxGetCurrent",
                                        "cuDeviceGetCount",
                                        "cuDeviceGet",
                                        "cuDevicePrimaryCtxGetState",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuCtxPushCurrent",
                                        NULL};
    begin();
    cuda->current(NULL);
    fail_calls(calls);
    CHECK(current() == NULL);
    CHECK_EQ(cuda->retained(), 0);
}

/* All timers have events of one device when another one needs some. */
TEST(timers_are_reused_on_another_device)
{
    begin();
    void *other = cuda->stream(cuda->context(1));
    cuda->current(context);
    cuda->launch(stream, UINT64_MAX);
    for (int i = 0; i < 1024; i++)
        scope_on("one", stream, 0);
    cuda->finish(stream);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "one").count, 1024);
    gnomon_profile_free(p);
    uint64_t events = cuda->leaks();
    scope_on("two", other, 0); /* lost, but its timer is reused */
    CHECK_EQ(health().timers_full, 1);
    gnomon_profile_free(snapshot());
    CHECK_EQ(cuda->leaks(), events - 2 * 128);
    for (int i = 0; i < 100; i++)
        scope_on("two", other, 1 * US);
    pass(10 * MS);
    p = snapshot();
    CHECK_EQ(device_of(p, "two").count, 100);
    CHECK_EQ(health().timers_full, 1);
    gnomon_profile_free(p);
    cuda->reset(1); /* timers of destroyed contexts are reused, too */
    cuda->reset(0);
    context = cuda->context(0);
    stream = cuda->stream(context);
    for (int i = 0; i < 2000; i++) {
        scope_on("three", stream, 1 * US);
        if (i % 500 == 0)
            gnomon_profile_free(snapshot());
    }
    pass(10 * MS);
    p = snapshot();
    CHECK(device_of(p, "three").count > 1000);
    end(p);
}

/* CUDA ends when the process does, before gnomon's report. */
static void check_end(void)
{
    const char *last = "", *text = child_read("report");
    if (cuda->misuse(&last) || times_in(text, "\na ") != 1) {
        fprintf(stderr, "%s\n%s", last, text ? text : "-");
        _exit(1);
    }
}

static void unload(void)
{
    cuda->unload();
}

TEST(the_end_comes_before_cudas)
{
    child_folder();
    fake_cuda_use();
    atexit(check_end);
    CHECK_EQ(gnomon_attach(NULL, NULL, "cuda(file=report)"), GNOMON_OK);
    context = cuda->context(0);
    stream = cuda->stream(context);
    atexit(unload);
    scope_on("a", stream, 0);
    pass(MS);
}

/* As a static object's destructor would. */
static gnomon_device_scope left_open;

static void end_late(void)
{
    const char *last = "";
    gnomon_end_on(left_open);
    if (cuda->misuse(&last)) {
        fprintf(stderr, "%s\n", last);
        _exit(1);
    }
}

TEST(an_end_comes_after_cudas)
{
    child_folder();
    fake_cuda_use();
    CHECK_EQ(gnomon_attach(NULL, NULL, "cuda(file=report)"), GNOMON_OK);
    context = cuda->context(0);
    stream = cuda->stream(context);
    atexit(end_late);
    atexit(unload);
    left_open = gnomon_begin_on(gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE),
                                gnomon_cuda_device(), stream);
}

/* ---- Nothing ----------------------------------------------------------------------- */

TEST(without_a_profiler_no_driver_call)
{
    fake_cuda_use();
    stream = cuda->stream(cuda->context(0));
    CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
    uint64_t before = cuda->calls("cuStreamIsCapturing");
    scope_on("a", stream, 1 * MS);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 10 * US, 10 * US);
    CHECK_EQ(device_of(p, "a").count, 0);
    gnomon_profile_free(p);
    CHECK_EQ(cuda->calls("cuStreamIsCapturing"), before);
    CHECK_EQ(cuda->calls("cuEventRecord"), 0);
    CHECK_EQ(cuda->calls("cuInit"), 0);
}

/* The thread's first call of CUDA's is a launch inside the scope, or none is. */
TEST(before_any_context)
{
    begin();
    cuda->current(NULL);
    {
        GNOMON_SCOPE_ON("launches", NULL);
        cuda->current(context);
        cuda->launch(NULL, 2 * MS);
    }
    cuda->current(NULL);
    {
        GNOMON_SCOPE_ON("empty", NULL);
    }
    scope_on("on a stream", stream, 1 * MS);
    CHECK(current() == NULL);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "launches", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    CHECK_EQ(device_of(p, "empty").count, 1);
    CHECK_DEVICE(p, "on a stream", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(health().timers_failed, 0);
    CHECK_EQ(cuda->calls("cuInit"), 0);
    CHECK(cuda->calls("cuDevicePrimaryCtxRetain") > 0);
    CHECK_EQ(cuda->retained(), 0);
    end(p);
}

/* No call for it invalidates a capture, on any thread. */
TEST(before_a_context_during_a_capture)
{
    begin();
    void *other = cuda->stream(context);
    cuda->capture(other, 1);
    cuda->current(NULL);
    scope_on("a", stream, 1 * MS);
    CHECK(current() == NULL);
    cuda->current(context);
    cuda->capture(other, 0);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "a", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(cuda->retained(), 0);
    end(p);
}

/* With several devices in use the thread's device is unknown; a stream
 * belongs to one. */
TEST(no_context_and_two_devices)
{
    begin();
    cuda->context(2);
    cuda->current(NULL);
    {
        GNOMON_SCOPE_ON("special", NULL);
    }
    scope_on("on a stream", stream, 1 * MS);
    CHECK(current() == NULL);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    CHECK_EQ(device_of(p, "special").count, 0);
    CHECK_DEVICE(p, "on a stream", 1, 1 * MS, 1 * MS, 1 * MS, 1 * MS);
    CHECK_EQ(health().timers_failed, 1);
    CHECK_EQ(cuda->retained(), 0);
    end(p);
}

/* CUDA is not used at first: that is reported too, and does not hide later
 * errors. */
TEST(no_context_anywhere)
{
    begin();
    cuda->current(NULL);
    cuda->reset(0);
    gnomon__test_log = keep_log;
    {
        GNOMON_SCOPE_ON("a", NULL);
    }
    gnomon_profile_free(snapshot());
    CHECK(strstr(logged, "cuStreamIsCapturing: CUDA_ERROR_201 (201): some"));
    CHECK(strstr(logged, "call cudaSetDevice on it before its scopes"));
    CHECK_EQ(health().timers_failed, 1);
    CHECK_EQ(cuda->calls("cuDevicePrimaryCtxRetain"), 0);
    context = cuda->context(0);
    stream = cuda->stream(context);
    cuda->fail("cuEventRecord", 1, 2, 719);
    scope_on("a", stream, 0);
    scope_on("a", stream, 0);
    gnomon_profile *p = snapshot();
    gnomon__test_log = NULL;
    CHECK(strstr(logged, "cuEventRecord: CUDA_ERROR_719 (719): some"));
    CHECK_EQ(times_in(logged, "some device times are missing"), 2);
    end(p);
}

/* The line says what to do, and not the driver's name for it alone. */
TEST(cuda_was_not_initialized)
{
    begin();
    gnomon__test_log = keep_log;
    cuda->fail("cuStreamIsCapturing", 1, 1, 3);
    scope_on("a", stream, 0);
    gnomon_profile *p = snapshot();
    gnomon__test_log = NULL;
    CHECK(strstr(logged, "cuStreamIsCapturing: CUDA_ERROR_3 (3): some device "
                         "times are missing: CUDA was not initialized at "
                         "their scopes: call cudaSetDevice, or cuInit, "));
    CHECK_EQ(health().timers_failed, 1);
    end(p);
}

/* Each view has what it recorded. */
TEST(views)
{
    static const gnomon_profiler second = {.struct_size = sizeof second,
                                           .abi = GNOMON_ABI,
                                           .wants = GNOMON_WANT_TREE |
                                                    GNOMON_WANT_DEVICE,
                                           .name = "second"};
    begin();
    CHECK_EQ(gnomon_attach(&second, NULL, "filter=inner"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
    nested(stream);
    pass(10 * MS);
    gnomon_profile *p = profile_of("second", 0);
    CHECK_DEVICE(p, "inner", 1, 2 * MS, 2 * MS, 2 * MS, 2 * MS);
    CHECK_EQ(device_of(p, "outer").count, 0);
    gnomon_profile_free(p);
    p = profile_of("probe", 0);
    CHECK_EQ(device_of(p, "outer").count, 0);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&second, NULL), GNOMON_OK);
    p = snapshot();
    CHECK_DEVICE(p, "outer", 1, 7 * MS, 5 * MS, 7 * MS, 7 * MS);
    end(p);
}

TEST(every_event_is_destroyed)
{
    for (int i = 0; i < 3; i++) {
        if (!i)
            begin();
        else
            CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
        scope_on("a", stream, 1 * MS);
        pass(10 * MS);
        gnomon_profile *p = snapshot();
        CHECK_EQ(device_of(p, "a").count, 1);
        end(p);
    }
    /* Two for each timer that was ever in use; no clocks, no stream. */
    CHECK_EQ(cuda->leaks(), 2);
    CHECK_EQ(cuda->calls("cuEventSynchronize"), 0);
}
