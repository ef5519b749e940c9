/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of key_averages() from single events, by the rules of torch 2.13
 * (torch/autograd/profiler.py, profiler_util.py): who contains whom is found by time, and
 * memory is of every operation at whose time it was taken, on any thread. */
#ifndef GNOMON_REPORT_AVERAGES_EVENTS_H
#define GNOMON_REPORT_AVERAGES_EVENTS_H

#include "report/averages.h"

/* An event as the profiler delivered it. The caller's, as long as rows of it are used. */
typedef struct gnomon__average_event {
    const char *name, *overload, *shapes;
    const char *const *stack; /* the innermost frame first */
    size_t stack_count;
    uint64_t begin_ns, end_ns, flops;
    uint64_t thread, end_thread; /* they differ: it is asynchronous */
    uint64_t id;                 /* that others are linked to */
    uint64_t linked;             /* the operation that launched it; 0: none */
    int64_t bytes;               /* of "[memory]" and "[OutOfMemory]" */
    int64_t node;                /* -1: none */
    bool is_device, is_annotation;
} gnomon__average_event;

/* What tells rows apart beside names. */
typedef struct gnomon__averages_by {
    bool shapes, overloads;
    size_t frames; /* the innermost ones of the stack; 0: none */
} gnomon__averages_by;

/* Makes rows in the order in which they are met first. Free *rows, whose texts are the
 * events' or constant. GNOMON_OK or GNOMON_ENOMEM. O(n log n). */
int gnomon__averages_of_events(const gnomon__average_event *events,
                               size_t count, const gnomon__averages_by *by,
                               gnomon__average **rows, size_t *row_count);

#endif
