/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Perfetto's format, byte by byte. tests/export reads it with Perfetto itself.
 * links: testing
 * threads: none
 * needs: exports */
#include "test.h"

#include <math.h>

#include "export/export.h"
#include "perfetto_read.h"
#include "platform/memory.h"
#include "traced_profile.h"

/* ---- Writing into memory -------------------------------------------------------- */

typedef struct kept {
    char *bytes;
    size_t size, limit; /* the write that passes the limit fails */
    size_t writes, largest;
} kept;

static int keep(const gnomon_writer *w, const void *bytes, size_t size)
{
    kept *k = w->context;
    k->writes++;
    k->largest = size > k->largest ? size : k->largest;
    if (k->limit && k->size + size > k->limit)
        return GNOMON_EIO;
    k->bytes = realloc(k->bytes, k->size + size + 1);
    memcpy(k->bytes + k->size, bytes, size);
    k->size += size;
    return GNOMON_OK;
}

static int write_to(kept *k, const gnomon__export *what)
{
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = keep, .context = k};
    return gnomon__export_perfetto.write(what, &w);
}

static pf_trace exported(kept *k, const gnomon__export *what)
{
    pf_trace t;
    *k = (kept){0};
    CHECK_EQ(write_to(k, what), GNOMON_OK);
    pf_read(&t, k->bytes, k->size);
    return t;
}

/* Of the sample, which lives until the process ends. */
static pf_trace sample(void)
{
    static kept k;
    static const gnomon_profile *p;
    p = traced_sample();
    return exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
}

#define AT(ns) (TRACED_ZERO + (ns))

/* ---- Executions ------------------------------------------------------------------- */

TEST(executions_are_slices_with_exact_times)
{
    pf_trace t = sample();
    const pf_event *train = pf_event_of(&t, "train_step");
    const pf_event *forward = pf_event_of(&t, "forward");
    const pf_event *launch = pf_event_of(&t, "cudaLaunchKernel");
    CHECK_EQ(train->begin, AT(100));
    CHECK_EQ(train->end, AT(1000));
    CHECK_EQ(forward->begin, AT(100));
    CHECK_EQ(forward->end, AT(400));
    CHECK_EQ(launch->begin, AT(110));
    CHECK_EQ(launch->end, AT(120));
    CHECK(&t.events[forward->outer - 1] == train);
    CHECK(&t.events[launch->outer - 1] == forward);
    const pf_track *k = &t.tracks[train->track];
    CHECK(k->is_thread && pf_is(k->name, "main"));
    CHECK_EQ(k->pid, 4711);
    CHECK_EQ(k->tid, 4711);
    const pf_track *process = &t.tracks[pf_find(&t, k->parent)];
    CHECK(process->is_process && pf_is(process->name, "rank 0 (node1)"));
    CHECK_EQ(process->pid, 4711);
    pf_free(&t);
}

TEST(streams_are_below_their_device)
{
    pf_trace t = sample();
    const pf_track *k = pf_track_of(&t, "stream 7");
    const pf_track *device = &t.tracks[pf_find(&t, k->parent)];
    CHECK(pf_is(device->name, "device 0"));
    CHECK(t.tracks[pf_find(&t, device->parent)].is_process);
    pf_free(&t);
}

/* Perfetto drops a slice that overlaps another one on its track in part. */
TEST(what_overlaps_is_on_a_track_below)
{
    pf_trace t = sample();
    const pf_track *stream = pf_track_of(&t, "stream 7");
    const pf_track *overlap = pf_track_of(&t, "stream 7 (overlap 1)");
    uint64_t begin[2] = {0};
    CHECK_EQ(overlap->parent, stream->uuid);
    for (size_t i = 0; i < t.event_count; i++)
        if (pf_is(t.events[i].name, "gemm<float>"))
            begin[&t.tracks[t.events[i].track] == overlap] = t.events[i].begin;
    CHECK_EQ(begin[0], AT(200));
    CHECK_EQ(begin[1], AT(250));
    pf_free(&t);
}

/* Perfetto keeps 512 nested slices of a track, and of a deeper one it takes the end for
 * that of another: what is deeper is on a track below. */
TEST(no_track_is_deeper_than_perfetto_keeps)
{
    enum { DEEP = 1100, KEPT = 512 };
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.pid = 1});
    const uint32_t track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .os_id = 1, .device = -1});
    const uint32_t region = traced_region(b, GNOMON_KIND_SCOPE, "work");
    const uint32_t node = gnomon_add_node(
        b, &(gnomon_node_info){.track = track, .region = region});
    for (unsigned i = 0; i < DEEP; i++)
        traced_execution(b, track, node, 100 + i, 10000 - i, 0);
    const gnomon_profile *p = traced_finish(b);
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
    size_t slices = 0, depth[DEEP + 3] = {0}; /* all are open at one time */
    for (size_t i = 0; i < t.event_count; i++)
        if (pf_is(t.events[i].name, "work")) {
            CHECK_EQ(t.events[i].end, 10000 - slices++);
            CHECK(++depth[t.events[i].track] < KEPT);
        }
    CHECK_EQ(slices, DEEP);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

