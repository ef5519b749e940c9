/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events of work in a profile, and the links from what launched it: its call, or where
 * that is not known the scope. */
#ifndef GNOMON_RECORD_ACTIVITY_ROWS_H
#define GNOMON_RECORD_ACTIVITY_ROWS_H

#include "record/snapshot_parts.h"

/* The node of a leaf in a stage. */
typedef struct gnomon__work_place {
    uint32_t stage, leaf;
    uint32_t node, track; /* in the profile */
    uint32_t is_on_host;  /* on a lane of calls, or ... */
    uint32_t is_call;     /* ... a call itself */
    uint32_t thread,
        path; /* that launched it; path 0: none, or the scope itself */
} gnomon__work_place;

typedef struct gnomon__work_row {
    uint64_t begin_ns, duration_ns, instance;
    uint32_t node, track;
} gnomon__work_row;

typedef struct gnomon__work_rows {
    size_t count;
    gnomon__work_row of[]; /* by track, then begin */
} gnomon__work_rows;

/* Sorts the places, and makes b->work of the run's events. 0: no memory. */
int gnomon__snapshot_work_rows(gnomon__snapshot_builder *b,
                               gnomon__work_place *places, size_t count);

#endif
