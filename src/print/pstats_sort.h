/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of a table as pstats keeps them, and their order. */
#ifndef GNOMON_PRINT_PSTATS_SORT_H
#define GNOMON_PRINT_PSTATS_SORT_H

#include "print/pstats.h"

/* Times in seconds, added up as pstats does: the same rounding. */
typedef struct gnomon__pstats_row {
    const char *file;
    const char *name;
    uint32_t line;
    uint32_t order; /* index in the table; of merged rows, the first one's */
    uint32_t rank;  /* by file, line and name */
    uint32_t reserved;
    size_t width; /* of its printed name in code points */
    uint64_t nc;
    uint64_t cc;
    double tt;
    double ct;
    const gnomon__pstats_query *query;
} gnomon__pstats_row;

typedef struct gnomon__pstats_edge {
    uint32_t from; /* the row under which it is printed */
    uint32_t to;   /* the row that it names */
    uint32_t rank; /* of `to` */
    uint32_t order;
    uint64_t nc;
    uint64_t cc;
    double tt;
    double ct;
} gnomon__pstats_edge;

/* The printed name of a row, in parts. */
#define GNOMON__PSTATS_PARTS 4
typedef struct gnomon__pstats_name {
    const char *part[GNOMON__PSTATS_PARTS];
    size_t size[GNOMON__PSTATS_PARTS];
    char line[16]; /* ":line(" */
} gnomon__pstats_name;

void gnomon__pstats_name_of(gnomon__pstats_name *name,
                            const gnomon__pstats_row *row);

/* Sort pointers to rows: by file, line, name and order; or as the query says. */
void gnomon__pstats_sort_source(gnomon__pstats_row **rows, size_t count);
void gnomon__pstats_sort_query(gnomon__pstats_row **rows, size_t count);
int gnomon__pstats_same_source(const gnomon__pstats_row *a,
                               const gnomon__pstats_row *b);

/* A key's name in the caption. */
const char *gnomon__pstats_caption(int key);

#endif
