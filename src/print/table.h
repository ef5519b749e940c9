/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A report that is a table: its columns are named once, its rows are cells, and
 * it is written as text, csv, Markdown or JSON. What is written is chosen by the
 * options that all such reports share.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_TABLE_H
#define GNOMON_PRINT_TABLE_H

#include <stdbool.h>

#include "gnomon/tool.h"

enum gnomon__cell_kind {
    GNOMON__CELL_TEXT,
    GNOMON__CELL_COUNT,
    GNOMON__CELL_ID,   /* `count` says which and not how many: a line, a rank */
    GNOMON__CELL_TIME, /* `count` ns: with a unit in text, "_ns" added to its
                          key in csv and JSON */
    GNOMON__CELL_SHARE, /* `number` per cent */
    GNOMON__CELL_NUMBER,
    GNOMON__CELL_VALUE /* a `number`, in csv and JSON without an exponent where it is
                          a whole one */
};

/* Arrays: each pointer of a table costs the library 24 bytes for its loader. */
typedef struct gnomon__column {
    char key[21];   /* its word in columns= and sort=, in csv and JSON */
    char title[14]; /* in text and Markdown */
    uint8_t kind;   /* gnomon__cell_kind */
    uint8_t shown;  /* gnomon__column_shown */
    uint8_t rule;   /* gnomon__rule, of print/rows.h */
    uint16_t of;    /* the column that the rule needs */
} gnomon__column;

enum gnomon__column_shown {
    GNOMON__SHOWN,
    GNOMON__EXTRA, /* in text and Markdown only if columns= names it */
    GNOMON__TELLS, /* likewise, or where rows of one name differ in it */
    GNOMON__HIDDEN /* never; such columns come last */
};

/* A cell of zeroes is empty: blank in text, null in JSON. Packed: there may be 10^8. */
typedef struct __attribute__((packed)) gnomon__cell {
    union {
        const char *text; /* of the profile, or gnomon__table_keep's */
        uint64_t count;
        double number;
    };
    bool is_there;
} gnomon__cell;

typedef struct gnomon__table_row {
    uint32_t group; /* index in `groups` */
    uint32_t depth; /* in a tree: indentation of the first column */
    size_t cells;   /* the first of its cells */
} gnomon__table_row;

/* An empty table: all zero, except for name, title and columns. */
typedef struct gnomon__report_table {
    const char *name;  /* "regions": in JSON */
    const char *title; /* "Regions": the first line, after the stage's name */
    const gnomon__column *columns; /* the first names the row */
    size_t column_count;
    const char *group_word;    /* "thread"; NULL: there are no groups */
    const char *const *groups; /* names of the groups */
    const char *inner_word;    /* "action": groups inside groups; NULL: none */
    const char *const *inner_groups; /* their names, by the same index */
    bool is_ordered;                 /* rows stay as they were added */
    bool is_tree;
    bool is_part;  /* of a report: no stage's name in its title */
    bool has_head; /* in csv no line of names, in JSON all before the rows is
                      written already */
    const char *stage; /* of the rows; NULL: the profile's */
    /* What people see of a cell, in `room` or elsewhere; NULL: as its kind is shown.
     * NULL: all are. */
    const char *(*shown)(char room[32], const struct gnomon__report_table *t,
                         size_t column, const gnomon__cell *cells);
    const char *
        if_empty; /* a line below the title where there are no rows, for people;
                             NULL: none */
    gnomon__table_row *rows;
    gnomon__cell *cells;
    size_t row_count, row_room, cell_room;
    struct gnomon__kept_text *kept;
} gnomon__report_table;

/* Adds a row. Returns its cells, all empty; valid until the next row. NULL: no
 * memory. */
gnomon__cell *gnomon__table_add(gnomon__report_table *t, uint32_t group,
                                uint32_t depth);
void gnomon__cell_text(gnomon__cell *cell, const char *text);
void gnomon__cell_count(gnomon__cell *cell, uint64_t count);
void gnomon__cell_number(gnomon__cell *cell, double number);

/* A copy of a text that lives as long as the table; NULL: no memory. */
const char *gnomon__table_keep(gnomon__report_table *t, const char *format, ...)
    GNOMON_PRINTF(2, 3);
/* Allocates zeroed bytes that live as long as the table; NULL: no memory. */
void *gnomon__table_take(gnomon__report_table *t, size_t size);
void gnomon__table_free(gnomon__report_table *t);

/* Sorts the rows of each group: numbers descend, texts and ids ascend, empty cells come
 * last, and what is equal keeps its order. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__table_sort(gnomon__report_table *t, int column);

static inline gnomon__cell *gnomon__cells_of(const gnomon__report_table *t,
                                             size_t row)
{
    return &t->cells[t->rows[row].cells];
}

/* Makes room for `need` entries of `size` bytes in a list, to which `list` is the address of
 * a pointer: it may move. False: no memory, and the list is as it was. */
