/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a profile is made of. gnomon/nodes.h has the call tree and events.
 * gnomon/profile.h reads profiles, gnomon/builder.h makes them, docs/profile.md
 * says what always holds of them.
 *
 * For all structs here:
 * Numbers: the entities of each kind are numbered from 1; a field that names one
 * by its number has 0 for "none".
 * Units: moments are ns since the run's zero, durations ns, sizes bytes.
 * Texts: UTF-8, with a final NUL. "" is none, unless NULL is named.
 * Ownership: what a profile hands out belongs to it, and lives as long as it
 * does. What is given to a builder is copied.
 * `reserved` is 0. Structs grow at their ends, as gnomon/stats.h says.
 */
#ifndef GNOMON_ENTITIES_H
#define GNOMON_ENTITIES_H

#include "stats.h"

GNOMON_BEGIN_DECLS

/* The kinds of entities, for gnomon_profile_count and gnomon_builder_add. Each
 * has its struct below. */
enum gnomon_entity {
    /* gnomon_run_info: the processes that recorded. */
    GNOMON_RUNS = 0,
    /* gnomon_stage_info. */
    GNOMON_STAGES = 1,
    /* gnomon_step_info: the last steps, and the slowest. */
    GNOMON_STEPS = 2,
    /* gnomon_track_info: threads, streams, pools. */
    GNOMON_TRACKS = 3,
    /* gnomon_region_info: names, with file and line. */
    GNOMON_REGIONS = 4,
    /* gnomon_node_info: the paths of the call tree, with their times. */
    GNOMON_NODES = 5,
    /* gnomon_open_info: scopes that were open. */
    GNOMON_OPENS = 6,
    /* gnomon_link_info: causes and effects. */
    GNOMON_LINKS = 7,
    /* gnomon_counter_info. */
    GNOMON_COUNTERS = 8,
    /* gnomon_metadata_info. */
    GNOMON_METADATA = 9,
    /* gnomon_loss_info: what was not recorded. */
    GNOMON_LOSSES = 10,
    /* gnomon_view_info: filters, schedules and ranks. */
    GNOMON_VIEWS = 11,
    /* gnomon_op_info: what nodes compute. */
    GNOMON_OPS = 12,
    /* gnomon_event_info: single executions and moments. */
    GNOMON_EVENTS = 13,
    /* gnomon_step_time_info: how long regions took in steps. */
    GNOMON_STEP_TIMES = 14,
    /* gnomon_view_time_info: how long views recorded stages. */
    GNOMON_VIEW_TIMES = 15
};

/* ---- The run ---------------------------------------------------------------- */

/* A moment at which the run's clock was compared with the system's. */
typedef struct gnomon_clock_anchor {
    uint32_t struct_size;
    uint32_t reserved;
    /* The moment by the run's clock. */
    uint64_t ns;
    /* The same moment in Unix time, ns since 1970. */
    uint64_t unix_ns;
    /* How far the two may be apart. */
    uint64_t error_ns;
} gnomon_clock_anchor;

/* One process that recorded. Job, rank and attempt together are its key: merged
 * profiles hold many. */
typedef struct gnomon_run_info {
    uint32_t struct_size;
    /* The rank in the job, from 0; -1: not known. */
    int32_t rank;
    /* The rank among those of the machine, from 0; -1: not known. */
    int32_t local_rank;
    /* How many ranks the job has; -1: not known. */
    int32_t world_size;
    /* The process, as its operating system numbered it. */
    int64_t pid;
    /* The machine's name. */
    const char *host;
    /* The folder of reports; NULL: not given. */
    const char *dir;
    /* What was attached, as a spec with all defaults written out. */
    const char *spec;
    /* What times were read from: "tsc", "cntvct", "monotonic", "test". */
    const char *clock;
    /* The run's zero, in Unix time. */
    uint64_t zero_unix_ns;
    /* How far zero_unix_ns may be off. */
    uint64_t clock_error_ns;
    /* When the profile was taken. */
    uint64_t now_ns;
    /* How often the launcher has restarted the job; NULL: not known. */
    const char *attempt;
    /* What the launcher calls the job; NULL: not known. */
    const char *job;
    /* Of this process alone, so that copies of one profile are not added up as
     * if they were two; NULL: not known. */
    const char *uuid;
    /* Later comparisons of the clocks, in the order in which they were made. Read
     * them by gnomon_anchor_at. */
    const gnomon_clock_anchor *anchors;
    size_t anchor_count;
} gnomon_run_info;

GNOMON__LIST(anchor, gnomon_clock_anchor, gnomon_run_info, anchors)

