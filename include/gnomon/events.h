/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a profiler's callbacks are given. Included by gnomon/profiler.h.
 *
 * Ownership: each struct is borrowed: it is valid inside the callback only, and so
 * is what it points to, but for regions and names, which live as long as the
 * process.
 * Units: `ns`, `begin_ns` and `end_ns` are ns since the run's zero. They are 0 where
 * the profiler does not ask for times (GNOMON_WANT_TIMES), but for steps.
 * `thread` is the calling thread's number, from 0; `step` the number of the step
 * that is under way. Names are always valid UTF-8.
 * Structs grow at their ends: look at struct_size before a field that is newer
 * than the first release.
 */
#ifndef GNOMON_EVENTS_H
#define GNOMON_EVENTS_H

#include "../gnomon.h"
#include "device.h"

GNOMON_BEGIN_DECLS

/* Bits of gnomon_frame.flags. */
enum gnomon_frame_flags {
    /* An action: it need not nest. */
    GNOMON_FRAME_ACTION = 1u,
    /* A range: it may stop on another thread. */
    GNOMON_FRAME_RANGE = 2u,
    /* In stop: it did not end. Its thread ended before it, or the profiler is
     * detached. Free what `slot` leads to, and count nothing. */
    GNOMON_FRAME_UNFINISHED = 4u,
    /* In stop: another thread ended it, at end_ns. The stop comes at the next
     * mark of the thread that began it, and need not be the innermost there. */
    GNOMON_FRAME_FOREIGN = 8u
};

/* A scope, action or range, at its start or its stop. */
typedef struct gnomon_frame {
    uint32_t struct_size;
    /* Bits of gnomon_frame_flags. */
    uint32_t flags;
    /* What is executed. Lives as long as the process. */
    const gnomon_region *region;
    /* The region's name; use it, for region->name may be no UTF-8. */
    const char *name;
    /* This execution's 64-bit id, the same in start and stop. */
    uint64_t token;
    /* In stop; 0 in start. */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t thread;
    uint32_t reserved;
} gnomon_frame;

/* A counter was sampled: gnomon_counter, or GNOMON_COUNTER. */
typedef struct gnomon_counter_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_region *region;
    const char *name;
    /* May be a NaN or infinite. */
    double value;
    uint64_t ns;
    uint64_t step;
} gnomon_counter_event;

/* A moment was marked. */
typedef struct gnomon_mark_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_region *region;
    const char *name;
    uint64_t ns;
    uint64_t step;
} gnomon_mark_event;

/* A step is over. Both times are always there. */
typedef struct gnomon_step_event {
    uint32_t struct_size;
    uint32_t thread;
    /* The number of the step that is over. */
    uint64_t step;
    uint64_t begin_ns;
    uint64_t end_ns;
} gnomon_step_event;

/* The calling thread got a name. */
typedef struct gnomon_thread_event {
    uint32_t struct_size;
    uint32_t thread;
    const char *name;
    /* The operating system's number of the thread. */
    int64_t os_id;
} gnomon_thread_event;

/* The innermost open scope of the calling thread was caused by another scope. */
typedef struct gnomon_link_event {
    uint32_t struct_size;
    uint32_t thread;
    /* A gnomon_link_kind. */
    int32_t kind;
    /* The thread of the cause. */
    uint32_t from_thread;
    /* The tokens of cause and effect; 0: no scope that is known. */
    uint64_t from;
    uint64_t to;
    uint64_t ns;
    uint64_t step;
} gnomon_link_event;

/* The window of the profiler's schedule opens or closes. */
typedef struct gnomon_window_event {
    uint32_t struct_size;
    /* A gnomon_phase (gnomon/entities.h): holds from now on. */
    int32_t phase;
    /* How many steps of the open stage are over. */
    uint64_t step;
} gnomon_window_event;

/* A stream of a device got a name. */
typedef struct gnomon_stream_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_device *device;
    /* The stream, as the vendor names it. Not gnomon's. */
    void *stream;
    const char *name;
} gnomon_stream_event;

GNOMON_END_DECLS

#endif
