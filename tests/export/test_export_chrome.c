/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Chrome export of profiles of known content: every kind of row, to the byte; what
 * links, overlaps and open scopes become; hostile names; and several runs.
 *
 * links: static
 * threads: none
 * needs: cli */
#include <math.h>

#include "device_profile.h"
#include "export/export.h"
#include "fake_profile.h"
#include "random_profile.h"
#include "test.h"

#if GNOMON_WITH_JANSSON
#include <jansson.h>
#endif

#define ZERO UINT64_C(1700000000000000000)

/* ---- Profiles -------------------------------------------------------------------- */

typedef struct world {
    gnomon_builder *b;
    uint32_t run, stage, thread, stream;
} world;

static world open_world(int32_t rank, int64_t pid)
{
    world w;
    CHECK_EQ(gnomon_builder_create(&w.b), GNOMON_OK);
    w.run = gnomon_add_run(w.b, &(gnomon_run_info){.rank = rank,
                                                   .local_rank = -1,
                                                   .world_size = 2,
                                                   .pid = pid,
                                                   .host = "node",
                                                   .clock = "test",
                                                   .zero_unix_ns = ZERO,
                                                   .now_ns = 100000});
    w.stage = gnomon_add_stage(
        w.b, &(gnomon_stage_info){
                 .ordinal = 1, .name = "fit", .end_ns = 90000, .run = w.run});
    w.thread = gnomon_add_track(
        w.b, &(gnomon_track_info){
                 .run = w.run, .name = "main", .os_id = pid, .device = -1});
    w.stream =
        gnomon_add_track(w.b, &(gnomon_track_info){.run = w.run,
                                                   .kind = GNOMON_TRACK_STREAM,
                                                   .name = "stream 7",
                                                   .index = 7,
                                                   .device = 0});
    return w;
}

static uint32_t region(world *w, uint32_t kind, const char *name)
{
    return gnomon_add_region(w->b,
                             &(gnomon_region_info){.kind = kind, .name = name});
}

static uint32_t node(world *w, uint32_t track, uint32_t of, uint32_t op)
{
    return gnomon_add_node(
        w->b, &(gnomon_node_info){
                  .track = track, .stage = w->stage, .region = of, .op = op});
}

static void execution(world *w, uint32_t track, uint32_t of, uint64_t begin,
                      uint64_t duration, uint64_t instance)
{
    gnomon_add_event(w->b, &(gnomon_event_info){.track = track,
                                                .node = of,
                                                .begin_ns = begin,
                                                .duration_ns = duration,
                                                .instance = instance});
}

