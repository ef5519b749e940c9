/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What ran when in a slow step, beside the step of median length: from single
 * executions, where the profile has them.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_STEP_EVENTS_H
#define GNOMON_PRINT_STEP_EVENTS_H

#include "print/events.h"
#include "print/rows.h"

typedef struct gnomon__step_events {
    const gnomon_profile *profile;
    gnomon__event_steps
        steps; /* of the stage, that have events: by their length */
    uint32_t run;
    gnomon_step_info median;
    int has_median;
} gnomon__step_events;

/* Of a stage, by its number. GNOMON_OK or GNOMON_ENOMEM; free in any case. Where no
 * step has events, has_median is 0. Reads all events. Borrows the profile. */
int gnomon__step_events_make(gnomon__step_events *s,
                             const gnomon_profile *profile, uint32_t stage);
void gnomon__step_events_free(gnomon__step_events *s);

/* A path's executions that begin in the step: when the first one does, from the step's
 * begin, and how long all take; and how long in the median step. An id ascends. */
#define GNOMON__STEP_COLUMN_LIST(X) \
    X(GNOMON__STEP_PATH, "path", "Path", TEXT, SHOWN, MADE) \
    X(GNOMON__STEP_AT, "at", "At", ID, SHOWN, LEAST) \
    X(GNOMON__STEP_TOOK, "took", "Took", TIME, SHOWN, SUM) \
    X(GNOMON__STEP_USUAL, "usually", "Usually", TIME, SHOWN, SUM) \
    X(GNOMON__STEP_NODE, "", "", ID, HIDDEN, KEY) \
    X(GNOMON__STEP_LONGER, "", "", TIME, HIDDEN, MADE)
GNOMON__COLUMN_NUMBERS(GNOMON__STEP_COLUMNS, GNOMON__STEP_COLUMN_LIST);

/* Rows of a few that took longer than in the median step, in the order of their begin;
 * first chosen by how much longer. Reads all events. GNOMON_OK or GNOMON_ENOMEM; free the
 * rows in any case. */
int gnomon__step_events_read(gnomon__report_rows *rows, gnomon__step_events *s,
                             const gnomon_step_info *step);

#endif
