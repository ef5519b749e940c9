/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two clocks, from what both saw: barriers, which nobody leaves before all have entered.
 * Pure arithmetic. */
#ifndef GNOMON_MERGE_CLOCK_FIT_H
#define GNOMON_MERGE_CLOCK_FIT_H

#include <stddef.h>

/* One barrier, all in ns. `at`: when the first clock saw its end. To be added to the second
 * clock then: `end` if both left at one moment; for certain not less than `least` (the
 * second left after the first had entered) and not more than `most`. */
typedef struct gnomon__clock_pair {
    double at, end, least, most;
} gnomon__clock_pair;

/* offset + drift * (at - from) is to be added to the second clock. */
typedef struct gnomon__clock_fit {
    double from, until; /* the time that has barriers */
    double offset;      /* at `from` */
    double drift;       /* ns a ns */
    double error;       /* no more than so far off, from `from` to `until` */
    /* No line has all barriers within their limits, as where a clock was set: the error
     * is the largest distance to the end of one. */
    int is_loose;
    size_t count;
} gnomon__clock_fit;

/* Of at least one pair. */
gnomon__clock_fit gnomon__clock_fit_of(const gnomon__clock_pair *pairs,
                                       size_t count);

/* What is to be added to the second clock at a moment of the first. */
static inline double gnomon__clock_fit_at(const gnomon__clock_fit *f, double at)
{
    return f->offset + f->drift * (at - f->from);
}

#endif
