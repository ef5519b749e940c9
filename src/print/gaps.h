/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Gaps: the time on a track between one outermost execution and the next. A scope that is
 * still open is none.
 *
 * No gap is counted from one stage to the next one, nor where events are missing: outside
 * of a schedule's windows, or while they were lost on this track. Ranges fill no gap, as
 * they take no thread's time.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_GAPS_H
#define GNOMON_PRINT_GAPS_H

#include "print/event_steps.h"

typedef struct gnomon__gap {
    uint64_t begin_ns, ns;
    uint32_t track;
    uint32_t after, before; /* nodes: what ended last, what began next */
    uint32_t group;         /* of the track */
} gnomon__gap;

/* Sums of a track. */
typedef struct gnomon__gap_track {
    uint64_t executions; /* outermost ones */
    uint64_t busy_ns;    /* in at least one of them */
    uint64_t idle_ns, longest_ns, gaps;
    uint64_t until_ns; /* when the last one ends */
    uint32_t last;     /* its node; 0: there was none in this stage */
    uint32_t stage;
} gnomon__gap_track;

/* The longest gaps of a group, as a heap whose first is the shortest. */
typedef struct gnomon__gap_heap {
    gnomon__gap *at;
    size_t count, room;
} gnomon__gap_heap;

typedef struct gnomon__gaps {
    const gnomon_profile *profile;
    gnomon__gap_track *tracks; /* by number */
    size_t track_count;
    gnomon__gap_heap *heaps; /* by group */
    size_t groups, limit;
    gnomon__event_steps steps;
    uint64_t missing; /* events that are not there */
    bool has_events;
    uint64_t *until_ns; /* by node: when it is free again; 0: it has not run */
    gnomon_loss_info *lost; /* of events, with a time */
    size_t lost_count;
} gnomon__gaps;

/* Of each group at most `limit` gaps, the longest. group_of: by track; NULL: all are
 * group 0. O(nodes + tracks + steps + groups * limit) memory. GNOMON_OK or
 * GNOMON_ENOMEM; free in any case. */
int gnomon__gaps_make(gnomon__gaps *g, const gnomon_profile *profile,
                      size_t limit, size_t groups, const uint32_t *group_of);
void gnomon__gaps_free(gnomon__gaps *g);

#endif
