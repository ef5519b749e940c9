/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * counters: the sampled values of counters, also of payloads of NVTX marks, and how
 * often each mark was made. A pure function of a profile.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "print/rows.h"

enum {
    COUNTERS_NAME,
    COUNTERS_CATEGORY,
    COUNTERS_KIND,
    COUNTERS_COUNT,
    COUNTERS_LAST,
    COUNTERS_MIN,
    COUNTERS_MEAN,
    COUNTERS_MAX,
    COUNTERS_SUM,
    COUNTERS_NANS,
    COUNTERS_COLUMNS
};

static const gnomon__column counters_columns[COUNTERS_COLUMNS] = {
    [COUNTERS_NAME] = {"name", "Name", GNOMON__CELL_TEXT, false},
    [COUNTERS_CATEGORY] = {"category", "Category", GNOMON__CELL_TEXT, true},
    [COUNTERS_KIND] = {"kind", "Kind", GNOMON__CELL_TEXT, false},
    [COUNTERS_COUNT] = {"count", "Count", GNOMON__CELL_COUNT, false},
    [COUNTERS_LAST] = {"last", "Last", GNOMON__CELL_NUMBER, false},
    [COUNTERS_MIN] = {"min", "Min", GNOMON__CELL_NUMBER, false},
    [COUNTERS_MEAN] = {"mean", "Mean", GNOMON__CELL_NUMBER, false},
    [COUNTERS_MAX] = {"max", "Max", GNOMON__CELL_NUMBER, false},
    [COUNTERS_SUM] = {"sum", "Sum", GNOMON__CELL_NUMBER, true},
    [COUNTERS_NANS] = {"nans", "Not numbers", GNOMON__CELL_COUNT, true},
};

typedef struct counters_row {
    const char *name, *category;
    uint32_t group;
    bool is_mark;
    bool shares_name;
    uint64_t count, nans;
    double last, min, max, sum;
} counters_row;

static int counters_create(const gnomon_options *options, void **self)
{
    gnomon__table_choice *c = calloc(1, sizeof *c);
    if (!c)
        return GNOMON_ENOMEM;
    gnomon__table_choose(c, "counters", counters_columns, COUNTERS_COLUMNS,
                         options);
    c->by = gnomon__groups_choose("counters", GNOMON__BY_THREAD,
                                  GNOMON__BY_FILE, options);
    *self = c;
    return GNOMON_OK;
}

/* ---- Rows ------------------------------------------------------------------------ */

static size_t counters_read(counters_row *rows, const gnomon__groups *groups,
                            const gnomon_profile *p)
{
    size_t count = 0;
    gnomon_region_info region;
    gnomon_counter_info c;
    gnomon_node_info n;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_COUNTERS); i++) {
        if (gnomon_profile_counter(p, i, &c) != GNOMON_OK ||
            gnomon_profile_region(p, c.region, &region) != GNOMON_OK)
            continue;
        rows[count] =
            (counters_row){.name = region.name,
                           .category = region.category,
                           .group = gnomon__group_of(groups, c.track, c.region),
                           .count = c.count,
                           .nans = c.nans,
                           .last = c.last,
                           .min = c.min,
                           .max = c.max,
                           .sum = c.sum};
        count++;
    }
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        if (gnomon_profile_node(p, i, &n) != GNOMON_OK || !n.host ||
            !n.host->count ||
            gnomon_profile_region(p, n.region, &region) != GNOMON_OK ||
            region.kind != GNOMON_KIND_MARK)
            continue;
        rows[count] =
            (counters_row){.name = region.name,
                           .category = region.category,
                           .group = gnomon__group_of(groups, n.track, n.region),
                           .is_mark = true,
                           .count = n.host->count};
        count++;
    }
    return count;
}

static int counters_by_name(const counters_row *a, const counters_row *b)
{
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->category, b->category);
}

static int counters_by_row(const void *left, const void *right)
{
    const counters_row *a = left, *b = right;
    int order = counters_by_name(a, b);
    return order ? order : a->is_mark - b->is_mark;
}

