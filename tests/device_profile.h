/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles with work of a device, as docs/profile.md says that it lies in one: two
 * steps of a training loop on one GPU with two streams, whose answers are known. */
#ifndef GNOMON_TESTS_DEVICE_PROFILE_H
#define GNOMON_TESTS_DEVICE_PROFILE_H

#include "gnomon.h"
#include "gnomon/link.h"
#include "gnomon/profile.h"
#include "test.h"

#define WORK_US 1000u
#define WORK_ZERO UINT64_C(1759158810000000000) /* Unix ns */

/* Tracks, in the order in which they are added; of a second run after these. */
enum { WORK_MAIN = 1, WORK_CALLS, WORK_STREAM, WORK_SIDE, WORK_OVERHEAD };
enum { WORK_TRACKS = WORK_OVERHEAD };

/* A node: what it is of, on which track and below which other (index, -1: none). */
typedef struct work_node {
    int track, parent;
    uint32_t kind;
    const char *name, *category;
    uint64_t bytes; /* of an op; 0: no op */
    int has_times;
} work_node;

enum {
    N_STEP,
    N_FORWARD,
    N_BACKWARD,
    /* On the lane of calls. */
    N_CALL_STEP,
    N_CALL_FORWARD,
    N_COPY_CALL,
    N_LAUNCH,
    N_CALL_BACKWARD,
    N_BACK_LAUNCH,
    N_SYNC_CALL,
    /* On stream 7. */
    N_ON_STEP,
    N_ON_FORWARD,
    N_COPY,
    N_GEMM,
    N_ON_BACKWARD,
    N_BACK_GEMM,
    N_WAIT,
    N_STRAY,
    /* On stream 13. */
    N_SIDE_STEP,
    N_SIDE_BACKWARD,
    N_REDUCE,
    /* On the lane of overheads. */
    N_FLUSH,
    WORK_NODES
};

static const work_node work_nodes[WORK_NODES] = {
    [N_STEP] = {WORK_MAIN, -1, 0, "train_step", "", 0, 1},
    [N_FORWARD] = {WORK_MAIN, N_STEP, 0, "forward", "", 0, 1},
    [N_BACKWARD] = {WORK_MAIN, N_STEP, 0, "backward", "", 0, 1},
    [N_CALL_STEP] = {WORK_CALLS, -1, 0, "train_step", "", 0, 0},
    [N_CALL_FORWARD] = {WORK_CALLS, N_CALL_STEP, 0, "forward", "", 0, 0},
    [N_COPY_CALL] = {WORK_CALLS, N_CALL_FORWARD, GNOMON_KIND_API,
                     "cudaMemcpyAsync", "cuda_runtime", 0, 1},
    [N_LAUNCH] = {WORK_CALLS, N_CALL_FORWARD, GNOMON_KIND_API,
                  "cudaLaunchKernel", "cuda_runtime", 0, 1},
    [N_CALL_BACKWARD] = {WORK_CALLS, N_CALL_STEP, 0, "backward", "", 0, 0},
    [N_BACK_LAUNCH] = {WORK_CALLS, N_CALL_BACKWARD, GNOMON_KIND_API,
                       "cudaLaunchKernel", "cuda_runtime", 0, 1},
    [N_SYNC_CALL] = {WORK_CALLS, N_CALL_BACKWARD, GNOMON_KIND_API,
                     "cudaStreamSynchronize", "cuda_runtime", 0, 1},
    [N_ON_STEP] = {WORK_STREAM, -1, 0, "train_step", "", 0, 0},
    [N_ON_FORWARD] = {WORK_STREAM, N_ON_STEP, 0, "forward", "", 0, 0},
    [N_COPY] = {WORK_STREAM, N_ON_FORWARD, GNOMON_KIND_COPY,
                "Memcpy HtoD (Pinned -> Device)", "", 131072, 1},
    [N_GEMM] = {WORK_STREAM, N_ON_FORWARD, GNOMON_KIND_KERNEL, "gemm", "", 1,
                1},
    [N_ON_BACKWARD] = {WORK_STREAM, N_ON_STEP, 0, "backward", "", 0, 0},
    [N_BACK_GEMM] = {WORK_STREAM, N_ON_BACKWARD, GNOMON_KIND_KERNEL, "gemm", "",
                     1, 1},
    [N_WAIT] = {WORK_STREAM, N_ON_BACKWARD, 0, "Stream Sync", "cuda_sync", 0,
                1},
    [N_STRAY] = {WORK_STREAM, -1, GNOMON_KIND_KERNEL, "stray", "", 0, 1},
    [N_SIDE_STEP] = {WORK_SIDE, -1, 0, "train_step", "", 0, 0},
    [N_SIDE_BACKWARD] = {WORK_SIDE, N_SIDE_STEP, 0, "backward", "", 0, 0},
    [N_REDUCE] = {WORK_SIDE, N_SIDE_BACKWARD, GNOMON_KIND_KERNEL,
                  "ncclDevKernel_AllReduce", "", 0, 1},
    [N_FLUSH] = {WORK_OVERHEAD, -1, 0, "Buffer Flush", "overhead", 0, 1}};

