/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads CUPTI's records, field by field at their offsets. Names are those that
 * torch.profiler's traces have, as people know them from there. */
#include "device/cupti_records.h"

#include <stdio.h>
#include <string.h>

/* What stands at an offset. CUPTI aligns records to 8 bytes, but one field of 64 bits
 * in some of them is not aligned. */
#define CUPTI_READ(name, type) \
    static type name(const void *record, size_t offset) \
    { \
        type value; \
        memcpy(&value, (const char *)record + offset, sizeof value); \
        return value; \
    }
CUPTI_READ(cupti_u64, uint64_t)
CUPTI_READ(cupti_u32, uint32_t)
CUPTI_READ(cupti_u16, uint16_t)
CUPTI_READ(cupti_u8, uint8_t)
CUPTI_READ(cupti_text, const char *)
#undef CUPTI_READ

uint32_t gnomon__cupti_kind_of(const void *record)
{
    return cupti_u32(record, 0);
}

/* ---- Names ----------------------------------------------------------------- */

/* `names` by number; past its end, `other`. */
#define CUPTI_NAME(names, number, other) \
    ((number) < sizeof(names) / sizeof *(names) ? (names)[number] : (other))

static const char *cupti_memory(uint32_t kind)
{
    static const char *const names[] = {
        "Unknown", "Pageable", "Pinned",        "Device",
        "Array",   "Managed",  "Device Static", "Managed Static"};
    return CUPTI_NAME(names, kind, "Unrecognized");
}

static const char *cupti_direction(uint32_t kind)
{
    static const char *const names[] = {"Unknown", "HtoD", "DtoH", "HtoA",
                                        "AtoH",    "AtoA", "AtoD", "DtoA",
                                        "DtoD",    "HtoH", "PtoP"};
    return CUPTI_NAME(names, kind, "Unknown");
}

