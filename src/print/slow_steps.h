/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The slow steps of a stage, and what took longer in each than it does in the median
 * step. First what the thread did that makes the steps. A scope is not named where one
 * inside it has most of its excess: that one is why; but where both only ran more often,
 * as in a validation, or only the outer one is new in the step, the outer one is.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_SLOW_STEPS_H
#define GNOMON_PRINT_SLOW_STEPS_H

#include "gnomon/profile.h"

#define GNOMON__STEP_REASONS 3 /* that are named of a step */
#define GNOMON__STEP_PARTS 5   /* that are named of all steps */

typedef struct gnomon__listed_step {
    gnomon_step_info step;
    size_t number; /* in the profile */
    uint64_t ns;
} gnomon__listed_step;

/* A region that took longer. */
typedef struct gnomon__step_reason {
    uint32_t region;
    uint8_t is_beside; /* on other threads than the one that makes the steps */
    uint8_t ran_more; /* no longer than usual, but more often, or there alone */
    uint64_t ns, usual_ns, excess_ns;
    uint64_t calls; /* 0: not known */
} gnomon__step_reason;

typedef struct gnomon__slow_steps {
    const gnomon_profile *profile;
    size_t stages, paths, regions, times, steps;
    struct slow_steps_path *path; /* from 1; parents have lower numbers */
    struct slow_steps_region *region;
    uint32_t *time; /* numbers of times, those of a stage together */
    size_t *first;  /* by stage: into `time`; the next one's is the end */
    gnomon__step_reason *excess; /* of the step at hand, as they are named */
    size_t excess_count;
    /* Of the stage and view that were read last: */
    gnomon_stage_info stage;
    uint32_t stage_number, view;
    const gnomon_stats *all;   /* NULL: no step ended */
    gnomon__listed_step *slow; /* the slowest first */
    size_t slow_count;
} gnomon__slow_steps;

/* GNOMON_OK or GNOMON_ENOMEM; free in any case. Borrows the profile. */
int gnomon__slow_steps_make(gnomon__slow_steps *s,
                            const gnomon_profile *profile);
void gnomon__slow_steps_free(gnomon__slow_steps *s);

/* From now on it is about this stage, by its number, and this view; 0: the only
 * one. */
void gnomon__slow_steps_read(gnomon__slow_steps *s, uint32_t stage,
                             uint32_t view);

/* How long the stage was recorded before its first step; 0: not known, or not at all. */
uint64_t gnomon__slow_steps_before(const gnomon__slow_steps *s);

/* Of what all steps consist: makes `excess` what the thread did outermost that makes
 * them, the largest first, with what is inside of a scope that is nine tenths of them in
 * its place. None where that is not known, as in older files. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__slow_steps_parts(gnomon__slow_steps *s);

/* What is to be named of one of them: no more than these, and none that is small
 * beside what the step took too long. Returns how many; valid until the next call. */
int gnomon__slow_steps_reasons(
    gnomon__slow_steps *s, const gnomon__listed_step *slow,
    const gnomon__step_reason *reasons[GNOMON__STEP_REASONS]);

#endif
