/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* counters: the sampled values of counters, also of payloads of NVTX marks, and how
 * often each mark was made. */
#include "gnomon.h"
#include "gnomon/tool.h"
#include "print/rows.h"

/* If several threads sampled it, the last value is that of the last track with
 * samples. */
#define COUNTER_COLUMN_LIST(X) \
    X(COUNTER_NAME, "name", "Name", TEXT, SHOWN, KEY) \
    X(COUNTER_CATEGORY, "category", "Category", TEXT, TELLS, KEY) \
    X(COUNTER_KIND, "kind", "Kind", TEXT, SHOWN, KEY) \
    X(COUNTER_COUNT, "count", "Count", COUNT, SHOWN, SUM) \
    X(COUNTER_LAST, "last", "Last", NUMBER, SHOWN, LAST) \
    X(COUNTER_MIN, "min", "Min", NUMBER, SHOWN, LEAST) \
    X(COUNTER_MEAN, "mean", "Mean", NUMBER, SHOWN, MADE) \
    X(COUNTER_MAX, "max", "Max", NUMBER, SHOWN, MOST) \
    X(COUNTER_SUM, "sum", "Sum", NUMBER, EXTRA, SUM) \
    X(COUNTER_NANS, "nans", "Not numbers", COUNT, EXTRA, SUM)
GNOMON__COLUMNS(counters_columns, COUNTER_COLUMNS, COUNTER_COLUMN_LIST);

static gnomon__cell *counters_row(gnomon__report_rows *r, uint32_t track,
                                  uint32_t number,
                                  const gnomon_region_info *region,
                                  const char *kind, uint64_t count)
{
    gnomon__cell *cells = gnomon__report_row(r, track, number);
    gnomon__cell_text(&cells[COUNTER_NAME], region->name);
    gnomon__cell_text(&cells[COUNTER_CATEGORY], region->category);
    gnomon__cell_text(&cells[COUNTER_KIND], kind);
    gnomon__cell_count(&cells[COUNTER_COUNT], count);
    return cells;
}

static void counters_read(gnomon__report_rows *r)
{
    const size_t count = gnomon_profile_count(r->profile, GNOMON_COUNTERS);
    gnomon_counter_info c;
    gnomon_region_info region;
    gnomon__report_node n;
    for (size_t i = 1; i <= count; i++) {
        if (gnomon_profile_counter(r->profile, i, &c) ||
            gnomon_profile_region(r->profile, c.region, &region))
            continue;
        gnomon__cell *cells =
            counters_row(r, c.track, c.region, &region, "counter", c.count);
        gnomon__cell_count(&cells[COUNTER_NANS], c.nans);
        if (!c.count)
            continue;
        gnomon__cell_number(&cells[COUNTER_LAST], c.last);
        gnomon__cell_number(&cells[COUNTER_MIN], c.min);
        gnomon__cell_number(&cells[COUNTER_MAX], c.max);
        gnomon__cell_number(&cells[COUNTER_SUM], c.sum);
    }
    for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++)
        if (n.region.kind == GNOMON_KIND_MARK && n.of.host && n.of.host->count)
            counters_row(r, n.of.track, n.of.region, &n.region, "mark",
                         n.of.host->count);
}

static bool counters_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    (void)r;
    if (cells[COUNTER_SUM].is_there)
        gnomon__cell_number(&cells[COUNTER_MEAN],
                            cells[COUNTER_SUM].number /
                                (double)cells[COUNTER_COUNT].count);
    return true;
}

static const gnomon__report counters_report = {
    .name = "counters",
    .title = "Counters and Marks",
    .if_empty = "no counter was sampled and no mark made: gnomon_counter() and "
                "gnomon_mark() do so",
    .columns = counters_columns,
    .column_count = COUNTER_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_FILE,
    .reads = GNOMON__READS_COUNTERS,
    .sort = -1,
    .read = counters_read,
    .finish = counters_finish,
};

GNOMON__REPORT_PROFILER(
    counters, counters_report, GNOMON_WANT_TREE,
    "what counters were sampled at, and how often marks came",
    GNOMON__TABLE_OPTIONS, GNOMON__BY_ANY_OPTION);
