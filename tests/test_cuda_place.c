/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * Scopes on streams as events: on a track of their stream, in the run's time, each a part
 * of its node's times. */
#include "fake_cuda.h"

#define US 1000u
#define MS 1000000u

static const gnomon_profiler placed = {
    .struct_size = sizeof placed,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE | GNOMON_WANT_EVENTS,
    .name = "placed"};

static void *context, *stream;

static void begin(void)
{
    fake_cuda_use();
    context = cuda->context(0);
    stream = cuda->stream(context);
    CHECK_EQ(gnomon_attach(&placed, NULL, NULL), GNOMON_OK);
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