TEST(what_is_open_has_no_end)
{
    pf_trace t = sample();
    const pf_event *e = pf_event_of(&t, "all_reduce");
    CHECK_EQ(e->begin, AT(150));
    CHECK_EQ(e->end, 0);
    pf_free(&t);
}

/* Outer scopes come first, where all began at once. */
TEST(what_is_open_contains_what_began_with_it)
{
    static const char *const names[] = {"outer", "inner", "done"};
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.pid = 1});
    const uint32_t track =
        gnomon_add_track(b, &(gnomon_track_info){.run = run, .device = -1});
    uint32_t node[3];
    for (unsigned i = 0; i < 3; i++)
        node[i] = gnomon_add_node(
            b, &(gnomon_node_info){
                   .track = track,
                   .open = i < 2,
                   .region = traced_region(b, GNOMON_KIND_SCOPE, names[i])});
    for (unsigned i = 0; i < 2; i++)
        gnomon_add_open(b, &(gnomon_open_info){
                               .track = track, .node = node[i], .begin_ns = 7});
    traced_execution(b, track, node[2], 7, 9, 0);
    const gnomon_profile *p = traced_finish(b);
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
    const pf_event *outer = pf_event_of(&t, "outer");
    const pf_event *inner = pf_event_of(&t, "inner");
    CHECK_EQ(outer->outer, 0);
    CHECK(&t.events[inner->outer - 1] == outer);
    CHECK(&t.events[pf_event_of(&t, "done")->outer - 1] == inner);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

TEST(regions_have_a_category_and_a_place)
{
    pf_trace t = sample();
    const pf_event *e = pf_event_of(&t, "forward");
    CHECK(
        pf_is(pf_interned(&t, e->sequence, 1, pf_number(e->body, 3)), "model"));
    uint64_t source = pf_number(e->body, 34);
    CHECK(source != 0 &&
          pf_is(pf_interned(&t, e->sequence, 4, source), "src/model.c"));
    e = pf_event_of(&t, "train_step");
    CHECK(
        pf_is(pf_interned(&t, e->sequence, 1, pf_number(e->body, 3)), "scope"));
    CHECK_EQ(pf_number(e->body, 34), 0);
    pf_free(&t);
}

TEST(operations_are_annotations)
{
    pf_trace t = sample();
    pf_bytes note;
    const pf_event *e = pf_event_of(&t, "forward");
    CHECK(pf_says(&t, e, "operation", "matmul"));
    CHECK(pf_says(&t, e, "Input Dims", "[[64, 32], [32, 128]]"));
    CHECK(pf_says(&t, e, "Input Strides", "[[], [1, 64]]"));
    CHECK(pf_says(&t, e, "Input type", "[bf16, f32]"));
    CHECK_EQ(pf_says_number(&t, e, "flops"), 524288);
    CHECK_EQ(pf_says_number(&t, e, "bytes"), 20480);
    CHECK_EQ(pf_says_number(&t, e, "backward"), 1);
    CHECK(!pf_note(&t, pf_event_of(&t, "train_step"), "flops", &note));
    pf_free(&t);
}

TEST(attributes_keep_their_types)
{
    pf_trace t = sample();
    const pf_event *e = NULL;
    pf_bytes note;
    for (size_t i = 0; i < t.event_count; i++)
        if (pf_is(t.events[i].name, "gemm<float>"))
            e = &t.events[i];
    CHECK(pf_says(&t, e, "grid", "[128, 1, 1]"));
    CHECK(pf_says(&t, e, "memory", "shared"));
    CHECK(pf_says(&t, e, "quoted", "\"a\\\"b\""));
    CHECK_EQ(pf_says_number(&t, e, "registers per thread"), 96);
    CHECK_EQ(pf_says_number(&t, e, "context"), UINT64_MAX);
    CHECK(pf_note(&t, e, "graph", &note));
    CHECK_EQ(pf_number(note, 2), 1);
    CHECK(pf_note(&t, e, "occupancy", &note));
    CHECK_EQ(pf_number(note, 5), UINT64_C(0x3fe0000000000000));
    pf_free(&t);
}

/* ---- What is beside executions ------------------------------------------------------ */

