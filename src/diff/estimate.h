/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The value of one side of a row, and its variance between jobs. docs/comparing.md has
 * the reasons. */
#ifndef GNOMON_DIFF_ESTIMATE_H
#define GNOMON_DIFF_ESTIMATE_H

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
    GNOMON__SELF, /* of times on the host alone */
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

/* Variances are of one part's value; a side's is their share by `parts`. */
typedef struct gnomon__estimate {
    double value;    /* of a job; NAN: the row is not on this side */
    double known;    /* variance that is assumed, and known as such */
    double guessed;  /* variance from the spread of executions; NAN: there is
                        one alone, and so no spread */
    double measured; /* variance between parts; of no use below 2 of them */
    double unseen;   /* variance that all parts share: of where in its cell a
                        quantile is */
    double relative; /* variance of executions, in squares of the mean; NAN */
    double parts;
    double executions;
} gnomon__estimate;

/* `counts`: the relative variance of the number of calls, for what grows with
 * it. */
gnomon__estimate gnomon__estimate_of(const gnomon__diff *diff,
                                     const gnomon__diff_row *row,
                                     enum gnomon__side side,
                                     enum gnomon__metric metric, double counts,
                                     const gnomon__assumptions *assumed);

/* The value alone. */
double gnomon__estimate_value(const gnomon__diff *diff,
                              const gnomon__diff_row *row,
                              enum gnomon__side side,
                              enum gnomon__metric metric);

#endif
