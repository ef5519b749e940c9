/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A report that is a table: its columns say how they add up, and the report only reads
 * its entities, each into a row of its own:
 *
 *     #define COLUMN_LIST(X) \
 *         X(NAME, "name", "Name", TEXT, SHOWN, KEY) \
 *         X(CALLS, "calls", "Calls", COUNT, SHOWN, SUM)
 *     GNOMON__COLUMNS(columns, COLUMNS, COLUMN_LIST);
 *
 *     static void read(gnomon__report_rows *r)
 *     {
 *         for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++) {
 *             gnomon__cell *cells = gnomon__report_row(r, n.of.track, n.of.region);
 *             gnomon__cell_text(&cells[NAME], n.region.name);
 *             gnomon__cell_count(&cells[CALLS], n.of.host->count);
 *         }
 *     }
 *
 * Rows of one group that are equal in all keys become one. Options, groups, order and
 * formats are the same for all reports: print/table.h.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_ROWS_H
#define GNOMON_PRINT_ROWS_H

#include <stdlib.h>

#include "gnomon/profile.h"
#include "print/groups.h"

/* How the cells of rows that become one are made one. Empty cells change nothing. */
enum gnomon__rule {
    GNOMON__ROW_MADE, /* by `finish` */
    GNOMON__ROW_KEY,
    GNOMON__ROW_SUM,
    GNOMON__ROW_ONCE, /* the sum over rows of different `id` */
    GNOMON__ROW_LEAST,
    GNOMON__ROW_MOST,
    GNOMON__ROW_FIRST,
    GNOMON__ROW_LAST,
    GNOMON__ROW_TOP, /* of equal texts, the sums of column `of`, a count, are compared:
                    the text with the largest one, of equal ones the lower text; and
                    the next column, which may be that one and has the rule MADE, is
                    its sum */
    GNOMON__ROW_UNION, /* ends of times that begin at rows->from_ns: how long any of them
                          was. Of one `id` they come in the order of their begins; of
                          others, which come after, they are added to it. */
    GNOMON__ROW_TIMES, /* gnomon__cell_times: statistics with their histogram */
    GNOMON__ROW_VALUES /* counts, of which those of one `id` that follow one another
                          are one: gnomon__values_of */
};

/* Columns from a list of them: X(TOTAL, "total", "Total", TIME, SHOWN, SUM) is the key, the
 * title, the kind, whether it is shown and the rule of column TOTAL; and, where the rule
 * needs one, the other column. */
#define GNOMON__COLUMNS(name, count, list) \
    GNOMON__COLUMN_NUMBERS(count, list); \
    static const gnomon__column name[count] = {list(GNOMON__COLUMN_ROW)}
#define GNOMON__COLUMN_NUMBERS(count, list) \
    enum { list(GNOMON__COLUMN_NUMBER) count }
#define GNOMON__COLUMN_NUMBER(number, ...) number,
#define GNOMON__COLUMN_ROW(number, ...) \
    [number] = GNOMON__COLUMN_OF(__VA_ARGS__, 0, 0),
#define GNOMON__COLUMN_OF(key, title, kind, shown, rule, of, ...) \
    { \
        key, title, GNOMON__CELL_##kind, GNOMON__##shown, GNOMON__ROW_##rule, \
            of \
    }
/* One that is in no list. */
#define GNOMON__COLUMN(...) GNOMON__COLUMN_OF(__VA_ARGS__, 0, 0)

typedef struct gnomon__report_rows gnomon__report_rows;

/* A word that stands for the report with an option. Without one it is that of another
 * report, which this one is instead where it has an option that the other one lacks. */
typedef struct gnomon__report_alias {
    char word[12], key[12], value[12];
} gnomon__report_alias;

enum gnomon__report_reads {
    GNOMON__READS_LINKS = 1,
    GNOMON__READS_COUNTERS = 2 /* they have rows */
};

