/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a profile is made of. gnomon/profile.h reads and builds them.
 *
 * Every entity is numbered from 1 in each kind, 0 is "none"; every text is
 * UTF-8. Times are ns since the run's zero, or durations in ns.
 *
 * Structs grow at their ends, from release to release, and each begins with its
 * struct_size, also behind a pointer and in a list: who makes one sets it to
 * sizeof. A struct may therefore be of another size than the reader's:
 *   - Items of a list lie as far apart as the first one's struct_size says:
 *     gnomon_memory_at(&node, i) and its like find them. Never index a list.
 *   - A struct behind a pointer has at least what the first release had. A field
 *     that a later one added is there if GNOMON_HAS(pointer, field) says so.
 * gnomon_cell alone never grows: the format fixes it.
 */
#ifndef GNOMON_ENTITIES_H
#define GNOMON_ENTITIES_H

#include "base.h"

GNOMON_BEGIN_DECLS

/* Whether the struct that `pointer` leads to is large enough to have `field`. */
#define GNOMON_HAS(pointer, field) \
    (GNOMON_CAST(const char *, \
                 GNOMON_CAST(const void *, &(pointer)->field + 1)) <= \
     GNOMON_CAST(const char *, GNOMON_CAST(const void *, (pointer))) + \
         (pointer)->struct_size)

/* Item `i` of a list, from 0 to its count - 1; it lives as long as the list. */
#define GNOMON__LIST(name, type, owner, list) \
    GNOMON_INLINE const type *gnomon_##name##_at(const owner *of, size_t i) \
    { \
        const void *first = of->list; \
        const void *item = \
            GNOMON_CAST(const char *, first) + i * of->list->struct_size; \
        return GNOMON_CAST(const type *, item); \
    }

/* Kinds of entities, for gnomon_profile_count. */
enum gnomon_entity {
    GNOMON_RUNS = 0,
    GNOMON_STAGES = 1,
    GNOMON_STEPS = 2,
    GNOMON_TRACKS = 3,
    GNOMON_REGIONS = 4,
    GNOMON_NODES = 5,
    GNOMON_OPENS = 6,
    GNOMON_LINKS = 7,
    GNOMON_COUNTERS = 8,
    GNOMON_METADATA = 9,
    GNOMON_LOSSES = 10,
    GNOMON_VIEWS = 11,
    GNOMON_OPS = 12,
    GNOMON_EVENTS = 13,
    GNOMON_STEP_TIMES = 14
};

/* What a region may be beside the kinds that are marked (gnomon_region_kind). */
enum gnomon_profile_kind {
    GNOMON_KIND_PYTHON = 6,
    GNOMON_KIND_API = 7,
    GNOMON_KIND_KERNEL = 8,
    GNOMON_KIND_COPY = 9,
    GNOMON_KIND_SET = 10,
    GNOMON_KIND_COLLECTIVE = 11,
    GNOMON_KIND_LINE = 12
};

enum gnomon_track_kind {
    GNOMON_TRACK_THREAD = 0,
    GNOMON_TRACK_STREAM = 1,
    GNOMON_TRACK_LANE = 2,
    GNOMON_TRACK_POOL = 3
};

enum gnomon_phase {
    GNOMON_PHASE_NONE = 0, /* waiting: nothing is recorded */
    GNOMON_PHASE_WARMUP = 1,
    GNOMON_PHASE_RECORD = 2,
    GNOMON_PHASE_RECORD_AND_SAVE = 3
};

/* How many durations fell into cell `cell`. The format fixes the cells for ever,
 * and this struct with them: those below 32 ns hold one value each, then 16 to
 * the octave. With e = max(0, floor(log2(ns)) - 4), the cell of ns is
 * 16 e + (ns >> e). */
typedef struct gnomon_cell {
    uint32_t cell;
    uint32_t reserved;
    uint64_t count;
} gnomon_cell;

/* Of finished executions, on the host or on a device, or of steps. `total` is
 * the sum of their durations, `self` the time in which one was the innermost
 * open scope of its track, that of open ones up to now included. min and max are
 * 0 where count is. */
typedef struct gnomon_stats {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    const gnomon_cell *cells; /* ascending, none of count 0 */
    size_t cell_count;
} gnomon_stats;

/* Memory of one pool, on one path. */
typedef struct gnomon_memory_stats {
    uint32_t struct_size;
    uint32_t pool; /* a track of kind GNOMON_TRACK_POOL */
    uint64_t allocations;
    uint64_t frees;
    uint64_t allocated_bytes;
    uint64_t freed_bytes;
    int64_t live_bytes; /* what it left: below 0 where it freed others' */
    uint64_t peak_bytes;
} gnomon_memory_stats;

typedef struct gnomon_work_stats {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t flops;
    uint64_t bytes;
} gnomon_work_stats;