TEST(marks_are_instants)
{
    pf_trace t = sample();
    const pf_event *e = pf_event_of(&t, "checkpoint");
    CHECK_EQ(e->type, 3);
    CHECK_EQ(e->begin, AT(500));
    CHECK(&t.events[e->outer - 1] == pf_event_of(&t, "train_step"));
    pf_free(&t);
}

TEST(samples_are_counters_below_their_thread)
{
    pf_trace t = sample();
    const pf_track *k = pf_track_of(&t, "loss");
    size_t n = 0;
    CHECK(k->is_counter && !k->is_bytes);
    CHECK(pf_is(t.tracks[pf_find(&t, k->parent)].name, "main"));
    for (size_t i = 0; i < t.event_count; i++)
        if (&t.tracks[t.events[i].track] == k) {
            CHECK_EQ(t.events[i].begin, n ? AT(700) : AT(600));
            CHECK(fabs(t.events[i].value - (n++ ? -0.25 : 2.5)) <= 0);
        }
    CHECK_EQ(n, 2);
    pf_free(&t);
}

/* The events of two threads, by their time. */
TEST(pools_have_their_bytes_over_time)
{
    static const struct {
        uint64_t ns;
        double bytes;
    } want[] = {{710, 4096}, {720, 4000}, {730, 5024}, {740, 0}};
    pf_trace t = sample();
    const pf_track *k = pf_track_of(&t, "HBM (device 0)");
    size_t n = 0;
    CHECK(k->is_counter && k->is_bytes);
    for (size_t i = 0; i < t.event_count; i++)
        if (&t.tracks[t.events[i].track] == k && CHECK(n < 4)) {
            CHECK_EQ(t.events[i].begin, AT(want[n].ns));
            CHECK(fabs(t.events[i].value - want[n++].bytes) <= 0);
        }
    CHECK_EQ(n, 4);
    CHECK(pf_track_of(&t, "host")->is_counter);
    pf_free(&t);
}

TEST(steps_are_slices_with_the_names_of_torch)
{
    pf_trace t = sample();
    const pf_event *ten = pf_event_of(&t, "ProfilerStep#10");
    const pf_event *eleven = pf_event_of(&t, "ProfilerStep#11");
    CHECK_EQ(ten->begin, AT(100));
    CHECK_EQ(ten->end, AT(1100));
    CHECK_EQ(eleven->begin, AT(1100));
    CHECK_EQ(eleven->end, 0);
    CHECK_EQ(eleven->outer, 0);
    CHECK(pf_is(t.tracks[ten->track].name, "steps"));
    CHECK_EQ(t.tracks[ten->track].tid,
             1); /* shown right after the main thread */
    CHECK(pf_says(&t, ten, "stage", "fit"));
    pf_free(&t);
}

TEST(a_link_is_a_flow_if_both_ends_are_there)
{
    pf_trace t = sample();
    pf_field f;
    unsigned begun = 0, ended = 0;
    uint64_t flow[2] = {0};
    for (size_t i = 0; i < t.event_count; i++) {
        for (unsigned k = 0; pf_get(t.events[i].body, 47, k, &f);
             k++, begun++) {
            CHECK(pf_is(t.events[i].name, "cudaLaunchKernel"));
            flow[0] = f.number;
        }
        for (unsigned k = 0; pf_get(t.events[i].body, 48, k, &f);
             k++, ended++) {
            CHECK_EQ(t.events[i].begin, AT(200));
            flow[1] = f.number;
        }
    }
    CHECK_EQ(begun, 1);
    CHECK_EQ(ended, 1);
    CHECK(flow[0] && flow[0] == flow[1]);
    CHECK_EQ(pf_says_number(&t, pf_event_of(&t, "links not drawn"), "count"),
             1);
    pf_free(&t);
}

/* A wait begins before what it waits for: the arrow leads to an instant in it, of its
 * name, which comes before the wait's end. */
TEST(a_flow_to_a_wait_leads_to_the_moment_at_which_the_link_came_in)
{
    static const uint64_t begins[] = {100, 200, 900};
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.pid = 1});
    uint32_t node[2], track[2];
    for (unsigned i = 0; i < 2; i++) {
        gnomon_track_info t = {.run = run, .os_id = i + 1, .device = -1};
        track[i] = gnomon_add_track(b, &t);
        node[i] = gnomon_add_node(
            b,
            &(gnomon_node_info){.track = track[i],
                                .region = traced_region(b, GNOMON_KIND_SCOPE,
                                                        i ? "load" : "wait")});
    }
    traced_execution(b, track[0], node[0], begins[0], 500, 1);
    traced_execution(b, track[0], node[0], begins[2], 950, 3);
    traced_execution(b, track[1], node[1], begins[1], 400, 2);
    gnomon_add_link(b, &(gnomon_link_info){.from = node[1],
                                           .to = node[0],
                                           .count = 1,
                                           .from_instance = 2,
                                           .to_instance = 1,
                                           .from_ns = 390,
                                           .to_ns = 410});
    const gnomon_profile *p = traced_finish(b);
    kept k;
    pf_field f;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
    unsigned arrows = 0, from = 0;
    for (size_t i = 0; i < t.event_count; i++) {
        from += pf_is(t.events[i].name, "load") &&
                pf_get(t.events[i].body, 47, 0, &f);
        if (!pf_get(t.events[i].body, 48, 0, &f))
            continue;
        arrows++;
        CHECK_EQ(t.events[i].begin, 410);
        CHECK(pf_is(t.events[i].name, "wait"));
    }
    CHECK_EQ(arrows, 1);
    CHECK_EQ(from, 1);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

