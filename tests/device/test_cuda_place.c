/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * Scopes on streams as events: on a track of their stream, in the run's time, each a part
 * of its node's times. */
#include "fake_cuda.h"
#include "toy_source.h"
#include "sanitizer.h"

#define US 1000u
#define MS 1000000u

static const gnomon_profiler placed = {
    .struct_size = sizeof placed,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE | GNOMON_WANT_EVENTS,
    .name = "placed"};

static void *context, *stream;

static void begin_with(const gnomon_profiler *profiler)
{
    fake_cuda_use();
    context = cuda->context(0);
    stream = cuda->stream(context);
    CHECK_EQ(gnomon_attach(profiler, NULL, NULL), GNOMON_OK);
}

static void begin(void)
{
    begin_with(&placed);
}

static void scope_on(const char *name, void *on, uint64_t ns)
{
    gnomon_region *r = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    gnomon_device_scope s = gnomon_begin_on(r, gnomon_cuda_device(), on);
    cuda->launch(on, ns);
    pass(10 * US);
    gnomon_end_on(s);
}

static gnomon_profile *snapshot(void)
{
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_snapshot(&p, "placed", 1), GNOMON_OK);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    return p;
}

static void end(gnomon_profile *p)
{
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&placed, NULL), GNOMON_OK);
    fake_cuda_is_well();
}

/* The n-th event on a stream, from 1; kind UINT32_MAX: there is none. */
static gnomon_event_info on_stream(const gnomon_profile *p, size_t n,
                                   gnomon_track_info *track)
{
    gnomon_event_info e;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++)
        if (!gnomon_profile_track(p, e.track, track) &&
            track->kind == GNOMON_TRACK_STREAM && !--n)
            return e;
    CHECK_EQ(n, 0); /* so many are missing */
    return (gnomon_event_info){.kind = UINT32_MAX};
}

static const char *metadata(const gnomon_profile *p, const char *key)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(p, i, &m); i++)
        if (strcmp(m.key, key) == 0)
            return m.json;
    return "";
}

/* The fake device's clock is the run's, so each event is known to the ns. */
TEST(scopes_lie_where_the_device_ran_them)
{
    gnomon_track_info track;
    begin();
    scope_on("warm", stream, 1 * MS); /* the reader meets the device */
    pass(10 * MS);
    gnomon_profile_free(snapshot());
    uint64_t at = gnomon__test_ticks;
    scope_on("a", stream, 3 * MS);
    scope_on("b", stream, 2 * MS); /* behind it */
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    gnomon_event_info a = on_stream(p, 2, &track);
    CHECK_EQ(a.begin_ns, at);
    CHECK_EQ(a.duration_ns, 3 * MS);
    CHECK_EQ(track.device, 0);
    CHECK_STR(track.name, "timed stream 1");
    gnomon_event_info b = on_stream(p, 3, &track);
    CHECK_EQ(b.begin_ns, at + 3 * MS);
    CHECK_EQ(b.duration_ns, 2 * MS);
    CHECK_STR(metadata(p, "gnomon.cuda.0.clock_error_ns"), "0");
    end(p);
}

/* What a stream has of a scope is a part of what the scope's node has. */
TEST(two_devices_are_two_parts)
{
    uint64_t parts[2] = {0, 0};
    begin();
    void *second = cuda->stream(cuda->context(1));
    cuda->current(context);
    for (int i = 0; i < 3; i++) {
        scope_on("a", stream, 1 * MS);
        scope_on("a", second, 2 * MS);
    }
    pass(20 * MS);
    gnomon_profile *p = snapshot();
    CHECK_DEVICE(p, "a", 6, 9 * MS, 9 * MS, 1 * MS, 2 * MS);
    gnomon_node_info n;
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        gnomon_track_info track;
        if (!(n.flags & GNOMON_NODE_PART) ||
            gnomon_profile_track(p, n.track, &track))
            continue;
        CHECK(n.device && !n.host && track.kind == GNOMON_TRACK_STREAM);
        if (CHECK(track.device == 0 || track.device == 1) && n.device)
            parts[track.device] += n.device->total_ns;
    }
    CHECK_EQ(parts[0], 3 * MS);
    CHECK_EQ(parts[1], 6 * MS);
    end(p);
}

/* An outer scope of a stream has the time of the inner one too, and it nests. */
TEST(scopes_of_a_stream_nest)
{
    gnomon_track_info track;
    begin();
    scope_on("warm", stream, 1 * MS);
    pass(10 * MS);
    gnomon_profile_free(snapshot());
    gnomon_region *r = gnomon_region_get("outer", NULL, GNOMON_KIND_SCOPE);
    gnomon_device_scope s = gnomon_begin_on(r, gnomon_cuda_device(), stream);
    cuda->launch(stream, 1 * MS);
    scope_on("inner", stream, 2 * MS);
    gnomon_end_on(s);
    pass(10 * MS);
    gnomon_profile *p = snapshot();
    gnomon_event_info outer = on_stream(p, 2, &track);
    gnomon_event_info inner = on_stream(p, 3, &track);
    CHECK_EQ(outer.duration_ns, 3 * MS);
    CHECK_EQ(inner.duration_ns, 2 * MS);
    CHECK_EQ(inner.begin_ns, outer.begin_ns + 1 * MS);
    end(p);
}

