/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * needs: exports
 * Scopes on streams and the work of these streams: on one track, by the number that CUPTI
 * has for the stream; where it has none, on tracks of their own. */
#include "fake_cupti.h"

#include "export/export.h"
#include "fake_profile.h"
#include "perfetto_read.h"
#include "print/devices.h"
#include "probe_profile.h"

#define US 1000u
#define MS 1000000u
#define ID "cuptiGetStreamIdEx"

static const gnomon_profiler traced = {
    .struct_size = sizeof traced,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE | GNOMON_WANT_DEVICE_WORK |
             GNOMON_WANT_EVENTS,
    .name = "traced"};

static void *context;

static void begin_with(const char *library, const gnomon_profiler *profiler)
{
    fake_cuda_use();
    cupti = fake_cupti_load(library);
    cupti->clock(&gnomon__test_ticks);
    cupti->watch(cuda);
    context = cuda->context(0);
    pass(1 * MS);
    CHECK_EQ(gnomon_attach(profiler, NULL, NULL), GNOMON_OK);
    gnomon_thread_name("main");
}

static void begin(void)
{
    begin_with(FAKE_CUPTI("cupti"), &traced);
}

static void end(gnomon_profile *p)
{
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&traced, NULL), GNOMON_OK);
    fake_cuda_is_well();
}

/* What all is over. */
static gnomon_profile *settled(const char *profiler)
{
    pass(20 * MS);
    CHECK_EQ(gnomon_device_wait(A_SECOND), GNOMON_OK);
    return profile_of(profiler, 1);
}

/* ---- The host ------------------------------------------------------------------------- */

/* A kernel, in a stream of the current context if it is a special one. */
static void kernel(void *stream, uint32_t device, const char *name, uint64_t ns)
{
    fake_place p = {.context = context, .device = device, .context_id = 1};
    CHECK_EQ(cuda->stream_number(NULL, stream, 0, &p.stream), 0);
    cupti->launch(&p, name, ns);
    cuda->launch(stream, ns);
}

static gnomon_device_scope scope_begins(const char *name, void *stream)
{
    return gnomon_begin_on(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE),
                           gnomon_cuda_device(), stream);
}

static void scope_on(const char *name, void *stream, uint32_t device,
                     uint64_t ns)
{
    gnomon_device_scope s = scope_begins(name, stream);
    pass(10 * US);
    kernel(stream, device, "gemm", ns);
    pass(10 * US);
    gnomon_end_on(s);
}

/* The reader meets the device: from now on it knows where in time events are. */
static void warm_up(void *stream)
{
    gnomon_end_on(scope_begins("warm", stream));
    gnomon_profile_free(settled("traced"));
}

/* ---- What a profile says ----------------------------------------------------------------- */

/* The track of this name; 0: there is none. */
static uint32_t track_of(const gnomon_profile *p, const char *name,
                         int32_t device)
{
    gnomon_track_info t;
    for (uint32_t i = 1; p && !gnomon_profile_track(p, i, &t); i++)
        if (strcmp(t.name, name) == 0 && t.device == device) {
            CHECK_EQ(t.kind, GNOMON_TRACK_STREAM);
            return i;
        }
    return 0;
}

static const char *stream_name(uint32_t number)
{
    static char name[32];
    snprintf(name, sizeof name, "stream %u", (unsigned)number);
    return name;
}

static const char *name_of(void *stream)
{
    uint32_t number = 0;
    CHECK_EQ(cuda->stream_number(NULL, stream, 0, &number), 0);
    return stream_name(number);
}

/* The times of a path on the track of this name; count 0: there are none. */
static gnomon_stats on_track(const gnomon_profile *p, const char *name,
                             int32_t device, const char *path, uint32_t flags)
{
    const gnomon_stats none = {.struct_size = sizeof none};
    uint32_t track = track_of(p, name, device);
    gnomon_node_info n;
    size_t node = track ? node_at(p, track, 0, path) : 0;
    if (!node || gnomon_profile_node(p, node, &n) || !n.device)
        return none;
    CHECK_EQ(n.flags, flags);
    return *n.device;
}