/* An arrow back in time is none; of two executions with one id the first has it. */
TEST(flows_lead_from_causes_to_later_effects)
{
    static const uint64_t begins[] = {500, 100, 500, 600};
    static const uint64_t ends[][2] = {{1, 2}, {2, 1}, {1, 3}, {3, 1}, {2, 4}};
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.pid = 1});
    uint32_t track[4], node[4];
    const uint32_t region = traced_region(b, GNOMON_KIND_SCOPE, "work");
    for (unsigned i = 0; i < 4; i++) {
        gnomon_track_info t = {.run = run, .os_id = i + 1, .device = -1};
        track[i] = gnomon_add_track(b, &t);
        node[i] = gnomon_add_node(
            b, &(gnomon_node_info){.track = track[i], .region = region});
        traced_execution(b, track[i], node[i], begins[i], begins[i] + 9, i + 1);
    }
    traced_execution(b, track[0], node[0], 700, 709, 1);
    for (unsigned i = 0; i < 5; i++)
        gnomon_add_link(b, &(gnomon_link_info){.from = node[0],
                                               .to = node[0],
                                               .count = 1,
                                               .from_instance = ends[i][0],
                                               .to_instance = ends[i][1]});
    const gnomon_profile *p = traced_finish(b);
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
    /* Flows 2, 3 and 5: from 100 to 500, from 500 to the later 500, to 600. */
    static const uint64_t begun[] = {500, 100, 500, 600, 700};
    static const unsigned out[][2] = {{3, 0}, {2, 5}, {0, 0}, {0, 0}, {0, 0}};
    static const unsigned in[] = {2, 0, 3, 5, 0};
    unsigned n = 0;
    pf_field f;
    for (size_t i = 0; i < t.event_count; i++) {
        if (!pf_is(t.events[i].name, "work") || !CHECK(n < 5))
            continue;
        CHECK_EQ(t.events[i].begin, begun[n]);
        for (unsigned j = 0; j < 2; j++) {
            pf_get(t.events[i].body, 47, j, &f);
            CHECK_EQ(f.number, out[n][j]);
        }
        pf_get(t.events[i].body, 48, 0, &f);
        CHECK_EQ(f.number, in[n++]);
    }
    CHECK_EQ(n, 5);
    CHECK_EQ(pf_says_number(&t, pf_event_of(&t, "links not drawn"), "count"),
             2);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

TEST(a_run_says_what_it_is_and_what_it_lost)
{
    pf_trace t = sample();
    const pf_event *e = pf_event_of(&t, "run");
    CHECK_EQ(e->begin, AT(100)); /* with the first event */
    CHECK(pf_is(t.tracks[e->track].name, "trace notes"));
    CHECK(pf_says(&t, e, "host", "node1"));
    CHECK(pf_says(&t, e, "job", "job-7"));
    CHECK_EQ(pf_says_number(&t, e, "pid"), 4711);
    CHECK_EQ(pf_says_number(&t, e, "world size"), 2);
    CHECK_EQ(pf_says_number(&t, e, "batch size"), 256);
    e = pf_event_of(&t, "lost_links");
    CHECK_EQ(e->begin, AT(300));
    CHECK_EQ(pf_says_number(&t, e, "count"), 13);
    CHECK_EQ(pf_says_number(&t, e, "to Unix ns"), AT(310));
    CHECK(pf_says(&t, e, "thread", "worker"));
    pf_free(&t);
}

