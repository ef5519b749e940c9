/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads what threads wrote, as plain rows in ticks: the bank at rest after a cut,
 * which is then cleared, or the bank in use, while its thread goes on. Threads do not
 * wait for a reader. */
#ifndef GNOMON_RECORD_ROWS_H
#define GNOMON_RECORD_ROWS_H

#include "mark/tree.h"
#include "profile/strip.h"

#define GNOMON__NO_ROW UINT32_MAX

/* One node of a thread's tree, and what was recorded on it in a segment. */
typedef struct gnomon__row {
    uint32_t node;   /* offset in the arena: its identity */
    uint32_t number; /* of the tree's nodes; parents have lower ones */
    uint32_t parent; /* row; GNOMON__NO_ROW: outermost */
    uint32_t key;
    uint32_t node_flags; /* GNOMON__NODE_*; _RANGES: it is of ranges */
    uint32_t is_partial; /* part of it or its children is in other segments */
    uint64_t count;
    uint64_t total;    /* ticks */
    gnomon__part part; /* least and most are 0 where nothing ended */
    uint32_t cells;    /* first of its cells in the table */
    uint32_t cell_count;
    /* If it is on the chain of open scopes: */
    uint32_t is_on_chain;
    uint32_t segment; /* in which the open execution began */
    uint64_t token;   /* 0: closed */
    uint64_t begin;   /* ticks; its end, if it is closed */
    /* Of an execution that began in an earlier segment and ended in this one, the
     * part in this one: */
    uint64_t carried; /* ticks that it was open */
    uint64_t carried_self;
    /* Its share: of executions that began in this segment, and of one that began earlier
     * and is still open. */
    uint64_t self_ns, earlier_self_ns;
} gnomon__row;

typedef struct gnomon__row_cell {
    uint32_t cell; /* of ticks */
    uint32_t reserved;
    uint64_t count;
} gnomon__row_cell;

/* An execution that ended in this segment and counts in the one where it began. */
typedef struct gnomon__late {
    uint32_t row;
    uint32_t segment;
    uint64_t ticks; /* of all of it */
    uint64_t self;  /* ticks that are in no earlier segment's row */
    int is_left;    /* left without an end: only its self time counts */
} gnomon__late;

/* By numbers of nodes. */
typedef struct gnomon__row_edge {
    uint32_t from_thread, from;
    uint32_t to, kind;
    uint64_t count;
} gnomon__row_edge;

typedef struct gnomon__row_counter {
    uint32_t key;
    uint32_t reserved;
    gnomon__sums_of_samples samples;
    gnomon__strip strip; /* of the samples by steps */
} gnomon__row_counter;

/* One thread's tree in one segment; parents before children. */
typedef struct gnomon__rows {
    gnomon__row *rows;
    size_t count, room;
    gnomon__row_cell *cells;
    size_t cell_count, cell_room;
    gnomon__late *late;
    size_t late_count, late_room;
    gnomon__row_edge *edges;
    size_t edge_count, edge_room;
    gnomon__row_counter *counters;
    size_t counter_count, counter_room;
    uint64_t from, until; /* ticks: the segment, up to its end or the copy */
    uint64_t rate;        /* ticks to ns: gnomon__clock_rate */
    uint32_t segment;     /* its number */
    uint32_t thread;      /* its number */
    int has_tree;         /* the thread has such a tree */
    int is_exact;         /* all of one moment, and the thread was never
                           * cancelled in a mark */
} gnomon__rows;

/* Copies what thread `t`'s tree for `bit`, of `generation`, has recorded in the
 * segment that it is in. GNOMON_ENOMEM. Under the readers' lock. Free with
 * gnomon__rows_free, which also fits zeroes. */
int gnomon__rows_copy(gnomon__rows *out, const gnomon__thread *t, uint32_t bit,
                      uint32_t generation);

/* Takes what the bank at rest holds and clears it. Takes nothing of a thread that has
 * not cut yet. GNOMON_ENOMEM: nothing is cleared. In a control call, after
 * gnomon__cut. */
int gnomon__rows_take(gnomon__rows *out, gnomon__thread *t, uint32_t bit,
                      uint32_t generation);
void gnomon__rows_free(gnomon__rows *rows);

/* The readers' lock: one reader at a time, as readers write notes into nodes. Who cuts
 * holds it until the bank at rest was taken, so that no reader finds half of it. Who
 * changes what readers read holds it too. Never held over a callback; marks never take
 * it. */
void gnomon__readers_lock(void);
void gnomon__readers_unlock(void);
#endif
