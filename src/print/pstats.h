/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table of functions as Python's pstats prints it, to the byte: print_stats,
 * print_callers and print_callees, sorted, reversed and cut. Two differences: there
 * are no regular expressions as restrictions; and callers that are equal without their
 * directories are added up, while pstats keeps only the last one's numbers. And what
 * Lightning's AdvancedProfiler prints around such tables. */
#ifndef GNOMON_PRINT_PSTATS_H
#define GNOMON_PRINT_PSTATS_H

#include "gnomon/tool.h"
#include "print/functions.h"

enum gnomon__pstats_view {
    GNOMON__PSTATS_STATS = 0,
    GNOMON__PSTATS_CALLERS = 1,
    GNOMON__PSTATS_CALLEES = 2
};

enum gnomon__pstats_key {
    GNOMON__PSTATS_CALLS = 0,
    GNOMON__PSTATS_CUMULATIVE = 1,
    GNOMON__PSTATS_FILE = 2,
    GNOMON__PSTATS_LINE = 3,
    GNOMON__PSTATS_NAME = 4,
    GNOMON__PSTATS_NFL = 5,
    GNOMON__PSTATS_PRIMITIVE = 6,
    GNOMON__PSTATS_STDNAME = 7,
    GNOMON__PSTATS_TIME = 8
};

/* Limits the rows: to a fraction of them, from 0 to below 1, or to a count from 0. Any
 * other number has no effect. */
typedef struct gnomon__restriction {
    int64_t count;
    double fraction;
    int is_fraction;
    int reserved;
} gnomon__restriction;

/* What to print. All zero: in the order of the table, with whole paths. */
typedef struct gnomon__pstats_query {
    int view;
    int strip_dirs;
    int reverse;   /* also rows with equal keys; no effect without keys */
    int sort_keys; /* how many keys */
    const int *sort;
    const gnomon__restriction
        *restrictions; /* each applies to what the last one left */
    size_t restriction_count;
} gnomon__pstats_query;

/* GNOMON_ENOMEM, or the writer's code. */
int gnomon__pstats_print(const gnomon__functions *table,
                         const gnomon__pstats_query *query,
                         const gnomon_writer *out);

/* The line above an action's table; it begins with a line feed, as Lightning joins the
 * parts of its report by them. A rank below 0 is unknown. */
void gnomon__pstats_print_action(const char *action, int32_t rank,
                                 const gnomon_writer *out);

/* A word of sort_stats, or a unique beginning of one; or, as texts, its numbers
 * -1 to 2. GNOMON_EINVAL: there is none. */
int gnomon__pstats_key(const char *word);

#endif