static gnomon_profile *close_world(world *w)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_builder_finish(w->b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

/* The caller frees it. */
static char *chrome_of(const gnomon__export *what)
{
    fake_writer w;
    fake_open(&w);
    CHECK_EQ(gnomon__export_chrome.write(what, &w.base), GNOMON_OK);
    return w.text;
}

static char *chrome_of_one(const gnomon_profile *p)
{
    return chrome_of(&(gnomon__export){.profiles = &p, .count = 1});
}

static void has_row(const char *text, const char *row)
{
    if (!CHECK(strstr(text, row) != NULL))
        fprintf(stderr, "    no %s\n    in %s\n", row, text);
}

static void lacks(const char *text, const char *part)
{
    if (!CHECK(strstr(text, part) == NULL))
        fprintf(stderr, "    %s\n    in %s\n", part, text);
}

/* ---- Rows ------------------------------------------------------------------------- */

/* An operator that calls the runtime, which launches two kernels; they overlap. */
static gnomon_profile *launching(void)
{
    static const int64_t dims[] = {8, 16};
    const gnomon_tensor input = {sizeof input, 2, "float", dims, NULL};
    world w = open_world(1, 4711);
    uint32_t op = gnomon_add_op(w.b, &(gnomon_op_info){.operation = "mm",
                                                       .inputs = &input,
                                                       .input_count = 1,
                                                       .flops = 4096});
    uint32_t mm = node(&w, w.thread, region(&w, GNOMON_KIND_SCOPE, "mm"), op);
    uint32_t api =
        node(&w, w.thread, region(&w, GNOMON_KIND_API, "cudaLaunchKernel"), 0);
    uint32_t gemm =
        node(&w, w.stream, region(&w, GNOMON_KIND_KERNEL, "gemm"), 0);
    uint32_t fit = gnomon_add_node(
        w.b, &(gnomon_node_info){.track = w.thread,
                                 .stage = w.stage,
                                 .region = region(&w, GNOMON_KIND_SCOPE, "fit"),
                                 .open = 1});
    uint32_t loss = region(&w, GNOMON_KIND_COUNTER, "loss");
    uint32_t tick = region(&w, GNOMON_KIND_MARK, "tick");
    gnomon_add_open(w.b, &(gnomon_open_info){
                             .track = w.thread, .node = fit, .begin_ns = 20});
    gnomon_add_step(w.b, &(gnomon_step_info){.stage = w.stage,
                                             .number = 3,
                                             .begin_ns = 500,
                                             .end_ns = 9000,
                                             .phase = GNOMON_PHASE_RECORD,
                                             .rank = -1});
    gnomon_add_step(w.b, &(gnomon_step_info){.stage = w.stage,
                                             .number = 2,
                                             .begin_ns = 100,
                                             .end_ns = 500,
                                             .phase = GNOMON_PHASE_WARMUP,
                                             .rank = -1});
    execution(&w, w.thread, mm, 1000, 5000, 0);
    execution(&w, w.thread, api, 1100, 200, 77);
    execution(&w, w.stream, gemm, 2000, 3000, 78);
    execution(&w, w.stream, gemm, 4000, 3000, 79);
    gnomon_add_event(w.b, &(gnomon_event_info){.kind = GNOMON_EVENT_COUNTER,
                                               .track = w.thread,
                                               .region = loss,
                                               .begin_ns = 7000,
                                               .value = 0.5});
    gnomon_add_event(w.b, &(gnomon_event_info){.kind = GNOMON_EVENT_COUNTER,
                                               .track = w.thread,
                                               .region = loss,
                                               .begin_ns = 7001,
                                               .value = (double)NAN});
    gnomon_add_event(w.b, &(gnomon_event_info){.kind = GNOMON_EVENT_MARK,
                                               .track = w.thread,
                                               .region = tick,
                                               .begin_ns = 7002});
    for (uint64_t i = 78; i < 80; i++)
        gnomon_add_link(w.b, &(gnomon_link_info){.from = api,
                                                 .to = gemm,
                                                 .kind = GNOMON_LINK_LAUNCH,
                                                 .count = 1,
                                                 .from_instance = 77,
                                                 .to_instance = i});
    gnomon_add_loss(w.b, &(gnomon_loss_info){.run = w.run,
                                             .track = w.thread,
                                             .kind = "events_lost",
                                             .count = 5,
                                             .begin_ns = 8,
                                             .end_ns = 9});
    gnomon_add_metadata(w.b, &(gnomon_metadata_info){
                                 .run = w.run, .key = "model", .json = "8"});
    gnomon_add_metadata(w.b, &(gnomon_metadata_info){.run = w.run,
                                                     .key = "traceEvents",
                                                     .json = "[1]"});
    return close_world(&w);
}

/* From the base of Kineto's traces in that quarter of a year to ZERO, in us. */
#define AT(us) "\"ts\":3813830000" us

TEST(each_kind_of_row)
{
    gnomon_profile *p = launching();
    char *text = chrome_of_one(p);
    const char *const rows[] = {
        "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [],\n"
        "  \"rank\": 1,\n"
        "  \"distributedInfo\": {\"rank\": 1, \"world_size\": 2},\n"
        "  \"host_name\": \"node\",\n  \"model\": 8,\n"
        "  \"gnomonLosses\": [\n    {\"kind\": \"events_lost\", \"count\": 5, "
        "\"profile\": 1, \"run\": 1, \"track\": 1, \"begin_ns\": 8, "
        "\"end_ns\": 9}\n  ],\n"
        "  \"displayTimeUnit\": \"ms\",\n"
        "  \"baseTimeNanoseconds\": 1696186170000000000,\n"
        "  \"traceEvents\": [\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":4711,\"tid\":0," AT(
            "001.000") ",\"args\":{\"name\":\"rank 1 (node)\"}},\n",
        "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"tid\":0," AT(
            "001.000") ",\"args\":{\"labels\":\"GPU 0\"}}",
        "\"process_sort_index\",\"pid\":0,\"tid\":0," AT(
            "001.000") ",\"args\":{\"sort_index\":5000000}}",
        "\"pid\":4711,\"tid\":4711," AT(
            "001.000") ",\"args\":{\"name\":\"main\"}}",
        "\"pid\":0,\"tid\":7," AT(
            "001.000") ",\"args\":{\"name\":\"stream 7\"}}",
        "\"args\":{\"name\":\"stream 7 (overlap 1)\"}}",
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\","
        "\"pid\":4711,\"tid\":1," AT(
            "000.500") ",\"dur\":8.500,\"args\":{\"External id\":8}}",
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"fit\","
        "\"pid\":4711,\"tid\":4711," AT(
            "001.000") ",\"dur\":99.000,\"args\":{\"finished\": "
                       "false,\"External id\":10}}",
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"mm\",\"pid\":4711,"
        "\"tid\":4711," AT(
            "001.000") ",\"dur\":5.000,\"args\":{\"External id\":1,"
                       "\"Input Dims\":[[8, 16]],\"Input Strides\":[[]],"
                       "\"Input type\":[\"float\"],\"flops\":4096}}",
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\","
        "\"pid\":4711,\"tid\":4711," AT(
            "001.100") ",\"dur\":0.200,\"args\":{\"correlation\":1,"
                       "\"External id\":1}},\n"
                       "{\"ph\":\"s\",\"id\":1,\"cat\":\"ac2g\",\"name\":"
                       "\"ac2g\","
                       "\"pid\":4711,\"tid\":4711," AT("001.100") "},\n",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,"
        "\"tid\":7," AT(
            "002.000") ",\"dur\":3.000,\"args\":{\"correlation\":1,"
                       "\"External id\":1,\"device\":0,\"stream\":7}},\n"
                       "{\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"cat\":\"ac2g\","
                       "\"name\":\"ac2g\",\"pid\":0,\"tid\":7," AT(
                           "002.000") "}",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,"
        "\"tid\":1000002049," AT(
            "004.000") ",\"dur\":3.000,\"args\":{\"correlation\":1,"
                       "\"External id\":1,\"device\":0,\"stream\":7}}",
        "{\"ph\":\"C\",\"name\":\"loss\",\"pid\":4711,\"tid\":4711," AT(
            "007.000") ",\"args\":{\"value\":0.5}}",
        "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\","
        "\"name\":\"tick\",\"pid\":4711,\"tid\":4711," AT(
            "007.002") ",\"args\":{}}",
        "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\","
        "\"name\":\"loss\",\"pid\":4711,\"tid\":4711," AT(
            "007.001") ",\"args\":{\"value\":\"NaN\"}}"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        has_row(text, rows[i]);
    lacks(text, "ProfilerStep#2"); /* was not recorded */
    lacks(text, "[1]");            /* metadata with a name of the file's own */
    free(text);
    gnomon_profile_free(p);
}

/* Its plugin knows calls as Runtime, and labels only as operators. */
TEST(for_tensorboard)
{
    gnomon_profile *p = launching();
    const gnomon_profile *one = p;
    char *text = chrome_of(&(gnomon__export){
        .profiles = &one, .count = 1, .for_tensorboard = 1, .name = "x\"y"});
    has_row(text, "\"cat\":\"Runtime\",\"name\":\"cudaLaunchKernel\"");
    has_row(text, "\"cat\":\"cpu_op\",\"name\":\"fit\"");
    has_row(text, "\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\"");
    has_row(text, ",\n  \"traceName\": \"x\\\"y\"\n}\n");
    free(text);
    gnomon_profile_free(p);
}

/* A label whose category is given is one for the plugin too, but for loading data. */
TEST(for_tensorboard_as_given)
{
    static const char *const names[] = {"given", "enumerate(DataLoader)#a.b"};
    world w = open_world(0, 4711);
    for (uint64_t i = 0; i < 2; i++) {
        gnomon_region_info r = {.name = names[i],
                                .category = "user_annotation"};
        execution(&w, w.thread,
                  node(&w, w.thread, gnomon_add_region(w.b, &r), 0),
                  1000 + 10 * i, 5, 0);
    }
    gnomon_profile *p = close_world(&w);
    const gnomon_profile *one = p;
    char *text = chrome_of(
        &(gnomon__export){.profiles = &one, .count = 1, .for_tensorboard = 1});
    has_row(text, "\"cat\":\"user_annotation\",\"name\":\"given\"");
    has_row(text, "\"cat\":\"cpu_op\",\"name\":\"enumerate(DataLoader)#a.b\"");
    free(text);
    gnomon_profile_free(p);
}

static uint32_t op_with(world *w, const char *name, uint64_t bytes,
                        const gnomon_attribute *attributes, size_t count)
{
    return gnomon_add_op(w->b, &(gnomon_op_info){.operation = name,
                                                 .attributes = attributes,
                                                 .attribute_count = count,
                                                 .bytes = bytes});
}

/* Work of a device has the id of the innermost label around its call, even where its
 * track comes before the thread's. Its op says how it was launched, and no key comes
 * twice. */
TEST(work_of_devices)
{
    static const gnomon_attribute grid[] = {
        {sizeof *grid, 0, "grid", "[66, 1, 1]"},
        {sizeof *grid, 0, "stream", "99"},
        {sizeof *grid, 0, "grid", "1"}};
    world w = open_world(0, 4711);
    uint32_t outer =
        node(&w, w.thread, region(&w, GNOMON_KIND_SCOPE, "outer"), 0);
    uint32_t label =
        node(&w, w.thread, region(&w, GNOMON_KIND_SCOPE, "forward"), 0);
    uint32_t api =
        node(&w, w.thread, region(&w, GNOMON_KIND_API, "cudaMemcpyAsync"), 0);
    uint32_t copy = node(&w, w.stream, region(&w, GNOMON_KIND_COPY, "Memcpy"),
                         op_with(&w, "Memcpy", 4096, grid, 3));
    uint32_t on_device =
        node(&w, w.stream, region(&w, GNOMON_KIND_SCOPE, "forward"), 0);
    execution(&w, w.stream, on_device, 1000, 6000, 0);
    execution(&w, w.stream, copy, 2000, 1000, 78);
    execution(&w, w.thread, outer, 1000, 1000, 0);
    for (uint64_t i = 0; i < 20; i++)
        execution(&w, w.thread, label, 1000 + i, 500 - i, 0);
    execution(&w, w.thread, api, 1100, 200, 77);
    execution(&w, w.thread, api, 1600, 200, 79);
    gnomon_add_link(w.b, &(gnomon_link_info){.from = api,
                                             .to = copy,
                                             .kind = GNOMON_LINK_LAUNCH,
                                             .count = 1,
                                             .from_instance = 77,
                                             .to_instance = 78});
    gnomon_profile *p = close_world(&w);
    char *text = chrome_of_one(p);
    has_row(text, "\"args\":{\"correlation\":1,\"External id\":23}},\n"
                  "{\"ph\":\"s\"");
    has_row(text, AT("001.600") ",\"dur\":0.200,\"args\":{"
                                "\"External id\":3}}");
    has_row(text,
            "\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy\",\"pid\":0,"
            "\"tid\":7," AT("002.000") ",\"dur\":1.000,\"args\":{"
                                       "\"correlation\":1,\"External id\":23,"
                                       "\"memory bandwidth (GB/s)\":4.096,"
                                       "\"device\":0,\"stream\":7,"
                                       "\"grid\":[66, 1, 1],\"bytes\":4096}}");
    has_row(text,
            "\"cat\":\"gpu_user_annotation\",\"name\":\"forward\","
            "\"pid\":0,\"tid\":7," AT("001.000") ",\"dur\":6.000,\"args\":{}}");
    free(text);
    gnomon_profile_free(p);
}

/* Rows of a trace that differ in place and time. */
static void has_in_order(const char *text, const char *const *rows)
{
    const char *at = text;
    for (; *rows && at; rows++) {
        at = strstr(at, *rows);
        if (!CHECK(at != NULL))
            fprintf(stderr, "    not in its place: %s\n    in %s\n", *rows,
                    text);
    }
}

static size_t times_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* What a thread called is in its row, inside the scopes that called it; and each label
 * is on the streams to which it brought work, from the first to the last of it. */
TEST(calls_and_labels)
{
    static const char *const in_order[] = {
        "\"name\":\"forward\",\"pid\":4711,\"tid\":4711,",
        "\"cat\":\"cuda_runtime\",\"name\":\"cudaMemcpyAsync\",\"pid\":4711,"
        "\"tid\":4711,",
        "\"name\":\"cudaLaunchKernel\",\"pid\":4711,\"tid\":4711,",
        "\"name\":\"backward\",\"pid\":4711,\"tid\":4711,",
        "\"name\":\"cudaLaunchKernel\",\"pid\":4711,\"tid\":4711,",
        "\"cat\":\"gpu_user_annotation\",\"name\":\"train_step\",\"pid\":0,"
        "\"tid\":7,\"ts\":7747974000018.000,\"dur\":282.000,\"args\":{"
        "\"External id\":1}}",
        "\"cat\":\"gpu_user_annotation\",\"name\":\"forward\",\"pid\":0,"
        "\"tid\":7,\"ts\":7747974000018.000,\"dur\":122.000,\"args\":{"
        "\"External id\":2}}",
        "\"cat\":\"gpu_memcpy\"",
        "\"cat\":\"gpu_user_annotation\",\"name\":\"backward\",\"pid\":0,"
        "\"tid\":7,\"ts\":7747974000200.000,\"dur\":100.000,\"args\":{"
        "\"External id\":3}}",
        "\"cat\":\"gpu_user_annotation\",\"name\":\"train_step\",\"pid\":0,"
        "\"tid\":13,",
        NULL};
    gnomon_profile *p = work_profile(-1, 1);
    char *text = chrome_of_one(p);
    has_in_order(text, in_order);
    CHECK_EQ(times_of(text, "gpu_user_annotation"), 10);
    lacks(text, "calls of main");
    free(text);
    gnomon_profile_free(p);
}

/* Where no calls were recorded the arrow comes from the scope that launched the work, one
 * for all that it launched; so it is on the work's stream. */
TEST(work_that_a_scope_launched)
{
    static const char *const in_order[] = {
        "\"name\":\"forward\",\"pid\":4711,\"tid\":4711," AT(
            "001.000") ",\"dur\":0.500,\"args\":{\"External id\":1}},\n"
                       "{\"ph\":\"s\",\"id\":1,\"cat\":\"ac2g\",\"name\":"
                       "\"ac2g\",\"pid\":4711,\"tid\":4711," AT("001.000") "},",
        "\"cat\":\"gpu_user_annotation\",\"name\":\"forward\",\"pid\":0,"
        "\"tid\":7," AT("001.200") ",\"dur\":0.800,",
        "\"name\":\"gemm\",\"pid\":0,\"tid\":7," AT(
            "001.200") ",\"dur\":0.100,\"args\":{\"correlation\":1,"
                       "\"External id\":1,\"device\":0,\"stream\":7}},\n"
                       "{\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"cat\":\"ac2g\"",
        "\"name\":\"gemm\",\"pid\":0,\"tid\":7," AT("001.900"),
        "{\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"cat\":\"ac2g\"",
        NULL};
    world w = open_world(0, 4711);
    uint32_t label =
        node(&w, w.thread, region(&w, GNOMON_KIND_SCOPE, "forward"), 0);
    uint32_t gemm =
        node(&w, w.stream, region(&w, GNOMON_KIND_KERNEL, "gemm"), 0);
    execution(&w, w.thread, label, 1000, 500, 77);
    execution(&w, w.stream, gemm, 1200, 100, 78);
    execution(&w, w.stream, gemm, 1900, 100, 79);
    for (uint64_t i = 78; i < 80; i++)
        gnomon_add_link(w.b, &(gnomon_link_info){.from = label,
                                                 .to = gemm,
                                                 .kind = GNOMON_LINK_LAUNCH,
                                                 .count = 1,
                                                 .from_instance = 77,
                                                 .to_instance = i});
    gnomon_profile *p = close_world(&w);
    char *text = chrome_of_one(p);
    has_in_order(text, in_order);
    CHECK_EQ(times_of(text, "\"ph\":\"s\""), 1);
    free(text);
    gnomon_profile_free(p);
}

/* A scope that events timed is no label of work: others' labels are there beside it. On its
 * own stream it stands for its label. And a whole graph is work, in a row of its device. */
TEST(timed_scopes_and_graphs)
{
    world w = open_world(0, 4711);
    uint32_t forward = region(&w, GNOMON_KIND_SCOPE, "forward");
    uint32_t label = node(&w, w.thread, forward, 0);
    uint32_t graphs = gnomon_add_track(
        w.b, &(gnomon_track_info){
                 .run = w.run, .kind = GNOMON_TRACK_LANE, .name = "graphs"});
    uint32_t graph =
        node(&w, graphs,
             gnomon_add_region(w.b, &(gnomon_region_info){.name = "Graph",
                                                          .category = "graph"}),
             0);
    uint32_t timed =
        gnomon_add_node(w.b, &(gnomon_node_info){.track = w.stream,
                                                 .stage = w.stage,
                                                 .region = forward,
                                                 .flags = GNOMON_NODE_PART});
    uint32_t gemm = gnomon_add_node(
        w.b,
        &(gnomon_node_info){.track = w.stream,
                            .stage = w.stage,
                            .parent = timed,
                            .region = region(&w, GNOMON_KIND_KERNEL, "gemm")});
    execution(&w, w.thread, label, 1000, 500, 77);
    execution(&w, w.stream, timed, 1100, 900, 0);
    execution(&w, w.stream, gemm, 1300, 100, 79);
    execution(&w, graphs, graph, 1200, 100, 78);
    for (uint64_t work = 78; work <= 79; work++)
        gnomon_add_link(w.b,
                        &(gnomon_link_info){.from = label,
                                            .to = work == 78 ? graph : gemm,
                                            .kind = GNOMON_LINK_LAUNCH,
                                            .count = 1,
                                            .from_instance = 77,
                                            .to_instance = work});
    gnomon_profile *p = close_world(&w);
    char *text = chrome_of_one(p);
    CHECK_EQ(times_of(text, "\"cat\":\"gpu_user_annotation\""), 2);
    has_row(text, "\"cat\":\"kernel\",\"name\":\"Graph\",\"pid\":0,");
    has_row(text, AT("001.200") ",\"dur\":0.100,\"args\":{\"External id\":1}}");
    free(text);
    gnomon_profile_free(p);
}

/* How much of the device a kernel's grid takes, where its size is known. */
TEST(share_of_a_device)
{
    static const gnomon_attribute form[] = {
        {sizeof *form, 0, "grid", "[66, 2, 1]"},
        {sizeof *form, 0, "block", "[128, 1, 1]"}};
    world w = open_world(0, 4711);
    uint32_t gemm = node(&w, w.stream, region(&w, GNOMON_KIND_KERNEL, "gemm"),
                         op_with(&w, "gemm", 0, form, 2));
    execution(&w, w.stream, gemm, 1000, 1000, 0);
    gnomon_add_metadata(
        w.b, &(gnomon_metadata_info){.run = w.run,
                                     .key = "gnomon.cuda.0.processors",
                                     .json = "132"});
    gnomon_profile *p = close_world(&w);
    char *text = chrome_of_one(p);
    has_row(text, "\"blocks per SM\":1,\"warps per SM\":4}}");
    free(text);
    gnomon_profile_free(p);
}

/* Args as long as the exporter's buffer. */
TEST(long_args)
{
    static char json[70000];
    memset(json, '1', sizeof json - 1);
    const gnomon_attribute a = {sizeof a, 0, "digits", json};
    world w = open_world(0, 4711);
    execution(&w, w.thread,
              node(&w, w.thread, region(&w, GNOMON_KIND_PYTHON, "f"),
                   op_with(&w, "f", 0, &a, 1)),
              1000, 10, 0);
    gnomon_profile *p = close_world(&w);
    char *text = chrome_of_one(p);
    has_row(text, "\"args\":{\"digits\":111");
    free(text);
    gnomon_profile_free(p);
}

static void allocation(world *w, uint32_t track, uint32_t pool, uint64_t begin,
                       double bytes)
{
    gnomon_add_event(w->b, &(gnomon_event_info){.kind = GNOMON_EVENT_MEMORY,
                                                .track = track,
                                                .region = pool,
                                                .begin_ns = begin,
                                                .instance = 64,
                                                .value = bytes});
}

#define MEMORY(type, device, bytes, total) \
    "\"args\":{\"Device Type\":" type ",\"Device Id\":" device \
    ",\"Bytes\":" bytes ",\"Addr\":64,\"Total Allocated\":" total \
    ",\"Total Reserved\":0}}"

/* What a pool has allocated, by what all threads did before; each pool by itself. */
TEST(memory_of_pools)
{
    world w = open_world(0, 4711);
    const gnomon_track_info pool = {
        .run = w.run, .kind = GNOMON_TRACK_POOL, .name = "", .device = -1};
    gnomon_track_info on_device = pool, thread = pool;
    on_device.device = 1;
    thread.kind = GNOMON_TRACK_THREAD;
    thread.os_id = 4712;
    uint32_t host = gnomon_add_track(w.b, &pool);
    uint32_t device = gnomon_add_track(w.b, &on_device);
    uint32_t other = gnomon_add_track(w.b, &thread);
    allocation(&w, w.thread, host, 1000, 100);
    allocation(&w, w.thread, host, 4000, -100);
    allocation(&w, w.thread, host, 5000, (double)NAN);
    allocation(&w, other, device, 500, 8);
    allocation(&w, other, host, 2000, 30);
    gnomon_profile *p = close_world(&w);
    char *text = chrome_of_one(p);
    has_row(text, "\"name\":\"[memory]\",\"pid\":4711,\"tid\":4712," AT(
                      "000.500") "," MEMORY("1", "1", "8", "8"));
    has_row(text, AT("001.000") "," MEMORY("0", "-1", "100", "100"));
    has_row(text, AT("002.000") "," MEMORY("0", "-1", "30", "130"));
    has_row(text, AT("004.000") "," MEMORY("0", "-1", "-100", "30"));
    free(text);
    gnomon_profile_free(p);
}

/* A part has what begins in its time; a scope that is open ends with it. */
TEST(a_part_of_the_time)
{
    gnomon_profile *p = launching();
    const gnomon_profile *one = p;
    char *text = chrome_of(&(gnomon__export){.profiles = &one,
                                             .count = 1,
                                             .from_unix_ns = ZERO + 2000,
                                             .until_unix_ns = ZERO + 4000});
    lacks(text, "\"name\":\"mm\"");
    lacks(text, AT("004.000") ",\"dur\"");
    has_row(text, AT("002.000") ",\"dur\":3.000");
    has_row(text, "\"name\":\"fit\",\"pid\":4711,\"tid\":4711," AT(
                      "002.000") ",\"dur\":2.000");
    free(text);
    gnomon_profile_free(p);
}

/* ---- Several runs ------------------------------------------------------------------- */

/* The same process and thread, seen twice, are two; no id of a flow is there twice. */
TEST(profiles_are_kept_apart)
{
    gnomon_profile *a = launching(), *b = launching();
    const gnomon_profile *both[] = {a, b};
    char *text = chrome_of(&(gnomon__export){.profiles = both, .count = 2});
    has_row(text, "\"pid\":100000002,\"tid\":4711,");
    has_row(text, "{\"ph\":\"s\",\"id\":2,");
    lacks(text, "{\"ph\":\"s\",\"id\":3,");
    has_row(text,
            /* after seven events, two steps and an open scope */
            "\"External id\":11,");
    has_row(text, "\"profile\": 2, \"run\": 1");
    lacks(text, "\"distributedInfo\"");
    free(text);
    gnomon_profile_free(a);
    gnomon_profile_free(b);
}

/* Process 1 of a container is not its device 1. */
TEST(a_process_is_no_device)
{
    /* and thread 1 of a container is not that of the steps */
    world w = open_world(0, 1);
    execution(&w, w.thread,
              node(&w, w.thread, region(&w, GNOMON_KIND_SCOPE, "a"), 0), 1, 1,
              0);
    gnomon_profile *p = close_world(&w);
    char *text = chrome_of_one(p);
    has_row(text, "\"name\":\"a\",\"pid\":100000001,\"tid\":1000002046,");
    free(text);
    gnomon_profile_free(p);
}

/* ---- Trouble ---------------------------------------------------------------------------- */

TEST(nothing_is_a_whole_file)
{
    gnomon_builder *b;
    gnomon_profile *p;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    char *text = chrome_of_one(p);
    has_row(text, "\"traceEvents\": []\n}\n");
    free(text);
    gnomon_profile_free(p);
}

TEST(an_error_of_the_writer_comes_back)
{
    gnomon_profile *p = launching();
    const gnomon_profile *one = p;
    fake_writer w;
    fake_open(&w);
    w.limit = 100;
    CHECK_EQ(gnomon__export_chrome.write(
                 &(gnomon__export){.profiles = &one, .count = 1}, &w.base),
             GNOMON_EIO);
    free(w.text);
    gnomon_profile_free(p);
}

#if GNOMON_WITH_JANSSON
/* Bytes of any kind but NUL: viewers' parsers are strict. */
static void random_name(char *name, size_t size)
{
    size_t n = random_below((uint32_t)size);
    for (size_t i = 0; i < n; i++)
        name[i] = random_below(4) ? (char)(1 + random_below(255))
                                  : "\"\\/\n\xe2\xf0\xed\xc0"[random_below(8)];
    name[n] = 0;
}

static size_t rows_of(const char *text)
{
    json_error_t e;
    json_t *file = json_loads(text, JSON_REJECT_DUPLICATES, &e);
    if (!CHECK(file != NULL)) {
        fprintf(stderr, "    line %d: %s\n", e.line, e.text);
        return 0;
    }
    size_t i, n = 0;
    json_t *row;
    json_array_foreach(json_object_get(file, "traceEvents"), i, row)
    {
        CHECK(json_is_string(json_object_get(row, "name")));
        CHECK(json_is_object(json_object_get(row, "args")) ||
              strchr("sf", *json_string_value(json_object_get(row, "ph"))));
        CHECK(json_is_integer(json_object_get(row, "pid")));
        n += *json_string_value(json_object_get(row, "ph")) == 'X';
    }
    json_decref(file);
    return n;
}

TEST(strict_parsers_read_any_name)
{
    char name[64];
    for (int i = 0; i < 300; i++) {
        world w = open_world(0, 4711);
        for (uint64_t k = 0; k < 5; k++) {
            random_name(name, sizeof name);
            uint32_t of =
                node(&w, w.thread, region(&w, GNOMON_KIND_SCOPE, name), 0);
            execution(&w, w.thread, of, 10 * k, 5, 0);
        }
        random_name(name, sizeof name);
        gnomon_add_track(w.b, &(gnomon_track_info){
                                  .run = w.run, .name = name, .device = -1});
        gnomon_add_loss(
            w.b, &(gnomon_loss_info){.run = w.run, .kind = name, .count = 1});
        gnomon_profile *p = close_world(&w);
        char *text = chrome_of_one(p);
        CHECK_EQ(rows_of(text), 5);
        free(text);
        gnomon_profile_free(p);
    }
}

/* Of random times, rows of a thread nest: viewers drop those that do not. */
TEST(rows_of_a_lane_nest)
{
    for (int i = 0; i < 100; i++) {
        world w = open_world(0, 4711);
        uint32_t of = node(&w, w.thread, region(&w, GNOMON_KIND_SCOPE, "a"), 0);
        uint64_t begin = 1;
        for (int k = 0; k < 30; k++) {
            begin += random_below(6);
            execution(&w, w.thread, of, begin, random_below(20), 0);
        }
        gnomon_profile *p = close_world(&w);
        char *text = chrome_of_one(p);
        CHECK_EQ(rows_of(text), 30);
        json_t *file = json_loads(text, 0, NULL), *a, *b;
        json_t *rows = json_object_get(file, "traceEvents");
        size_t m, n;
        json_array_foreach(rows, m, a) json_array_foreach(rows, n, b)
        {
            if (m == n ||
                json_integer_value(json_object_get(a, "tid")) !=
                    json_integer_value(json_object_get(b, "tid")) ||
                !json_object_get(a, "dur") || !json_object_get(b, "dur"))
                continue;
            double at = json_number_value(json_object_get(a, "ts"));
            double until = at + json_number_value(json_object_get(a, "dur"));
            double from = json_number_value(json_object_get(b, "ts"));
            double to = from + json_number_value(json_object_get(b, "dur"));
            CHECK(to <= at + 0.0006 || from >= until - 0.0006 ||
                  (from >= at - 0.0006 && to <= until + 0.0006) ||
                  (at >= from - 0.0006 && until <= to + 0.0006));
        }
        json_decref(file);
        free(text);
        gnomon_profile_free(p);
    }
}
#endif
