/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The call tree of a profile, and its events. Included by gnomon/profile.h;
 * gnomon/entities.h says what holds for all these structs: numbers, units, texts
 * and ownership.
 */
#ifndef GNOMON_NODES_H
#define GNOMON_NODES_H

#include "stats.h"

GNOMON_BEGIN_DECLS

/* ---- The call tree -------------------------------------------------------------- */

/* Bits of gnomon_node_info.flags. */
enum gnomon_node_flags {
    /* A child outlived it, or it outlived its parent: its self and its
     * children's totals do not add up to its total. */
    GNOMON_NODE_CROSSED = 1,
    /* Ranges: they have no self time, and take none from other nodes. */
    GNOMON_NODE_RANGE = 2,
    /* It stands for all paths past a limit, as of memory or depth. */
    GNOMON_NODE_OTHER = 4,
    /* It has children in stages that this profile leaves out. */
    GNOMON_NODE_PARTIAL = 8,
    /* The clock stepped back during an execution: its times do not add up, as
     * with GNOMON_NODE_CROSSED. */
    GNOMON_NODE_CLOCK = 16,
    /* A scope on one stream: its device times are a part of those that the scope's
     * node on its thread has, which are of all streams. Who adds up leaves it out. */
    GNOMON_NODE_PART = 32
};

/* One path of the call tree: `region`, executed inside `parent`, on one track and
 * in one stage. A parent's number is smaller than its children's. */
typedef struct gnomon_node_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t stage;
    /* 0: it is outermost. */
    uint32_t parent;
    uint32_t region;
    /* What it computes; 0: not known. */
    uint32_t op;
    /* How many of its executions are open. */
    uint32_t open;
    /* Bits of gnomon_node_flags. */
    uint32_t flags;
    /* Its place in the order in which nodes first ended: 1, 2, ...; 0: none of
     * its executions has ended. */
    uint64_t first;
    /* Times on the host; NULL: not recorded, which is not 0. */
    const gnomon_stats *host;
    /* Times on a device, of the work that it put there; NULL: not recorded. */
    const gnomon_stats *device;
    /* Memory, in ascending order of pools. Read it by gnomon_memory_at. */
    const gnomon_memory_stats *memory;
    size_t memory_count;
    /* NULL: not recorded. */
    const gnomon_work_stats *work;
    /* The view that recorded it; 0: it is of all views. */
    uint32_t view;
    uint32_t reserved;
} gnomon_node_info;

GNOMON__LIST(memory, gnomon_memory_stats, gnomon_node_info, memory)

/* A scope that is open. Its node's `host` counts finished executions only. */
typedef struct gnomon_open_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t node;
    uint32_t reserved;
    uint64_t begin_ns;
} gnomon_open_info;

/* That one node, or one execution, caused another. */
typedef struct gnomon_link_info {
    uint32_t struct_size;
    /* The nodes of cause and effect, both of one run. */
    uint32_t from;
    uint32_t to;
    /* A gnomon_link_kind. */
    uint32_t kind;
    /* How often, at least 1. */
    uint64_t count;
    /* The executions, by gnomon_event_info.instance; 0: the paths as such. */
    uint64_t from_instance;
    uint64_t to_instance;
    /* When the cause first called gnomon_link_out, and when the effect called
     * gnomon_link_in; 0: not known, as of paths, of launches and in older files. */
    uint64_t from_ns;
    uint64_t to_ns;
} gnomon_link_info;

/* The samples of a counter, by track and stage. */
typedef struct gnomon_counter_info {
    uint32_t struct_size;
    uint32_t track;
    /* What is counted, and in which unit, is the region's name. */
    uint32_t region;
    uint32_t stage;
    /* How many samples are numbers. The next four are of these, and 0 where
     * there are none. */
    uint64_t count;
    double last;
    double min;
    double max;
    double sum;
    /* How many samples were not a number (NaN). */
    uint64_t nans;
} gnomon_counter_info;

/* ---- Events ---------------------------------------------------------------------- */

/* What an event is. */
enum gnomon_event_kind {
    GNOMON_EVENT_EXECUTION = 0,
    GNOMON_EVENT_MARK = 1,
    /* A sample of a counter. */
    GNOMON_EVENT_COUNTER = 2,
    /* Memory that was allocated, or freed. */
    GNOMON_EVENT_MEMORY = 3
};

/* One moment or execution on a track. A track's events are in the order of their
 * begin. */
typedef struct gnomon_event_info {
    uint32_t struct_size;
    /* A gnomon_event_kind. */
    uint32_t kind;
    uint32_t track;
    /* The node of an execution; of other events the one around it, or 0. */
    uint32_t node;
    /* The region of a mark or counter; of memory its pool, a track; else 0. */
    uint32_t region;
    uint32_t reserved;
    uint64_t begin_ns;
    /* 0 for what is only a moment. */
    uint64_t duration_ns;
    /* Its 64-bit id, which links name; 0: none. */
    uint64_t instance;
    /* A counter's sample; of memory its bytes, below 0 where they were freed. */
    double value;
} gnomon_event_info;

GNOMON_END_DECLS

#endif
