/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Step times of one stage, or of all stages of a name: for each region a histogram of
 * its time in each step, and the slowest steps one by one. The memory depends on the
 * number of regions, not of steps. On the heap; the owner has a lock. */
#ifndef GNOMON_RECORD_STEP_SUMS_H
#define GNOMON_RECORD_STEP_SUMS_H

#include <stddef.h>

#include "record/totals.h"

#define GNOMON__SLOWEST_STEPS 10
/* Cells of ticks: gnomon__cell_of_ticks is below it. */
#define GNOMON__TICK_CELLS (16 * 59 + 32)

/* A histogram of durations in ticks, of fixed size: counting takes no memory. */
typedef struct gnomon__tick_sum {
    uint64_t count, total, min, max;
    uint64_t cells[GNOMON__TICK_CELLS];
} gnomon__tick_sum;
_Static_assert(sizeof(gnomon__tick_sum) <= 8192, "a chunk of the arena");

void gnomon__tick_sum_count(gnomon__tick_sum *s, uint64_t ticks);
/* Adds all of it, in ns; `rate` is gnomon__clock_rate's. A cell of ticks goes to the
 * cell of ns that holds its middle. 0: no memory. */
int gnomon__tick_sum_add(gnomon__total *to, const gnomon__tick_sum *s,
                         uint64_t rate);

/* What a region did in a step. `own` is the part of `time` of the thread that made the
 * step: what others do meanwhile may not delay it. */
typedef struct gnomon__step_part {
    uint64_t time, own, calls;
} gnomon__step_part;

typedef struct gnomon__slow_step {
    uint64_t number, begin_ns, end_ns;
    uint32_t ordinal; /* of its stage */
    int32_t phase;
    gnomon__step_part *of; /* by region's id; times in ns */
    size_t room;
} gnomon__slow_step;

/* The same in all steps, each of which is one duration. */
typedef struct gnomon__step_sum {
    gnomon__total time;
    uint64_t own_ns, calls;
} gnomon__step_sum;

typedef struct gnomon__step_sums {
    gnomon__step_sum *of; /* by region's id; 0: the steps themselves */
    size_t room;
    gnomon__slow_step slow[GNOMON__SLOWEST_STEPS]; /* slowest first */
    uint32_t slow_count;
} gnomon__step_sums;

/* The sums of a region in *s, which is made if it is NULL; NULL: no memory. */
gnomon__step_sum *gnomon__step_sums_at(gnomon__step_sums **s, uint32_t region);

/* Keeps the step if it is one of the slowest. Takes over `step.of` in any case. Of
 * equally slow steps the first stays. */
void gnomon__step_sums_slow(gnomon__step_sums *s, gnomon__slow_step step);

/* As add_sums and free_sums of gnomon__recorder. */
int gnomon__step_sums_add(void **to, const void *sums);
void gnomon__step_sums_free(void *sums);

#endif
