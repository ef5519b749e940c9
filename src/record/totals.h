/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What paths came to, in ns: of one stage, or of all stages of one name. This is
 * what is left of a stage that is over, so that a run of any length takes the
 * memory of its paths. Whoever has one holds a lock of his own. */
#ifndef GNOMON_RECORD_TOTALS_H
#define GNOMON_RECORD_TOTALS_H

#include "profile/slots.h"
#include "record/rows.h"

#define GNOMON__NS_CELLS 1024 /* all there are: 16 * 59 + 32 */

/* Of one path of one thread. Cells low * 16 .. (low + room) * 16 - 1 of ns. Its
 * count is the sum of its cells. */
typedef struct gnomon__total {
    uint64_t count, total_ns, self_ns, min_ns, max_ns;
    uint64_t first; /* order of the first end; 0: none */
    uint64_t *cells;
    uint16_t low, room; /* octaves */
    uint32_t flags;     /* gnomon_node_flags */
    uint32_t is_touched;
    uint32_t is_there;            /* there is more than flags */
    uint16_t least, most;         /* octaves in which something was counted */
    struct gnomon__total *device; /* the same of the device; NULL: nothing */
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
    gnomon__total **of; /* by the path's number; NULL: nothing yet */
    size_t room;
    size_t touched_count, touched_room;
    uint32_t *touched; /* numbers of those that have something */
    uint32_t is_there; /* it has a tree, if only an empty one */
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
    uint64_t recorded_ns; /* how long the view recorded */
    uint64_t late;        /* executions that ended after their stage */
    int is_incomplete;    /* there was no memory for some of it */
    struct gnomon__step_sums *steps; /* NULL: none were recorded */
} gnomon__totals;

/* Each makes what is not there; 0 or NULL: no memory. */
gnomon__totals_thread *gnomon__totals_thread_at(gnomon__totals *t,
                                                uint32_t thread);
gnomon__total *gnomon__totals_path(gnomon__totals *t, uint32_t thread,
                                   uint32_t number);
/* The same, for flags alone: it has nothing by that. */
gnomon__total *gnomon__totals_flags(gnomon__totals *t, uint32_t thread,
                                    uint32_t number);
int gnomon__totals_link(gnomon__totals *t, const gnomon__total_edge *e);
int gnomon__totals_counter(gnomon__totals_thread *t,
                           const gnomon__row_counter *from);
/* NULL: it has nothing. */
const gnomon__total *gnomon__totals_find(const gnomon__totals *t,
                                         uint32_t thread, uint32_t number);

/* All of `from`. GNOMON_OK, or GNOMON_ENOMEM: some of it is missing. */
int gnomon__totals_add(gnomon__totals *to, const gnomon__totals *from);

/* Nothing again, at the cost of what was touched; what it took it keeps. */
void gnomon__totals_clear(gnomon__totals *t);
void gnomon__totals_free(gnomon__totals *t);

/* ---- One path: total.c ---------------------------------------------------- */

/* One execution; room for octaves `low` to `high` first. 0: no memory. */
int gnomon__total_count(gnomon__total *s, uint64_t ns, uint64_t self_ns);
int gnomon__total_hold(gnomon__total *s, uint32_t low, uint32_t high);
/* Into a cell that is held. */
void gnomon__total_cell(gnomon__total *s, uint32_t cell, uint64_t count);
/* Widens min and max; before the counts. */
void gnomon__total_bounds(gnomon__total *s, uint64_t min_ns, uint64_t max_ns);
void gnomon__total_first(gnomon__total *s, uint64_t first);
/* All of `from`; 0: no memory, and nothing was added. */
int gnomon__total_add(gnomon__total *to, const gnomon__total *from);
void gnomon__total_clear(gnomon__total *s);
/* What it holds; and itself. NULL is fine. */
void gnomon__total_empty(gnomon__total *s);
void gnomon__total_free(gnomon__total *s);

#endif