static const char *cupti_wait(uint32_t type)
{
    static const char *const names[] = {"Sync", "Event Sync",
                                        "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    return CUPTI_NAME(names, type, names[0]);
}

static const char *cupti_overhead(uint32_t kind)
{
    /* CUPTI's own and the runtime's begin at 1 << 16. */
    static const char *const names[] = {"Overhead",
                                        "Buffer Flush",
                                        "Instrumentation",
                                        "Resource",
                                        "Runtime Triggered Module Loading",
                                        "Lazy Function Loading",
                                        "Command Buffer Full",
                                        "Activity Buffer Request",
                                        "UVM Activity Init"};
    if (kind == 1)
        return "Driver Compiler";
    return kind & 0xffff ? names[0] : CUPTI_NAME(names, kind >> 16, names[0]);
}

/* ---- Parts that kinds share ------------------------------------------------ */

static void cupti_place(gnomon__cupti_reader *r, const void *record,
                        size_t device, size_t context, size_t stream,
                        gnomon_device_work *out)
{
    out->device = (int32_t)cupti_u32(record, device);
    out->context = cupti_u32(record, context);
    out->stream = cupti_u32(record, stream);
    uint32_t i = out->context & (GNOMON__CUPTI_CONTEXTS - 1);
    r->contexts[i].context = out->context;
    r->contexts[i].device = out->device;
    r->contexts[i].is_known = 1;
}

static int32_t cupti_device_of(const gnomon__cupti_reader *r, uint32_t context)
{
    uint32_t i = context & (GNOMON__CUPTI_CONTEXTS - 1);
    return r->contexts[i].is_known && r->contexts[i].context == context
               ? r->contexts[i].device
               : -1;
}

/* ---- Kinds ----------------------------------------------------------------- */

static void read_kernel(gnomon__cupti_reader *r, const void *record,
                        gnomon_device_work *out)
{
    const char *name = cupti_text(record, 104);
    cupti_place(r, record, 40, 44, 48, out);
    for (size_t i = 0; i < 3; i++) {
        out->grid[i] = cupti_u32(record, 52 + 4 * i);
        out->block[i] = cupti_u32(record, 64 + 4 * i);
    }
    out->registers = cupti_u16(record, 6);
    out->shared_static = cupti_u32(record, 76);
    out->shared_dynamic = cupti_u32(record, 80);
    out->name = name && r->kernel_name ? r->kernel_name(name) : name;
    out->graph_node = cupti_u64(record, 144);
    out->graph = cupti_u32(record, 156);
}

/* Copies and sets begin alike; copies between devices have two more numbers. */
static void read_memory(gnomon__cupti_reader *r, const void *record,
                        gnomon_device_work *out, size_t node)
{
    cupti_place(r, record, 32, 36, 40, out);
    out->bytes = cupti_u64(record, 8);
    out->graph_node = cupti_u64(record, node);
    out->graph = cupti_u32(record, node + 8);
}

static void read_copy(gnomon__cupti_reader *r, const void *record,
                      gnomon_device_work *out)
{
    int is_peer = gnomon__cupti_kind_of(record) == GNOMON__CUPTI_MEMCPY2;
    snprintf(r->text, GNOMON__CUPTI_TEXT, "Memcpy %s (%s -> %s)",
             cupti_direction(cupti_u8(record, 4)),
             cupti_memory(cupti_u8(record, 5)),
             cupti_memory(cupti_u8(record, 6)));
    out->name = r->text;
    read_memory(r, record, out, is_peer ? 72 : 64);
}

static void read_set(gnomon__cupti_reader *r, const void *record,
                     gnomon_device_work *out)
{
    snprintf(r->text, GNOMON__CUPTI_TEXT, "Memset (%s)",
             cupti_memory(cupti_u16(record, 50)));
    out->name = r->text;
    read_memory(r, record, out, 64);
}

static void read_call(gnomon__cupti_reader *r, const void *record,
                      gnomon_device_work *out)
{
    int is_driver = gnomon__cupti_kind_of(record) == GNOMON__CUPTI_DRIVER;
    out->flags = is_driver ? (uint32_t)GNOMON_DEVICE_LOW_LEVEL : 0;
    out->call = cupti_u32(record, 4);
    out->thread = r->has_system_threads ? (int64_t)cupti_u32(record, 28) : 0;
    out->result = (int32_t)cupti_u32(record, 36);
    out->name = r->call_name ? r->call_name(is_driver, out->call) : NULL;
}

static void read_wait(gnomon__cupti_reader *r, const void *record,
                      gnomon_device_work *out)
{
    out->call = cupti_u32(record, 4);
    out->name = cupti_wait(out->call);
    out->context = cupti_u32(record, 28);
    out->device = cupti_device_of(r, out->context);
    out->stream = cupti_u32(record, 32);
}

static void read_overhead(gnomon__cupti_reader *r, const void *record,
                          gnomon_device_work *out)
{
    enum { OF_THREAD = 2, OF_DEVICE = 3, OF_CONTEXT = 4, OF_STREAM = 5 };
    uint32_t of = cupti_u32(record, 8);
    out->name = cupti_overhead(cupti_u32(record, 4));
    if (of == OF_THREAD && r->has_system_threads)
        out->thread = cupti_u32(record, 16);
    if (of >= OF_DEVICE && of <= OF_STREAM)
        out->device = (int32_t)cupti_u32(record, 12);
    if (of >= OF_CONTEXT && of <= OF_STREAM)
        out->context = cupti_u32(record, 16);
    if (of == OF_STREAM)
        out->stream = cupti_u32(record, 20);
    out->correlation =
        r->version >= GNOMON__CUPTI_12_3 ? cupti_u32(record, 40) : 0;
}

#define CUPTI_HOST 0x7fffffffu /* in a device's place */

static void read_graph(gnomon__cupti_reader *r, const void *record,
                       gnomon_device_work *out)
{
    out->name = "Graph";
    out->stream = cupti_u32(record, 36);
    /* One that begins on the host may end on a device. */
    if (cupti_u32(record, 24) != CUPTI_HOST)
        cupti_place(r, record, 24, 32, 36, out);
    else if (r->version >= GNOMON__CUPTI_12_3 &&
             cupti_u32(record, 48) != CUPTI_HOST)
        cupti_place(r, record, 48, 52, 36, out);
    out->graph = cupti_u32(record, 28);
}

const gnomon__cupti_layout gnomon__cupti_layouts[GNOMON__CUPTI_LAYOUTS] = {
    {GNOMON__CUPTI_CONCURRENT_KERNEL, GNOMON_DEVICE_KERNEL, 16, 92,
     read_kernel},
    {GNOMON__CUPTI_MEMCPY, GNOMON_DEVICE_COPY, 16, 44, read_copy},
    {GNOMON__CUPTI_MEMCPY2, GNOMON_DEVICE_COPY, 16, 60, read_copy},
    {GNOMON__CUPTI_MEMSET, GNOMON_DEVICE_SET, 16, 44, read_set},
    {GNOMON__CUPTI_RUNTIME, GNOMON_DEVICE_CALL, 8, 32, read_call},
    {GNOMON__CUPTI_DRIVER, GNOMON_DEVICE_CALL, 8, 32, read_call},
    {GNOMON__CUPTI_SYNCHRONIZATION, GNOMON_DEVICE_SYNC, 8, 24, read_wait},
    {GNOMON__CUPTI_OVERHEAD, GNOMON_DEVICE_OVERHEAD, 24, 0, read_overhead},
    {GNOMON__CUPTI_GRAPH_TRACE, GNOMON_DEVICE_GRAPH, 8, 4, read_graph},
    {GNOMON__CUPTI_KERNEL, GNOMON_DEVICE_KERNEL, 16, 92, read_kernel},
};

enum gnomon__cupti_reading gnomon__cupti_read(gnomon__cupti_reader *reader,
                                              const void *record,
                                              gnomon_device_work *out,
                                              char text[GNOMON__CUPTI_TEXT])
{
    const gnomon__cupti_layout *is = gnomon__cupti_layouts;
    const gnomon__cupti_layout *end = is + GNOMON__CUPTI_LAYOUTS;
    while (is < end && is->kind != gnomon__cupti_kind_of(record))
        is++;
    if (is == end)
        return GNOMON__CUPTI_OF_NO_USE;
    uint64_t from = cupti_u64(record, is->begin),
             to = cupti_u64(record, is->begin + 8u);
    *out =
        (gnomon_device_work){.struct_size = sizeof *out,
                             .kind = is->of,
                             .device = -1,
                             .correlation = cupti_u32(record, is->correlation)};
    reader->text = text;
    is->rest(reader, record, out);
    if (!from || !to)
        return GNOMON__CUPTI_UNFINISHED;
    out->begin_ns = reader->time(from);
    out->end_ns = reader->time(to);
    return GNOMON__CUPTI_READ;
}
