/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles with events, for tests of exports: a small one in which each kind of thing
 * is there once, and ones of random content. */
#ifndef GNOMON_TESTS_TRACED_PROFILE_H
#define GNOMON_TESTS_TRACED_PROFILE_H

#include "gnomon.h"
#include "gnomon/profile.h"
#include "random_profile.h"

#define TRACED_ZERO UINT64_C(1759158810000000001) /* Unix ns: not of whole us */

static inline gnomon_profile *traced_finish(gnomon_builder *b)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

static inline uint32_t traced_region(gnomon_builder *b, uint32_t kind,
                                     const char *name)
{
    gnomon_region_info r = {.kind = kind, .name = name};
    if (kind == GNOMON_KIND_FUNCTION) {
        r.category = "model";
        r.file = "src/model.c";
        r.function = name;
        r.line = 42;
    }
    return gnomon_add_region(b, &r);
}

static inline uint32_t traced_matmul(gnomon_builder *b)
{
    static const int64_t left[] = {64, 32}, right[] = {32, 128},
                         steps[] = {1, 64};
    const uint32_t size = sizeof(gnomon_tensor);
    const gnomon_tensor inputs[] = {{size, 2, "bf16", left, NULL},
                                    {size, 2, "f32", right, steps}};
    return gnomon_add_op(b, &(gnomon_op_info){.operation = "matmul",
                                              .flags = GNOMON_OP_BACKWARD,
                                              .inputs = inputs,
                                              .input_count = 2,
                                              .flops = 524288,
                                              .bytes = 20480});
}

static inline uint32_t traced_launch(gnomon_builder *b)
{
    const uint32_t size = sizeof(gnomon_attribute);
    const gnomon_attribute attributes[] = {
        {size, 0, "grid", "[128, 1, 1]"},
        {size, 0, "registers per thread", "96"},
        {size, 0, "occupancy", "0.5"},
        {size, 0, "graph", "true"},
        {size, 0, "context", "18446744073709551615"},
        {size, 0, "memory", "\"shared\""},
        {size, 0, "quoted", "\"a\\\"b\""}};
    return gnomon_add_op(
        b, &(gnomon_op_info){.attributes = attributes, .attribute_count = 7});
}

typedef struct traced_run {
    uint32_t run, stage, main, worker, stream, pool, other_pool;
    uint32_t train, forward, launch, gemm, hung, loss, tick;
} traced_run;

static inline void traced_execution(gnomon_builder *b, uint32_t track,
                                    uint32_t node, uint64_t begin, uint64_t end,
                                    uint64_t instance)
{
    gnomon_add_event(b, &(gnomon_event_info){.track = track,
                                             .node = node,
                                             .begin_ns = begin,
                                             .duration_ns = end - begin,
                                             .instance = instance});
}

static inline void traced_moment(gnomon_builder *b, uint32_t kind,
                                 uint32_t track, uint32_t region, uint64_t ns,
                                 double value)
{
    gnomon_add_event(b, &(gnomon_event_info){.kind = kind,
                                             .track = track,
                                             .region = region,
                                             .begin_ns = ns,
                                             .value = value});
}

static inline void traced_tracks(gnomon_builder *b, traced_run *r, int rank)
{
    gnomon_track_info t = {
        .run = r->run, .name = "main", .os_id = 4711, .device = -1};
    r->main = gnomon_add_track(b, &t);
    t.name = "worker";
    t.os_id = 4712 + rank;
    t.index = 1;
    r->worker = gnomon_add_track(b, &t);
    t = (gnomon_track_info){.run = r->run,
                            .kind = GNOMON_TRACK_STREAM,
                            .name = "stream 7",
                            .index = 7};
    r->stream = gnomon_add_track(b, &t);
    t = (gnomon_track_info){
        .run = r->run, .kind = GNOMON_TRACK_POOL, .name = "HBM"};
    r->pool = gnomon_add_track(b, &t);
    t.device = -1;
    t.name = "host";
    r->other_pool = gnomon_add_track(b, &t);
}

static inline void traced_nodes(gnomon_builder *b, traced_run *r)
{
    gnomon_node_info n = {.track = r->main, .stage = r->stage};
    const uint32_t launch = traced_launch(b);
    n.region = traced_region(b, GNOMON_KIND_SCOPE, "train_step");
    r->train = gnomon_add_node(b, &n);
    n.parent = r->train;
    n.region = traced_region(b, GNOMON_KIND_FUNCTION, "forward");
    n.op = traced_matmul(b);
    r->forward = gnomon_add_node(b, &n);
    n.parent = r->forward;
    n.region = traced_region(b, GNOMON_KIND_API, "cudaLaunchKernel");
    n.op = 0;
    r->launch = gnomon_add_node(b, &n);
    n = (gnomon_node_info){.track = r->stream};
    n.region = traced_region(b, GNOMON_KIND_KERNEL, "gemm<float>");
    n.op = launch;
    r->gemm = gnomon_add_node(b, &n);
    n = (gnomon_node_info){.track = r->worker, .open = 1};
    n.region = traced_region(b, GNOMON_KIND_SCOPE, "all_reduce");
    r->hung = gnomon_add_node(b, &n);
    r->loss = traced_region(b, GNOMON_KIND_COUNTER, "loss");
    r->tick = traced_region(b, GNOMON_KIND_MARK, "checkpoint");
}

