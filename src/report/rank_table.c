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
#include "print/rows.h"

static int no_room_for_ranks(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the ranks");
}

/* Rows are few, and sorted by name until they are summed up. NULL: no memory. */
static gnomon__rank_row *rank_row(gnomon__rank_table *t, const char *name)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(t->rows[middle].name, name);
        if (!order)
            return &t->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!gnomon__grow(&t->rows, &t->room, t->count + 1, sizeof *t->rows))
        return NULL;
    char *copy = gnomon__strdup(name);
    if (!copy)
        return NULL;
    memmove(&t->rows[low + 1], &t->rows[low],
            (t->count++ - low) * sizeof *t->rows);
    t->rows[low] = (gnomon__rank_row){.name = copy};
    return &t->rows[low];
}

static int add_host(gnomon__rank_table *t, const gnomon_run_info *run)
{
    if (!gnomon__grow(&t->hosts, &t->host_room, t->runs + 1, sizeof *t->hosts))
        return no_room_for_ranks();
    t->hosts[t->runs] = gnomon__strdup(run->host ? run->host : "");
    return t->hosts[t->runs] ? GNOMON_OK : no_room_for_ranks();
}

int gnomon__rank_table_add(gnomon__rank_table *t, const gnomon_run_info *run,
                           const gnomon_profile *stage)
{
    gnomon__groups nothing = {0};
    gnomon__region_rows all = {0};
    int code = GNOMON_OK;
    /* Else it is one more attempt of the rank before it. */
    if (!t->runs || run->rank < 0 || run->rank != t->before) {
        code = add_host(t, run);
        t->runs += !code;
    }
    t->before = run->rank;
    if (!code && gnomon__region_rows_make(&all, &nothing, stage))
        code = no_room_for_ranks();
    /* One name may have rows of several categories. */
    for (size_t i = 0; !code && i < all.count; i++) {
        const uint64_t ns = all.rows[i].host.total_ns;
        gnomon__rank_row *r = rank_row(t, all.rows[i].name);
        if (r && r->count && r->times[r->count - 1].run == t->runs - 1) {
            r->times[r->count - 1].total_ns += ns;
            r->total_ns += ns;
            continue;
        }
        if (!r || !gnomon__grow(&r->times, &r->room, r->count + 1,
                                sizeof *r->times)) {
            code = no_room_for_ranks();
            break;
        }
        r->times[r->count++] = (gnomon__rank_time){ns, run->rank, t->runs - 1};
        r->total_ns += ns;
    }
    gnomon__region_rows_free(&all);
    return code;
}

static int by_time(const void *left, const void *right)
{
    const gnomon__rank_time *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns < b->total_ns ? -1 : 1;
    return (b->run > a->run) - (b->run < a->run); /* the first is slowest */
}

static int by_total(const void *left, const void *right)
{
    const gnomon__rank_row *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

void gnomon__rank_table_sum(gnomon__rank_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        gnomon__rank_row *r = &t->rows[i];
        if (!r->count) /* memory ended */
            continue;
        qsort(r->times, r->count, sizeof *r->times, by_time);
        uint64_t low = r->times[(r->count - 1) / 2].total_ns;
        uint64_t high = r->times[r->count / 2].total_ns;
        r->min_ns = r->times[0].total_ns;
        r->median_ns = low + (high - low) / 2;
        r->slowest = r->times[r->count - 1];
        r->max_ns = r->slowest.total_ns;
    }
    if (t->count > 1)
        qsort(t->rows, t->count, sizeof *t->rows, by_total);
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
    *self = c;
    return GNOMON_OK;
}

static const gnomon_option_info ranks_options[] = {GNOMON__TABLE_OPTIONS,
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

static int add_rank_row(gnomon__report_table *table,
                        const gnomon__rank_table *t, const gnomon__rank_row *r)
{
    gnomon__cell *cells = gnomon__table_add(table, 0, 0);
    const char *slowest =
        r->slowest.rank >= 0
            ? gnomon__table_keep(table, "rank %" PRId32, r->slowest.rank)
            : gnomon__table_keep(table, "run %" PRIu32, r->slowest.run + 1);
    if (!cells || !slowest)
        return 0;
    gnomon__cell_text(&cells[RANKS_NAME], r->name);
    gnomon__cell_count(&cells[RANKS_COUNT], r->count);
    gnomon__cell_count(&cells[RANKS_MIN], r->min_ns);
    gnomon__cell_count(&cells[RANKS_MEDIAN], r->median_ns);
    gnomon__cell_count(&cells[RANKS_MAX], r->max_ns);
    gnomon__cell_count(&cells[RANKS_TOTAL], r->total_ns);
    if (r->median_ns)
        gnomon__cell_number(&cells[RANKS_OVER],
                            100.0 * (double)(r->max_ns - r->median_ns) /
                                (double)r->median_ns);
    gnomon__cell_text(&cells[RANKS_SLOWEST], slowest);
    if (*t->hosts[r->slowest.run])
        gnomon__cell_text(&cells[RANKS_HOST], t->hosts[r->slowest.run]);
    return 1;
}

int gnomon__rank_table_print(const gnomon__rank_table *t, const void *self,
                             const gnomon_profile *stage,
                             const gnomon_writer *out)
{
    gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    gnomon__report_table table = {.name = "ranks",
                                  .title = "",
                                  .columns = ranks_columns,
                                  .column_count = RANKS_COLUMNS};
    int code = GNOMON_OK;
    table.is_part = !self;
    if (self)
        choice = *(const gnomon__table_choice *)self;
    table.title = gnomon__table_keep(&table, "%" PRIu32 " rank%s, time of each",
                                     t->runs, t->runs == 1 ? "" : "s");
    for (size_t i = 0; !code && i < t->count; i++)
        if (!table.title || !add_rank_row(&table, t, &t->rows[i]))
            code = no_room_for_ranks();
    if (!code)
        code = gnomon__table_print(&table, &choice, stage, out);
    gnomon__table_free(&table);
    return code;
}

void gnomon__rank_table_free(gnomon__rank_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        gnomon__free(t->rows[i].name);
        gnomon__free(t->rows[i].times);
    }
    for (uint32_t i = 0; i < t->runs; i++)
        gnomon__free(t->hosts[i]);
    gnomon__free((void *)t->hosts);
    gnomon__free(t->rows);
    *t = (gnomon__rank_table){0};
}
