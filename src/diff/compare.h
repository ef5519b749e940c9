/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One value of a row on two sides: the change, and how sure it is. */
#ifndef GNOMON_DIFF_COMPARE_H
#define GNOMON_DIFF_COMPARE_H

#include "diff/estimate.h"

typedef struct gnomon__change {
    double a, b;      /* of a job each; NAN: not there */
    double relative;  /* b/a - 1; NAN: one is not there; INFINITY: a is 0 */
    double low, high; /* it lies between these, as sure as was asked; -INFINITY
                          and INFINITY: nothing can be said */
    double
        confidence; /* that there is a change at all, 0 .. 1; NAN: nothing can
                          be said */
} gnomon__change;

/* Its interval holds with `confidence`, 0 .. 1. */
gnomon__change gnomon__compare(const gnomon__diff *diff,
                               const gnomon__diff_row *row,
                               enum gnomon__metric metric, double confidence,
                               const gnomon__assumptions *assumed);

#endif