/* What happens in each step, in us from its begin; `cause` names the event in this list
 * that launched it, from 1. */
typedef struct work_event {
    int node;
    unsigned begin, end, cause;
} work_event;

/* In the order of tracks and begins. After the first kernel the GPU waits for 60 us: its
 * thread is in forward till 165, and launches in backward. It is busy for 10 + 100 + 160
 * us of each step. */
static const work_event work_events[] = {
    {N_STEP, 0, 400, 0},          {N_FORWARD, 10, 165, 0},
    {N_BACKWARD, 166, 380, 0},    {N_COPY_CALL, 12, 16, 0},
    {N_LAUNCH, 20, 30, 0},        {N_BACK_LAUNCH, 170, 180, 0},
    {N_BACK_LAUNCH, 182, 186, 0}, {N_SYNC_CALL, 200, 370, 0},
    {N_COPY, 18, 28, 4},          {N_GEMM, 40, 140, 5},
    {N_WAIT, 200, 370, 8},        {N_BACK_GEMM, 200, 300, 6},
    {N_REDUCE, 250, 360, 7},      {N_FLUSH, 390, 399, 0}};
enum {
    WORK_EVENTS = sizeof work_events / sizeof *work_events,
    WORK_STEPS = 2,
    WORK_STEP = 500 /* us from one to the next */
};

static inline uint64_t work_length(const work_event *e)
{
    return (e->end - e->begin) * WORK_US;
}

typedef struct work_sums {
    gnomon_stats stats;
    gnomon_cell cells[4];
} work_sums;

static inline void work_add(work_sums *s, uint64_t ns)
{
    const uint32_t cell = gnomon_cell_of(ns);
    const gnomon_stats once = {.struct_size = sizeof once,
                               .count = 1,
                               .total_ns = ns,
                               .self_ns = ns,
                               .min_ns = ns,
                               .max_ns = ns};
    gnomon_stats_add(&s->stats, &once);
    size_t at = 0;
    while (at < s->stats.cell_count && s->cells[at].cell < cell)
        at++;
    if (at == s->stats.cell_count || s->cells[at].cell != cell) {
        for (size_t i = s->stats.cell_count++; i > at; i--)
            s->cells[i] = s->cells[i - 1];
        s->cells[at] = (gnomon_cell){.cell = cell};
    }
    s->cells[at].count++;
    s->stats.cells = s->cells;
}

static inline void work_add_tracks(gnomon_builder *b, uint32_t run)
{
    gnomon_track_info t = {
        .run = run, .name = "main", .os_id = 4711, .device = -1};
    gnomon_add_track(b, &t);
    t.kind = GNOMON_TRACK_LANE;
    t.name = "calls of main";
    gnomon_add_track(b, &t);
    t = (gnomon_track_info){.run = run,
                            .kind = GNOMON_TRACK_STREAM,
                            .name = "stream 7",
                            .index = 7};
    gnomon_add_track(b, &t);
    t.name = "stream 13";
    t.index = 13;
    gnomon_add_track(b, &t);
    t = (gnomon_track_info){.run = run,
                            .kind = GNOMON_TRACK_LANE,
                            .name = "overhead",
                            .device = -1};
    gnomon_add_track(b, &t);
}

static inline uint32_t work_add_op(gnomon_builder *b, const work_node *n)
{
    const uint32_t size = sizeof(gnomon_attribute);
    const gnomon_attribute attributes[] = {
        {size, 0, "context", "1"},
        {size, 0, "registers per thread", "64"},
        {size, 0, "shared memory", "4096"},
        {size, 0, "grid", "[8, 8, 1]"},
        {size, 0, "block", "[256, 1, 1]"}};
    const int is_kernel = n->kind == GNOMON_KIND_KERNEL;
    return gnomon_add_op(b,
                         &(gnomon_op_info){.flags = GNOMON_OP_BYTES_GIVEN,
                                           .attributes = attributes,
                                           .attribute_count = is_kernel ? 5 : 1,
                                           .bytes = is_kernel ? 0 : n->bytes});
}

/* Times of all executions; the host's self is less what its children took. */
static inline void work_sum(work_sums sums[WORK_NODES])
{
    for (unsigned i = 0; i < WORK_EVENTS * WORK_STEPS; i++) {
        const work_event *e = &work_events[i % WORK_EVENTS];
        const uint64_t ns = work_length(e);
        work_add(&sums[e->node], ns);
        if (e->node == N_FORWARD || e->node == N_BACKWARD)
            sums[N_STEP].stats.self_ns -= ns;
    }
    work_add(&sums[N_STRAY], 10 * WORK_US);
}