/* The scope was timed so often on the track, where as many kernels are below it. */
#define CHECK_TOGETHER(p, name, device, scope, n) \
    do { \
        CHECK_EQ(on_track(p, name, device, scope, GNOMON_NODE_PART).count, n); \
        CHECK_EQ(on_track(p, name, device, scope ">gemm", 0).count, n); \
    } while (0)

/* So many tracks are streams. */
static int streams_of(const gnomon_profile *p)
{
    int n = 0;
    gnomon_track_info t;
    for (uint32_t i = 1; p && !gnomon_profile_track(p, i, &t); i++)
        n += t.kind == GNOMON_TRACK_STREAM;
    return n;
}

static const char *name_at(const gnomon_profile *p, uint32_t node)
{
    gnomon_node_info n;
    return gnomon_profile_node(p, node, &n) ? "" : node_name(p, &n);
}

/* The only execution of that name on a track. */
static gnomon_event_info event_of(const gnomon_profile *p, uint32_t track,
                                  const char *name)
{
    gnomon_event_info e, found = {.node = 0};
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++)
        if (e.track == track && strcmp(name_at(p, e.node), name) == 0) {
            CHECK(!found.node);
            found = e;
        }
    CHECK(found.node != 0);
    return found;
}

static int is_before(const gnomon_profile *p, const gnomon_event_info *a,
                     const gnomon_event_info *b)
{
    gnomon_event_info e;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++)
        if (e.instance == a->instance || e.instance == b->instance)
            return e.instance == a->instance;
    return 0;
}

/* ---- One track ---------------------------------------------------------------------------- */

TEST(a_scope_and_its_kernel_lie_on_one_track)
{
    begin();
    void *stream = cuda->stream(context), *other = cuda->stream(context);
    for (int i = 0; i < 3; i++)
        scope_on("forward", stream, 0, 1 * MS);
    scope_on("forward", other, 0, 2 * MS);
    gnomon_profile *p = settled("traced");
    CHECK_TOGETHER(p, name_of(stream), 0, "forward", 3);
    CHECK_TOGETHER(p, name_of(other), 0, "forward", 1);
    CHECK_EQ(streams_of(p), 2);
    CHECK_DEVICE(p, "forward", 4, 5 * MS + 20 * US, 5 * MS + 20 * US, 1 * MS,
                 2 * MS + 10 * US);
    CHECK_EQ(cupti->calls(ID), 4);
    end(p);
}

/* The scope has what it waited for; of work alone there is what it worked. */
TEST(sums_of_a_scope_and_of_its_work)
{
    begin();
    void *stream = cuda->stream(context);
    gnomon_device_scope outer = scope_begins("outer", stream);
    pass(1 * MS);
    scope_on("inner", stream, 0, 2 * MS);
    kernel(stream, 0, "adam", 1 * MS);
    gnomon_end_on(outer);
    gnomon_profile *p = settled("traced");
    const char *name = name_of(stream);
    gnomon_stats s = on_track(p, name, 0, "outer", GNOMON_NODE_PART);
    CHECK_EQ(s.total_ns, 4 * MS + 10 * US);
    CHECK_EQ(s.self_ns, 2 * MS);
    s = on_track(p, name, 0, "outer>inner", GNOMON_NODE_PART);
    CHECK_EQ(s.total_ns, 2 * MS + 10 * US);
    CHECK_EQ(s.self_ns, 2 * MS + 10 * US);
    CHECK_EQ(on_track(p, name, 0, "outer>inner>gemm", 0).total_ns, 2 * MS);
    CHECK_EQ(on_track(p, name, 0, "outer>adam", 0).total_ns, 1 * MS);
    CHECK_EQ(streams_of(p), 1);
    end(p);
}

