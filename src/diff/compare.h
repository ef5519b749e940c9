/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One value of a row on two sides: the change, and how sure it is. */
#ifndef GNOMON_DIFF_COMPARE_H
#define GNOMON_DIFF_COMPARE_H

#include "diff/diff.h"

enum gnomon__metric {
    GNOMON__CALLS,
    GNOMON__TOTAL,
    GNOMON__MEAN,
    GNOMON__METRIC_P50,
    GNOMON__METRIC_P90,
    GNOMON__METRIC_P99,
    GNOMON__MAX,
    GNOMON__MIN,
    GNOMON__SELF, /* of times on the host; of memory what is held */
    GNOMON__LAST, /* of counters alone, which have mean, min, max and total, too */
    GNOMON__METRICS
};

/* A metric of rows of a kind: "device-p50". */
typedef struct gnomon__metric_of {
    enum gnomon__diff_kind kind;
    enum gnomon__metric metric;
} gnomon__metric_of;

/* Their words, then NULL; first those of the host by gnomon__metric. And what each
 * is. */
extern const char *const gnomon__metric_words[];
extern const gnomon__metric_of gnomon__metrics[];

/* Assumptions, as one job does not show how far jobs differ. */
typedef struct gnomon__assumptions {
    double drift;    /* of a job as a whole, a share of its value: 1 sigma */
    double drift_ns; /* and of each of its executions, likewise */
} gnomon__assumptions;

#define GNOMON__DRIFT 0.016
#define GNOMON__DRIFT_NS 15.0 /* where code lies, and what reads the clock */

/* The value of a side, of a job; NAN: the row is not on it. */
double gnomon__estimate_value(const gnomon__diff *diff,
                              const gnomon__diff_row *row,
                              enum gnomon__side side,
                              enum gnomon__metric metric);

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

/* Student's t distribution. The probability of being further from 0 than `t`, to either side, with `df`
 * degrees of freedom, which need not be whole; INFINITY: the normal. */
double gnomon__t_two_sided(double t, double df);

/* The t >= 0 beyond which there is `probability`, of both sides together. */
double gnomon__t_quantile(double probability, double df);

#endif