/* One rank: 100 .. 1000 ns after its zero, which `rank` moves by 10 us. */
static inline void traced_rank(gnomon_builder *b, int rank, const char *attempt,
                               int64_t pid)
{
    traced_run r = {0};
    r.run = gnomon_add_run(
        b, &(gnomon_run_info){.rank = rank,
                              .local_rank = -1,
                              .world_size = 2,
                              .pid = pid,
                              .host = "node1",
                              .attempt = attempt,
                              .job = "job-7",
                              .clock = "test",
                              .zero_unix_ns =
                                  TRACED_ZERO + 10000u * (unsigned)rank,
                              .now_ns = 2000});
    gnomon_add_metadata(b, &(gnomon_metadata_info){.run = r.run,
                                                   .key = "batch size",
                                                   .json = "256"});
    r.stage = gnomon_add_stage(
        b, &(gnomon_stage_info){
               .run = r.run, .ordinal = 1, .name = "fit", .end_ns = 2000});
    for (unsigned i = 0; i < 2; i++)
        gnomon_add_step(b, &(gnomon_step_info){.stage = r.stage,
                                               .number = 11 - i,
                                               .begin_ns = 1100 - 1000 * i,
                                               .end_ns = i ? 1100 : 0,
                                               .phase = GNOMON_PHASE_RECORD,
                                               .rank = -1});
    traced_tracks(b, &r, rank);
    traced_nodes(b, &r);
    gnomon_add_open(b, &(gnomon_open_info){
                           .track = r.worker, .node = r.hung, .begin_ns = 150});
    gnomon_add_link(b, &(gnomon_link_info){.from = r.launch,
                                           .to = r.gemm,
                                           .kind = GNOMON_LINK_LAUNCH,
                                           .count = 1,
                                           .from_instance = 3,
                                           .to_instance = UINT64_MAX});
    gnomon_add_link(b, &(gnomon_link_info){.from = r.launch,
                                           .to = r.gemm,
                                           .kind = GNOMON_LINK_LAUNCH,
                                           .count = 1,
                                           .from_instance = 3,
                                           .to_instance = 77});
    gnomon_add_link(
        b, &(gnomon_link_info){.from = r.launch, .to = r.gemm, .count = 5});
    traced_execution(b, r.main, r.train, 100, 1000, 1);
    traced_execution(b, r.main, r.forward, 100, 400, 2);
    traced_execution(b, r.main, r.launch, 110, 120, 3);
    /* The second overlaps the first in part. */
    traced_execution(b, r.stream, r.gemm, 200, 300, UINT64_MAX);
    traced_execution(b, r.stream, r.gemm, 250, 350, 5);
    traced_moment(b, GNOMON_EVENT_MARK, r.main, r.tick, 500, 0);
    traced_moment(b, GNOMON_EVENT_COUNTER, r.main, r.loss, 600, 2.5);
    traced_moment(b, GNOMON_EVENT_COUNTER, r.main, r.loss, 700, -0.25);
    /* Two threads take turns with one pool. */
    traced_moment(b, GNOMON_EVENT_MEMORY, r.main, r.pool, 710, 4096);
    traced_moment(b, GNOMON_EVENT_MEMORY, r.main, r.pool, 730, 1024);
    traced_moment(b, GNOMON_EVENT_MEMORY, r.worker, r.pool, 720, -96);
    traced_moment(b, GNOMON_EVENT_MEMORY, r.worker, r.other_pool, 725, 8);
    traced_moment(b, GNOMON_EVENT_MEMORY, r.worker, r.pool, 740, -5024);
    gnomon_add_loss(b, &(gnomon_loss_info){.run = r.run,
                                           .track = r.worker,
                                           .kind = "lost_links",
                                           .count = 13,
                                           .begin_ns = 300,
                                           .end_ns = 310});
}

static inline gnomon_profile *traced_sample(void)
{
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    traced_rank(b, 0, NULL, 4711);
    return traced_finish(b);
}

/* ---- Random ones ----------------------------------------------------------------- */

enum { TRACED_TRACKS = 5, TRACED_NODES = 4 };

/* What all runs share. */
typedef struct traced_words {
    const char *const *names; /* eight */
    uint32_t region[8], op;
} traced_words;

