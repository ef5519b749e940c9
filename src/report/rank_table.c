/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keeps one time for each rank and action, whatever the number of paths: 16 bytes each,
 * so that tables of 10^4 ranks fit in memory. */
#include "report/rank_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "print/regions.h"

static int no_room_for_ranks(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the ranks");
}

static const char no_host[] = "(not known)";

/* As print/groups.c orders categories and files. */
static int by_group_text(const char *a, const char *b)
{
    const int is_none = strcmp(a, "(none)") == 0;
    return is_none == (strcmp(b, "(none)") == 0) ? strcmp(a, b)
           : is_none                             ? 1
                                                 : -1;
}

/* Rows are few: the actions, whatever the number of ranks. NULL: no memory. */
static gnomon__rank_row *rank_row(gnomon__rank_table *t, const char *group,
                                  const char *name)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = by_group_text(t->rows[middle].group, group);
        order = order ? order : strcmp(t->rows[middle].name, name);
        if (!order)
            return &t->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!gnomon__grow(&t->rows, &t->room, t->count + 1, sizeof *t->rows))
        return NULL;
    gnomon__rank_row row = {.group = gnomon__strdup(group),
                            .name = gnomon__strdup(name)};
    if (!row.group || !row.name) {
        gnomon__free(row.group);
        gnomon__free(row.name);
        return NULL;
    }
    memmove(&t->rows[low + 1], &t->rows[low],
            (t->count++ - low) * sizeof *t->rows);
    t->rows[low] = row;
    return &t->rows[low];
}

static int add_run(gnomon__rank_table *t, const gnomon_run_info *run)
{
    if (!gnomon__grow(&t->runs, &t->run_room, t->run_count + 1,
                      sizeof *t->runs))
        return no_room_for_ranks();
    char *host = gnomon__strdup(run->host && *run->host ? run->host : no_host);
    if (!host)
        return no_room_for_ranks();
    t->runs[t->run_count++] = (gnomon__rank_run){host, run->rank, 0};
    return GNOMON_OK;
}

/* Attempts of one rank are one run. */
static int find_run(gnomon__rank_table *t, const gnomon_run_info *run,
                    uint32_t *number)
{
    for (uint32_t i = t->run_count; run->rank >= 0 && i-- > 0;)
        if (t->runs[i].rank == run->rank) {
            *number = i;
            return GNOMON_OK;
        }
    *number = t->run_count;
    return add_run(t, run);
}

/* One name may have rows of several categories, and attempts of a rank follow one
 * another. (Not so in a report of steps by host, which shows no times of ranks.) */
static int add_time(gnomon__rank_table *t, uint32_t run, const char *group,
                    const gnomon__cell *cells)
{
    const uint64_t total_ns =
        gnomon__times_of(&cells[GNOMON__REGION_HOST_TIMES])->total_ns;
    gnomon__rank_row *r = rank_row(t, group, cells[GNOMON__REGION_NAME].text);
    if (r && r->count && r->times[r->count - 1].run == run) {
        r->times[r->count - 1].total_ns += total_ns;
        return GNOMON_OK;
    }
    if (!r ||
        !gnomon__grow(&r->times, &r->room, r->count + 1, sizeof *r->times))
        return no_room_for_ranks();
    r->times[r->count++] = (gnomon__rank_time){total_ns, run, 0};
    return GNOMON_OK;
}

int gnomon__rank_table_add(gnomon__rank_table *t, const gnomon_run_info *run,
                           const gnomon_profile *stage)
{
    gnomon__report_rows all = {0};
    uint32_t number;
    const gnomon__table_choice by = {
        .by = t->by > GNOMON__BY_HOST ? t->by : GNOMON__BY_NOTHING};
    int code = find_run(t, run, &number);
    if (!code && gnomon__report_make(&all, &gnomon__regions, &by, NULL, stage))
        code = no_room_for_ranks();
    for (size_t i = 0; !code && i < all.table.row_count; i++)
        code = add_time(t, number,
                        by.by ? all.groups.texts[all.table.rows[i].group] : "",
                        gnomon__cells_of(&all.table, i));
    gnomon__report_free(&all);
    return code;
}

/* ---- Lines ----------------------------------------------------------------------- */

/* Of the report: times of one row, all of one group. */
typedef struct rank_line {
    const gnomon__rank_row *row;
    const gnomon__rank_time *times; /* ascending */
    size_t count;
    uint64_t total_ns;
    uint32_t group;
    uint32_t reserved;
} rank_line;

typedef struct rank_lines {
    rank_line *at;
    size_t count, room;
    const char **groups; /* their names */
} rank_lines;