/* What a program, a launcher or gnomon said of a run. */
typedef struct gnomon_metadata_info {
    uint32_t struct_size;
    /* The run that it is of. */
    uint32_t run;
    const char *key;
    /* One JSON value. */
    const char *json;
} gnomon_metadata_info;

/* Something that was not recorded, and how often. docs/profile.md has more. */
typedef struct gnomon_loss_info {
    uint32_t struct_size;
    /* The thread; 0: the run as a whole. */
    uint32_t track;
    /* A field of gnomon_health, what is damaged in a file, or of events:
     * events_lost, which found no room, and events_overwritten, which made room for
     * newer ones. */
    const char *kind;
    /* How often, at least 1. */
    uint64_t count;
    /* The time within which it happened; both 0: not known. */
    uint64_t begin_ns;
    uint64_t end_ns;
    /* The run; 0: not known. */
    uint32_t run;
    uint32_t reserved;
} gnomon_loss_info;

/* ---- Stages and steps --------------------------------------------------------- */

/* A stage of a run, or several of one name that were added up. */
typedef struct gnomon_stage_info {
    uint32_t struct_size;
    /* 1, 2, ... in the order of the run. */
    uint32_t ordinal;
    /* "" where the program opened none. */
    const char *name;
    /* When it was opened, or its first mark where that came before. */
    uint64_t begin_ns;
    /* When it ended; of one that is open, when the profile was taken. */
    uint64_t end_ns;
    /* Whether it has ended. */
    int32_t ended;
    /* The run that it is of. */
    uint32_t run;
    /* Durations of its steps; NULL: no step is over. */
    const gnomon_stats *steps;
    /* How many stages of this name are added up in it; 0 means 1. */
    uint32_t count;
    uint32_t reserved;
    /* How long it was recorded, of which reports give percents; 0: not known,
     * then take end_ns - begin_ns. Of several views the longest time: those of
     * each view are gnomon_view_time_info. */
    uint64_t recorded_ns;
    /* How many executions in its sums ended after it. */
    uint64_t late;
} gnomon_stage_info;

/* Where a schedule stands, or stood at a step. */
enum gnomon_phase {
    /* Waiting: nothing is recorded. */
    GNOMON_PHASE_NONE = 0,
    /* The steps before a window, in which a tool may warm up: nothing is recorded
     * either. */
    GNOMON_PHASE_WARMUP = 1,
    /* Recorded. */
    GNOMON_PHASE_RECORD = 2,
    /* Recorded; the last step of a window. */
    GNOMON_PHASE_RECORD_AND_SAVE = 3
};

/* One training step. A profile keeps the last 64, and the slowest ten where a
 * profiler wants GNOMON_WANT_STEPS. */
typedef struct gnomon_step_info {
    uint32_t struct_size;
    /* The stage that it is of. */
    uint32_t stage;
    /* Its number: from 0 in each stage, or what the framework gave. */
    uint64_t number;
    uint64_t begin_ns;
    /* 0: it is not over. */
    uint64_t end_ns;
    /* A gnomon_phase; GNOMON_PHASE_RECORD where there is no schedule. */
    int32_t phase;
    /* The rank of its process, where its stage is of several ranks; else -1. */
    int32_t rank;
    /* The ordinal of the stage in which it was made: several stages may be added
     * up in its own. 0: not known. */
    uint32_t ordinal;
    uint32_t reserved;
} gnomon_step_info;

/* How long a region took in steps. An execution counts in the step in which it
 * ends, from its own begin or the step's, whichever was later. Threads add up;
 * `own_ns` is of the one that made the step, which others need not have delayed.
 * For each region that ended in any step of the stage there is one entry with
 * `step` 0, in which each step is one duration. The other entries are of the
 * slowest steps, one by one. */
typedef struct gnomon_step_time_info {
    uint32_t struct_size;
    uint32_t stage;
    /* 0: there is only one view. */
    uint32_t view;
    /* 0: of all steps that were recorded from their begin to their end. */
    uint32_t step;
    /* 0: the steps themselves. */
    uint32_t region;
    uint32_t reserved;
    /* Never NULL; its self_ns is 0. */
    const gnomon_stats *time;
    /* How much of time's total_ns was on the thread that made the step. */
    uint64_t own_ns;
    /* How many executions ended; 0: neither this nor own_ns is known, as in older
     * files. */
    uint64_t calls;
} gnomon_step_time_info;

/* How long a view recorded a stage. Merged profiles have these, because their
 * views share the stages. In any other profile a stage's own `recorded_ns` is that
 * of its only view. */
