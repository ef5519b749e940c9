/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads what threads wrote while they go on writing: copies of their trees as
 * plain rows, in ticks. Takes no lock of theirs and makes none of them wait. */
#ifndef GNOMON_RECORD_COLLECT_H
#define GNOMON_RECORD_COLLECT_H

#include "mark/tree.h"

/* One node, copied. */
typedef struct gnomon__row {
    gnomon__node node;
    uint32_t offset; /* in the arena: its identity */
    uint32_t parent; /* row; itself: none (the root, or the ranges' parent) */
    uint32_t cells;  /* first of its cells in the table */
    uint32_t cell_count;
    uint64_t count;
    uint64_t max; /* ticks */
} gnomon__row;

typedef struct gnomon__row_cell {
    uint32_t cell; /* in ticks */
    uint32_t reserved;
    uint64_t count;
} gnomon__row_cell;

/* One thread's tree, parents before children; row 0 is the root. */
typedef struct gnomon__rows {
    gnomon__row *rows;
    size_t count, room;
    gnomon__row_cell *cells;
    size_t cell_count, cell_room;
    gnomon__edge *edges;
    size_t edge_count;
    gnomon__counter *counters;
    size_t counter_count;
    uint64_t now; /* ticks at the copy */
    int exact;    /* the thread did not mark meanwhile */
} gnomon__rows;

/* Copies thread `t`'s tree for `bit`. Count 0: it has none of `generation`.
 * GNOMON_ENOMEM. Free with gnomon__rows_free, which also fits zeroes. */
int gnomon__rows_copy(gnomon__rows *out, const gnomon__thread *t, uint32_t bit,
                      uint32_t generation);
void gnomon__rows_free(gnomon__rows *rows);

#endif
