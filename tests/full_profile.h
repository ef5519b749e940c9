/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile with every entity and every block, whose texts, numbers and
 * counts are at their limits, so that a lost field shows. It has two ranks,
 * with devices, kernels, links, ops, pools and events. */
#ifndef GNOMON_TESTS_FULL_PROFILE_H
#define GNOMON_TESTS_FULL_PROFILE_H

#include "gnomon.h"
#include "gnomon/profile.h"
#include "test.h"

/* Statistics of `count` executions of `ns` each; `self` ns is their self
 * time. */
static gnomon_stats full_stats(gnomon_cell *cell, uint64_t count, uint64_t ns,
                               uint64_t self)
{
    gnomon_stats s = {.struct_size = sizeof s,
                      .count = count,
                      .total_ns = count * ns,
                      .self_ns = self,
                      .min_ns = ns,
                      .max_ns = ns,
                      .cells = cell,
                      .cell_count = 1};
    *cell = (gnomon_cell){gnomon_cell_of(ns), 0, count};
    return s;
}

static uint32_t full_region(gnomon_builder *b, uint32_t kind, const char *name)
{
    gnomon_region_info r = {.kind = kind, .name = name, .category = "c"};
    if (kind == GNOMON_KIND_FUNCTION) {
        r.file = "src/model \"quoted\"\\.c";
        r.function = name;
        r.line = UINT32_MAX;
    }
    return gnomon_add_region(b, &r);
}

static uint32_t full_op(gnomon_builder *b)
{
    static const int64_t dims[] = {8, 0, INT64_MAX}, strides[] = {-1, 1, 3};
    const uint32_t input = sizeof(gnomon_tensor);
    const uint32_t attribute = sizeof(gnomon_attribute);
    const gnomon_tensor inputs[] = {{input, 3, "bf16", dims, strides},
                                    {input, 1, "f32", dims, NULL},
                                    {input, 0, "i64", NULL, NULL}};
    const gnomon_attribute attributes[] = {
        {attribute, 0, "grid", "[128, 1, 1]"},
        {attribute, 0, "na\nme", "{\"a\": 18446744073709551615}"}};
    const gnomon_op_info op = {.flags =
                                   GNOMON_OP_BACKWARD | GNOMON_OP_FLOPS_GIVEN,
                               .operation = "matmul",
                               .inputs = inputs,
                               .input_count = 3,
                               .attributes = attributes,
                               .attribute_count = 2,
                               .flops = UINT64_MAX,
                               .bytes = 1u << 30};
    return gnomon_add_op(b, &op);
}

/* The names that all ranks share, by number. */
typedef struct full_names {
    uint32_t step, function, kernel, copy, sample, tick, unusual, op, view;
    const char *host;
} full_names;