/* No curve has a place for them. */
TEST(samples_that_are_no_numbers_are_instants)
{
    static const double values[] = {(double)NAN, (double)INFINITY,
                                    -(double)INFINITY};
    static const char *const words[] = {"NaN", "inf", "-inf"};
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run =
        gnomon_add_run(b, &(gnomon_run_info){.rank = 0, .pid = 1});
    const uint32_t track =
        gnomon_add_track(b, &(gnomon_track_info){.run = run, .device = -1});
    const uint32_t loss = traced_region(b, GNOMON_KIND_COUNTER, "loss");
    for (unsigned i = 0; i < 3; i++)
        traced_moment(b, GNOMON_EVENT_COUNTER, track, loss, i, values[i]);
    const gnomon_profile *p = traced_finish(b);
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
    for (unsigned i = 0, n = 0; i < t.event_count; i++)
        if (pf_is(t.events[i].name, "loss")) {
            CHECK_EQ(t.events[i].type, 3);
            CHECK(pf_says(&t, &t.events[i], "value", words[n++]));
        }
    for (size_t i = 0; i < t.track_count; i++)
        CHECK(!t.tracks[i].is_counter);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

/* ---- The time that is shown ---------------------------------------------------------- */

TEST(only_events_that_begin_in_the_window_are_written)
{
    const gnomon_profile *p = traced_sample();
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p,
                                                .count = 1,
                                                .from_unix_ns = AT(200),
                                                .until_unix_ns = AT(715)});
    size_t kernels = 0;
    for (size_t i = 0; i < t.event_count; i++) {
        const pf_event *e = &t.events[i];
        CHECK(e->begin >= AT(200) && e->begin < AT(715));
        CHECK(!pf_is(e->name, "train_step") && !pf_is(e->name, "forward"));
        kernels += (size_t)pf_is(e->name, "gemm<float>");
        if (t.tracks[e->track].is_bytes)
            CHECK(fabs(e->value - 4096) <= 0);
    }
    CHECK_EQ(kernels, 2);
    /* Still open: it began before. */
    const pf_event *e = pf_event_of(&t, "all_reduce");
    CHECK_EQ(e->begin, AT(200));
    CHECK_EQ(e->end, 0);
    CHECK_EQ(pf_says_number(&t, e, "began at Unix ns"), AT(150));
    /* The link's cause is not in the file. */
    CHECK_EQ(pf_says_number(&t, pf_event_of(&t, "links not drawn"), "count"),
             2);
    CHECK_EQ(pf_event_of(&t, "lost_links")->begin, AT(300));
    pf_free(&t);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
    free(k.bytes);
}

/* Nothing makes the time that is shown longer. */
TEST(a_window_bounds_what_is_beside_events)
{
    const gnomon_profile *p = traced_sample();
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p,
                                                .count = 1,
                                                .from_unix_ns = AT(105),
                                                .until_unix_ns = AT(130)});
    for (size_t i = 0; i < t.event_count; i++)
        CHECK(t.events[i].begin >= AT(105) && t.events[i].begin < AT(130) &&
              !pf_is(t.events[i].name, "all_reduce"));
    CHECK_EQ(pf_event_of(&t, "lost_links")->begin, AT(129));
    pf_event_of(&t, "cudaLaunchKernel");
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

/* Memory counts from the first event, also in a window. */
TEST(a_window_keeps_what_pools_hold)
{
    const gnomon_profile *p = traced_sample();
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p,
                                                .count = 1,
                                                .from_unix_ns = AT(725),
                                                .until_unix_ns = AT(735)});
    const pf_track *pool = pf_track_of(&t, "HBM (device 0)");
    size_t n = 0;
    for (size_t i = 0; i < t.event_count; i++)
        if (&t.tracks[t.events[i].track] == pool) {
            CHECK(fabs(t.events[i].value - 5024) <= 0);
            n++;
        }
    CHECK_EQ(n, 1);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

/* Where the first events were overwritten, nothing else makes the time longer. */
TEST(overwritten_events_bound_the_time_that_is_shown)
{
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){.pid = 1, .zero_unix_ns = TRACED_ZERO});
    const uint32_t stage = gnomon_add_stage(
        b, &(gnomon_stage_info){.run = run, .ordinal = 1, .end_ns = 9000});
    const uint32_t track =
        gnomon_add_track(b, &(gnomon_track_info){.run = run, .device = -1});
    const gnomon_node_info node = {
        .track = track,
        .open = 1,
        .region = traced_region(b, GNOMON_KIND_SCOPE, "train")};
    const uint32_t train = gnomon_add_node(b, &node);
    gnomon_add_open(
        b, &(gnomon_open_info){.track = track, .node = train, .begin_ns = 5});
    for (unsigned i = 0; i < 3; i++)
        gnomon_add_step(b, &(gnomon_step_info){.stage = stage,
                                               .number = i,
                                               .begin_ns = 10 + 4000 * i,
                                               .end_ns = 4010 + 4000 * i,
                                               .rank = -1});
    gnomon_add_event(b, &(gnomon_event_info){.track = track,
                                             .node = train,
                                             .begin_ns = 8000,
                                             .duration_ns = 1});
    gnomon_add_loss(b, &(gnomon_loss_info){.run = run,
                                           .kind = "events_overwritten",
                                           .count = 99,
                                           .begin_ns = 6,
                                           .end_ns = 7999});
    const gnomon_profile *p = traced_finish(b);
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
    for (size_t i = 0; i < t.event_count; i++)
        CHECK(t.events[i].begin >= AT(8000) ||
              pf_is(t.events[i].name, "ProfilerStep#1"));
    const pf_event *loss = pf_event_of(&t, "events_overwritten");
    CHECK_EQ(pf_says_number(&t, loss, "from Unix ns"), AT(6));
    CHECK_EQ(pf_says_number(&t, pf_event_of(&t, "steps before the first event"),
                            "count"),
             1);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

