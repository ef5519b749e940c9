/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layouts [LIBRARY]: the records of one release of CUPTI, filled in by NVIDIA's names of
 * their fields and read by gnomon, field by field; the lengths that the fake CUPTI has for
 * them; and with that release's library, whose reader needs no driver, how long it takes
 * them to be and what it answers for a slot that it cannot read. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuda.h>
#include <dlfcn.h>

#include <cupti_result.h>
#include <cupti_version.h>

#include <cupti_callbacks.h>

#include <cupti_activity.h>

#include "device/cupti_records.h"
#include "fake_cupti/layouts.h"

/* KERNEL=CUpti_ActivityKernel9 and so on: the newest of the release. */
typedef KERNEL kernel;
typedef MEMCPY copy;
typedef PTOP peer;
typedef MEMSET set;
typedef SYNC wait;
typedef OVERHEAD overhead;
typedef GRAPH graph;
typedef CUpti_ActivityAPI call;
#define VERSION CUPTI_API_VERSION

static int wrong;
static gnomon_device_work a;
static char text[GNOMON__CUPTI_TEXT];

static void same(const char *what, unsigned long long is,
                 unsigned long long expected)
{
    if (is == expected)
        return;
    wrong++;
    printf("  %s: %llu, not %llu\n", what, is, expected);
}