static void full_rank(gnomon_builder *b, const full_names *n, int32_t rank)
{
    gnomon_cell cells[8];
    const uint32_t size = sizeof(gnomon_clock_anchor);
    const gnomon_clock_anchor anchors[] = {
        {size, 0, 0, 1700000000000000001u, 35},
        {size, 0, UINT64_MAX, UINT64_MAX - (uint64_t)rank, UINT64_MAX}};
    const gnomon_run_info run_info = {.rank = rank,
                                      .local_rank = rank ? -1 : 0,
                                      .world_size = 2,
                                      .pid = 4711 + rank,
                                      .host = n->host,
                                      .dir = rank ? NULL : "",
                                      .spec = "simple(extended=false)",
                                      .clock = "test",
                                      .zero_unix_ns = 1700000000000000001u,
                                      .clock_error_ns = 35,
                                      .now_ns = (uint64_t)INT64_MAX + 7,
                                      .attempt = rank ? "1" : NULL,
                                      .job = "job-7",
                                      .uuid = rank ? "b" : "a",
                                      .anchors = anchors,
                                      .anchor_count = 2,
                                      .scope_cost_ns = 9.5};
    const uint32_t run = gnomon_add_run(b, &run_info);
    gnomon_metadata_info data = {
        .run = run, .key = "config", .json = "[1.5, \"\\u00e9\", null]"};
    gnomon_add_metadata(b, &data);
    gnomon_stage_info stage = {.ordinal = 2,
                               .name = "fit",
                               .begin_ns = 5,
                               .end_ns = 90000,
                               .ended = 1,
                               .run = run};
    const gnomon_stats steps = full_stats(&cells[0], 3, 20000, 60000);
    stage.steps = &steps;
    stage.count = 3;
    stage.recorded_ns = 80000;
    stage.late = UINT64_MAX;
    const uint32_t fit = gnomon_add_stage(b, &stage);
    const gnomon_step_info step = {.stage = fit,
                                   .number = UINT64_MAX,
                                   .begin_ns = 10,
                                   .end_ns = 20010,
                                   .phase = GNOMON_PHASE_WARMUP,
                                   .rank = 3,
                                   .ordinal = 2};
    const gnomon_stats one = full_stats(&cells[0], 1, 20000, 20000);
    const gnomon_step_time_info time = {.stage = fit,
                                        .view = n->view,
                                        .step = gnomon_add_step(b, &step),
                                        .region = n->step,
                                        .time = &one,
                                        .own_ns = 15000,
                                        .calls = 2};
    gnomon_add_step_time(b, &time);
    const gnomon_view_time_info recorded = {
        .stage = fit, .view = n->view, .recorded_ns = 70000};
    gnomon_add_view_time(b, &recorded);
    gnomon_track_info t = {.run = run,
                           .kind = GNOMON_TRACK_THREAD,
                           .name = "main",
                           .os_id = INT64_MAX,
                           .index = 0,
                           .thread_count = 3,
                           .alive = 1,
                           .device = -1};
    const uint32_t thread = gnomon_add_track(b, &t);
    t = (gnomon_track_info){.run = run,
                            .kind = GNOMON_TRACK_STREAM,
                            .name = "stream 7",
                            .index = 7,
                            .device = 1};
    const uint32_t stream = gnomon_add_track(b, &t);
    t = (gnomon_track_info){
        .run = run, .kind = GNOMON_TRACK_POOL, .name = "HBM", .device = 1};
    const uint32_t pool = gnomon_add_track(b, &t);

    const gnomon_bin bins[] = {{sizeof *bins, 2, 20000, 30000, 50000},
                               {sizeof *bins, 0, 0, 0, 0},
                               {sizeof *bins, UINT32_MAX, -0.5, 7, 1e300}};
    const gnomon_slow_step slow[] = {{sizeof *slow, 0, 1, 8, UINT64_MAX},
                                     {sizeof *slow, 0, 0, 7, 20000}};
    const gnomon_strip_info strip = {.stage = fit,
                                     .track = thread,
                                     .region = n->function,
                                     .width = 2,
                                     .bins = bins,
                                     .bin_count = 3,
                                     .slow = slow,
                                     .slow_count = 2};
    gnomon_add_strip(b, &strip);

    const gnomon_stats outer = full_stats(&cells[1], 3, 20000, 30000);
    const gnomon_stats inner = full_stats(&cells[2], 10, 3000, 30000);
    const gnomon_stats on_device = full_stats(&cells[3], 7, 40, 280);
    const gnomon_stats ranges = full_stats(&cells[4], 1, 31, 0);
    const gnomon_memory_stats memory = {.struct_size = sizeof memory,
                                        .pool = pool,
                                        .allocations = 3,
                                        .frees = 4,
                                        .allocated_bytes = 1000,
                                        .freed_bytes = 3000,
                                        .live_bytes = -2000,
                                        .peak_bytes = 600};
    const gnomon_work_stats work = {sizeof work, 0, UINT64_MAX - 1, 12345};
    gnomon_node_info node = {.track = thread,
                             .stage = fit,
                             .region = n->step,
                             .first = 2,
                             .host = &outer,
                             .memory = &memory,
                             .memory_count = 1,
                             .view = n->view};
    const uint32_t top = gnomon_add_node(b, &node);
    node = (gnomon_node_info){.track = thread,
                              .stage = fit,
                              .parent = top,
                              .region = n->function,
                              .op = n->op,
                              .first = 1,
                              .host = &inner,
                              .device = &on_device,
                              .work = &work,
                              .view = n->view};
    const uint32_t below = gnomon_add_node(b, &node);
    node = (gnomon_node_info){.track = thread,
                              .stage = fit,
                              .region = n->unusual,
                              .flags = GNOMON_NODE_RANGE,
                              .first = 3,
                              .host = &ranges,
                              .view = n->view};
    gnomon_add_node(b, &node);
    node = (gnomon_node_info){.track = stream,
                              .region = n->kernel,
                              .op = n->op,
                              .device = &on_device};
    const uint32_t kernel = gnomon_add_node(b, &node);
    node = (gnomon_node_info){
        .track = stream, .region = n->copy, .open = 1, .device = &on_device};
    const uint32_t copy = gnomon_add_node(b, &node);
    const gnomon_open_info open = {
        .track = stream, .node = copy, .begin_ns = 80000};
    gnomon_add_open(b, &open);
    gnomon_link_info link = {
        .from = below, .to = kernel, .kind = GNOMON_LINK_LAUNCH, .count = 7};
    gnomon_add_link(b, &link);
    link.count = 1;
    link.from_instance = UINT64_MAX;
    link.to_instance = 1;
    link.from_ns = 1010;
    link.to_ns = 1020;
    gnomon_add_link(b, &link);
    const gnomon_counter_info counter = {.track = thread,
                                         .region = n->sample,
                                         .stage = fit,
                                         .count = 2,
                                         .last = 0.1,
                                         .min = -1e-310,
                                         .max = 1.7976931348623157e308,
                                         .sum = 1.7976931348623157e308,
                                         .nans = 5};
    gnomon_add_counter(b, &counter);
    gnomon_loss_info loss = {.run = run,
                             .track = thread,
                             .kind = "lost_events",
                             .count = UINT64_MAX,
                             .begin_ns = 7,
                             .end_ns = 8};
    gnomon_add_loss(b, &loss);
    gnomon_event_info e = {.track = stream,
                           .node = kernel,
                           .begin_ns = 1000,
                           .duration_ns = 40,
                           .instance = UINT64_MAX};
    gnomon_add_event(b, &e);
    e = (gnomon_event_info){.kind = GNOMON_EVENT_COUNTER,
                            .track = thread,
                            .region = n->sample,
                            .begin_ns = 1000,
                            .value = 0.1};
    gnomon_add_event(b, &e);
    e = (gnomon_event_info){.kind = GNOMON_EVENT_MARK,
                            .track = thread,
                            .node = below,
                            .region = n->tick,
                            .begin_ns = 1001};
    gnomon_add_event(b, &e);
    e = (gnomon_event_info){.kind = GNOMON_EVENT_MEMORY,
                            .track = stream,
                            .region = pool,
                            .begin_ns = 2000,
                            .value = -4096};
    gnomon_add_event(b, &e);
}

