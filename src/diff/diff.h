/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of two sides, matched by stage, kind and name, and summed over paths and
 * tracks. There are rows of times on the host and on devices, of the devices' work by
 * scope, of steps (one for each stage), of counters, and of memory. A side is any number of
 * runs, added one at a time: O(rows) memory, whatever their number. */
#ifndef GNOMON_DIFF_DIFF_H
#define GNOMON_DIFF_DIFF_H

#include "gnomon/profile.h"
#include "print/rows.h"
#include "profile/sums.h"

enum gnomon__diff_kind {
    GNOMON__DIFF_HOST,
    GNOMON__DIFF_DEVICE,
    GNOMON__DIFF_BUSY,    /* work of devices, by each scope around its launch */
    GNOMON__DIFF_STEPS,   /* named as their stage */
    GNOMON__DIFF_COUNTER, /* from here on rows have no times */
    GNOMON__DIFF_MEMORY, /* of a pool, "host", and of a region in it, "host/step" */
    GNOMON__DIFF_KINDS
};

enum gnomon__side { GNOMON__SIDE_A = 0, GNOMON__SIDE_B = 1 };

enum { GNOMON__P50, GNOMON__P90, GNOMON__P99, GNOMON__QUANTILES };
extern const double gnomon__quantiles[GNOMON__QUANTILES];

/* A side has so many parts at most, for the spread between jobs; its n-th job is in part
 * n modulo this. */
#define GNOMON__DIFF_PARTS 32

/* What runs add up to: durations in ns, or samples of a counter. Of memory calls are
 * allocations, `total` is what was allocated, `self` what is held at the end, and `max`
 * what was held at the peak, in bytes. */
typedef struct gnomon__diff_part {
    double calls, total, self, min, max;
    double last; /* of a counter, summed over its runs */
    double quantiles[GNOMON__QUANTILES]; /* each summed over its runs */
    double runs;                         /* in which the row is */
} gnomon__diff_part;

/* One side of a row. `all.s.count` 0: it is not on this side. */
typedef struct gnomon__diff_half {
    gnomon__sum all; /* of all its runs; without times the count alone */
    gnomon__diff_part *parts;
    size_t part_count, part_room; /* parts past its count are zero */
} gnomon__diff_half;

typedef struct gnomon__diff_row {
    const char *stage; /* "": of none */
    const char *name;
    enum gnomon__diff_kind kind;
    uint32_t whole; /* number of the row that it is added to; most: its own */
    gnomon__diff_half side[2];
    /* What the run that is being read has of it: times, or else `now`. */
    gnomon__sum times;
    gnomon__diff_part now;
    bool is_met;   /* it may have any */
    uint32_t next; /* number of the row that it met before; 0: none */
} gnomon__diff_row;

/* Columns of the table; show.c fills those below the keys. The hidden ones are keys too,
 * the first ordinal of a stage of this name, and by what rows are ordered. */
#define GNOMON__DIFF_COLUMN_LIST(X) \
    X(GNOMON__DIFF_NAME, "name", "", TEXT, SHOWN, KEY) \
    X(GNOMON__DIFF_CALLS_A, "calls_a", "", VALUE, EXTRA, MADE) \
    X(GNOMON__DIFF_CALLS_B, "calls_b", "", VALUE, EXTRA, MADE) \
    X(GNOMON__DIFF_A, "a", "", VALUE, SHOWN, MADE) \
    X(GNOMON__DIFF_B, "b", "", VALUE, SHOWN, MADE) \
    X(GNOMON__DIFF_CHANGE, "change", "Change", VALUE, SHOWN, MADE) \
    X(GNOMON__DIFF_LOW, "low", "", VALUE, SHOWN, MADE) \
    X(GNOMON__DIFF_HIGH, "high", "At most", VALUE, EXTRA, MADE) \
    X(GNOMON__DIFF_CONFIDENCE, "confidence", "Confidence", VALUE, EXTRA, MADE) \
    X(GNOMON__DIFF_TOTAL_A, "total_a_ns", "Total A", VALUE, EXTRA, MADE) \
    X(GNOMON__DIFF_TOTAL_B, "total_b_ns", "Total B", VALUE, EXTRA, MADE) \
    /* by which the total of B is more */ \
    X(GNOMON__DIFF_MORE, "more_ns", "In total", VALUE, SHOWN, MADE) \
    X(GNOMON__DIFF_STAGE, "", "", TEXT, HIDDEN, KEY) \
    X(GNOMON__DIFF_KIND, "", "", ID, HIDDEN, KEY) \
    /* of memory of one stage; 0: this is a row of the comparison */ \
    X(GNOMON__DIFF_NUMBER, "", "", ID, HIDDEN, KEY) \
    X(GNOMON__DIFF_ORDINAL, "", "", ID, HIDDEN, LEAST) \
    X(GNOMON__DIFF_BY_TOTAL, "", "", NUMBER, HIDDEN, MADE) \
    X(GNOMON__DIFF_BY_CHANGE, "", "", NUMBER, HIDDEN, MADE) \
    X(GNOMON__DIFF_BY_CONFIDENCE, "", "", NUMBER, HIDDEN, MADE)
GNOMON__COLUMN_NUMBERS(GNOMON__DIFF_COLUMNS, GNOMON__DIFF_COLUMN_LIST);
#define GNOMON__DIFF_SHOWN GNOMON__DIFF_STAGE /* how many can be */
extern const gnomon__column gnomon__diff_columns[GNOMON__DIFF_COLUMNS];

/* A run of a side, which is one process. Jobs are independent samples; ranks of one job
 * are not. */
typedef struct gnomon__job_run {
    const struct gnomon_run_info *info;
    size_t input, number; /* its first file; its number there */
    uint32_t nth;         /* of the processes of one rank's attempt, from 0 */
    uint32_t job;         /* from 0 */
    int32_t rank;         /* -1: not known */
} gnomon__job_run;

/* Zeroes are none. */
typedef struct gnomon__jobs {
    gnomon__job_run *runs;
    size_t count;
    uint32_t jobs;
} gnomon__jobs;

typedef struct gnomon__diff {
    gnomon__report_rows table; /* finds rows by their names, and is printed */
    gnomon__diff_row *rows;    /* in the order in which they came */
    size_t count, room;   /* with those of one stage, which the table loses */
    gnomon__jobs jobs[2]; /* of each side */
    /* Views whose words match this pattern are read alone; * and ? in it are any text
     * and any letter. Not owned. NULL: all. */
    const char *view;
} gnomon__diff;

/* GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__diff_create(gnomon__diff **out);
void gnomon__diff_free(gnomon__diff *diff);

/* Adds what finished in a profile of one run to a job of a side. Of a stage that was
 * recorded in several views, under filters that differ, the first is taken;
 * *other_views becomes the number of such stages. Borrows nothing. GNOMON_ENOMEM: the
 * side is of no use any more. */
int gnomon__diff_add(gnomon__diff *diff, enum gnomon__side side, uint32_t job,
                     const gnomon_profile *run, size_t *other_views);

/* After the last run: rows of the table in the order of stages in the runs, then of kinds
 * and names. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__diff_end(gnomon__diff *diff);
/* After it: a row by its place in the table. */
const gnomon__diff_row *gnomon__diff_row_at(const gnomon__diff *diff,
                                            size_t at);

/* Whether each side is one job, so that the spread between jobs is assumed. */
int gnomon__diff_is_assumed(const gnomon__diff *diff);

#endif
