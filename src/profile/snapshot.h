/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds a profile of the running process from what threads wrote and what the
 * run knows of itself. */
#ifndef GNOMON_PROFILE_SNAPSHOT_H
#define GNOMON_PROFILE_SNAPSHOT_H

#include "profile/model.h"

#define GNOMON__STEP_CELLS 1024

/* A stage as the run keeps it: times in ticks. */
typedef struct gnomon__stage_fact {
    uint32_t ordinal;
    int32_t was_opened; /* else its first mark is its begin */
    int32_t is_over;
    const char *name;
    uint64_t opened;
    uint64_t ended;
    uint64_t mult; /* what its ticks were worth when it ended; 0: not known */
    uint64_t step_count; /* finished ones, and their durations in ticks */
    uint64_t step_total, step_min, step_max;
    const uint64_t *step_cells; /* GNOMON__STEP_CELLS counts by cell of ticks */
} gnomon__stage_fact;

typedef struct gnomon__step_fact {
    uint32_t ordinal; /* of its stage */
    int32_t phase;
    uint64_t number;
    uint64_t begin, end; /* ticks */
    int32_t is_over;
} gnomon__step_fact;

typedef struct gnomon__run_facts {
    gnomon_run_info run;        /* but for the clock's part */
    gnomon__stage_fact *stages; /* those that are wanted */
    size_t stage_count;
    const gnomon__step_fact *steps;
    size_t step_count;
    const gnomon_metadata_info *metadata;
    size_t metadata_count;
    const uint64_t *open_cells; /* the taker's: step_cells of the open stage */
} gnomon__run_facts;

/* The profile of tree bit `bit` (its sink of `generation`), of the stages in
 * `facts`. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__snapshot(gnomon__model **out, uint32_t bit, uint32_t generation,
                     const gnomon__run_facts *facts);

#endif
