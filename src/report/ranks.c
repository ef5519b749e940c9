/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keeps one time for each rank and action, whatever the number of paths: 32 bytes each,
 * so that tables of 10^4 ranks fit in memory. */
#include "report/ranks.h"

#include <inttypes.h>

#include "platform/memory.h"
#include "print/regions.h"

typedef struct ranks_run {
    const char *host; /* "": not known */
    int32_t rank;     /* -1: not known */
} ranks_run;

typedef struct ranks_runs {
    ranks_run *at; /* attempts of one rank are one */
    size_t room;
    uint32_t count;
} ranks_runs;

#define RANKS_COLUMN_LIST(X) \
    X(RANKS_NAME, "name", "Action", TEXT, SHOWN, KEY) \
    X(RANKS_COUNT, "ranks", "Ranks", COUNT, SHOWN, MADE) \
    X(RANKS_MIN, "min", "Min", TIME, SHOWN, MADE) \
    X(RANKS_MEDIAN, "median", "Median", TIME, SHOWN, MADE) \
    X(RANKS_MAX, "max", "Max", TIME, SHOWN, MADE) \
    X(RANKS_OVER, "over", "% over", SHARE, EXTRA, MADE) \
    X(RANKS_SLOWEST, "slowest", "Slowest", TEXT, SHOWN, MADE) \
    X(RANKS_HOST, "host", "Host", TEXT, SHOWN, MADE) \
    X(RANKS_TOTAL, "total", "Total", TIME, EXTRA, SUM) \
    X(RANKS_TIMES, "", "", COUNT, HIDDEN, VALUES) /* of each rank that has it */
GNOMON__COLUMNS(ranks_columns, RANKS_COLUMNS, RANKS_COLUMN_LIST);

/* The number of the run at hand, from 0. */
static uint32_t ranks_find_run(gnomon__report_rows *r)
{
    ranks_runs *all = r->more;
    const int32_t rank = r->run ? r->run->rank : -1;
    const char *host = r->run && r->run->host ? r->run->host : "";
    for (uint32_t i = all->count; rank >= 0 && i-- > 0;)
        if (all->at[i].rank == rank)
            return i;
    if (!gnomon__grow(&all->at, &all->room, all->count + 1, sizeof *all->at)) {
        r->code = GNOMON_ENOMEM;
        return 0;
    }
    all->at[all->count] = (ranks_run){gnomon__report_text(r, host), rank};
    return all->count++;
}

static void ranks_read(gnomon__report_rows *r)
{
    const uint32_t run = ranks_find_run(r);
    gnomon__report_node n;
    for (size_t i = 1; !r->code && gnomon__report_node_at(r->profile, i, &n);
         i++) {
        if (!gnomon__region_has_ended(&n))
            continue;
        const uint64_t ns = n.of.host ? n.of.host->total_ns : 0;
        gnomon__cell *cells = gnomon__report_row(r, n.of.track, n.of.region);
        r->id = run;
        gnomon__cell_text(&cells[RANKS_NAME], n.region.name);
        gnomon__cell_count(&cells[RANKS_TOTAL], ns);
        gnomon__cell_count(&cells[RANKS_TIMES], ns);
    }
}

static bool ranks_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const ranks_runs *all = r->more;
    const gnomon__values *times = gnomon__values_of(&cells[RANKS_TIMES]);
    const gnomon__value *slowest = &times->at[times->count - 1];
    const ranks_run *run = &all->at[slowest->id];
    const uint64_t low = times->at[(times->count - 1) / 2].value;
    const uint64_t median = low + (times->at[times->count / 2].value - low) / 2;
    const char *name =
        run->rank >= 0
            ? gnomon__table_keep(&r->table, "rank %" PRId32, run->rank)
            : gnomon__table_keep(&r->table, "run %" PRIu32, slowest->id + 1);
    gnomon__cell_count(&cells[RANKS_COUNT], times->count);
    gnomon__cell_count(&cells[RANKS_MIN], times->at[0].value);
    gnomon__cell_count(&cells[RANKS_MEDIAN], median);
    gnomon__cell_count(&cells[RANKS_MAX], slowest->value);
    gnomon__cell_share(&cells[RANKS_OVER], slowest->value - median, median);
    gnomon__cell_text(&cells[RANKS_SLOWEST], gnomon__report_kept(r, name));
    if (*run->host)
        gnomon__cell_text(&cells[RANKS_HOST], run->host);
    return true;
}

static void ranks_choose(gnomon__report_rows *r)
{
    const ranks_runs *all = r->more;
    r->table.title = gnomon__report_kept(
        r, gnomon__table_keep(&r->table, "%" PRIu32 " rank%s, time of each",
                              all->count, all->count == 1 ? "" : "s"));
}

static void ranks_free(void *more)
{
    gnomon__free(((ranks_runs *)more)->at);
}

const gnomon__report gnomon__ranks = {
    .name = "ranks",
    .columns = ranks_columns,
    .column_count = RANKS_COLUMNS,
    .by_from = GNOMON__BY_HOST,
    .by_to = GNOMON__BY_FILE,
    .compares_ranks = true,
    .sort = -1,
    .order = RANKS_TOTAL,
    .more_size = sizeof(ranks_runs),
    .read = ranks_read,
    .finish = ranks_finish,
    .choose = ranks_choose,
    .free_more = ranks_free,
};

GNOMON__REPORTER(ranks, gnomon__ranks, GNOMON_WANT_TREE,
                 "actions by ranks, and which rank was slowest",
                 GNOMON__TABLE_OPTIONS,
                 GNOMON__TABLE_OPTION("by", TEXT, "host, category or file"));

const gnomon_profiler *const gnomon__ranks_profiler = &ranks_reporter.profiler;