/* ---- Several runs and profiles ----------------------------------------------------------- */

static int runs_of(const pf_trace *t, int64_t *pids)
{
    int n = 0;
    for (size_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].is_process)
            pids[n++] = t->tracks[i].pid;
    return n;
}

TEST(runs_have_a_time_base_and_numbers_of_their_own)
{
    gnomon_builder *b;
    gnomon_builder_create(&b);
    traced_rank(b, 0, NULL, 4711);
    traced_rank(b, 1, NULL, 4711); /* on another machine */
    traced_rank(b, 1, "2", 9000);
    const gnomon_profile *one = traced_finish(b);
    gnomon_builder_create(&b);
    traced_rank(b, 0, NULL, 9100);
    const gnomon_profile *const both[] = {one, traced_finish(b)};
    kept k;
    int64_t pids[8];
    pf_trace t = exported(&k, &(gnomon__export){.profiles = both, .count = 2});
    CHECK_EQ(runs_of(&t, pids), 4);
    CHECK_EQ(t.sequence_count, 4);
    CHECK_EQ(pids[0], 4711);
    CHECK_EQ(pids[2], 9000);
    CHECK_EQ(pids[3], 9100);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            CHECK(pids[i] != pids[j]);
    CHECK(pf_is(t.tracks[0].name, "rank 0 (node1)"));
    pf_track_of(&t, "rank 1 (node1)");
    pf_track_of(&t, "rank 1 (node1), attempt 2");
    uint64_t begins[4], flows[4];
    unsigned n = 0, m = 0;
    pf_field f;
    for (size_t i = 0; i < t.event_count; i++) {
        if (pf_is(t.events[i].name, "train_step"))
            begins[n++ & 3] = t.events[i].begin;
        if (pf_get(t.events[i].body, 47, 0, &f))
            flows[m++ & 3] = f.number;
    }
    CHECK_EQ(n, 4);
    CHECK_EQ(m, 4);
    CHECK_EQ(begins[0], AT(100));
    CHECK_EQ(begins[1], AT(10100));
    CHECK_EQ(begins[2], AT(10100));
    CHECK_EQ(begins[3], AT(100));
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < i; j++)
            CHECK(flows[i] != flows[j]);
    pf_free(&t);
    free(k.bytes);
    for (int i = 0; i < 2; i++)
        gnomon_profile_free((gnomon_profile *)(uintptr_t)both[i]);
}

/* As where ranks were added up. */
TEST(a_profile_without_runs_is_one_process)
{
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t track =
        gnomon_add_track(b, &(gnomon_track_info){.name = "main", .device = -1});
    const uint32_t stage = gnomon_add_stage(
        b, &(gnomon_stage_info){.ordinal = 1, .name = "fit", .end_ns = 9});
    const uint32_t node = gnomon_add_node(
        b, &(gnomon_node_info){
               .track = track,
               .region = traced_region(b, GNOMON_KIND_SCOPE, "forward")});
    traced_execution(b, track, node, 2, 5, 0);
    for (int i = 0; i < 2; i++)
        gnomon_add_step(b, &(gnomon_step_info){.stage = stage,
                                               .begin_ns = (unsigned)(2 + i),
                                               .end_ns = (unsigned)(5 + i),
                                               .rank = i});
    gnomon_add_loss(b, &(gnomon_loss_info){.kind = "damaged", .count = 2});
    const gnomon_profile *p = traced_finish(b);
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
    CHECK(pf_is(t.tracks[0].name, "process"));
    CHECK(t.tracks[0].pid > 0);
    CHECK_EQ(pf_event_of(&t, "forward")->begin, 2);
    CHECK_EQ(pf_says_number(&t, pf_event_of(&t, "damaged"), "count"), 2);
    pf_track_of(&t, "steps (overlap 1)"); /* of the other rank */
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

TEST(no_profiles_are_an_empty_trace)
{
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.count = 0});
    CHECK_EQ(t.event_count, 0);
    pf_free(&t);
    free(k.bytes);
}