/* A moment at which the run's clock was held against the system's. */
typedef struct gnomon_clock_anchor {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t ns;       /* of the run */
    uint64_t unix_ns;  /* the same in Unix time */
    uint64_t error_ns; /* how far the two may be apart */
} gnomon_clock_anchor;

/* One process's life under gnomon, known by job, rank and attempt. A rank or
 * size that is not known is -1. */
typedef struct gnomon_run_info {
    uint32_t struct_size;
    int32_t rank;
    int32_t local_rank;
    int32_t world_size;
    int64_t pid;
    const char *host;
    const char *dir;         /* GNOMON_NULL: not given */
    const char *spec;        /* resolved: what $GNOMON came to */
    const char *clock;       /* "tsc", "monotonic", "test" */
    uint64_t zero_unix_ns;   /* the run's zero as Unix time */
    uint64_t clock_error_ns; /* how far the two may be apart */
    uint64_t now_ns;         /* when the profile was taken */
    const char *attempt;     /* GNOMON_NULL, or the launcher's restart count */
    const char *job;         /* GNOMON_NULL, or what the launcher calls it */
    const char *uuid;        /* of this life alone; GNOMON_NULL: not known */
    const gnomon_clock_anchor *anchors; /* in the order they were taken */
    size_t anchor_count;
} gnomon_run_info;

GNOMON__LIST(anchor, gnomon_clock_anchor, gnomon_run_info, anchors)

typedef struct gnomon_stage_info {
    uint32_t struct_size;
    uint32_t ordinal;  /* 1, 2, ... in the order of the run */
    const char *name;  /* "" where none was opened */
    uint64_t begin_ns; /* of its first mark or of its opening */
    uint64_t end_ns;   /* of its end, else of the profile */
    int32_t ended;
    uint32_t run;
    const gnomon_stats *steps; /* GNOMON_NULL: no step finished */
    uint32_t count; /* stages of this name that are added up in it; 0 is 1 */
    uint32_t reserved;
    uint64_t recorded_ns; /* how long its view recorded, which a share in per
                             cent is of; 0: not known, then end - begin */
    uint64_t late;        /* executions in its sums that ended after it */
} gnomon_stage_info;

typedef struct gnomon_step_info {
    uint32_t struct_size;
    uint32_t stage;
    uint64_t number;
    uint64_t begin_ns;
    uint64_t end_ns; /* 0: not over */
    int32_t phase;   /* gnomon_phase; RECORD where there is no schedule */
    int32_t rank; /* of the process, where its stage is of several; else -1 */
    uint32_t ordinal; /* of the stage it was in, as several may be added up in
                         its own; 0: not known */
    uint32_t reserved;
} gnomon_step_info;

/* How long a region took in steps. An execution counts in the step in which it
 * ends, from its begin or the step's, whichever was later; threads add up. There is
 * one with `step` 0 for each region that ended in any step of the stage: each step
 * is one duration in `time`. The others are of the slowest steps, one by one. */
typedef struct gnomon_step_time_info {
    uint32_t struct_size;
    uint32_t stage;
    uint32_t view;   /* 0: the only one */
    uint32_t step;   /* 0: of all steps that the view recorded whole */
    uint32_t region; /* 0: the steps themselves */
    uint32_t reserved;
    const gnomon_stats *time; /* self_ns is 0 */
} gnomon_step_time_info;

typedef struct gnomon_track_info {
    uint32_t struct_size;
    uint32_t kind; /* gnomon_track_kind */
    const char *name;
    int64_t os_id; /* of the last thread that was this track */
    uint32_t index;
    uint32_t thread_count; /* threads of one name that followed one another */
    int32_t alive;
    int32_t inexact; /* the track marked while it was read */
    uint32_t run;
    int32_t device; /* -1: of the host */
} gnomon_track_info;

/* The filter, schedule and ranks under which nodes were recorded. */
typedef struct gnomon_view_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *words; /* as in a spec: "filter=opt*"; "" is all */
} gnomon_view_info;

typedef struct gnomon_region_info {
    uint32_t struct_size;
    uint32_t kind; /* gnomon_region_kind */
    const char *name;
    const char *category; /* "" where none */
    const char *file;     /* "" where none */
    const char *function; /* "" where none */
    uint32_t line;
    uint32_t reserved;
} gnomon_region_info;

/* The shape of one of an operation's inputs. */
typedef struct gnomon_tensor {
    uint32_t struct_size;
    uint32_t rank; /* how many dims there are */
    const char *dtype;
    const int64_t *dims;
    const int64_t *strides; /* GNOMON_NULL: contiguous */
} gnomon_tensor;

typedef struct gnomon_attribute {
    uint32_t struct_size;
    uint32_t reserved;
    const char *key;
    const char *json;
} gnomon_attribute;

