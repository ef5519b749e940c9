/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How the ranks of a stage compare: of each action the least, the median and the
 * most time that a rank spent in it, and which one was slowest. */
#ifndef GNOMON_REPORT_RANK_TABLE_H
#define GNOMON_REPORT_RANK_TABLE_H

#include <stddef.h>

#include "gnomon/profiler.h"

typedef struct gnomon__rank_time {
    uint64_t total_ns;
    int32_t rank;
    uint32_t run; /* index among the runs: of its host, and for its name if the
                     rank is not known */
} gnomon__rank_time;

typedef struct gnomon__rank_row {
    char *name;
    gnomon__rank_time *times;
    size_t count, room;
    uint64_t total_ns; /* of all ranks */
    /* Of the ranks that have it; when they are summed up. */
    uint64_t min_ns, median_ns, max_ns;
    gnomon__rank_time slowest;
} gnomon__rank_row;

/* Zeroes are an empty one. */
typedef struct gnomon__rank_table {
    gnomon__rank_row *rows;
    size_t count, room;
    char **hosts; /* by run */
    size_t host_room;
    uint32_t runs;  /* attempts of one rank are one */
    int32_t before; /* the rank that was added last */
} gnomon__rank_table;

/* Adds what a run's profile of one stage says, which may be a sum that knows of no
 * run: attempts of a rank one after the other. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__rank_table_add(gnomon__rank_table *t, const gnomon_run_info *run,
                           const gnomon_profile *stage);

/* Sums up: rows by their total, the largest first. */
void gnomon__rank_table_sum(gnomon__rank_table *t);

/* --as ranks: a profiler in name and options, without a summary, since it takes
 * more than one profile to make the table. */
extern const gnomon_profiler gnomon__ranks_report;

/* Prints the table. `self` is of gnomon__ranks_report; NULL: as text, all of it.
 * `stage` is what the ranks add up to. The writer's code, or GNOMON_ENOMEM. */
int gnomon__rank_table_print(const gnomon__rank_table *t, const void *self,
                             const gnomon_profile *stage,
                             const gnomon_writer *out);
void gnomon__rank_table_free(gnomon__rank_table *t);

#endif