/* Scopes that are not on the stream have no times there. */
TEST(a_plain_scope_around_it)
{
    begin();
    void *stream = cuda->stream(context);
    gnomon_token t =
        gnomon_begin(gnomon_region_get("train_step", NULL, GNOMON_KIND_SCOPE));
    scope_on("forward", stream, 0, 1 * MS);
    kernel(stream, 0, "adam", 1 * MS);
    gnomon_end(t);
    gnomon_profile *p = settled("traced");
    uint32_t track = track_of(p, name_of(stream), 0);
    gnomon_node_info n;
    CHECK_TOGETHER(p, name_of(stream), 0, "train_step>forward", 1);
    size_t node = node_at(p, track, 0, "train_step");
    if (CHECK(!gnomon_profile_node(p, node, &n)))
        CHECK(!n.host && !n.device && !n.flags);
    end(p);
}

/* Times are those that CUPTI's clock has, which is the run's. */
TEST(events_of_both_are_in_one_order)
{
    begin();
    void *stream = cuda->stream(context);
    warm_up(stream);
    uint64_t at = gnomon__test_ticks;
    scope_on("forward", stream, 0, 3 * MS);
    gnomon_profile *p = settled("traced");
    uint32_t track = track_of(p, name_of(stream), 0);
    gnomon_event_info scope = event_of(p, track, "forward"),
                      work = event_of(p, track, "gemm");
    CHECK(is_before(p, &scope, &work));
    CHECK_EQ(scope.begin_ns, at);
    CHECK_EQ(scope.duration_ns, 3 * MS + 10 * US);
    CHECK_EQ(work.begin_ns, at + 10 * US);
    CHECK_EQ(work.duration_ns, 3 * MS);
    end(p);
}

/* Of one moment and length the scope comes first, though it is told last. */
TEST(a_scope_is_around_work_of_its_length)
{
    begin();
    void *stream = cuda->stream(context);
    warm_up(stream);
    gnomon_device_scope s = scope_begins("forward", stream);
    kernel(stream, 0, "gemm", 1 * MS);
    pass(1 * MS);
    CHECK_EQ(gnomon_device_wait(A_SECOND), GNOMON_OK);
    gnomon_end_on(s);
    gnomon_profile *p = settled("traced");
    uint32_t track = track_of(p, name_of(stream), 0);
    gnomon_event_info scope = event_of(p, track, "forward"),
                      work = event_of(p, track, "gemm");
    CHECK_EQ(scope.begin_ns, work.begin_ns);
    CHECK_EQ(scope.duration_ns, work.duration_ns);
    CHECK(scope.node < work.node);
    CHECK(is_before(p, &scope, &work));
    end(p);
}

/* A scope is no work, whatever its region says. */
TEST(scopes_are_no_work)
{
    gnomon__device_work w;
    begin();
    void *stream = cuda->stream(context);
    static const char *const categories[] = {"", "graph", "cuda_sync",
                                             "overhead"};
    for (uint32_t i = 0; i < 8; i++) {
        gnomon_region *r =
            gnomon_region_get("replay", categories[i / 2],
                              i % 2 ? GNOMON_KIND_KERNEL : GNOMON_KIND_SCOPE);
        gnomon_device_scope s =
            gnomon_begin_on(r, gnomon_cuda_device(), stream);
        kernel(stream, 0, "gemm", 1 * MS);
        gnomon_end_on(s);
    }
    gnomon_profile *p = settled("traced");
    CHECK_EQ(gnomon__device_work_make(&w, p), GNOMON_OK);
    CHECK_EQ(w.busy_work, 8);
    CHECK_EQ(w.busy_ns, 8 * MS);
    CHECK_EQ(w.waits + w.overheads, 0);
    gnomon__device_work_free(&w);
    end(p);
}

/* ---- Which stream it is --------------------------------------------------------------------- */

/* Streams of two devices have one number, and are two tracks. */
TEST(two_devices)
{
    begin();
    void *second = cuda->context(1), *there = cuda->stream(second);
    void *here = cuda->stream(context);
    cuda->current(context);
    scope_on("forward", here, 0, 1 * MS);
    scope_on("forward", there, 1, 2 * MS);
    scope_on("forward", there, 1, 2 * MS);
    gnomon_profile *p = settled("traced");
    CHECK_STR(name_of(here), name_of(there));
    CHECK_TOGETHER(p, name_of(here), 0, "forward", 1);
    CHECK_TOGETHER(p, name_of(there), 1, "forward", 2);
    CHECK_EQ(streams_of(p), 2);
    end(p);
}

