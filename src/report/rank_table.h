/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How the ranks of a stage compare: of each action the least, the median and the
 * most time that a rank spent in it, and which one was slowest. With by= it is so for
 * the ranks of each host, or for the part of an action of each category or file. */
#ifndef GNOMON_REPORT_RANK_TABLE_H
#define GNOMON_REPORT_RANK_TABLE_H

#include "print/rows.h"

typedef struct gnomon__rank_run {
    char *host;   /* "(not known)" where it is not */
    int32_t rank; /* -1: not known */
} gnomon__rank_run;

/* Zeroes are an empty one, without groups. */
typedef struct gnomon__rank_table {
    int by; /* gnomon__group_by: nothing, host, category or file; set it first */
    gnomon__report_rows rows; /* begun with the first run */
    gnomon__rank_run *runs;   /* attempts of one rank are one */
    size_t run_room;
    uint32_t run_count;
} gnomon__rank_table;

/* Adds what a run's profile of one stage says, which may be a sum that knows of no
 * run. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__rank_table_add(gnomon__rank_table *t, const gnomon_run_info *run,
                           const gnomon_profile *stage);

/* --as ranks: a profiler in name and options, without a summary, since it takes
 * more than one profile to make the table. */
extern const gnomon_profiler gnomon__ranks_report;

/* Prints the table, once. `self` is of gnomon__ranks_report; NULL:
 * as text, all of it. `stage` is what the ranks add up to. The writer's code, or
 * GNOMON_ENOMEM. */
int gnomon__rank_table_print(gnomon__rank_table *t, const void *self,
                             const gnomon_profile *stage,
                             const gnomon_writer *out);
void gnomon__rank_table_free(gnomon__rank_table *t);

#endif
