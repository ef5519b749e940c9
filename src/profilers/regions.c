/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * regions: the times of each region, with quantiles, in the whole stage or by thread,
 * rank, host, category or file. A pure function from a profile to text, csv, Markdown
 * or JSON, made by src/print.
 */
#include <stdlib.h>
#include <string.h>

#include "gnomon/profiler.h"
#include "print/rows.h"

enum {
    REGIONS_NAME,
    REGIONS_CATEGORY,
    REGIONS_CALLS,
    REGIONS_TOTAL,
    REGIONS_PERCENT,
    REGIONS_SELF,
    REGIONS_MEAN,
    REGIONS_MIN,
    REGIONS_P50,
    REGIONS_P90,
    REGIONS_P99,
    REGIONS_MAX,
    REGIONS_DEVICE_CALLS,
    REGIONS_DEVICE,
    REGIONS_COLUMNS
};

static const gnomon__column regions_columns[REGIONS_COLUMNS] = {
    [REGIONS_NAME] = {"name", "Action", GNOMON__CELL_TEXT, false},
    [REGIONS_CATEGORY] = {"category", "Category", GNOMON__CELL_TEXT, true},
    [REGIONS_CALLS] = {"calls", "Calls", GNOMON__CELL_COUNT, false},
    [REGIONS_TOTAL] = {"total", "Total", GNOMON__CELL_TIME, false},
    [REGIONS_PERCENT] = {"percent", "%", GNOMON__CELL_SHARE, false},
    [REGIONS_SELF] = {"self", "Self", GNOMON__CELL_TIME, false},
    [REGIONS_MEAN] = {"mean", "Mean", GNOMON__CELL_TIME, false},
    [REGIONS_MIN] = {"min", "Min", GNOMON__CELL_TIME, true},
    [REGIONS_P50] = {"p50", "p50", GNOMON__CELL_TIME, true},
    [REGIONS_P90] = {"p90", "p90", GNOMON__CELL_TIME, true},
    [REGIONS_P99] = {"p99", "p99", GNOMON__CELL_TIME, false},
    [REGIONS_MAX] = {"max", "Max", GNOMON__CELL_TIME, true},
    [REGIONS_DEVICE_CALLS] = {"device_calls", "Device calls",
                              GNOMON__CELL_COUNT, true},
    [REGIONS_DEVICE] = {"device", "Device", GNOMON__CELL_TIME, true},
};

static int regions_create(const gnomon_options *options, void **self)
{
    gnomon__table_choice *c = calloc(1, sizeof *c);
    if (!c)
        return GNOMON_ENOMEM;
    gnomon__table_choose(c, "regions", regions_columns, REGIONS_COLUMNS,
                         options);
    c->by = gnomon__groups_choose("regions", GNOMON__BY_THREAD, GNOMON__BY_FILE,
                                  options);
    if (c->sort < 0)
        c->sort = REGIONS_TOTAL;
    *self = c;
    return GNOMON_OK;
}

static bool regions_add(gnomon__report_table *table,
                        const gnomon__region_row *row, uint64_t recorded_ns)
{
    gnomon__cell *cells = gnomon__table_add(table, row->group, 0);
    if (!cells)
        return false;
    gnomon__cell_text(&cells[REGIONS_NAME], row->name);
    gnomon__cell_text(&cells[REGIONS_CATEGORY], row->category);
    const gnomon_stats *s = &row->host;
    const struct {
        int column;
        uint64_t value;
    } of_calls[] = {{REGIONS_CALLS, s->count},
                    {REGIONS_TOTAL, s->total_ns},
                    {REGIONS_SELF, s->self_ns},
                    {REGIONS_MEAN, s->count ? s->total_ns / s->count : 0},
                    {REGIONS_MIN, s->min_ns},
                    {REGIONS_P50, gnomon_quantile_ns(s, 0.5)},
                    {REGIONS_P90, gnomon_quantile_ns(s, 0.9)},
                    {REGIONS_P99, gnomon_quantile_ns(s, 0.99)},
                    {REGIONS_MAX, s->max_ns}};
    for (size_t i = 0; s->count && i < sizeof of_calls / sizeof *of_calls; i++)
        gnomon__cell_count(&cells[of_calls[i].column], of_calls[i].value);
    if (recorded_ns && s->count)
        gnomon__cell_number(&cells[REGIONS_PERCENT],
                            100.0 * (double)s->total_ns / (double)recorded_ns);
    if (row->device.count) {
        gnomon__cell_count(&cells[REGIONS_DEVICE_CALLS], row->device.count);
        gnomon__cell_count(&cells[REGIONS_DEVICE], row->device.total_ns);
    }
    return true;
}

/* Rows of equal totals stay in the order of their first ends. */
static int regions_by_first(const void *left, const void *right)
{
    const gnomon__region_row *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->category, b->category);
}

static int regions_summary(void *self, const gnomon_profile *profile,
                           const gnomon_writer *out)
{
    gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = REGIONS_TOTAL};
    gnomon__column columns[REGIONS_COLUMNS];
    gnomon__report_table table = {.name = "regions",
                                  .title = "Regions",
                                  .columns = columns,
                                  .column_count = REGIONS_COLUMNS};
    gnomon__groups groups;
    gnomon__region_rows all = {0};
    if (!profile)
        return GNOMON_EINVAL;
    if (self)
        choice = *(const gnomon__table_choice *)self;
    memcpy(columns, regions_columns, sizeof columns);
    uint64_t recorded_ns = gnomon__recorded_ns(profile);
    int code = gnomon__groups_make(&groups, choice.by, profile, &table);
    if (!code)
        code = gnomon__region_rows_make(&all, &groups, profile);
    if (!code)
        qsort(all.rows, all.count, sizeof *all.rows, regions_by_first);
    for (size_t i = 0; !code && i < all.count; i++) {
        if (all.rows[i].shares_name)
            columns[REGIONS_CATEGORY].is_extra = false;
        if (!regions_add(&table, &all.rows[i], recorded_ns))
            code = GNOMON_ENOMEM;
    }
    if (!code)
        code = gnomon__table_print(&table, &choice, profile, out);
    gnomon__region_rows_free(&all);
    gnomon__groups_free(&groups);
    gnomon__table_free(&table);
    return code;
}

static const gnomon_option_info regions_options[] = {
    GNOMON__TABLE_OPTIONS,
    GNOMON__TABLE_OPTION("by", TEXT, "thread, rank, host, category or file"),
    {.key = NULL}};

static const gnomon_profiler regions = {
    .struct_size = sizeof regions,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "regions",
    .help = "calls, total, self and quantiles of each region",
    .options = regions_options,
    .create = regions_create,
    .summary = regions_summary,
    .destroy = free,
};

GNOMON_PLUGIN(regions);