/* A number is unique in its context alone. Records of both are on one track, and so are
 * the scopes of both. */
TEST(two_contexts_with_one_number)
{
    begin();
    void *further = cuda->further_context(0);
    void *here = cuda->stream(context), *there = cuda->stream(further);
    scope_on("forward", here, 0, 1 * MS);
    scope_on("forward", there, 0, 2 * MS);
    gnomon_profile *p = settled("traced");
    CHECK_STR(name_of(here), name_of(there));
    CHECK_TOGETHER(p, name_of(here), 0, "forward", 2);
    CHECK_EQ(streams_of(p), 1);
    end(p);
}

/* The handle of a stream that was destroyed may be that of a new one. Times of the first
 * are read when it is gone, without a call for it: the fake would abort. */
TEST(a_handle_that_is_used_again)
{
    char first[32];
    begin();
    void *stream = cuda->stream(context);
    snprintf(first, sizeof first, "%s", name_of(stream));
    scope_on("forward", stream, 0, 1 * MS);
    cuda->stream_destroy(stream);
    gnomon_profile_free(settled("traced"));
    cuda->stream_again(stream);
    scope_on("forward", stream, 0, 2 * MS);
    scope_on("forward", stream, 0, 2 * MS);
    gnomon_profile *p = settled("traced");
    CHECK(strcmp(first, name_of(stream)) != 0);
    CHECK_TOGETHER(p, first, 0, "forward", 1);
    CHECK_TOGETHER(p, name_of(stream), 0, "forward", 2);
    end(p);
}

static void *own_stream(void *number)
{
    cuda->current(context);
    CHECK_EQ(cuda->stream_number(NULL, NULL, 1, number), 0);
    scope_on("own", (void *)2, 0, 1 * MS);
    return NULL;
}

/* 0 and 1 are the legacy stream, 2 is the calling thread's own. */
TEST(special_streams)
{
    pthread_t thread;
    uint32_t here = 0, there = 0;
    begin();
    scope_on("legacy", NULL, 0, 1 * MS);
    scope_on("legacy", (void *)1, 0, 1 * MS);
    own_stream(&here);
    CHECK_EQ(pthread_create(&thread, NULL, own_stream, &there), 0);
    pthread_join(thread, NULL);
    gnomon_profile *p = settled("traced");
    CHECK_TOGETHER(p, "stream 7", 0, "legacy", 2);
    CHECK(here != there && here != 7 && there != 7);
    CHECK_TOGETHER(p, stream_name(here), 0, "own", 1);
    CHECK_TOGETHER(p, stream_name(there), 0, "own", 1);
    CHECK_EQ(streams_of(p), 3);
    end(p);
}

/* The special streams are those of the context that the scope began in. */
TEST(special_streams_of_two_devices)
{
    begin();
    void *second = cuda->context(1);
    scope_on("there", NULL, 1, 1 * MS);
    cuda->current(context);
    scope_on("here", NULL, 0, 1 * MS);
    scope_on("here", NULL, 0, 1 * MS);
    cuda->current(second);
    scope_on("there", (void *)1, 1, 1 * MS);
    scope_on("there", NULL, 1, 1 * MS);
    gnomon_profile *p = settled("traced");
    CHECK_TOGETHER(p, "stream 7", 0, "here", 2);
    CHECK_TOGETHER(p, "stream 7", 1, "there", 3);
    end(p);
}

/* A thread without a context borrows that of the device for each call; it has none again
 * afterwards. */
static void *without_context(void *stream)
{
    gnomon_end_on(scope_begins("borrowed", stream));
    gnomon_end_on(scope_begins("borrowed", NULL));
    CHECK(cuda->stream_number(NULL, NULL, 0, &(uint32_t){0}) != 0);
    return NULL;
}

