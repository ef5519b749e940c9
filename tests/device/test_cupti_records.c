/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * Records of CUPTI 11.8, 12.x and 13.0, read as work: each field, each name, what is
 * past the end of an older record, and records without a begin or an end. */
#include <limits.h>
#include <stdlib.h>

#include "device/cupti_records.h"
#include "fake_cupti/layouts.h"
#include "test.h"

static const uint32_t versions[] = {18, 20, 21,     22,     23,     24,
                                    26, 28, 130000, 130100, 130300, 130500};
#define EACH_VERSION(v) \
    for (const uint32_t *v = versions; \
         v < versions + sizeof versions / sizeof *versions; v++)

static uint64_t later(uint64_t moment)
{
    return moment + 1;
}

static const char *in_capitals(const char *name)
{
    return strcmp(name, "kernel") == 0 ? "KERNEL" : name;
}

static const char *number_of(int is_driver, uint32_t call)
{
    static char text[32];
    snprintf(text, sizeof text, "%s%u", is_driver ? "cu" : "cuda", call);
    return text;
}

static gnomon__cupti_reader reader_of(uint32_t version)
{
    gnomon__cupti_reader r = {.version = version,
                              .has_system_threads = 1,
                              .time = later,
                              .kernel_name = in_capitals,
                              .call_name = number_of};
    return r;
}

static char text[GNOMON__CUPTI_TEXT];

/* Read from memory that ends where the record of the version ends: ASan sees what is
 * read past it. */
static enum gnomon__cupti_reading
read_of(gnomon__cupti_reader *r, const void *record, gnomon_device_work *out)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    size_t size = fake_size(kind, r->version);
    uint32_t known = fake_size(kind, 130000); /* as the struct has it */
    void *exact = calloc(1, size);
    memcpy(exact, record, size < known ? size : known);
    enum gnomon__cupti_reading is = gnomon__cupti_read(r, exact, out, text);
    CHECK_EQ(gnomon__cupti_kind_of(exact), kind);
    free(exact);
    return is;
}

static const fake_kernel a_kernel = {.kind = FAKE_KERNEL,
                                     .registers = 255,
                                     .start = 1000,
                                     .end = 3000,
                                     .completed = 9,
                                     .device = 1,
                                     .context = 2,
                                     .stream = 7,
                                     .grid = {11, 12, 13},
                                     .block = {14, 15, 16},
                                     .shared_static = 17,
                                     .shared_dynamic = 18,
                                     .correlation = 19,
                                     .name = "kernel",
                                     .graph_node = 1ull << 33,
                                     .graph = 21};

TEST(kernels_of_each_version)
{
    EACH_VERSION(v)
    {
        gnomon__cupti_reader r = reader_of(*v);
        gnomon_device_work a;
        CHECK_EQ(read_of(&r, &a_kernel, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.struct_size, sizeof a);
        CHECK_EQ(a.kind, GNOMON_DEVICE_KERNEL);
        CHECK_EQ(a.begin_ns, 1001);
        CHECK_EQ(a.end_ns, 3001);
        CHECK_EQ(a.device, 1);
        CHECK_EQ(a.context, 2);
        CHECK_EQ(a.stream, 7);
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(a.grid[i], 11 + i);
            CHECK_EQ(a.block[i], 14 + i);
        }
        CHECK_EQ(a.registers, 255);
        CHECK_EQ(a.shared_static, 17);
        CHECK_EQ(a.shared_dynamic, 18);
        CHECK_EQ(a.correlation, 19);
        CHECK_STR(a.name, "KERNEL");
        CHECK_EQ(a.graph_node, 1ull << 33);
        CHECK_EQ(a.graph, 21);
        CHECK_EQ(a.thread, 0);
        CHECK_EQ(a.bytes, 0);
    }
}

TEST(copies_and_sets_of_each_version)
{
    const fake_copy copy = {.kind = FAKE_MEMCPY,
                            .direction = 1,
                            .from = 1,
                            .to = 3,
                            .bytes = 1ull << 40,
                            .start = 5,
                            .end = 6,
                            .device = 1,
                            .context = 2,
                            .stream = 3,
                            .correlation = 4,
                            .runtime = 99,
                            .graph_node = 7,
                            .graph = 8,
                            .count = 77};
    const fake_peer_copy peer = {.kind = FAKE_MEMCPY2,
                                 .direction = 10,
                                 .from = 3,
                                 .to = 3,
                                 .bytes = 100,
                                 .start = 5,
                                 .end = 6,
                                 .device = 1,
                                 .context = 2,
                                 .stream = 3,
                                 .from_device = 91,
                                 .to_context = 92,
                                 .correlation = 4,
                                 .graph_node = 7,
                                 .graph = 8};
    const fake_set set = {.kind = FAKE_MEMSET,
                          .value = 9,
                          .bytes = 64,
                          .start = 5,
                          .end = 6,
                          .device = 1,
                          .context = 2,
                          .stream = 3,
                          .correlation = 4,
                          .memory = 3,
                          .graph_node = 7,
                          .graph = 8};
    const struct {
        const void *record;
        uint32_t kind;
        uint64_t bytes;
        const char *name;
    } cases[] = {
        {&copy, GNOMON_DEVICE_COPY, 1ull << 40,
         "Memcpy HtoD (Pageable -> Device)"},
        {&peer, GNOMON_DEVICE_COPY, 100, "Memcpy PtoP (Device -> Device)"},
        {&set, GNOMON_DEVICE_SET, 64, "Memset (Device)"}};
    EACH_VERSION(v)
    {
        for (size_t i = 0; i < 3; i++) {
            gnomon__cupti_reader r = reader_of(*v);
            gnomon_device_work a;
            CHECK_EQ(read_of(&r, cases[i].record, &a), GNOMON__CUPTI_READ);
            CHECK_EQ(a.kind, cases[i].kind);
            CHECK_EQ(a.bytes, cases[i].bytes);
            CHECK_STR(a.name, cases[i].name);
            CHECK_EQ(a.begin_ns, 6);
            CHECK_EQ(a.end_ns, 7);
            CHECK_EQ(a.device, 1);
            CHECK_EQ(a.context, 2);
            CHECK_EQ(a.stream, 3);
            CHECK_EQ(a.correlation, 4);
            CHECK_EQ(a.graph_node, 7);
            CHECK_EQ(a.graph, 8);
        }
    }
}

