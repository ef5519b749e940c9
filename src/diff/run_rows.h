/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one run has of each row of a comparison: a row for each stage, kind and name. */
#ifndef GNOMON_DIFF_RUN_ROWS_H
#define GNOMON_DIFF_RUN_ROWS_H

#include "print/rows.h"

enum gnomon__diff_kind {
    GNOMON__DIFF_HOST,
    GNOMON__DIFF_DEVICE,
    GNOMON__DIFF_BUSY,  /* work of devices, by each scope around its launch */
    GNOMON__DIFF_STEPS, /* named as their stage */
    GNOMON__DIFF_COUNTER,
    GNOMON__DIFF_KINDS
};

enum {
    GNOMON__RUN_NAME,
    GNOMON__RUN_STAGE,   /* "": of none */
    GNOMON__RUN_KIND,    /* gnomon__diff_kind */
    GNOMON__RUN_ORDINAL, /* the first of a stage of this name */
    GNOMON__RUN_TIMES,   /* of all but counters, which have the others */
    GNOMON__RUN_SAMPLES,
    GNOMON__RUN_SUM,
    GNOMON__RUN_MIN,
    GNOMON__RUN_MAX,
    GNOMON__RUN_LAST, /* of its last track */
    GNOMON__RUN_COLUMNS
};

/* Reads a profile of one run, which must outlive the rows. Of a stage that was recorded in
 * several views, under filters that differ, the first is taken whose words match the
 * pattern (NULL: all do); *other_views is the number of such stages. GNOMON_OK or
 * GNOMON_ENOMEM; free the rows in any case. O(nodes) memory. */
int gnomon__run_rows_make(gnomon__report_rows *rows,
                          const gnomon_profile *profile, const char *pattern,
                          size_t *other_views);

#endif
