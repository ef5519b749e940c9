/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work of devices that is over, as a vendor's tool tells it: kernels, copies, calls of its
 * interface, each with its begin and its end. */
#ifndef GNOMON_DEVICE_ACTIVITY_RECORD_H
#define GNOMON_DEVICE_ACTIVITY_RECORD_H

#include "gnomon.h"

/* What a record is of. */
enum gnomon_activity_kind {
    GNOMON_ACTIVITY_KERNEL = 0,
    /* Memory that was copied, or set to a value. */
    GNOMON_ACTIVITY_COPY = 1,
    GNOMON_ACTIVITY_SET = 2,
    /* A call of the vendor's interface, on a thread of the host. */
    GNOMON_ACTIVITY_CALL = 3,
    /* A thread or a stream that waits for a stream, an event or a device. */
    GNOMON_ACTIVITY_SYNC = 4,
    /* What the source itself costs. */
    GNOMON_ACTIVITY_OVERHEAD = 5,
    /* A whole graph, from its first to its last work. */
    GNOMON_ACTIVITY_GRAPH = 6,
    /* A collective operation of several ranks. */
    GNOMON_ACTIVITY_COLLECTIVE = 7
};

/* Bits of gnomon_activity.flags. */
enum gnomon_activity_flags {
    /* The call is of the lower of two interfaces (CUDA's driver). */
    GNOMON_ACTIVITY_LOW_LEVEL = 1u
};

/* One piece of work that is over. Numbers that are not known are 0, if not said
 * otherwise. */
typedef struct gnomon_activity {
    uint32_t struct_size;
    /* A gnomon_activity_kind. */
    uint32_t kind;
    /* Bits of gnomon_activity_flags. */
    uint32_t flags;
    /* The device, from 0; -1: it is of no device. */
    int32_t device;
    /* The vendor's numbers. */
    uint32_t context;
    uint32_t stream;
    /* Moments by gnomon_now_ns. */
    uint64_t begin_ns;
    uint64_t end_ns;
    /* Of the call that launched it, or of the call itself; 0: not known. */
    uint64_t correlation;
    /* The operating system's number of the thread of a call or a wait. */
    int64_t thread;
    /* The graph that it was in, and its node there. */
    uint64_t graph;
    uint64_t graph_node;
    /* Of a copy, set or collective. */
    uint64_t bytes;
    /* UTF-8, borrowed until the call returns: a kernel's name, a call's; of copies,
     * sets and waits what kind they are, as "Memcpy HtoD (Pageable -> Device)".
     * NULL: not known. */
    const char *name;
    /* Of a kernel: blocks, threads of a block, registers of a thread, bytes of a
     * block. */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t registers;
    uint32_t shared_static;
    uint32_t shared_dynamic;
    /* Of a call: the vendor's number of it, and what it returned. */
    uint32_t call;
    int32_t result;
    uint32_t reserved;
    /* Of a collective: which communicator, and which of its operations. */
    uint64_t communicator;
    uint64_t entry;
} gnomon_activity;

#endif