static void copy_is(uint8_t direction, uint8_t from, uint8_t to,
                    const char *name)
{
    gnomon__cupti_reader r = reader_of(130000);
    gnomon_device_work a;
    fake_copy c = {.kind = FAKE_MEMCPY, .start = 1, .end = 1};
    c.direction = direction;
    c.from = from;
    c.to = to;
    CHECK_EQ(read_of(&r, &c, &a), GNOMON__CUPTI_READ);
    CHECK_STR(a.name, name);
}

TEST(names_of_copies_and_sets)
{
    gnomon__cupti_reader r = reader_of(130000);
    gnomon_device_work a;
    fake_set set = {.kind = FAKE_MEMSET, .start = 1, .end = 1, .memory = 6};
    copy_is(2, 3, 2, "Memcpy DtoH (Device -> Pinned)");
    copy_is(8, 3, 3, "Memcpy DtoD (Device -> Device)");
    copy_is(9, 1, 2, "Memcpy HtoH (Pageable -> Pinned)");
    copy_is(3, 1, 4, "Memcpy HtoA (Pageable -> Array)");
    copy_is(0, 0, 5, "Memcpy Unknown (Unknown -> Managed)");
    copy_is(200, 255, 7, "Memcpy Unknown (Unrecognized -> Managed Static)");
    CHECK_EQ(read_of(&r, &set, &a), GNOMON__CUPTI_READ);
    CHECK_STR(a.name, "Memset (Device Static)");
}