typedef struct gnomon__report {
    const char *name, *title;
    const char *if_empty; /* gnomon__report_table.if_empty */
    const gnomon__report_alias
        *aliases;                  /* an empty word ends them; NULL: none */
    const gnomon__column *columns; /* the first is a text */
    uint16_t column_count;
    uint8_t by_from, by_to; /* the groups that by= can name */
    uint8_t limit;          /* the most rows without limit=; 0: all */
    bool is_of_runs;        /* rows are of no track: groups are those of runs */
    bool has_own_limit;     /* `choose` leaves out what is beyond it */
    bool has_own_sort;      /* `set` reads sort= */
    bool compares_ranks;    /* it needs the profile of each */
    uint8_t reads; /* gnomon__report_reads, besides what has no bit there */
    int16_t sort;  /* the column of the preset order; -1: `order` */
    /* The next column to order by, for rows that are equal in this one; 0: none. The
     * keys come last. */
    uint16_t order;
    /* Of `more`, which is zeroes before the first read; 0: it has none. */
    size_t more_size;
    /* Of its settings, which begin with a gnomon__table_choice; 0: that is all. */
    size_t settings_size;
    /* Reads options of its own into them, after those that all reports share; `options`
     * NULL: their presets. NULL: it has none. */
    void (*set)(void *settings, const gnomon_options *options);
    /* Called for each profile. Rows without keys stay as they come. */
    void (*read)(gnomon__report_rows *rows);
    /* Makes the other cells of a row; false: there shall be no such row. NULL: none. */
    bool (*finish)(gnomon__report_rows *rows, gnomon__cell *cells);
    /* Sees the rows in the order of their keys, and may take some out; NULL: none. */
    void (*choose)(gnomon__report_rows *rows);
    /* Prints the report where no table is asked for; NULL: it is always a table.
     * GNOMON_OK, or GNOMON_ENOMEM. */
    int (*text)(gnomon__report_rows *rows, const gnomon_writer *out);
    /* Prints what is to be said below, to people; NULL: nothing. */
    void (*note)(const gnomon__report_rows *rows, const gnomon_writer *out);
    /* Writes the files beside the report; NULL: there are none. */
    void (*put_files)(gnomon__report_rows *rows, const gnomon_writer *out);
    void (*free_more)(void *more); /* NULL: there is nothing to free */
} gnomon__report;

struct gnomon__report_rows {
    const gnomon__report *of;
    const gnomon_profile *profile; /* at hand */
    const gnomon_run_info *run;    /* that it is of; NULL: it has its own */
    const gnomon__table_choice *choice;
    void *more;           /* the report's own */
    uint64_t recorded_ns; /* gnomon__recorded_ns */
    gnomon__groups groups;
    gnomon__report_table table; /* the rows that there are */
    uint64_t id;      /* of the row at hand: set it after gnomon__report_row */
    uint64_t from_ns; /* likewise, of rule UNION */
    int code;         /* GNOMON_OK, or the first error */
    const char *none; /* why there is nothing to report; NULL: there is */
    bool keeps;       /* profiles may go before the rows */
    bool
        is_apart; /* each profile is all of its group: its rows are finished at once */
    bool borrows_more;
    struct gnomon__report_work *work;
};

/* A report of one profile, whose texts the rows borrow. `more` NULL: it is made, if the
 * report has one. GNOMON_OK or GNOMON_ENOMEM; free in any case. O(entities of rule ONCE,
 * TOP and TIMES + rows) memory. */
int gnomon__report_make(gnomon__report_rows *rows, const gnomon__report *of,
                        const gnomon__table_choice *choice, void *more,
                        const gnomon_profile *profile);
/* The same of several, which may go once they were added, with rows->keeps, set after the
 * begin. Groups of ranks or hosts are those of `run`; NULL: of the profile's runs. An id of
 * the rule ONCE is of one profile. The report is at last of a profile that has the stages
 * of all; `finish` does not know it. */
int gnomon__report_begin(gnomon__report_rows *rows, const gnomon__report *of,
                         const gnomon__table_choice *choice, void *more);
int gnomon__report_add(gnomon__report_rows *rows, const gnomon_profile *profile,
                       const gnomon_run_info *run);
int gnomon__report_end(gnomon__report_rows *rows,
                       const gnomon_profile *profile);
void gnomon__report_free(gnomon__report_rows *rows);

/* Begins a row for an entity of that track and region, and ends the row before. Its
 * cells are all empty, and the caller's until the next one. Never NULL: if there is no
 * memory, the end of the report says so. */
gnomon__cell *gnomon__report_row(gnomon__report_rows *rows, uint32_t track,
                                 uint32_t region);

/* The same in a group that is known. */
gnomon__cell *gnomon__report_row_of(gnomon__report_rows *rows, uint32_t group);
/* Ends the row at hand. The number of the row that it became a part of, from 1 in the order
 * in which they came; 0: no memory. */
uint32_t gnomon__report_put(gnomon__report_rows *rows);
/* A row that becomes a part of the one of this number, whatever its keys. */
gnomon__cell *gnomon__report_row_to(gnomon__report_rows *rows, uint32_t number);
/* That number of a row of the table. */
uint32_t gnomon__report_number(const gnomon__report_rows *rows, size_t row);
/* "Gaps of rank 3": the title of a report of one run, which may be of many. */
void gnomon__report_say_rank(gnomon__report_rows *rows);
/* In `choose`: turns their order round. */
void gnomon__report_reverse(gnomon__report_rows *rows);
/* In `choose`: puts the rows, in their order, below those whose number is in the column;
 * 0: outermost. */
void gnomon__report_nest(gnomon__report_rows *rows, size_t column);

