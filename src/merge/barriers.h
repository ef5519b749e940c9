/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The executions of barriers and collectives in a run, by which clocks of ranks can be
 * compared. */
#ifndef GNOMON_MERGE_BARRIERS_H
#define GNOMON_MERGE_BARRIERS_H

#include "merge/clock_fit.h"
#include "gnomon/profile.h"

/* One execution. Two ranks' are the same barrier if all but the times are equal. */
typedef struct gnomon__barrier {
    uint64_t key;              /* of its region and kind of track */
    uint64_t step;             /* in which it began; 0: in none */
    uint32_t stage;            /* ordinal of that one */
    uint32_t n;                /* of its key in the step, or in all */
    uint64_t begin_ns, end_ns; /* since the run's zero */
} gnomon__barrier;

/* Sorted by all but the times. Zeroes are none. */
typedef struct gnomon__barriers {
    gnomon__barrier *of;
    size_t count, room;
    uint64_t stride; /* only steps and numbers that it divides are kept */
} gnomon__barriers;

/* Those of a run of a merge: executions of regions of this name, or, if it is NULL, of all
 * collectives. At most 16384 are kept. GNOMON_OK or an error. */
int gnomon__barriers_read(gnomon__barriers *out, const gnomon_profile *p,
                          const char *name);
void gnomon__barriers_free(gnomon__barriers *b);

/* Pairs of what both have, times since `a`'s zero; `zero_b` is b's zero by that. The caller
 * frees *out with gnomon__free; NULL: no memory. */
size_t gnomon__barriers_match(const gnomon__barriers *a,
                              const gnomon__barriers *b, double zero_b,
                              gnomon__clock_pair **out);

#endif
