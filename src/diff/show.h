/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tables of a comparison: one for each stage and kind of rows. */
#ifndef GNOMON_DIFF_SHOW_H
#define GNOMON_DIFF_SHOW_H

#include "diff/changes.h"
#include "diff/diff.h"

/* What is asked for. */
typedef struct gnomon__diff_request {
    gnomon__diff *diff;
    const char *stage; /* that alone; NULL: all */
    int metric;        /* its word; below 0: none was given */
    gnomon__table_choice choice;
    double confidence;
    gnomon__assumptions assumed;
    gnomon_writer out;
} gnomon__diff_request;

/* Words of --sort, then NULL, and the columns that they are. */
extern const char *const gnomon__diff_sort_words[];
extern const int gnomon__diff_sort_columns[];

/* The two sides and the tables; JSON is left open, for the gates, until
 * gnomon__diff_show_end(). GNOMON_OK, GNOMON_ENOMEM, or the writer's code. */
int gnomon__diff_show(const gnomon__diff_request *request);
/* `is_judged`: the gates were written, as gnomon__gates_judge() does. */
void gnomon__diff_show_end(const gnomon__diff_request *request, int is_judged);

#endif