/* ---- Random profiles ------------------------------------------------------------------------ */

static const char *const plain[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* Every execution that the profile has is there, as long as it was; a slice more for
 * each open scope. */
static void check_all(const gnomon_profile *p, const pf_trace *t)
{
    size_t begun = 0, samples = 0, marks = 0, ns = 0, slices = 0, counters = 0,
           instants = 0, length = 0, open = 0;
    gnomon_event_info e;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++) {
        begun += e.kind == GNOMON_EVENT_EXECUTION;
        samples +=
            e.kind == GNOMON_EVENT_COUNTER || e.kind == GNOMON_EVENT_MEMORY;
        marks += e.kind == GNOMON_EVENT_MARK;
        ns += e.duration_ns;
    }
    for (size_t i = 0; i < t->event_count; i++) {
        const pf_event *v = &t->events[i];
        slices += v->type == 1;
        counters += v->type == 4;
        instants += v->type == 3 && pf_number(v->body, 10);
        open += v->type == 1 && !v->end;
        length += v->end ? v->end - v->begin : 0;
    }
    CHECK_EQ(slices - open, begun);
    CHECK_EQ(open, gnomon_profile_count(p, GNOMON_OPENS));
    CHECK_EQ(counters, samples);
    CHECK_EQ(instants, marks);
    CHECK_EQ(length, ns);
}

TEST(random_profiles_come_out_whole)
{
    for (unsigned seed = 1; seed <= 200; seed++) {
        const gnomon_profile *p =
            traced_random(seed, 1 + seed % 3, seed, plain);
        kept k;
        pf_trace t =
            exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
        check_all(p, &t);
        pf_free(&t);
        free(k.bytes);
        gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
    }
}

/* ---- Names ------------------------------------------------------------------------------------ */

/* By another road than the exporter's: a decoder by RFC 3629. */
static int is_utf8(const unsigned char *s, size_t size)
{
    for (size_t i = 0; i < size;) {
        unsigned c = s[i], more = c < 0x80   ? 0
                                  : c < 0xe0 ? 1
                                  : c < 0xf0 ? 2
                                             : 3;
        uint32_t code = more ? c & (0x3fu >> more) : c;
        if ((c >= 0x80 && c < 0xc0) || c > 0xf7 || i + more >= size)
            return 0;
        for (unsigned k = 1; k <= more; k++) {
            if ((s[i + k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (s[i + k] & 0x3f);
        }
        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
            (more && code < (more == 1   ? 0x80u
                             : more == 2 ? 0x800u
                                         : 0x10000u)))
            return 0;
        i += more + 1;
    }
    return 1;
}

static void check_name(const gnomon_profile *p, const char *name)
{
    const renamed r = {{&renamed_api}, p, name};
    const gnomon_profile *one = &r.base;
    kept k;
    size_t named = 0;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &one, .count = 1});
    for (size_t i = 0; i < t.name_count; i++)
        CHECK(t.names[i].kind == 4 ||
              is_utf8(t.names[i].text.at, t.names[i].text.size));
    for (size_t i = 0; i < t.track_count; i++)
        CHECK(is_utf8(t.tracks[i].name.at, t.tracks[i].name.size));
    for (size_t i = 0; i < t.event_count; i++)
        named += (size_t)pf_is(t.events[i].name, name);
    if (is_utf8((const unsigned char *)name, strlen(name)))
        CHECK(named >= 6);
    pf_free(&t);
    free(k.bytes);
}

TEST(names_may_be_anything)
{
    static const char *const names[] = {"",
                                        "\"\\\n\t\x01\x7f",
                                        "\xff",
                                        "\xc3",
                                        "a\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xc0\x80",
                                        "\xf0\x9f\x94\xa5 \xe2\x80\xae",
                                        "<script>alert(1)</script>",
                                        "%s%n"};
    const gnomon_profile *p = traced_sample();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_name(p, names[i]);
    char *large = malloc(1 << 20);
    static const size_t sizes[] = {126,   127,   128,   129,
                                   16381, 16384, 60000, (1 << 20) - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(large, i & 1 ? 'x' : 0xe9, sizes[i]);
        large[sizes[i]] = 0;
        check_name(p, large);
    }
    random_word = 7;
    for (unsigned n = 0; n < 2000; n++) {
        size_t size = random_below(40);
        for (size_t i = 0; i < size; i++)
            large[i] = (char)(1 + random_below(255));
        large[size] = 0;
        check_name(p, large);
    }
    free(large);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

TEST(repaired_names_have_a_mark_for_each_wrong_byte)
{
    const gnomon_profile *p = traced_sample();
    const renamed r = {{&renamed_api}, p, "a\xff\xc3z"};
    const gnomon_profile *one = &r.base;
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &one, .count = 1});
    size_t named = 0;
    for (size_t i = 0; i < t.event_count; i++)
        named += (size_t)pf_is(t.events[i].name, "a\xef\xbf\xbd\xef\xbf\xbdz");
    CHECK(named >= 6);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