typedef struct gnomon_view_time_info {
    uint32_t struct_size;
    uint32_t stage;
    uint32_t view;
    uint32_t reserved;
    uint64_t recorded_ns;
} gnomon_view_time_info;

/* ---- Who did it, and what ------------------------------------------------------- */

/* What a track is. */
enum gnomon_track_kind {
    GNOMON_TRACK_THREAD = 0,
    /* A stream of a device. */
    GNOMON_TRACK_STREAM = 1,
    /* A row of a trace that is neither. */
    GNOMON_TRACK_LANE = 2,
    /* A pool of memory. */
    GNOMON_TRACK_POOL = 3
};

/* What executes one thing after the other, as a thread, or a pool of memory. */
typedef struct gnomon_track_info {
    uint32_t struct_size;
    /* A gnomon_track_kind. */
    uint32_t kind;
    const char *name;
    /* The operating system's number of the last thread that was this track. */
    int64_t os_id;
    /* The thread's number in its process, from 0. */
    uint32_t index;
    /* How many threads this track was: threads of one name that follow one
     * another are one track. */
    uint32_t thread_count;
    /* Whether the thread had not ended when the profile was taken. */
    int32_t alive;
    /* Whether it marked while it was read, so that sums may be off by the
     * executions of that moment. */
    int32_t inexact;
    /* The run that it is of. */
    uint32_t run;
    /* The number of its device, from 0; -1: the host. */
    int32_t device;
} gnomon_track_info;

/* The filter, schedule and ranks under which nodes were recorded. */
typedef struct gnomon_view_info {
    uint32_t struct_size;
    uint32_t reserved;
    /* As in a spec: "filter=opt*"; "" is everything. */
    const char *words;
} gnomon_view_info;

/* Kinds of regions beyond those that are marked (gnomon_region_kind). */
enum gnomon_profile_kind {
    /* A function of Python. */
    GNOMON_KIND_PYTHON = 6,
    /* A call of a device's interface on the host. */
    GNOMON_KIND_API = 7,
    /* A kernel on a device. */
    GNOMON_KIND_KERNEL = 8,
    /* A copy of memory, to, from or on a device. */
    GNOMON_KIND_COPY = 9,
    /* Memory of a device that is set to a value. */
    GNOMON_KIND_SET = 10,
    /* A collective operation of several ranks. */
    GNOMON_KIND_COLLECTIVE = 11,
    /* A line of source. */
    GNOMON_KIND_LINE = 12
};

/* A named place in the program: gnomon_region, as a profile keeps it. */
typedef struct gnomon_region_info {
    uint32_t struct_size;
    /* A gnomon_region_kind or gnomon_profile_kind. */
    uint32_t kind;
    const char *name;
    const char *category;
    const char *file;
    const char *function;
    /* From 1; 0: not known. */
    uint32_t line;
    uint32_t reserved;
} gnomon_region_info;

/* The shape of one input of an operation. */
typedef struct gnomon_tensor {
    uint32_t struct_size;
    /* How many dims there are. */
    uint32_t rank;
    /* The type of its elements, as "float32". */
    const char *dtype;
    /* `rank` sizes, in elements. */
    const int64_t *dims;
    /* `rank` distances, in elements; NULL: contiguous. */
    const int64_t *strides;
} gnomon_tensor;

/* A property of an operation. */
typedef struct gnomon_attribute {
    uint32_t struct_size;
    uint32_t reserved;
    const char *key;
    /* One JSON value. */
    const char *json;
} gnomon_attribute;

/* Bits of gnomon_op_info.flags. */
enum gnomon_op_flags {
    /* It is of a backward pass. */
    GNOMON_OP_BACKWARD = 1,
    /* The program gave the number; it is not counted from shapes. */
    GNOMON_OP_FLOPS_GIVEN = 2,
    GNOMON_OP_BYTES_GIVEN = 4
};

/* What the executions of a node compute. */
typedef struct gnomon_op_info {
    uint32_t struct_size;
    /* Bits of gnomon_op_flags. */
    uint32_t flags;
    /* Its name, as "matmul". */
    const char *operation;
    /* Read them by gnomon_input_at. */
    const gnomon_tensor *inputs;
    size_t input_count;
    /* Also a kernel's grid and block. Read them by gnomon_attribute_at. */
    const gnomon_attribute *attributes;
    size_t attribute_count;
    /* Floating-point operations, and bytes moved, of one execution. */
    uint64_t flops;
    uint64_t bytes;
} gnomon_op_info;

GNOMON__LIST(input, gnomon_tensor, gnomon_op_info, inputs)
GNOMON__LIST(attribute, gnomon_attribute, gnomon_op_info, attributes)

GNOMON_END_DECLS

#endif
