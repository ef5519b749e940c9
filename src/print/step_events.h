/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What ran when in a slow step, beside the step of median length: from single
 * executions, where the profile has them.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_STEP_EVENTS_H
#define GNOMON_PRINT_STEP_EVENTS_H

#include "gnomon/entities.h"
#include "gnomon/writer.h"

#define GNOMON__STEP_PATHS 6 /* that are named of a step */

/* A path's executions that begin in the step. */
typedef struct gnomon__step_path {
    uint32_t node;
    uint64_t at_ns;    /* the first one's begin, from the step's */
    uint64_t ns;       /* how long all of them took */
    uint64_t usual_ns; /* the same in the median step */
} gnomon__step_path;

typedef struct gnomon__step_events {
    const gnomon_profile *profile;
    struct step_events_step *steps; /* of the stage, by their begin */
    size_t count;
    gnomon_step_info median;
    int has_median;
    uint64_t *usual; /* by node: ns in the median step */
    gnomon__step_path *paths;
} gnomon__step_events;

/* Of a stage, by its number. GNOMON_OK or GNOMON_ENOMEM; free in any case. Where no
 * step has events, has_median is 0. Reads all events. Borrows the profile. */
int gnomon__step_events_make(gnomon__step_events *s,
                             const gnomon_profile *profile, uint32_t stage);
void gnomon__step_events_free(gnomon__step_events *s);

/* Those that took longer than in the median step, in the order of their begin; first
 * chosen by how much longer. Returns how many; 0 also where the step has no events.
 * Reads all events. */
int gnomon__step_events_read(gnomon__step_events *s,
                             const gnomon_step_info *step,
                             const gnomon__step_path **paths);

#endif
