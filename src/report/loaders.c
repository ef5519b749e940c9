/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loaders: what workers of data loaders did and how long the loop waited for them, by
 * the counters of gnomon/_loader.py: "train Images.waited_ns" is the cell `waited` of the
 * loader "train Images". In the program and in the Python package. */
#include "report/loaders.h"

#include <string.h>

#include "print/rows.h"

#define LOADER_COLUMN_LIST(X) \
    X(LOADER_NAME, "loader", "Loader", TEXT, SHOWN, KEY) \
    X(LOADER_WORKERS, "workers", "Workers", COUNT, SHOWN, MOST) \
    X(LOADER_STARTS, "starts", "Starts", COUNT, SHOWN, SUM) \
    X(LOADER_STARTING, "starting", "Starting", TIME, SHOWN, SUM) \
    X(LOADER_UP, "up", "Up after", TIME, SHOWN, MOST) \
    X(LOADER_BATCHES, "batches", "Batches", COUNT, SHOWN, SUM) \
    X(LOADER_FIRST, "first", "First", TIME, SHOWN, SUM) \
    X(LOADER_WAITED, "waited", "Waited", TIME, SHOWN, SUM) \
    X(LOADER_LONGEST, "longest", "Longest", TIME, SHOWN, MOST) \
    X(LOADER_WORKED, "worked", "Worked", TIME, SHOWN, SUM) \
    X(LOADER_PREFETCHED, "prefetched", "Prefetched", TIME, SHOWN, MADE) \
    X(LOADER_MEAN, "mean_ready", "Ready", SHARE, SHOWN, MADE) \
    X(LOADER_UNREADY, "unready", "Unready", COUNT, SHOWN, SUM) \
    X(LOADER_IN_WAITS, "in_waits", "", TIME, HIDDEN, SUM) \
    X(LOADER_READY, "ready", "", COUNT, HIDDEN, SUM)
GNOMON__COLUMNS(loader_columns, LOADER_COLUMNS, LOADER_COLUMN_LIST);

#define WORKER_COLUMN_LIST(X) \
    X(WORKER_NAME, "worker", "Worker", TEXT, SHOWN, KEY) \
    X(WORKER_PROCESS, "process", "Process", ID, SHOWN, LAST) \
    X(WORKER_STARTED, "started", "Started", COUNT, SHOWN, SUM) \
    X(WORKER_UP, "up_mean", "Up after", TIME, SHOWN, MADE) \
    X(WORKER_BATCHES, "batches", "Batches", COUNT, SHOWN, SUM) \
    X(WORKER_ITEMS, "items", "Items", COUNT, SHOWN, SUM) \
    X(WORKER_FETCH, "fetch", "Fetching", TIME, SHOWN, SUM) \
    X(WORKER_MEAN, "fetch_mean", "Mean", TIME, SHOWN, MADE) \
    X(WORKER_LONGEST, "longest_fetch", "Longest", TIME, SHOWN, MOST) \
    X(WORKER_COLLATE, "collate", "Collating", TIME, SHOWN, SUM) \
    X(WORKER_COLLATED, "longest_collate", "Longest", TIME, SHOWN, MOST) \
    X(WORKER_UPS, "up", "", TIME, HIDDEN, SUM)
GNOMON__COLUMNS(worker_columns, WORKER_COLUMNS, WORKER_COLUMN_LIST);

static bool is_field(const char *field, const char *key)
{
    const size_t n = strlen(key);
    return strncmp(field, key, n) == 0 &&
           (!field[n] || strcmp(field + n, "_ns") == 0);
}