/* `order`: the ranks to add, in this order; each below 10. `pad`: "", or a
 * text added before those of regions and of runs. */
static void full_add(gnomon_builder *b, const char *order, const char *pad)
{
    full_names n = {.host = *pad ? pad : "node\t1 \xc3\xa9"};
    const gnomon_view_info view = {.words = "filter=opt*"};
    if (*pad)
        full_region(b, GNOMON_KIND_SCOPE, pad);
    n.view = gnomon_add_view(b, &view);
    n.step = full_region(b, GNOMON_KIND_SCOPE, "train_step");
    n.function = full_region(b, GNOMON_KIND_FUNCTION, "forward");
    n.kernel = full_region(b, GNOMON_KIND_KERNEL, "void gemm<float>(int)");
    n.copy = full_region(b, GNOMON_KIND_COPY, "HtoD");
    n.sample = full_region(b, GNOMON_KIND_COUNTER, "loss");
    n.tick = full_region(b, GNOMON_KIND_MARK, "tick");
    n.unusual =
        full_region(b, GNOMON_KIND_RANGE, "a\"b\\c\n\t\x7f|\xe2\x82\xac");
    n.op = full_op(b);
    for (; *order; order++)
        full_rank(b, &n, *order - '0');
}

static gnomon_profile *full_finish(gnomon_builder *b)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

static inline gnomon_profile *full_of(const char *order)
{
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    full_add(b, order, "");
    return full_finish(b);
}

/* Profiles store what entities point to in blocks of 4 KiB and more, each
 * allocated by itself. Over pads from FULL_PAD_FROM to FULL_PAD_TO, by
 * FULL_PAD_STEP, each text, shape and block of a rank is once the first in
 * a new block. */
#define FULL_PAD_FROM 2600
#define FULL_PAD_TO 4096
#define FULL_PAD_STEP 8

/* Valid until the next call. */
static inline const char *full_pad(size_t length)
{
    static char pad[FULL_PAD_TO + 1];
    memset(pad, 'p', length);
    pad[length] = 0;
    return pad;
}

static inline gnomon_profile *full_padded(size_t length)
{
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    full_add(b, "1", full_pad(length));
    return full_finish(b);
}

#endif