/* ---- Times at their limits ---------------------------------------------------------------------- */

/* Perfetto drops times past 2^63. */
TEST(times_past_the_limit_stay_at_it)
{
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){.pid = INT64_MAX, .zero_unix_ns = TRACED_ZERO});
    const uint32_t track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .os_id = INT64_MIN, .device = -1});
    const uint32_t node = gnomon_add_node(
        b, &(gnomon_node_info){
               .track = track,
               .region = traced_region(b, GNOMON_KIND_SCOPE, "forward")});
    traced_execution(b, track, node, 10, UINT64_MAX, 0);
    gnomon_add_event(b, &(gnomon_event_info){.track = track,
                                             .node = node,
                                             .begin_ns = UINT64_MAX - 2,
                                             .duration_ns = UINT64_MAX});
    const gnomon_profile *p = traced_finish(b);
    kept k;
    pf_trace t = exported(&k, &(gnomon__export){.profiles = &p, .count = 1});
    for (size_t i = 0; i < t.event_count; i++)
        if (pf_is(t.events[i].name, "forward"))
            CHECK_EQ(t.events[i].end, INT64_MAX);
    for (size_t i = 0; i < t.track_count; i++)
        CHECK(t.tracks[i].pid >= 0 && t.tracks[i].pid <= INT32_MAX &&
              t.tracks[i].tid >= 0 && t.tracks[i].tid <= INT32_MAX);
    pf_free(&t);
    free(k.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

/* ---- Memory and errors ---------------------------------------------------------------------------- */

static uint64_t allocations_for(unsigned events)
{
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.pid = 1});
    const uint32_t track =
        gnomon_add_track(b, &(gnomon_track_info){.run = run, .device = -1});
    const uint32_t node = gnomon_add_node(
        b, &(gnomon_node_info){
               .track = track,
               .region = traced_region(b, GNOMON_KIND_SCOPE, "forward")});
    for (unsigned i = 0; i < events; i++)
        traced_execution(b, track, node, 10 * i, 10 * i + 9, i + 1);
    const gnomon_profile *p = traced_finish(b);
    kept k = {0};
    gnomon__test_fail_allocation(0);
    CHECK_EQ(write_to(&k, &(gnomon__export){.profiles = &p, .count = 1}),
             GNOMON_OK);
    CHECK(k.largest <= 65536);
    free(k.bytes);
    uint64_t made = gnomon__test_allocations();
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
    return made;
}

TEST(events_take_no_memory)
{
    CHECK_EQ(allocations_for(200000), allocations_for(10));
}

TEST(each_allocation_that_fails_is_reported)
{
    const gnomon_profile *p = traced_random(5, 2, 300, plain);
    const gnomon_profile *const both[] = {traced_sample(), p};
    const gnomon__export what = {.profiles = both, .count = 2};
    uint64_t n = 0, made;
    do {
        kept k = {0};
        gnomon__test_fail_allocation(++n);
        int code = write_to(&k, &what);
        made = gnomon__test_allocations();
        gnomon__test_fail_allocation(0);
        CHECK_EQ(code, made >= n ? GNOMON_ENOMEM : GNOMON_OK);
        free(k.bytes);
    } while (made >= n && n < 10000);
    CHECK(n > 20);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)both[0]);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)both[1]);
}

TEST(an_error_of_the_writer_is_returned)
{
    const gnomon_profile *p = traced_random(6, 3, 5000, plain);
    const gnomon__export what = {.profiles = &p, .count = 1};
    kept all = {0};
    CHECK_EQ(write_to(&all, &what), GNOMON_OK);
    CHECK(all.writes > 3);
    for (size_t limit = 1; limit < all.size; limit += 65536) {
        kept k = {.limit = limit};
        CHECK_EQ(write_to(&k, &what), GNOMON_EIO);
        CHECK_EQ(k.writes, limit / 65536 + 1);
        free(k.bytes);
    }
    free(all.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}

TEST(the_same_profile_gives_the_same_bytes)
{
    const gnomon_profile *p = traced_random(9, 2, 500, plain);
    const gnomon__export what = {.profiles = &p, .count = 1};
    kept a = {0}, b = {0};
    write_to(&a, &what);
    write_to(&b, &what);
    CHECK(a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0);
    free(a.bytes);
    free(b.bytes);
    gnomon_profile_free((gnomon_profile *)(uintptr_t)p);
}
