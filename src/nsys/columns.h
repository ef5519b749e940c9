/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The columns of `gnomon nsys prof`, which are PyProf's: a row for each kernel, as words,
 * in a width, as csv, or as JSON. */
#ifndef GNOMON_NSYS_COLUMNS_H
#define GNOMON_NSYS_COLUMNS_H

#include <stdio.h>

#include "nsys/work.h"
#include "print/table.h"

#define GNOMON__NSYS_COLUMNS 20

enum gnomon__nsys_form {
    GNOMON__NSYS_WORDS,
    GNOMON__NSYS_WIDTH,
    GNOMON__NSYS_CSV,
    GNOMON__NSYS_JSON
};

typedef struct gnomon__nsys_table {
    enum gnomon__nsys_form form;
    int columns[GNOMON__NSYS_COLUMNS];
    int count;
    int width;      /* of WIDTH */
    int sort;       /* a column; -1: rows stay in their order */
    uint64_t limit; /* the most rows */
    FILE *to;
    uint64_t rows, printed;
    /* To be sorted: a key and a line of each. */
    gnomon__report_table kept;
    FILE *line_to;
    char *line;
    size_t line_size;
} gnomon__nsys_table;

/* A cell of csv by RFC 4180, which is no formula; `quotes`: also where it need not have
 * any, as PyProf's. */
void gnomon__nsys_put_csv(FILE *to, const char *text, bool is_number,
                          bool quotes);
/* A member of a JSON object; `text` NULL: null. */
void gnomon__nsys_put_member(FILE *to, bool is_first, const char *key,
                             const char *text, bool is_number);

/* The column of a key; -1: there is none, which a line has said after `option`. */
int gnomon__nsys_column(const char *option, const char *key, size_t length);

/* Sets the columns that "idx,op,..." names; NULL: the usual ones. A gnomon__exit, after
 * one line that lists them. */
int gnomon__nsys_choose(gnomon__nsys_table *t, const char *words);
/* Before the first row: a header. A gnomon__exit: the width may be too small, which
 * has been said as PyProf says it. */
int gnomon__nsys_head(gnomon__nsys_table *t);
bool gnomon__nsys_row(gnomon__nsys_table *t, const gnomon__nsys_record *r,
                      const gnomon__work *w);
/* Before a row, what parts it from the one before; false: there are as many as were asked
 * for. */
bool gnomon__nsys_between(gnomon__nsys_table *t);
/* After the last one: those that were kept to be sorted. Of both false: no memory. */
bool gnomon__nsys_foot(gnomon__nsys_table *t);

/* What rows can be added up by, by gnomon__nsys_by of groups.h; NULL at the end. */
extern const char *const gnomon__nsys_by_words[];

/* The reports of stats.h; NULL at the end. */
extern const char *const gnomon__nsys_stats_names[];

#endif
