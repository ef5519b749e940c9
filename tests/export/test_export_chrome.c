/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Chrome export of a part of the time, of hostile names and random profiles, and with
 * errors of the writer. Every kind of row is in text/export_chrome.
 *
 * links: static
 * threads: none
 * needs: cli */
#include <math.h>

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

static uint32_t op_with(world *w, const char *name, uint64_t bytes,
                        const gnomon_attribute *attributes, size_t count)
{
    return gnomon_add_op(w->b, &(gnomon_op_info){.operation = name,
                                                 .attributes = attributes,
                                                 .attribute_count = count,
                                                 .bytes = bytes});
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

/* ---- Trouble ---------------------------------------------------------------------------- */

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