/* Of several threads, `last` is that of the last track with samples. */
static void counters_add(counters_row *to, const counters_row *from)
{
    if (from->count) {
        to->min = to->count && to->min < from->min ? to->min : from->min;
        to->max = to->count && to->max > from->max ? to->max : from->max;
        to->last = from->last;
    }
    to->count += from->count;
    to->nans += from->nans;
    to->sum += from->sum;
}

static size_t counters_unite(counters_row *rows, size_t count)
{
    size_t used = 0;
    qsort(rows, count, sizeof *rows, counters_by_row);
    for (size_t i = 0; i < count; i++) {
        counters_row *last = used ? &rows[used - 1] : NULL;
        if (last && !counters_by_row(last, &rows[i])) {
            counters_add(last, &rows[i]);
            continue;
        }
        rows[used++] = rows[i];
        if (last && last->group == rows[used - 1].group &&
            strcmp(last->name, rows[used - 1].name) == 0 &&
            strcmp(last->category, rows[used - 1].category) != 0)
            last->shares_name = rows[used - 1].shares_name = true;
    }
    return used;
}

static bool counters_add_row(gnomon__report_table *table,
                             const counters_row *row)
{
    gnomon__cell *cells = gnomon__table_add(table, row->group, 0);
    if (!cells)
        return false;
    gnomon__cell_text(&cells[COUNTERS_NAME], row->name);
    gnomon__cell_text(&cells[COUNTERS_CATEGORY], row->category);
    gnomon__cell_text(&cells[COUNTERS_KIND], row->is_mark ? "mark" : "counter");
    gnomon__cell_count(&cells[COUNTERS_COUNT], row->count);
    if (row->is_mark)
        return true;
    gnomon__cell_count(&cells[COUNTERS_NANS], row->nans);
    if (!row->count)
        return true;
    gnomon__cell_number(&cells[COUNTERS_LAST], row->last);
    gnomon__cell_number(&cells[COUNTERS_MIN], row->min);
    gnomon__cell_number(&cells[COUNTERS_MAX], row->max);
    gnomon__cell_number(&cells[COUNTERS_SUM], row->sum);
    gnomon__cell_number(&cells[COUNTERS_MEAN], row->sum / (double)row->count);
    return true;
}

static int counters_summary(void *self, const gnomon_profile *profile,
                            const gnomon_writer *out)
{
    gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    gnomon__column columns[COUNTERS_COLUMNS];
    gnomon__report_table table = {.name = "counters",
                                  .title = "Counters and Marks",
                                  .columns = columns,
                                  .column_count = COUNTERS_COLUMNS,
                                  .if_empty =
                                      "no counter was sampled and no mark "
                                      "made: gnomon_counter() and "
                                      "gnomon_mark() do so"};
    gnomon__groups groups;
    if (!profile)
        return GNOMON_EINVAL;
    if (self)
        choice = *(const gnomon__table_choice *)self;
    memcpy(columns, counters_columns, sizeof columns);
    size_t count = gnomon_profile_count(profile, GNOMON_COUNTERS) +
                   gnomon_profile_count(profile, GNOMON_NODES);
    counters_row *rows = calloc(count + 1, sizeof *rows);
    int code = gnomon__groups_make(&groups, choice.by, profile, &table);
    if (!rows)
        code = GNOMON_ENOMEM;
    count =
        code ? 0 : counters_unite(rows, counters_read(rows, &groups, profile));
    for (size_t i = 0; !code && i < count; i++) {
        if (rows[i].shares_name)
            columns[COUNTERS_CATEGORY].is_extra = false;
        if (!counters_add_row(&table, &rows[i]))
            code = GNOMON_ENOMEM;
    }
    if (!code)
        code = gnomon__table_print(&table, &choice, profile, out);
    free(rows);
    gnomon__groups_free(&groups);
    gnomon__table_free(&table);
    return code;
}

static const gnomon_option_info counters_options[] = {
    GNOMON__TABLE_OPTIONS,
    GNOMON__TABLE_OPTION("by", TEXT, "thread, rank, host, category or file"),
    {.key = NULL}};

static const gnomon_profiler counters = {
    .struct_size = sizeof counters,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "counters",
    .help = "what counters were sampled at, and how often marks came",
    .options = counters_options,
    .create = counters_create,
    .summary = counters_summary,
    .destroy = free,
};

GNOMON_PLUGIN(counters);