/* Statistics that count; they live as long as the profile. */
void gnomon__cell_times(gnomon__cell *cell, const gnomon_stats *times);
/* Their sum, in finish and later. It is empty, and not NULL, where there are none. */
const gnomon_stats *gnomon__times_of(const gnomon__cell *cell);
/* Ascending values; of equal ones the higher id comes first. In finish and later. */
typedef struct gnomon__value {
    uint64_t value;
    uint32_t id;
    uint32_t before; /* the engine's own */
} gnomon__value;
typedef struct gnomon__values {
    size_t count; /* from 1 */
    gnomon__value at[];
} gnomon__values;
const gnomon__values *gnomon__values_of(const gnomon__cell *cell);
/* Per cent; empty where the whole is 0. */
void gnomon__cell_share(gnomon__cell *cell, uint64_t part, uint64_t whole);

/* A node with its region, which has the name "" where it is not known. */
typedef struct gnomon__report_node {
    gnomon_node_info of;
    gnomon_region_info region;
} gnomon__report_node;

/* False: there is no such node. Then all of *out is empty. */
bool gnomon__report_node_at(const gnomon_profile *profile, size_t number,
                            gnomon__report_node *out);
/* The one copy of a text that lives as long as the rows; "" without memory. */
const char *gnomon__report_text(gnomon__report_rows *rows, const char *text);
/* A text of gnomon__table_keep; "" without memory, which the end of the report says. */
const char *gnomon__report_kept(gnomon__report_rows *rows, const char *text);
/* "train_step/forward": likewise. */
const char *gnomon__report_path(gnomon__report_rows *rows, uint32_t node);

/* How long the stages were recorded: 100 per cent of a share. For several runs,
 * their mean. */
uint64_t gnomon__recorded_ns(const gnomon_profile *profile);

/* ---- As a profiler ------------------------------------------------------------- */

/* A profiler's create and summary. `self` NULL: attached from C, with presets. */
int gnomon__report_create(const gnomon__report *of,
                          const gnomon_options *options, void **self);
int gnomon__report_print(const gnomon__report *of, const void *self,
                         const gnomon_profile *profile,
                         const gnomon_writer *out);

/* A table inside the text of a report, whose `read` sees the limit: after an empty line,
 * or nothing where there are no rows; but the first table has no line above it, and comes
 * in any case. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__report_part(const gnomon__report *of, void *more, size_t limit,
                        bool is_first, const gnomon_profile *profile,
                        const gnomon_writer *out);
/* The finished rows, as they were asked for: table or text, and what is to be said below.
 * GNOMON_OK, GNOMON_ENOMEM or the writer's code. */
int gnomon__report_put_all(gnomon__report_rows *rows, const gnomon_writer *out);
/* The rows as a table, as they were asked for. Likewise. */
int gnomon__report_put_table(gnomon__report_rows *rows,
                             const gnomon_writer *out);

/* A profiler that is a report. Its settings begin with a gnomon__table_choice. Its
 * destroy is gnomon__table_destroy, which other profilers do not have: this is how it
 * is recognized. */
typedef struct gnomon__reporter {
    gnomon_profiler profiler; /* first */
    const gnomon__report *report;
} gnomon__reporter;

/* NULL: it is none, or one of a plugin. */
const gnomon__report *gnomon__report_of(const gnomon_profiler *profiler);

/* The profiler `word`, which prints a report that is a constant. Its options follow:
 * print/table.h has those that most reports share. */
#define GNOMON__REPORT_PROFILER(word, report, wanted, about, ...) \
    GNOMON__REPORTER(word, report, wanted, about, __VA_ARGS__); \
    GNOMON__REPORT_PLUGIN(word)
#ifdef GNOMON_BUILTIN
#define GNOMON__REPORT_PLUGIN(word) \
    extern const gnomon_profiler *const gnomon__builtin_##word##_profiler; \
    const gnomon_profiler *const gnomon__builtin_##word##_profiler = \
        &word##_reporter.profiler
#else
#define GNOMON__REPORT_PLUGIN(word) GNOMON_PLUGIN(word##_reporter.profiler)
#endif
/* The same as the constant word_reporter alone. */
#define GNOMON__REPORTER(word, of, wanted, about, ...) \
    static int word##_create(const gnomon_options *options, void **self) \
    { \
        return gnomon__report_create(&(of), options, self); \
    } \
    static int word##_summary(void *self, const gnomon_profile *profile, \
                              const gnomon_writer *out) \
    { \
        return gnomon__report_print(&(of), self, profile, out); \
    } \
    static const gnomon_option_info word##_options[] = {__VA_ARGS__, \
                                                        {.key = NULL}}; \
    static const gnomon__reporter word##_reporter = { \
        .report = &(of), \
        .profiler = {.struct_size = sizeof(gnomon_profiler), \
                     .abi = GNOMON_ABI, \
                     .wants = wanted, \
                     .name = #word, \
                     .help = about, \
                     .options = word##_options, \
                     .create = word##_create, \
                     .summary = word##_summary, \
                     .destroy = gnomon__table_destroy}}

#endif