TEST(threads_without_a_context)
{
    pthread_t thread;
    begin();
    void *stream = cuda->stream(context);
    const char *name = name_of(stream);
    CHECK_EQ(pthread_create(&thread, NULL, without_context, stream), 0);
    pthread_join(thread, NULL);
    gnomon_profile *p = settled("traced");
    CHECK_EQ(on_track(p, name, 0, "borrowed", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(on_track(p, "stream 7", 0, "borrowed", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(cuda->retained(), 0);
    end(p);
}

/* Captured streams get no time, and nobody is asked. */
TEST(captured_streams)
{
    gnomon_health before = {.struct_size = sizeof before}, after = before;
    begin();
    void *stream = cuda->stream(context);
    gnomon_health_get(&before);
    cuda->capture(stream, 1);
    gnomon_end_on(scope_begins("captured", stream));
    gnomon_end_on(scope_begins("captured", NULL));
    CHECK_EQ(cupti->calls(ID), 0);
    void *other = cuda->stream(context);
    gnomon_end_on(scope_begins("beside", other));
    CHECK_EQ(cupti->calls(ID), 1);
    cuda->capture(stream, 0);
    scope_on("later", stream, 0, 1 * MS);
    gnomon_health_get(&after);
    CHECK_EQ(after.timers_captured - before.timers_captured, 2);
    gnomon_profile *p = settled("traced");
    CHECK_TOGETHER(p, name_of(stream), 0, "later", 1);
    CHECK_EQ(on_track(p, name_of(other), 0, "beside", GNOMON_NODE_PART).count,
             1);
    end(p);
}

/* ---- Without a number ------------------------------------------------------------------------- */

/* Kernels where they were, and scopes on a track of their own. */
static void check_apart(gnomon_profile *p, void *stream, uint64_t count)
{
    CHECK_EQ(
        on_track(p, "timed stream 1", 0, "forward", GNOMON_NODE_PART).count,
        count);
    CHECK_EQ(on_track(p, name_of(stream), 0, "forward>gemm", 0).count, count);
    CHECK_EQ(on_track(p, name_of(stream), 0, "forward", 0).count, 0);
}

TEST(a_number_that_cupti_refuses)
{
    static const int results[] = {20, 15, 999};
    uint64_t n = 0;
    begin();
    void *stream = cuda->stream(context);
    for (size_t i = 0; i < 3; i++) {
        cupti->fail(ID, 1, 1, results[i]);
        scope_on("forward", stream, 0, 1 * MS);
        gnomon_profile *p = settled("traced");
        check_apart(p, stream, ++n);
        gnomon_profile_free(p);
    }
    scope_on("forward", stream, 0, 1 * MS);
    gnomon_profile *p = settled("traced");
    CHECK_EQ(on_track(p, name_of(stream), 0, "forward", GNOMON_NODE_PART).count,
             1);
    end(p);
}

TEST(a_cupti_without_the_call)
{
    begin_with(FAKE_CUPTI("plain"), &traced);
    void *stream = cuda->stream(context);
    scope_on("forward", stream, 0, 1 * MS);
    scope_on("forward", stream, 0, 1 * MS);
    gnomon_profile *p = settled("traced");
    check_apart(p, stream, 2);
    end(p);
}

static const gnomon_profiler worked = {.struct_size = sizeof worked,
                                       .abi = GNOMON_ABI,
                                       .wants = GNOMON_WANT_TREE |
                                                GNOMON_WANT_DEVICE_WORK,
                                       .name = "worked"};

/* While nobody wants kernels, CUPTI is not called. A scope that began before has its
 * number still. */
TEST(cupti_comes_and_goes)
{
    begin_with(FAKE_CUPTI("cupti"), &timed);
    void *stream = cuda->stream(context);
    scope_on("before", stream, 0, 1 * MS);
    CHECK_EQ(cupti->calls(ID), 0);
    CHECK_EQ(gnomon_attach(&worked, NULL, NULL), GNOMON_OK);
    scope_on("during", stream, 0, 1 * MS);
    gnomon_device_scope over = scope_begins("over", stream);
    kernel(stream, 0, "gemm", 1 * MS);
    CHECK_EQ(gnomon_detach(&worked, NULL), GNOMON_OK);
    CHECK_EQ(cupti->subscribers(), 0);
    gnomon_end_on(over);
    scope_on("after", stream, 0, 1 * MS);
    CHECK_EQ(cupti->calls(ID), 2);
    CHECK_EQ(gnomon_attach(&worked, NULL, NULL), GNOMON_OK);
    scope_on("again", stream, 0, 1 * MS);
    gnomon_profile *p = settled("timed");
    const char *name = name_of(stream), *alone = "timed stream 1";
    CHECK_EQ(on_track(p, alone, 0, "before", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(on_track(p, name, 0, "during", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(on_track(p, name, 0, "over", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(on_track(p, alone, 0, "after", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(on_track(p, name, 0, "again", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(streams_of(p), 2);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&worked, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    fake_cuda_is_well();
}

/* ---- Other devices ----------------------------------------------------------------------------- */

static int seventy_seven(void *stream, const gnomon_device_context *where,
                         uint32_t *number)
{
    CHECK(stream && where->context == context);
    *number = 77;
    return GNOMON_OK;
}

static int unknown(void *stream, const gnomon_device_context *where,
                   uint32_t *number)
{
    (void)stream;
    (void)where;
    *number = 78;
    return GNOMON_ENOENT;
}

static void scope_of(const gnomon_device *device, void *stream)
{
    gnomon_region *r = gnomon_region_get(device->name, NULL, GNOMON_KIND_SCOPE);
    gnomon_end_on(gnomon_begin_on(r, device, stream));
}

/* A vendor says it for himself, or does not. That of another copy of the library
 * is CUDA's too, and CUPTI is open here. */
TEST(devices_that_say_it_or_not)
{
    begin();
    void *stream = cuda->stream(context);
    gnomon_device vendor = *gnomon_cuda_device();
    vendor.name = "vendor";
    vendor.stream_number = seventy_seven;
    gnomon_device refuses = vendor, silent = vendor, copy = vendor;
    refuses.name = "refuses";
    refuses.stream_number = unknown;
    silent.name = "silent";
    silent.stream_number = NULL;
    copy.name = "cuda";
    copy.stream_number = NULL;
    scope_of(&vendor, stream);
    scope_of(&refuses, stream);
    scope_of(&silent, stream);
    scope_of(&copy, stream);
    gnomon_profile *p = settled("traced");
    const char *alone = "timed stream 1";
    CHECK_EQ(on_track(p, "stream 77", 0, "vendor", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(on_track(p, alone, 0, "refuses", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(on_track(p, alone, 0, "silent", GNOMON_NODE_PART).count, 1);
    CHECK_EQ(on_track(p, name_of(stream), 0, "cuda", GNOMON_NODE_PART).count,
             1);
    end(p);
}

/* ---- Traces -------------------------------------------------------------------------------------- */

/* Two steps; in the second one's scope the kernel ends after the scope, as where the two
 * clocks differ. */
static gnomon_profile *two_steps(void **stream)
{
    begin();
    *stream = cuda->stream(context);
    warm_up(*stream);
    scope_on("nests", *stream, 0, 2 * MS);
    pass(10 * MS);
    gnomon_device_scope s = scope_begins("crosses", *stream);
    pass(10 * US);
    kernel(*stream, 0, "late", 3 * MS);
    cuda->finish(*stream);
    pass(1 * MS);
    gnomon_end_on(s);
    return settled("traced");
}

static size_t times_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static size_t rows_with(const char *text, const char *category,
                        const char *name, const char *tid)
{
    size_t n = 0;
    char head[160], place[64];
    snprintf(head, sizeof head, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",",
             category, name);
    snprintf(place, sizeof place, "\"pid\":0,\"tid\":%s,", tid);
    for (const char *at = text; (at = strstr(at, head)); at++) {
        const char *line_end = strchr(at, '\n'), *found = strstr(at, place);
        n += found && (!line_end || found < line_end);
    }
    return n;
}

/* Each scope has one row on the stream: that of its events, and none besides of its work.
 * One that its work crosses is in a row of its own; the work is where all work is. */
TEST(a_chrome_trace)
{
    void *stream;
    char tid[16], name[64];
    fake_writer w;
    gnomon_profile *p = two_steps(&stream);
    const gnomon_profile *one = p;
    fake_open(&w);
    CHECK_EQ(gnomon__export_chrome.write(
                 &(gnomon__export){.profiles = &one, .count = 1}, &w.base),
             GNOMON_OK);
    snprintf(tid, sizeof tid, "%s", name_of(stream) + strlen("stream "));
    CHECK_EQ(rows_with(w.text, "gpu_user_annotation", "nests", tid), 1);
    CHECK_EQ(rows_with(w.text, "kernel", "gemm", tid), 1);
    CHECK_EQ(rows_with(w.text, "gpu_user_annotation", "crosses", tid), 0);
    CHECK_EQ(times_of(w.text, "\"gpu_user_annotation\",\"name\":\"crosses\""),
             1);
    CHECK_EQ(rows_with(w.text, "kernel", "late", tid), 1);
    snprintf(name, sizeof name, "\"%s (overlap 1)\"", name_of(stream));
    CHECK(strstr(w.text, name) != NULL);
    CHECK(!strstr(w.text, "timed stream"));
    free(w.text);
    end(p);
}

TEST(a_perfetto_trace)
{
    void *stream;
    fake_writer w;
    pf_trace t;
    gnomon_profile *p = two_steps(&stream);
    const gnomon_profile *one = p;
    fake_open(&w);
    CHECK_EQ(gnomon__export_perfetto.write(
                 &(gnomon__export){.profiles = &one, .count = 1}, &w.base),
             GNOMON_OK);
    pf_read(&t, w.text, w.size);
    const pf_track *track = pf_track_of(&t, name_of(stream));
    const pf_event *late = pf_event_of(&t, "late");
    size_t nested = 0, beside = 0;
    for (size_t i = 0; track && i < t.event_count; i++) {
        const pf_event *e = &t.events[i];
        const pf_event *around = e->outer ? &t.events[e->outer - 1] : NULL;
        int is_on = t.tracks[e->track].uuid == track->uuid;
        nested += is_on && around && pf_is(e->name, "gemm") &&
                  pf_is(around->name, "nests");
        beside += track && t.tracks[e->track].parent == track->uuid &&
                  pf_is(e->name, "crosses");
    }
    CHECK_EQ(nested, 1);
    CHECK_EQ(beside, 1); /* in a row below the stream's */
    if (late && track)
        CHECK_EQ(t.tracks[late->track].uuid, track->uuid);
    pf_free(&t);
    free(w.text);
    end(p);
}

/* A scope whose work is told, and not its own times, has the row that its work makes. */
TEST(a_chrome_trace_without_times_of_scopes)
{
    static const gnomon_profiler plain = {.struct_size = sizeof plain,
                                          .abi = GNOMON_ABI,
                                          .wants = GNOMON_WANT_TREE |
                                                   GNOMON_WANT_DEVICE_WORK |
                                                   GNOMON_WANT_EVENTS,
                                          .name = "plain"};
    fake_writer w;
    begin_with(FAKE_CUPTI("cupti"), &plain);
    void *stream = cuda->stream(context);
    scope_on("forward", stream, 0, 2 * MS);
    CHECK_EQ(cupti->calls(ID), 0); /* nobody times it */
    gnomon_profile *p = settled("plain");
    const gnomon_profile *one = p;
    fake_open(&w);
    CHECK_EQ(gnomon__export_chrome.write(
                 &(gnomon__export){.profiles = &one, .count = 1}, &w.base),
             GNOMON_OK);
    CHECK_EQ(rows_with(w.text, "gpu_user_annotation", "forward",
                       name_of(stream) + strlen("stream ")),
             1);
    free(w.text);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&plain, NULL), GNOMON_OK);
}