enum gnomon_op_flags {
    GNOMON_OP_BACKWARD = 1,
    GNOMON_OP_FLOPS_GIVEN = 2, /* by the program, not counted from shapes */
    GNOMON_OP_BYTES_GIVEN = 4
};

/* What an execution computes; flops and bytes are of one. */
typedef struct gnomon_op_info {
    uint32_t struct_size;
    uint32_t flags; /* gnomon_op_flags */
    const char *operation;
    const gnomon_tensor *inputs;
    size_t input_count;
    const gnomon_attribute *attributes; /* a kernel's grid and block too */
    size_t attribute_count;
    uint64_t flops;
    uint64_t bytes;
} gnomon_op_info;

GNOMON__LIST(input, gnomon_tensor, gnomon_op_info, inputs)
GNOMON__LIST(attribute, gnomon_attribute, gnomon_op_info, attributes)

enum gnomon_node_flags {
    GNOMON_NODE_CROSSED = 1, /* a child outlived it, or it its parent: self and
                                the children's totals do not add up to total */
    GNOMON_NODE_RANGE = 2,   /* ranges: no self, no part in other nodes' */
    GNOMON_NODE_OTHER = 4,   /* stands for paths past a limit */
    GNOMON_NODE_PARTIAL = 8, /* has children in stages that are left out */
    GNOMON_NODE_CLOCK = 16   /* the clock stepped back in an execution: as for
                                GNOMON_NODE_CROSSED */
};

/* One path: `region` executed inside `parent`. A parent's number is smaller. */
typedef struct gnomon_node_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t stage;
    uint32_t parent; /* 0: outermost */
    uint32_t region;
    uint32_t op;    /* 0: none */
    uint32_t open;  /* executions that are open */
    uint32_t flags; /* gnomon_node_flags */
    uint64_t first; /* order of its first end among all nodes; 0: none yet */
    const gnomon_stats *host;          /* GNOMON_NULL: not recorded */
    const gnomon_stats *device;        /* likewise; work that it launched */
    const gnomon_memory_stats *memory; /* by pool, ascending */
    size_t memory_count;
    const gnomon_work_stats *work; /* GNOMON_NULL: not recorded */
    uint32_t view;                 /* 0: of none, so of all */
    uint32_t reserved;
} gnomon_node_info;

GNOMON__LIST(memory, gnomon_memory_stats, gnomon_node_info, memory)

enum gnomon_event_kind {
    GNOMON_EVENT_EXECUTION = 0,
    GNOMON_EVENT_MARK = 1,
    GNOMON_EVENT_COUNTER = 2, /* `value` */
    GNOMON_EVENT_MEMORY = 3   /* `value` bytes; freed ones below 0 */
};

/* One moment or execution on a track; a track's are in order of their begin. */
typedef struct gnomon_event_info {
    uint32_t struct_size;
    uint32_t kind; /* gnomon_event_kind */
    uint32_t track;
    uint32_t node;   /* of an execution; of others the one around, or 0 */
    uint32_t region; /* of marks and counters; a memory fact's pool (track) */
    uint32_t reserved;
    uint64_t begin_ns;
    uint64_t duration_ns;
    uint64_t instance; /* its 64-bit id; 0: none */
    double value;
} gnomon_event_info;

/* A scope that is open; its node's `host` counts finished ones only. */
typedef struct gnomon_open_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t node;
    uint32_t reserved;
    uint64_t begin_ns;
} gnomon_open_info;

typedef struct gnomon_link_info {
    uint32_t struct_size;
    uint32_t from; /* nodes */
    uint32_t to;
    uint32_t kind; /* gnomon_link_kind */
    uint64_t count;
    uint64_t from_instance; /* of events; 0: of the paths as such */
    uint64_t to_instance;
} gnomon_link_info;

/* Samples that are numbers; all four values are 0 where count is. */
typedef struct gnomon_counter_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t region;
    uint32_t stage;
    uint64_t count;
    double last;
    double min;
    double max;
    double sum;
    uint64_t nans; /* samples that were not a number, in none of the others */
} gnomon_counter_info;

typedef struct gnomon_metadata_info {
    uint32_t struct_size;
    uint32_t run;
    const char *key;
    const char *json;
} gnomon_metadata_info;

/* Something that was not recorded, and how often. */
typedef struct gnomon_loss_info {
    uint32_t struct_size;
    uint32_t track; /* 0: of the run */
    const char *kind;
    uint64_t count;
    uint64_t begin_ns; /* of the time it was in; both 0: not known */
    uint64_t end_ns;
    uint32_t run;
    uint32_t reserved;
} gnomon_loss_info;

#undef GNOMON__LIST

GNOMON_END_DECLS

#endif