/* ---- Parts and their node ------------------------------------------------------------- */

static int is_same_path(const gnomon_profile *p, uint32_t a, uint32_t b)
{
    gnomon_node_info x, y;
    if (!a || !b)
        return a == b;
    return !gnomon_profile_node(p, a, &x) && !gnomon_profile_node(p, b, &y) &&
           x.region == y.region && is_same_path(p, x.parent, y.parent);
}

/* Adds to *sum, and to its cells. */
static void add_stats(gnomon_stats *sum, uint64_t *cells, const gnomon_stats *s)
{
    gnomon_stats_add(sum, s);
    for (size_t i = 0; i < s->cell_count; i++)
        cells[s->cells[i].cell] += s->cells[i].count;
}

/* Each node's times on devices are the sum of its parts'. Returns how many are timed. */
static uint64_t check_parts(gnomon_profile *p)
{
    static uint64_t cells[2][1024];
    uint64_t scopes = 0;
    gnomon_node_info n, part;
    for (uint32_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        gnomon_stats sum[2] = {{.count = 0}, {.count = 0}};
        memset(cells, 0, sizeof cells);
        if (!n.device || n.flags & GNOMON_NODE_PART)
            continue;
        add_stats(&sum[0], cells[0], n.device);
        for (uint32_t k = 1; !gnomon_profile_node(p, k, &part); k++)
            if (part.flags & GNOMON_NODE_PART && part.stage == n.stage &&
                is_same_path(p, i, k))
                add_stats(&sum[1], cells[1], part.device);
        CHECK(memcmp(&sum[0], &sum[1], sizeof sum[0]) == 0);
        CHECK(memcmp(cells[0], cells[1], sizeof cells[0]) == 0);
        scopes += n.device->count;
    }
    gnomon_profile_free(p);
    return scopes;
}

/* In snapshots of the open stage and of all, where a scope is open while its stage ends,
 * and in two stages of a name. */
TEST(parts_are_all_of_their_node)
{
    begin();
    void *second = cuda->stream(context);
    gnomon_region *r = gnomon_region_get("long", NULL, GNOMON_KIND_SCOPE);
    for (uint64_t i = 1; i <= 3; i++) {
        CHECK_EQ(gnomon_stage_begin(i % 2 ? "fit" : "validate"), GNOMON_OK);
        gnomon_device_scope s =
            gnomon_begin_on(r, gnomon_cuda_device(), stream);
        scope_on("inner", stream, i * MS);
        scope_on("inner", second, 5 * MS);
        scope_on("other", second, 1);
        pass(20 * MS);
        CHECK_EQ(check_parts(profile_of("placed", 0)), 3);
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
        pass(1 * MS);
        gnomon_end_on(s);
        pass(1 * MS);
        CHECK_EQ(check_parts(profile_of("placed", 1)), 4 * i);
    }
    end(NULL);
}

/* The node has all of its times; the part that there is no room for is counted. */
TEST(a_part_without_room_is_counted)
{
    static const gnomon_profiler both = {.struct_size = sizeof both,
                                         .abi = GNOMON_ABI,
                                         .wants = GNOMON_WANT_TREE |
                                                  GNOMON_WANT_DEVICE |
                                                  GNOMON_WANT_DEVICE_WORK,
                                         .name = "both"};
    enum { NAMES = 65536 };
    static const char *const scopes[] = {"a", "b", "c", "d"};
    char name[32];
    if (IS_TSAN)
        SKIP("one thread's sums, 14 s of them; the tests before it have both "
             "threads");
    setenv("GNOMON_CUPTI_LIBRARY", "/none", 1);
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    begin_with(&both);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    for (uint32_t i = 0; i < 4 * NAMES; i++) {
        gnomon_token t = gnomon_begin(
            gnomon_region_get(scopes[i / NAMES], NULL, GNOMON_KIND_SCOPE));
        snprintf(name, sizeof name, "kernel %u", i % NAMES);
        toy_kernel(name, 1, 1);
        toy_tell(&toy);
        gnomon_end(t);
    }
    CHECK_EQ(toy_health().activities_lost, 0);
    scope_on("timed", stream, 1 * MS);
    scope_on("timed", stream, 2 * MS);
    pass(10 * MS);
    gnomon_profile *p = profile_of("both", 0);
    gnomon_profile_free(p);
    CHECK_EQ(toy_health().activities_lost, 2);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(toy_health().activities_lost, 2);
    p = profile_of("both", 1);
    CHECK_DEVICE(p, "timed", 2, 3 * MS, 3 * MS, 1 * MS, 2 * MS);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&both, NULL), GNOMON_OK);
    fake_cuda_is_well();
}
