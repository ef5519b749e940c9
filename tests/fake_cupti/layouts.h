/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUPTI's records as CUDA 13.0 has them, member by member as its documentation names
 * them; src/ reads them at offsets. Older ones are shorter: fake_size tells how long a
 * record is in a version, and what is past its end is never written. */
#ifndef FAKE_CUPTI_LAYOUTS_H
#define FAKE_CUPTI_LAYOUTS_H

#include <stdint.h>

/* Of 64-bit members too: records are packed and aligned to 8 as a whole. */
#define FAKE_RECORD __attribute__((packed, aligned(8)))

enum {
    FAKE_MEMCPY = 1,
    FAKE_MEMSET = 2,
    FAKE_KERNEL = 10,
    FAKE_DRIVER = 4,
    FAKE_RUNTIME = 5,
    FAKE_OVERHEAD = 17,
    FAKE_MEMCPY2 = 22,
    FAKE_SYNC = 38,
    FAKE_EXTERNAL = 39,
    FAKE_GRAPH = 51
};

typedef struct FAKE_RECORD fake_kernel {
    uint32_t kind;
    uint8_t cache[2];
    uint16_t registers;
    uint32_t carveout, carveout_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t shared_static, shared_dynamic;
    uint32_t local_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, is_carveout, carveout_wanted, pad;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t limit, graph;
    void *window;
    uint32_t channel, channel_type;
    uint32_t cluster[3], cluster_policy; /* 11.8 */
    uint64_t local_total_64;
    uint32_t cluster_sizes[2]; /* 12.0 */
    uint8_t by_device;         /* 13.0 */
} fake_kernel;

typedef struct FAKE_RECORD fake_copy {
    uint32_t kind;
    uint8_t direction, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime, pad;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type, pad2;
    uint64_t count; /* 12.8 */
} fake_copy;

typedef struct FAKE_RECORD fake_peer_copy {
    uint32_t kind;
    uint8_t direction, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t from_device, from_context, to_device, to_context;
    uint32_t correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type, pad;
} fake_peer_copy;

typedef struct FAKE_RECORD fake_set {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
    uint32_t pad;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type, pad2;
} fake_set;

typedef struct FAKE_RECORD fake_call {
    uint32_t kind, call;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
} fake_call;

typedef struct FAKE_RECORD fake_wait {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
    uint64_t event_record; /* 12.8 */
    uint32_t result, pad;
} fake_wait;

typedef struct FAKE_RECORD fake_overhead {
    uint32_t kind, what, of;
    uint32_t id[3];
    uint64_t start, end;
    uint32_t correlation, pad; /* 12.3 */
    void *data;                /* 12.4 */
} fake_overhead;

typedef struct FAKE_RECORD fake_graph {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
    void *reserved;
    uint32_t end_device, end_context; /* 12.3 */
} fake_graph;

_Static_assert(sizeof(fake_kernel) == 216, "as of 13.0");
_Static_assert(sizeof(fake_copy) == 96, "as of 13.0");
_Static_assert(sizeof(fake_peer_copy) == 96, "as of 13.0");
_Static_assert(sizeof(fake_set) == 88, "as of 13.0");
_Static_assert(sizeof(fake_call) == 40, "as of 13.0");
_Static_assert(sizeof(fake_wait) == 56, "as of 13.0");
_Static_assert(sizeof(fake_overhead) == 56, "as of 13.0");
_Static_assert(sizeof(fake_graph) == 56, "as of 13.0");

typedef union fake_record {
    uint32_t kind;
    fake_kernel kernel;
    fake_copy copy;
    fake_peer_copy peer;
    fake_set set;
    fake_call call;
    fake_wait wait;
    fake_overhead overhead;
    fake_graph graph;
    uint8_t longest[256]; /* later ones are longer */
} fake_record;

static inline int fake_is_kind(uint32_t kind)
{
    return (kind >= FAKE_MEMCPY && kind <= FAKE_RUNTIME) ||
           kind == FAKE_KERNEL || kind == FAKE_OVERHEAD ||
           kind == FAKE_MEMCPY2 || kind == FAKE_SYNC || kind == FAKE_EXTERNAL ||
           kind == FAKE_GRAPH;
}

/* How long a record of the kind is in this version of CUPTI: tests/cupti_abi compares. */
static inline uint32_t fake_size(uint32_t kind, uint32_t version)
{
    switch (kind) {
    case FAKE_KERNEL: /* that of 12.0, which calls itself 18 too, is as those after it */
        return version >= 130400   ? 248
               : version >= 130300 ? 232
               : version >= 130100 ? 224
               : version >= 130000 ? 216
               : version >= 19     ? 208
                                   : 200;
    case FAKE_MEMCPY:
        return version >= 130400 ? 112 : version >= 26 ? 96 : 88;
    case FAKE_MEMCPY2:
        return 96;
    case FAKE_MEMSET:
        return version >= 130400 ? 104 : 88;
    case FAKE_SYNC:
        return version >= 26 ? 56 : 40;
    case FAKE_OVERHEAD:
        return version >= 22 ? 56 : version >= 21 ? 48 : 40;
    case FAKE_GRAPH:
        return version >= 21 ? 56 : 48;
    case FAKE_EXTERNAL:
        return 24;
    default:
        return 40;
    }
}

#endif