#define SAME(is, expected) \
    same(#is, (unsigned long long)(is), (unsigned long long)(expected))
#define NAMED(expected) \
    (strcmp(a.name, expected) == 0 ? (void)0 : same(a.name, 1, 0))

static uint64_t no_other_clock(uint64_t moment)
{
    return moment;
}

static void read_it(const void *record)
{
    static gnomon__cupti_reader reader = {
        .version = VERSION, .has_system_threads = 1, .time = no_other_clock};
    SAME(gnomon__cupti_read(&reader, record, &a, text), GNOMON__CUPTI_READ);
}

/* What work on a device has in common. */
#define PLACE(r, its_kind) \
    do { \
        memset(&r, 0x5a, sizeof r); \
        r.kind = its_kind; \
        r.start = 1001; \
        r.end = 2002; \
        r.deviceId = 3; \
        r.contextId = 4; \
        r.streamId = 5; \
        r.correlationId = 6; \
        r.graphId = 8; \
    } while (0)

static void placed(uint64_t node)
{
    SAME(a.begin_ns, 1001);
    SAME(a.end_ns, 2002);
    SAME(a.device, 3);
    SAME(a.context, 4);
    SAME(a.stream, 5);
    SAME(a.correlation, 6);
    SAME(a.graph, 8);
    SAME(a.graph_node, node);
}

static void of_kernels(void)
{
    kernel k;
    PLACE(k, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    k.graphNodeId = 7;
    k.registersPerThread = 77;
    k.gridX = 9;
    k.gridY = 10;
    k.gridZ = 11;
    k.blockX = 12;
    k.blockY = 13;
    k.blockZ = 14;
    k.staticSharedMemory = 15;
    k.dynamicSharedMemory = 16;
    k.name = "gemm";
    read_it(&k);
    placed(7);
    SAME(a.registers, 77);
    for (uint32_t i = 0; i < 3; i++) {
        SAME(a.grid[i], 9 + i);
        SAME(a.block[i], 12 + i);
    }
    SAME(a.shared_static, 15);
    SAME(a.shared_dynamic, 16);
    NAMED("gemm");
}

static void of_memory(void)
{
    copy c;
    PLACE(c, CUPTI_ACTIVITY_KIND_MEMCPY);
    c.graphNodeId = 7;
    c.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    c.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    c.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    c.bytes = 1ull << 40;
    read_it(&c);
    placed(7);
    SAME(a.bytes, 1ull << 40);
    NAMED("Memcpy DtoH (Device -> Pinned)");
    peer p;
    PLACE(p, CUPTI_ACTIVITY_KIND_MEMCPY2);
    p.graphNodeId = 7;
    p.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    p.srcKind = p.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    p.bytes = 99;
    read_it(&p);
    placed(7);
    SAME(a.bytes, 99);
    NAMED("Memcpy PtoP (Device -> Device)");
    set s;
    PLACE(s, CUPTI_ACTIVITY_KIND_MEMSET);
    s.graphNodeId = 7;
    s.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    s.bytes = 98;
    read_it(&s);
    placed(7);
    SAME(a.bytes, 98);
    NAMED("Memset (Managed)");
}

static void of_graphs(void)
{
    graph g;
    PLACE(g, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    read_it(&g);
    placed(0);
#if VERSION >= 21
    g.deviceId = g.contextId = INT32_MAX; /* the host */
    g.endDeviceId = 1;
    g.endContextId = 2;
    read_it(&g);
    SAME(a.device, 1);
    SAME(a.context, 2);
    SAME(a.stream, 5);
#endif
}

static void of_calls(void)
{
    call c;
    memset(&c, 0x5a, sizeof c);
    c.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    c.cbid = 1;
    c.start = 11;
    c.end = 22;
    c.threadId = 6;
    c.correlationId = 7;
    c.returnValue = 8;
    read_it(&c);
    SAME(a.call, 1);
    SAME(a.begin_ns, 11);
    SAME(a.end_ns, 22);
    SAME(a.thread, 6);
    SAME(a.correlation, 7);
    SAME(a.result, 8);
    wait w;
    memset(&w, 0x5a, sizeof w);
    w.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    w.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
    w.start = 11;
    w.end = 22;
    w.correlationId = 3;
    w.contextId = 4;
    w.streamId = (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    read_it(&w);
    SAME(a.begin_ns, 11);
    SAME(a.end_ns, 22);
    SAME(a.correlation, 3);
    SAME(a.context, 4);
    SAME(a.stream, UINT32_MAX);
    NAMED("Context Sync");
}

static void of_overheads(void)
{
    overhead o;
    memset(&o, 0x5a, sizeof o);
    o.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    o.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE;
    o.objectKind = CUPTI_ACTIVITY_OBJECT_STREAM;
    o.objectId.dcs.deviceId = 1;
    o.objectId.dcs.contextId = 2;
    o.objectId.dcs.streamId = 3;
    o.start = 11;
    o.end = 22;
#if VERSION >= 21
    o.correlationId = 9;
#endif
    read_it(&o);
    SAME(a.device, 1);
    SAME(a.context, 2);
    SAME(a.stream, 3);
    SAME(a.begin_ns, 11);
    SAME(a.end_ns, 22);
    SAME(a.correlation, VERSION >= 21 ? 9 : 0);
    o.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    o.objectId.pt.threadId = 8;
    read_it(&o);
    SAME(a.thread, 8);
    NAMED("Resource");
}

static const struct {
    uint32_t kind;
    size_t size;
} sizes[] = {{FAKE_KERNEL, sizeof(kernel)},    {FAKE_MEMCPY, sizeof(copy)},
             {FAKE_MEMCPY2, sizeof(peer)},     {FAKE_MEMSET, sizeof(set)},
             {FAKE_RUNTIME, sizeof(call)},     {FAKE_DRIVER, sizeof(call)},
             {FAKE_SYNC, sizeof(wait)},        {FAKE_GRAPH, sizeof(graph)},
             {FAKE_OVERHEAD, sizeof(overhead)}};
#define SIZES (sizeof sizes / sizeof *sizes)

static void of_the_fake(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        char what[64];
        snprintf(what, sizeof what, "the fake's record of kind %u",
                 sizes[i].kind);
        /* 12.0 and 12.1 call themselves as 11.8 does. */
        uint32_t is = sizes[i].kind == FAKE_KERNEL && IS_CUDA_12
                          ? fake_size(FAKE_KERNEL, VERSION < 20 ? 20 : VERSION)
                          : fake_size(sizes[i].kind, VERSION);
        same(what, is, sizes[i].size);
    }
}

/* ---- The library -------------------------------------------------------------------- */

typedef CUptiResult next_function(uint8_t *buffer, size_t valid,
                                  CUpti_Activity **record);

static void of_the_library(const char *path)
{
    static uint8_t buffer[4096] __attribute__((aligned(8)));
    next_function *next;
    void *library = dlopen(path, RTLD_NOW);
    void *symbol =
        library ? dlsym(library, "cuptiActivityGetNextRecord") : NULL;
    memcpy(&next, &symbol, sizeof next);
    if (!next) {
        printf("  its library cannot be loaded here: %s\n", dlerror());
        return;
    }
    for (size_t i = 0; i < SIZES; i++) {
        CUpti_Activity *record = NULL;
        size_t size = sizes[i].size;
        memset(buffer, 0, sizeof buffer);
        memcpy(buffer, &sizes[i].kind, 4);
        memcpy(buffer + size, &sizes[i].kind, 4);
        CUptiResult first = next(buffer, 2 * size, &record);
        if (first == CUPTI_ERROR_UNKNOWN && i == 0) {
            printf("  its library reads nothing without a driver\n");
            return;
        }
        SAME(first, CUPTI_SUCCESS);
        SAME(next(buffer, 2 * size, &record), CUPTI_SUCCESS);
        SAME((uint8_t *)record - buffer, size);
        SAME(next(buffer, 2 * size, &record), CUPTI_ERROR_MAX_LIMIT_REACHED);
        /* Never filled, or of a kind that nobody knows: it stays where it is. */
        for (uint32_t kind = 0; kind <= 200; kind += 200) {
            memcpy(buffer + size, &kind, 4);
            record = (CUpti_Activity *)buffer;
            CUptiResult code = next(buffer, 2 * size, &record);
            SAME(code == (VERSION < 22 ? CUPTI_ERROR_UNKNOWN
                                       : CUPTI_ERROR_INVALID_KIND) ||
                     code == CUPTI_ERROR_INVALID_KIND,
                 1);
            SAME((uint8_t *)record - buffer, 0);
        }
    }
}

int main(int argc, char **argv)
{
    of_kernels();
    of_memory();
    of_graphs();
    of_calls();
    of_overheads();
    of_the_fake();
    if (argc > 1)
        of_the_library(argv[1]);
    printf("CUPTI_API_VERSION %d: %s\n", VERSION,
           wrong ? "NOT as gnomon has it" : "as gnomon has it");
    return wrong != 0;
}