bool gnomon__table_grow(void *list, size_t *room, size_t need, size_t size);

/* ---- What is written --------------------------------------------------------- */

enum gnomon__table_format {
    GNOMON__TABLE_TEXT,
    GNOMON__TABLE_CSV,
    GNOMON__TABLE_MD,
    GNOMON__TABLE_JSON
};

/* The settings of every built-in profiler with format= are one or begin with one:
 * report/profiler.c reads is_table there. */
typedef struct gnomon__table_choice {
    bool is_table; /* false: the report's own text was asked for */
    size_t limit;  /* the most rows of each group; SIZE_MAX: all */
    int sort;      /* a column; -1: the report's own order */
    int format;    /* gnomon__table_format */
    int by;        /* gnomon__group_by */
    void (*log)(const char *line); /* NULL: attached from C */
    size_t count;                  /* of columns that columns= names; 0: none */
    const uint16_t *columns;
} gnomon__table_choice;

/* Entries for a profiler's options. */
#define GNOMON__TABLE_OPTION(word, what_type, text) \
    { \
        .struct_size = sizeof(gnomon_option_info), .key = word, \
        .type = GNOMON_OPTION_##what_type, .help = text \
    }
#define GNOMON__PRESET_OPTION(word, what_type, value, text) \
    { \
        .struct_size = sizeof(gnomon_option_info), .key = word, \
        .type = GNOMON_OPTION_##what_type, .preset = value, .help = text \
    }
#define GNOMON__COLUMNS_OPTION \
    GNOMON__TABLE_OPTION("columns", TEXT, "which columns: a|b, or all")
#define GNOMON__ORDER_OPTIONS \
    GNOMON__COLUMNS_OPTION, \
        GNOMON__TABLE_OPTION("sort", TEXT, \
                             "the column that rows are ordered by")
#define GNOMON__FORMAT_OPTION \
    GNOMON__TABLE_OPTION("format", TEXT, "text, csv, md or json")
/* Those of a report that is always a table. By the preset of format= report/profiler.c
 * knows it, also of a plugin: reports that also have a text of their own list format=
 * without a preset. */
#define GNOMON__TABLE_OPTIONS \
    GNOMON__ORDER_OPTIONS, \
        GNOMON__TABLE_OPTION("limit", INTEGER, "the most rows; else all"), \
        GNOMON__PRESET_OPTION("format", TEXT, "text", "text, csv, md or json")
/* Those of one with a text, a limit and groups: `preset` is what it has as .limit. */
#define GNOMON__TEXT_OPTIONS(preset, limited, grouped) \
    GNOMON__ORDER_OPTIONS, \
        GNOMON__PRESET_OPTION("limit", INTEGER, preset, limited), \
        GNOMON__TABLE_OPTION("by", TEXT, grouped), GNOMON__FORMAT_OPTION
#define GNOMON__BY_ANY_OPTION \
    GNOMON__TABLE_OPTION("by", TEXT, "thread, rank, host, category or file")

/* Reads these options; is_table is true. A wrong word is logged by options->log and
 * ignored. `options` may be NULL. With has_own_sort sort= is the report's own.
 * GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__table_choose(gnomon__table_choice *choice, const char *report,
                         const gnomon__column *columns, size_t column_count,
                         bool has_own_sort, const gnomon_options *options);
/* A profiler's destroy: frees settings that are a choice or begin with one. */
void gnomon__table_destroy(void *self);

/* Whether columns, groups, an order or a format was asked for: what is_table is of a
 * report with a text of its own. */
bool gnomon__table_is_asked_for(const gnomon__table_choice *choice);

/* Writes the table, of a profile of one stage or several, and leaves out the rows beyond the
 * limit. GNOMON_OK,
 * GNOMON_ENOMEM before anything is written, or the writer's code. */
int gnomon__table_print(gnomon__report_table *t,
                        const gnomon__table_choice *choice,
                        const gnomon_profile *profile,
                        const gnomon_writer *out);

/* The stage that all rows are of: the only one, or the first of those of one name that
 * each run has. False: there is none. */
bool gnomon__table_stage(const gnomon_profile *profile, gnomon_stage_info *out);

/* The name of the stage, if there is only one; else "". */
const char *gnomon__only_stage(const gnomon_profile *profile);

/* As printf("%g") does in the C locale: six digits, or all of a whole number below 10^15;
 * with is_exact as many as are needed to read the same value back. */
const char *gnomon__print_number(char text[32], double value, bool is_exact);

/* Writes a text so that Markdown shows it as it is, on one line. */
void gnomon__put_md(const gnomon_writer *out, const char *text);

#endif