TEST(calls)
{
    EACH_VERSION(v)
    {
        gnomon__cupti_reader r = reader_of(*v);
        gnomon_device_work a;
        fake_call call = {.kind = FAKE_RUNTIME,
                          .call = 211,
                          .start = 10,
                          .end = 12,
                          .process = 5,
                          .thread = 4000000000u,
                          .correlation = 7,
                          .result = 2};
        CHECK_EQ(read_of(&r, &call, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.kind, GNOMON_DEVICE_CALL);
        CHECK_EQ(a.flags, 0);
        CHECK_EQ(a.device, -1);
        CHECK_EQ(a.call, 211);
        CHECK_EQ(a.result, 2);
        CHECK_EQ(a.thread, 4000000000ll);
        CHECK_EQ(a.correlation, 7);
        CHECK_EQ(a.begin_ns, 11);
        CHECK_STR(a.name, "cuda211");
        call.kind = FAKE_DRIVER;
        r.has_system_threads = 0; /* a pthread's handle, cut off */
        CHECK_EQ(read_of(&r, &call, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.flags, GNOMON_DEVICE_LOW_LEVEL);
        CHECK_EQ(a.thread, 0);
        CHECK_STR(a.name, "cu211");
    }
}

/* A wait tells its context; the device is that of other work there. */
TEST(waits)
{
    static const char *const names[] = {
        "Sync",        "Event Sync",   "Stream Wait Event",
        "Stream Sync", "Context Sync", "Sync"};
    EACH_VERSION(v)
    {
        gnomon__cupti_reader r = reader_of(*v);
        gnomon_device_work a;
        fake_wait wait = {.kind = FAKE_SYNC,
                          .start = 10,
                          .end = 12,
                          .correlation = 3,
                          .context = 2,
                          .stream = UINT32_MAX,
                          .event = 6};
        for (uint32_t i = 0; i < 6; i++) {
            wait.type = i;
            CHECK_EQ(read_of(&r, &wait, &a), GNOMON__CUPTI_READ);
            CHECK_STR(a.name, names[i]);
        }
        CHECK_EQ(a.kind, GNOMON_DEVICE_SYNC);
        CHECK_EQ(a.device, -1);
        CHECK_EQ(a.stream, UINT32_MAX);
        CHECK_EQ(a.context, 2);
        CHECK_EQ(a.correlation, 3);
        CHECK_EQ(read_of(&r, &a_kernel, &a), GNOMON__CUPTI_READ);
        wait.stream = 7;
        CHECK_EQ(read_of(&r, &wait, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.device, 1);
        CHECK_EQ(a.stream, 7);
        wait.context = 2 + GNOMON__CUPTI_CONTEXTS; /* another one */
        CHECK_EQ(read_of(&r, &wait, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.device, -1);
    }
}

TEST(overheads)
{
    static const struct {
        uint32_t what;
        const char *name;
    } names[] = {{0, "Overhead"},
                 {1, "Driver Compiler"},
                 {1 << 16, "Buffer Flush"},
                 {2 << 16, "Instrumentation"},
                 {3 << 16, "Resource"},
                 {4 << 16, "Runtime Triggered Module Loading"},
                 {5 << 16, "Lazy Function Loading"},
                 {6 << 16, "Command Buffer Full"},
                 {7 << 16, "Activity Buffer Request"},
                 {8 << 16, "UVM Activity Init"},
                 {9 << 16, "Overhead"},
                 {2, "Overhead"}};
    EACH_VERSION(v)
    {
        gnomon__cupti_reader r = reader_of(*v);
        gnomon_device_work a;
        fake_overhead o = {.kind = FAKE_OVERHEAD,
                           .of = 2,
                           .id = {10, 11, 12},
                           .start = 1,
                           .end = 2,
                           .correlation = 77};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            o.what = names[i].what;
            CHECK_EQ(read_of(&r, &o, &a), GNOMON__CUPTI_READ);
            CHECK_STR(a.name, names[i].name);
        }
        CHECK_EQ(a.kind, GNOMON_DEVICE_OVERHEAD);
        CHECK_EQ(a.thread, 11);
        CHECK_EQ(a.device, -1);
        CHECK_EQ(a.correlation, *v >= 21 ? 77 : 0);
        o.of = 5;
        CHECK_EQ(read_of(&r, &o, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.thread, 0);
        CHECK_EQ(a.device, 10);
        CHECK_EQ(a.context, 11);
        CHECK_EQ(a.stream, 12);
    }
}

TEST(graphs)
{
    EACH_VERSION(v)
    {
        gnomon__cupti_reader r = reader_of(*v);
        gnomon_device_work a;
        const fake_graph g = {.kind = FAKE_GRAPH,
                              .correlation = 5,
                              .start = 100,
                              .end = 300,
                              .device = 1,
                              .graph = 6,
                              .context = 2,
                              .stream = 7};
        CHECK_EQ(read_of(&r, &g, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.kind, GNOMON_DEVICE_GRAPH);
        CHECK_STR(a.name, "Graph");
        CHECK_EQ(a.device, 1);
        CHECK_EQ(a.context, 2);
        CHECK_EQ(a.stream, 7);
        CHECK_EQ(a.graph, 6);
        CHECK_EQ(a.correlation, 5);
        CHECK_EQ(a.end_ns - a.begin_ns, 200);
    }
}

/* INT_MAX stands for the host (cupti_activity.h, CUpti_ActivityGraphTrace2 of 12.3 and
 * later): the work is where the graph ends, if that is a device. */
TEST(graphs_that_begin_on_the_host)
{
    EACH_VERSION(v)
    {
        gnomon__cupti_reader r = reader_of(*v);
        gnomon_device_work a;
        fake_graph g = {.kind = FAKE_GRAPH,
                        .start = 100,
                        .end = 300,
                        .device = INT_MAX,
                        .context = INT_MAX,
                        .stream = 7,
                        .end_device = 1,
                        .end_context = 2};
        CHECK_EQ(read_of(&r, &g, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.device, *v >= 21 ? 1 : -1);
        CHECK_EQ(a.context, *v >= 21 ? 2 : 0);
        CHECK_EQ(a.stream, 7);
        g.end_device = g.end_context = INT_MAX;
        CHECK_EQ(read_of(&r, &g, &a), GNOMON__CUPTI_READ);
        CHECK_EQ(a.device, -1);
        CHECK_EQ(a.context, 0);
    }
}

TEST(work_that_has_not_ended_is_told_apart)
{
    gnomon__cupti_reader r = reader_of(23);
    gnomon_device_work a;
    fake_kernel k = a_kernel;
    fake_call call = {.kind = FAKE_DRIVER};
    fake_call external = {.kind = FAKE_EXTERNAL};
    k.end = 0;
    CHECK_EQ(read_of(&r, &k, &a), GNOMON__CUPTI_UNFINISHED);
    CHECK_EQ(a.correlation, 19);
    k.end = 5;
    k.start = 0;
    CHECK_EQ(read_of(&r, &k, &a), GNOMON__CUPTI_UNFINISHED);
    CHECK_EQ(read_of(&r, &call, &a), GNOMON__CUPTI_UNFINISHED);
    CHECK_EQ(read_of(&r, &external, &a), GNOMON__CUPTI_OF_NO_USE);
    k = a_kernel;
    k.name = NULL;
    CHECK_EQ(read_of(&r, &k, &a), GNOMON__CUPTI_READ);
    CHECK(a.name == NULL);
}
