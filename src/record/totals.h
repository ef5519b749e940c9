/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of paths, in ns: of one stage, or of all stages of one name. Only these are
 * kept of a stage that is over, so the memory of a run depends on its paths, not on
 * its length. The owner has a lock. */
#ifndef GNOMON_RECORD_TOTALS_H
#define GNOMON_RECORD_TOTALS_H

#include "gnomon/profile.h"
#include "profile/slots.h"
#include "record/recorders.h"
#include "record/rows.h"

/* The sums of one path of one thread. Most durations of a path fall into few cells, so
 * only those are kept that have a count, as a profile has them. The count of `s` is the
 * sum of the cells. */
typedef struct gnomon__total {
    gnomon_stats s; /* without cells */
    uint64_t first; /* order of the first end; 0: none */
    gnomon_cell *cells;
    size_t cell_count, cell_room;
    struct gnomon__total *device; /* times on devices; NULL: none */
    uint16_t flags;               /* gnomon_node_flags */
    uint8_t is_touched;
    uint8_t has_times; /* it has more than flags */
} gnomon__total;

/* A link between paths of one or two threads. */
typedef struct gnomon__total_edge {
    uint32_t from_thread, from; /* number of the path; 0: none */
    uint32_t to_thread, to;
    uint32_t kind;
    uint32_t reserved;
    uint64_t count;
} gnomon__total_edge;

typedef struct gnomon__totals_thread {
    gnomon__total **of; /* by the path's number; NULL: nothing */
    size_t room;
    size_t touched_count, touched_room;
    uint32_t *touched; /* numbers of the paths in use */
    uint32_t has_tree; /* it has a tree, which may be empty */
    uint32_t is_inexact;
    size_t counter_count, counter_room;
    gnomon__row_counter *counters;
} gnomon__totals_thread;

typedef struct gnomon__totals {
    gnomon__totals_thread *threads; /* by number */
    size_t thread_count;
    gnomon__total_edge *edges;
    size_t edge_count, edge_room;
    gnomon__slots edge_slots;
    uint64_t recorded_ns;          /* how long the view recorded */
    uint64_t late;                 /* executions that ended after their stage */
    int is_incomplete;             /* some is missing: no memory */
    void *sums[GNOMON__RECORDERS]; /* of recorders; NULL: none */
} gnomon__totals;

/* These make what is missing. 0 or NULL: no memory. */
gnomon__totals_thread *gnomon__totals_thread_at(gnomon__totals *t,
                                                uint32_t thread);
gnomon__total *gnomon__totals_path(gnomon__totals *t, uint32_t thread,
                                   uint32_t number);
/* The same, to set flags only: has_times stays 0. */
gnomon__total *gnomon__totals_flags(gnomon__totals *t, uint32_t thread,
                                    uint32_t number);
int gnomon__totals_link(gnomon__totals *t, const gnomon__total_edge *e);
int gnomon__totals_counter(gnomon__totals_thread *t,
                           const gnomon__row_counter *from);
/* NULL: the path is not in use. */
const gnomon__total *gnomon__totals_find(const gnomon__totals *t,
                                         uint32_t thread, uint32_t number);

/* Adds all of `from`. GNOMON_OK, or GNOMON_ENOMEM: some of it is missing. */
int gnomon__totals_add(gnomon__totals *to, const gnomon__totals *from);

/* Empties it, at the cost of the paths in use. The memory is kept for the next
 * stage. */
void gnomon__totals_clear(gnomon__totals *t);
void gnomon__totals_free(gnomon__totals *t);

/* ---- One path: total.c ---------------------------------------------------- */

/* _count adds one execution; _hold makes room for `more` cells. 0: no memory. */
int gnomon__total_count(gnomon__total *s, uint64_t ns, uint64_t self_ns);
int gnomon__total_hold(gnomon__total *s, size_t more);
/* Adds to a cell for which _hold has made room; the caller adds to `s`. */
void gnomon__total_cell(gnomon__total *s, uint32_t cell, uint64_t count);
void gnomon__total_first(gnomon__total *s, uint64_t first);
/* All of `from`; 0: no memory, and nothing was added. */
int gnomon__total_add(gnomon__total *to, const gnomon__total *from);
void gnomon__total_clear(gnomon__total *s);
/* _clear sets all to 0 and keeps the cells' memory, _empty frees what it holds, _free
 * frees itself too; NULL is allowed. */
void gnomon__total_empty(gnomon__total *s);
void gnomon__total_free(gnomon__total *s);

#endif