static inline void work_add_event(gnomon_builder *b, uint32_t track,
                                  uint32_t node, uint64_t begin, uint64_t ns,
                                  uint64_t instance)
{
    gnomon_add_event(b, &(gnomon_event_info){.track = track,
                                             .node = node,
                                             .begin_ns = begin,
                                             .duration_ns = ns,
                                             .instance = instance});
}

/* Events of a track are in the order of their begins: step after step. */
static inline void work_add_events(gnomon_builder *b, uint32_t tracks,
                                   const uint32_t *nodes)
{
    for (int track = 1; track <= WORK_TRACKS; track++) {
        for (unsigned i = 0; i < WORK_EVENTS * WORK_STEPS; i++) {
            const work_event *e = &work_events[i % WORK_EVENTS];
            const unsigned step = i / WORK_EVENTS;
            if (work_nodes[e->node].track != track)
                continue;
            work_add_event(b, tracks + (uint32_t)track, nodes[e->node],
                           (step * WORK_STEP + e->begin) * WORK_US,
                           work_length(e), i + 1);
            if (e->cause)
                gnomon_add_link(
                    b, &(gnomon_link_info){
                           .from = nodes[work_events[e->cause - 1].node],
                           .to = nodes[e->node],
                           .kind = GNOMON_LINK_LAUNCH,
                           .count = 1,
                           .from_instance = step * WORK_EVENTS + e->cause,
                           .to_instance = i + 1});
        }
        if (track == WORK_STREAM)
            work_add_event(b, tracks + WORK_STREAM, nodes[N_STRAY],
                           950 * WORK_US, 10 * WORK_US,
                           WORK_EVENTS * WORK_STEPS + 1);
    }
}

static inline void work_add_nodes(gnomon_builder *b, uint32_t tracks,
                                  uint32_t stage, uint32_t *nodes)
{
    work_sums sums[WORK_NODES] = {{{0}, {{0}}}};
    work_sum(sums);
    for (int i = 0; i < WORK_NODES; i++) {
        const work_node *of = &work_nodes[i];
        const gnomon_stats *times = of->has_times ? &sums[i].stats : NULL;
        const int on_host = of->track == WORK_MAIN || of->track == WORK_CALLS;
        const uint32_t region = gnomon_add_region(
            b, &(gnomon_region_info){.kind = of->kind,
                                     .name = of->name,
                                     .category = of->category});
        nodes[i] = gnomon_add_node(
            b, &(gnomon_node_info){.track = tracks + (uint32_t)of->track,
                                   .stage = stage,
                                   .parent =
                                       of->parent < 0 ? 0 : nodes[of->parent],
                                   .region = region,
                                   .op = of->bytes ? work_add_op(b, of) : 0,
                                   .host = on_host ? times : NULL,
                                   .device = on_host ? NULL : times});
    }
}

/* One rank: 1 ms with two steps. `tracks`: how many there are already. */
static inline void work_rank(gnomon_builder *b, int rank, uint32_t tracks,
                             int has_events)
{
    uint32_t nodes[WORK_NODES];
    const uint32_t run =
        gnomon_add_run(b, &(gnomon_run_info){.rank = rank,
                                             .local_rank = -1,
                                             .world_size = rank < 0 ? -1 : 2,
                                             .pid = 4711 + (rank > 0),
                                             .host = "node1",
                                             .job = "job-7",
                                             .clock = "test",
                                             .zero_unix_ns = WORK_ZERO,
                                             .now_ns = 1000 * WORK_US});
    gnomon_add_metadata(b, &(gnomon_metadata_info){.run = run,
                                                   .key = "gnomon.cuda.0.name",
                                                   .json = "\"Fake\""});
    const uint32_t stage =
        gnomon_add_stage(b, &(gnomon_stage_info){.run = run,
                                                 .ordinal = 1,
                                                 .name = "fit",
                                                 .end_ns = 1000 * WORK_US,
                                                 .ended = 1});
    for (unsigned i = 0; i < WORK_STEPS; i++)
        gnomon_add_step(
            b, &(gnomon_step_info){.stage = stage,
                                   .number = i,
                                   .begin_ns = i * WORK_STEP * WORK_US,
                                   .end_ns = (i + 1) * WORK_STEP * WORK_US,
                                   .phase = GNOMON_PHASE_RECORD,
                                   .rank = -1});
    work_add_tracks(b, run);
    work_add_nodes(b, tracks, stage, nodes);
    if (has_events)
        work_add_events(b, tracks, nodes);
    gnomon_add_loss(b, &(gnomon_loss_info){.run = run,
                                           .kind = "activities_unlinked",
                                           .count = 1});
}

static inline gnomon_profile *work_finish(gnomon_builder *b)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

static inline gnomon_profile *work_profile(int rank, int has_events)
{
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    work_rank(b, rank, 0, has_events);
    return work_finish(b);
}

#endif
