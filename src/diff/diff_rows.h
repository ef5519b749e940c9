/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the two halves of a diff share: diff.c, rows and their sums; diff_read.c,
 * what a profile adds to them. */
#ifndef GNOMON_DIFF_DIFF_ROWS_H
#define GNOMON_DIFF_DIFF_ROWS_H

#include "diff/diff.h"

/* What a row is matched by. */
typedef struct gnomon__diff_key {
    const char *stage, *name;
    enum gnomon__diff_kind kind;
} gnomon__diff_key;

int gnomon__diff_order(const gnomon__diff_key *a, const gnomon__diff_key *b);

/* The row of this key. A new one stands behind the first `sorted`, which are
 * ordered: ask for equal names one after the other, and sort at the end. NULL:
 * no memory. */
gnomon__diff_row *gnomon__diff_row_of(gnomon__diff *diff, size_t sorted,
                                      const gnomon__diff_key *key);
void gnomon__diff_sort(gnomon__diff *diff);

/* Adds what one run of a job did in a row. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__diff_add_run(gnomon__diff_half *half, size_t job,
                         const gnomon_stats *stats);

/* The same of a counter, of so many samples. */
int gnomon__diff_add_samples(gnomon__diff_half *half, size_t job,
                             uint64_t count,
                             const gnomon__diff_samples *samples);

#endif
