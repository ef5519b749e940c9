/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table of functions as Python's pstats prints it, to the byte: print_stats of what
 * strip_dirs left, sorted and cut; but there are no regular expressions as restrictions.
 * And what Lightning's AdvancedProfiler prints around such tables. */
#ifndef GNOMON_PRINT_PSTATS_H
#define GNOMON_PRINT_PSTATS_H

#include "gnomon/tool.h"
#include "print/functions.h"
#include "print/rows.h"

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

/* Functions that have one name once their files have no folders. */
typedef struct gnomon__pstats_row {
    uint64_t calls, primitive;
    double self, cumulative; /* seconds */
    size_t function;         /* the first of them in the table */
} gnomon__pstats_row;

typedef struct gnomon__pstats {
    gnomon__pstats_row *rows;
    size_t count;
    int key; /* gnomon__pstats_key: what they are ordered by */
} gnomon__pstats;

/* Takes all memory that printing needs, of `keeper`, which has it until it is freed; more
 * only meanwhile. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__pstats_make(gnomon__pstats *p, gnomon__report_table *keeper,
                        const gnomon__functions *table, int key,
                        const gnomon_writer *out);
/* Of the same table. The writer's code. */
int gnomon__pstats_print(const gnomon__pstats *p,
                         const gnomon__functions *table,
                         const gnomon__restriction *cut,
                         const gnomon_writer *out);

/* The line above an action's table; it begins with a line feed, as Lightning joins the
 * parts of its report by them. A rank below 0 is unknown. */
void gnomon__pstats_print_action(const char *action, int32_t rank,
                                 const gnomon_writer *out);

/* A word of sort_stats, or a unique beginning of one; or, as texts, its numbers
 * -1 to 2. GNOMON_EINVAL: there is none. */
int gnomon__pstats_key(const char *word);

#endif