static int by_host(const void *left, const void *right)
{
    const gnomon__rank_run *const *a = left, *const *b = right;
    return strcmp((*a)->host, (*b)->host);
}

/* Numbers the hosts in the order of their names. */
static int number_hosts(rank_lines *lines, gnomon__rank_table *t)
{
    gnomon__rank_run **runs = gnomon__alloc((t->run_count + 1) * sizeof *runs);
    lines->groups = gnomon__alloc((t->run_count + 1) * sizeof *lines->groups);
    if (!runs || !lines->groups) {
        gnomon__free((void *)runs);
        return no_room_for_ranks();
    }
    for (uint32_t i = 0; i < t->run_count; i++)
        runs[i] = &t->runs[i];
    qsort((void *)runs, t->run_count, sizeof *runs, by_host);
    for (uint32_t i = 0, group = 0; i < t->run_count; i++) {
        group += i && strcmp(runs[i - 1]->host, runs[i]->host) != 0;
        runs[i]->host_group = group;
        lines->groups[group] = runs[i]->host;
    }
    gnomon__free((void *)runs);
    return GNOMON_OK;
}

/* Rows come by group. */
static int number_texts(rank_lines *lines, const gnomon__rank_table *t)
{
    lines->groups = gnomon__alloc((t->count + 1) * sizeof *lines->groups);
    if (!lines->groups)
        return no_room_for_ranks();
    for (size_t i = 0, group = 0; i < t->count; i++) {
        group += i && strcmp(t->rows[i - 1].group, t->rows[i].group) != 0;
        lines->groups[group] = t->rows[i].group;
    }
    return GNOMON_OK;
}

static int by_time(const void *left, const void *right)
{
    const gnomon__rank_time *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns < b->total_ns ? -1 : 1;
    return (b->run > a->run) - (b->run < a->run); /* the first is slowest */
}

static int by_total(const void *left, const void *right)
{
    const rank_line *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return strcmp(a->row->name, b->row->name);
}

/* A line for each group of the row's times. */
static int add_lines(rank_lines *lines, const gnomon__rank_table *t,
                     gnomon__rank_row *row, uint32_t group)
{
    for (size_t i = 0; i < row->count && t->by == GNOMON__BY_HOST; i++)
        row->times[i].group = t->runs[row->times[i].run].host_group;
    if (row->count > 1)
        qsort(row->times, row->count, sizeof *row->times, by_time);
    for (size_t i = 0; i < row->count; i++) {
        const gnomon__rank_time *time = &row->times[i];
        if (!i || time->group != time[-1].group) {
            if (!gnomon__grow(&lines->at, &lines->room, lines->count + 1,
                              sizeof *lines->at))
                return no_room_for_ranks();
            lines->at[lines->count++] =
                (rank_line){row, time, 0, 0, group + time->group, 0};
        }
        rank_line *line = &lines->at[lines->count - 1];
        line->count++;
        line->total_ns += time->total_ns;
    }
    return GNOMON_OK;
}

/* Lines by group, in it by their total, the largest first. */
static int make_lines(rank_lines *lines, gnomon__rank_table *t)
{
    int code = t->by == GNOMON__BY_HOST ? number_hosts(lines, t)
                                        : number_texts(lines, t);
    uint32_t group = 0;
    for (size_t i = 0; !code && i < t->count; i++) {
        group += i && strcmp(t->rows[i - 1].group, t->rows[i].group) != 0;
        code = add_lines(lines, t, &t->rows[i], group);
    }
    if (lines->count > 1)
        qsort(lines->at, lines->count, sizeof *lines->at, by_total);
    return code;
}

/* ---- The report ------------------------------------------------------------------ */

enum {
    RANKS_NAME,
    RANKS_COUNT,
    RANKS_MIN,
    RANKS_MEDIAN,
    RANKS_MAX,
    RANKS_OVER,
    RANKS_SLOWEST,
    RANKS_HOST,
    RANKS_TOTAL,
    RANKS_COLUMNS
};

static const gnomon__column ranks_columns[RANKS_COLUMNS] = {
    [RANKS_NAME] = {"name", "Action", GNOMON__CELL_TEXT, false},
    [RANKS_COUNT] = {"ranks", "Ranks", GNOMON__CELL_COUNT, false},
    [RANKS_MIN] = {"min", "Min", GNOMON__CELL_TIME, false},
    [RANKS_MEDIAN] = {"median", "Median", GNOMON__CELL_TIME, false},
    [RANKS_MAX] = {"max", "Max", GNOMON__CELL_TIME, false},
    [RANKS_OVER] = {"over", "% over", GNOMON__CELL_SHARE, true},
    [RANKS_SLOWEST] = {"slowest", "Slowest", GNOMON__CELL_TEXT, false},
    [RANKS_HOST] = {"host", "Host", GNOMON__CELL_TEXT, false},
    [RANKS_TOTAL] = {"total", "Total", GNOMON__CELL_TIME, true},
};

