/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The critical path of a step: the chain of executions, from its end back to its begin,
 * each of which the next one had to wait for.
 *
 * The walk begins at the step's end, on the thread that steps are made on: the one whose
 * outermost executions most often end last in a step. It goes back through what was
 * innermost there. It leaves a track in two cases:
 *   - An execution in which nothing else has run yet has a cause on another track that
 *     ended while it ran: it waited for that one.
 *   - An outermost execution has a cause on another track, and its own track had nothing
 *     to do when that ended (or when it began, if the cause still ran): the time from one
 *     to the other is queued.
 * Each moment of the step is in exactly one piece.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_CRITICAL_H
#define GNOMON_PRINT_CRITICAL_H

#include "print/events.h"

enum gnomon__piece_state {
    GNOMON__PIECE_RUNS,
    GNOMON__PIECE_QUEUED, /* its cause is over, it has not begun */
    GNOMON__PIECE_IDLE    /* nothing is marked on the track */
};

typedef struct gnomon__piece {
    uint64_t begin_ns, end_ns;
    uint32_t track;
    uint32_t node;      /* what runs or is queued; 0: none */
    uint32_t execution; /* which one: an index, until another step is read */
    int state;          /* gnomon__piece_state */
    int cause; /* gnomon_link_kind of the link from the piece before it; -1: none */
} gnomon__piece;

typedef struct gnomon__critical {
    const gnomon_profile *profile;
    gnomon__event_steps steps;
    struct critical_track *tracks; /* by number */
    size_t track_count, node_count;
    unsigned char *is_taken;  /* by node: it is there, and no range */
    unsigned char *has_event; /* by step, in the order of `steps` */
    gnomon__keyed_list links; /* cause and kind, by the effect */
    uint64_t missing;         /* events that are not there */
    bool has_events;
} gnomon__critical;

/* O(nodes + tracks + steps + links) memory. GNOMON_OK or GNOMON_ENOMEM; free in any
 * case. Borrows the profile. */
int gnomon__critical_make(gnomon__critical *c, const gnomon_profile *profile);
void gnomon__critical_free(gnomon__critical *c);

/* The next slower one of the steps that have executions: after NULL the slowest, after
 * the last one NULL. O(steps). */
const gnomon_step_info *gnomon__critical_next(const gnomon__critical *c,
                                              const gnomon_step_info *after);

/* Gives the pieces of one of `steps`, the last one first. Reads all events; memory for
 * those of the step. GNOMON_OK or GNOMON_ENOMEM. */
typedef void gnomon__piece_use(void *context, const gnomon__piece *piece);
int gnomon__critical_read(gnomon__critical *c, const gnomon_step_info *step,
                          gnomon__piece_use *use, void *context);

#endif