/* The category of its counters is the report's name. */
static void loaders_read(gnomon__report_rows *r)
{
    static const char prefix[] = "[DataLoader]";
    gnomon_counter_info c;
    gnomon_region_info of;
    for (size_t i = 1; !gnomon_profile_counter(r->profile, i, &c); i++) {
        const bool is_there = !gnomon_profile_region(r->profile, c.region, &of);
        const char *dot = is_there ? strrchr(of.name, '.') : NULL;
        if (!dot || strncmp(of.name, prefix, sizeof prefix - 1) != 0 ||
            strcmp(of.category, r->of->name) != 0)
            continue;
        gnomon__cell *cells = gnomon__report_row(r, c.track, c.region);
        const char *name = of.name + sizeof prefix - 1;
        gnomon__cell_text(cells,
                          gnomon__report_kept(
                              r, gnomon__table_keep(&r->table, "%.*s",
                                                    (int)(dot - name), name)));
        for (size_t k = 1; k < r->of->column_count; k++) {
            const gnomon__column *column = &r->of->columns[k];
            const double value = column->rule == GNOMON__ROW_SUM    ? c.sum
                                 : column->rule == GNOMON__ROW_LAST ? c.last
                                                                    : c.max;
            if (is_field(dot + 1, column->key) && value >= 0 && value < 0x1p63)
                gnomon__cell_count(&cells[k], (uint64_t)value);
        }
    }
}

static bool loader_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const uint64_t worked = cells[LOADER_WORKED].count;
    const uint64_t waited = cells[LOADER_IN_WAITS].count;
    const uint64_t batches = cells[LOADER_BATCHES].count;
    const uint64_t starts = cells[LOADER_STARTS].count;
    (void)r;
    if (cells[LOADER_WORKED].is_there)
        gnomon__cell_count(&cells[LOADER_PREFETCHED],
                           worked > waited ? worked - waited : 0);
    if (batches > starts)
        gnomon__cell_number(&cells[LOADER_MEAN],
                            (double)cells[LOADER_READY].count /
                                (double)(batches - starts));
    return true;
}

static bool worker_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const uint64_t items = cells[WORKER_ITEMS].count;
    const uint64_t started = cells[WORKER_STARTED].count;
    (void)r;
    if (started)
        gnomon__cell_count(&cells[WORKER_UP],
                           cells[WORKER_UPS].count / started);
    if (items)
        gnomon__cell_count(&cells[WORKER_MEAN],
                           cells[WORKER_FETCH].count / items);
    return true;
}

#define OF_COUNTERS \
    .if_empty = "no data loader had workers: gnomon.lightning counts them", \
    .by_from = GNOMON__BY_RANK, .by_to = GNOMON__BY_HOST, \
    .reads = GNOMON__READS_COUNTERS, .sort = -1, .read = loaders_read

static const gnomon__report workers_report = {
    .name = "workers",
    .title = "Workers",
    .columns = worker_columns,
    .column_count = WORKER_COLUMNS,
    OF_COUNTERS,
    .finish = worker_finish,
};

static int loaders_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    const size_t limit = r->choice->limit;
    int code = gnomon__report_put_table(r, out);
    return code ? code
                : gnomon__report_part(&workers_report, NULL, limit, false,
                                      r->profile, out);
}

static const gnomon__report loaders_report = {
    .name = "loaders",
    .title = "Data Loader Workers",
    .columns = loader_columns,
    .column_count = LOADER_COLUMNS,
    OF_COUNTERS,
    .finish = loader_finish,
    .text = loaders_text,
};

#define OPTIONS \
    GNOMON__TABLE_OPTIONS, GNOMON__TABLE_OPTION("by", TEXT, "rank or host")
GNOMON__REPORTER(loaders, loaders_report, GNOMON_WANT_TREE,
                 "how long data loaders were waited for, and their workers",
                 OPTIONS);
GNOMON__REPORTER(workers, workers_report, GNOMON_WANT_TREE,
                 "what each worker of data loaders did", OPTIONS);

const gnomon_profiler *const gnomon__loaders_profiler =
    &loaders_reporter.profiler;
const gnomon_profiler *const gnomon__workers_profiler =
    &workers_reporter.profiler;