static int ranks_create(const gnomon_options *options, void **self)
{
    gnomon__table_choice *c = gnomon__alloc(sizeof *c);
    if (!c)
        return GNOMON_ENOMEM;
    gnomon__table_choose(c, "ranks", ranks_columns, RANKS_COLUMNS, options);
    c->by = gnomon__groups_choose("ranks", GNOMON__BY_HOST, GNOMON__BY_FILE,
                                  options);
    *self = c;
    return GNOMON_OK;
}

static const gnomon_option_info ranks_options[] = {
    GNOMON__TABLE_OPTIONS,
    GNOMON__TABLE_OPTION("by", TEXT, "host, category or file"),
    {.key = NULL}};

const gnomon_profiler gnomon__ranks_report = {
    .struct_size = sizeof gnomon__ranks_report,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "ranks",
    .help = "actions by ranks, and which rank was slowest",
    .options = ranks_options,
    .create = ranks_create,
    .destroy = gnomon__free,
};

static int add_rank_line(gnomon__report_table *table,
                         const gnomon__rank_table *t, const rank_line *line)
{
    const gnomon__rank_time *slowest = &line->times[line->count - 1];
    const gnomon__rank_run *run = &t->runs[slowest->run];
    const uint64_t low = line->times[(line->count - 1) / 2].total_ns;
    const uint64_t median =
        low + (line->times[line->count / 2].total_ns - low) / 2;
    gnomon__cell *cells = gnomon__table_add(table, line->group, 0);
    const char *name =
        run->rank >= 0
            ? gnomon__table_keep(table, "rank %" PRId32, run->rank)
            : gnomon__table_keep(table, "run %" PRIu32, slowest->run + 1);
    if (!cells || !name)
        return no_room_for_ranks();
    gnomon__cell_text(&cells[RANKS_NAME], line->row->name);
    gnomon__cell_count(&cells[RANKS_COUNT], line->count);
    gnomon__cell_count(&cells[RANKS_MIN], line->times[0].total_ns);
    gnomon__cell_count(&cells[RANKS_MEDIAN], median);
    gnomon__cell_count(&cells[RANKS_MAX], slowest->total_ns);
    gnomon__cell_count(&cells[RANKS_TOTAL], line->total_ns);
    if (median)
        gnomon__cell_number(&cells[RANKS_OVER],
                            100.0 * (double)(slowest->total_ns - median) /
                                (double)median);
    gnomon__cell_text(&cells[RANKS_SLOWEST], name);
    if (strcmp(run->host, no_host) != 0)
        gnomon__cell_text(&cells[RANKS_HOST], run->host);
    return GNOMON_OK;
}

int gnomon__rank_table_print(gnomon__rank_table *t, const void *self,
                             const gnomon_profile *stage,
                             const gnomon_writer *out)
{
    static const char *const words[] = {[GNOMON__BY_HOST] = "host",
                                        [GNOMON__BY_CATEGORY] = "category",
                                        [GNOMON__BY_FILE] = "file"};
    gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    gnomon__report_table table = {.name = "ranks",
                                  .title = "",
                                  .columns = ranks_columns,
                                  .column_count = RANKS_COLUMNS,
                                  .group_word = words[t->by],
                                  .is_part = !self};
    rank_lines lines = {0};
    if (self)
        choice = *(const gnomon__table_choice *)self;
    int code = make_lines(&lines, t);
    table.groups = lines.groups;
    table.title =
        gnomon__table_keep(&table, "%" PRIu32 " rank%s, time of each",
                           t->run_count, t->run_count == 1 ? "" : "s");
    if (!code && !table.title)
        code = no_room_for_ranks();
    for (size_t i = 0; !code && i < lines.count; i++)
        code = add_rank_line(&table, t, &lines.at[i]);
    if (!code)
        code = gnomon__table_print(&table, &choice, stage, out);
    gnomon__free(lines.at);
    gnomon__free((void *)lines.groups);
    gnomon__table_free(&table);
    return code;
}

void gnomon__rank_table_free(gnomon__rank_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        gnomon__free(t->rows[i].group);
        gnomon__free(t->rows[i].name);
        gnomon__free(t->rows[i].times);
    }
    for (uint32_t i = 0; i < t->run_count; i++)
        gnomon__free(t->runs[i].host);
    gnomon__free(t->runs);
    gnomon__free(t->rows);
    *t = (gnomon__rank_table){0};
}