static inline void traced_random_run(gnomon_builder *b, int rank,
                                     unsigned events, const traced_words *words)
{
    static const uint32_t kinds[] = {GNOMON_TRACK_THREAD, GNOMON_TRACK_THREAD,
                                     GNOMON_TRACK_STREAM, GNOMON_TRACK_STREAM,
                                     GNOMON_TRACK_LANE};
    static const unsigned of_nodes[TRACED_NODES] = {0, 2, 6, 7};
    uint32_t track[TRACED_TRACKS], node[TRACED_TRACKS][TRACED_NODES];
    const char *const *names = words->names;
    uint64_t now[TRACED_TRACKS] = {0}, instance = 1;
    const uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){.rank = rank,
                              .pid = random_below(3),
                              .host = names[0],
                              .zero_unix_ns = TRACED_ZERO + random_below(1000),
                              .now_ns = UINT32_MAX});
    const uint32_t pool = gnomon_add_track(
        b, &(gnomon_track_info){
               .run = run, .kind = GNOMON_TRACK_POOL, .name = names[1]});
    for (unsigned i = 0; i < TRACED_TRACKS; i++) {
        gnomon_track_info t = {.run = run,
                               .kind = kinds[i],
                               .name = names[i],
                               .index = i,
                               .os_id = random_below(3) - 1,
                               .device = i < 2 ? -1 : (int32_t)random_below(2)};
        track[i] = gnomon_add_track(b, &t);
        for (unsigned k = 0; k < TRACED_NODES; k++)
            node[i][k] = gnomon_add_node(
                b, &(gnomon_node_info){.track = track[i],
                                       .region = words->region[of_nodes[k]],
                                       .op = k == 1 ? words->op : 0,
                                       .open = k == 3});
    }
    for (unsigned i = 0; i < events; i++) {
        const uint32_t at = random_below(TRACED_TRACKS),
                       what = random_below(16);
        now[at] += random_below(4) ? random_below(50) : 0;
        if (what < 11)
            traced_execution(b, track[at], node[at][random_below(3)], now[at],
                             now[at] + random_below(random_below(8) ? 60 : 900),
                             instance++);
        else if (what < 13)
            traced_moment(b, GNOMON_EVENT_COUNTER, track[at], words->region[5],
                          now[at], (double)random_below(100) - 50);
        else if (what < 15)
            traced_moment(b, GNOMON_EVENT_MEMORY, track[at], pool, now[at],
                          (double)random_below(4096) - 2048);
        else
            traced_moment(b, GNOMON_EVENT_MARK, track[at], words->region[4],
                          now[at], 0);
        if (random_below(4) == 0)
            gnomon_add_link(b, &(gnomon_link_info){
                                   .from = node[random_below(TRACED_TRACKS)][0],
                                   .to = node[0][random_below(TRACED_NODES)],
                                   .kind = random_below(3),
                                   .count = 1,
                                   .from_instance = 1 + random_below(events),
                                   .to_instance = 1 + random_below(events)});
    }
    for (unsigned i = 0; i < 6; i++) {
        const uint32_t at = random_below(TRACED_TRACKS);
        gnomon_add_open(
            b, &(gnomon_open_info){.track = track[at],
                                   .node = node[at][3],
                                   .begin_ns = random_below(20 * events + 1)});
    }
}

/* `names`: eight. */
static inline gnomon_profile *traced_random(uint64_t seed, unsigned runs,
                                            unsigned events,
                                            const char *const *names)
{
    gnomon_builder *b;
    random_word = seed * 2654435761u + 1;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    traced_words words = {.names = names};
    for (uint32_t i = 0; i < 8; i++)
        words.region[i] = traced_region(b, i, names[i]);
    words.op = traced_matmul(b);
    for (unsigned i = 0; i < runs; i++)
        traced_random_run(b, (int)i, events, &words);
    return traced_finish(b);
}

/* ---- Names ------------------------------------------------------------------ */

/* A profile whose regions, tracks and runs have a name that no builder would let in. */
typedef struct renamed {
    gnomon_profile base; /* first */
    const gnomon_profile *of;
    const char *name;
} renamed;

static inline size_t renamed_count(const gnomon_profile *p, int entity)
{
    return gnomon_profile_count(((const renamed *)(const void *)p)->of, entity);
}

static inline int renamed_get(const gnomon_profile *p, int entity,
                              size_t number, void *info)
{
    const renamed *r = (const renamed *)(const void *)p;
    int code = r->of->api->get(r->of, entity, number, info);
    if (entity == GNOMON_REGIONS)
        ((gnomon_region_info *)info)->name = r->name;
    else if (entity == GNOMON_TRACKS)
        ((gnomon_track_info *)info)->name = r->name;
    else if (entity == GNOMON_RUNS)
        ((gnomon_run_info *)info)->host = r->name;
    return code;
}

static const gnomon_profile_api renamed_api = {.struct_size =
                                                   sizeof renamed_api,
                                               .abi = GNOMON_ABI,
                                               .count = renamed_count,
                                               .get = renamed_get};

#endif
