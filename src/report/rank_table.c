/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keeps one time for each rank and action, whatever the number of paths: 16 bytes each,
 * so that tables of 10^4 ranks fit in memory. */
#include "report/rank_table.h"

#include <inttypes.h>
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

/* ---- Columns --------------------------------------------------------------------- */

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
    RANKS_GROUP, /* host, category or file; "": no groups */
    RANKS_TIMES, /* of each rank that has it */
    RANKS_COLUMNS
};

static const gnomon__column ranks_columns[RANKS_COLUMNS] = {
    [RANKS_NAME] = GNOMON__COLUMN("name", "Action", TEXT, SHOWN, KEY),
    [RANKS_COUNT] = GNOMON__COLUMN("ranks", "Ranks", COUNT, SHOWN, MADE),
    [RANKS_MIN] = GNOMON__COLUMN("min", "Min", TIME, SHOWN, MADE),
    [RANKS_MEDIAN] = GNOMON__COLUMN("median", "Median", TIME, SHOWN, MADE),
    [RANKS_MAX] = GNOMON__COLUMN("max", "Max", TIME, SHOWN, MADE),
    [RANKS_OVER] = GNOMON__COLUMN("over", "% over", SHARE, EXTRA, MADE),
    [RANKS_SLOWEST] = GNOMON__COLUMN("slowest", "Slowest", TEXT, SHOWN, MADE),
    [RANKS_HOST] = GNOMON__COLUMN("host", "Host", TEXT, SHOWN, MADE),
    [RANKS_TOTAL] = GNOMON__COLUMN("total", "Total", TIME, EXTRA, SUM),
    [RANKS_GROUP] = GNOMON__COLUMN("", "", TEXT, HIDDEN, KEY),
    [RANKS_TIMES] = GNOMON__COLUMN("", "", COUNT, HIDDEN, VALUES),
};

static bool ranks_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const gnomon__rank_table *t = r->more;
    const gnomon__values *times = gnomon__values_of(&cells[RANKS_TIMES]);
    const gnomon__value *slowest = &times->at[times->count - 1];
    const gnomon__rank_run *run = &t->runs[slowest->id];
    const uint64_t low = times->at[(times->count - 1) / 2].value;
    const uint64_t median = low + (times->at[times->count / 2].value - low) / 2;
    const char *name =
        run->rank >= 0
            ? gnomon__table_keep(&r->table, "rank %" PRId32, run->rank)
            : gnomon__table_keep(&r->table, "run %" PRIu32, slowest->id + 1);
    if (!name)
        r->code = GNOMON_ENOMEM;
    gnomon__cell_count(&cells[RANKS_COUNT], times->count);
    gnomon__cell_count(&cells[RANKS_MIN], times->at[0].value);
    gnomon__cell_count(&cells[RANKS_MEDIAN], median);
    gnomon__cell_count(&cells[RANKS_MAX], slowest->value);
    gnomon__cell_share(&cells[RANKS_OVER], slowest->value - median, median);
    gnomon__cell_text(&cells[RANKS_SLOWEST], name);
    if (strcmp(run->host, no_host) != 0)
        gnomon__cell_text(&cells[RANKS_HOST], run->host);
    return true;
}

/* Numbers the groups; what has no category or file is the last one. */
static void ranks_choose(gnomon__report_rows *r)
{
    gnomon__report_table *t = &r->table;
    const char **groups =
        gnomon__table_take(t, (t->row_count + 1) * sizeof *groups);
    size_t used = 0;
    r->code = groups ? gnomon__table_sort(t, RANKS_GROUP) : GNOMON_ENOMEM;
    for (int is_none = 0; !r->code && is_none < 2; is_none++)
        for (size_t i = 0; i < t->row_count; i++) {
            const char *text = gnomon__cells_of(t, i)[RANKS_GROUP].text;
            if ((strcmp(text, "(none)") == 0) != is_none)
                continue;
            if (!used || strcmp(groups[used - 1], text) != 0)
                groups[used++] = text;
            t->rows[i].group = (uint32_t)used - 1;
        }
    t->groups = groups;
}

static const gnomon__report ranks_report = {
    .name = "ranks",
    .columns = ranks_columns,
    .column_count = RANKS_COLUMNS,
    .by_from = GNOMON__BY_HOST,
    .by_to = GNOMON__BY_FILE,
    .sort = -1,
    .order = RANKS_TOTAL,
    .finish = ranks_finish,
    .choose = ranks_choose,
};

/* ---- Runs ------------------------------------------------------------------------ */

static int add_run(gnomon__rank_table *t, const gnomon_run_info *run)
{
    if (!gnomon__grow(&t->runs, &t->run_room, t->run_count + 1,
                      sizeof *t->runs))
        return no_room_for_ranks();
    char *host = gnomon__strdup(run->host && *run->host ? run->host : no_host);
    if (!host)
        return no_room_for_ranks();
    t->runs[t->run_count++] = (gnomon__rank_run){host, run->rank};
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

/* Attempts of a rank follow one another. (Not so in a report of steps by host, which
 * shows no times of ranks.) */
static void add_row(gnomon__rank_table *t, uint32_t run, const char *group,
                    const gnomon__cell *region)
{
    const uint64_t ns =
        gnomon__times_of(&region[GNOMON__REGION_HOST_TIMES])->total_ns;
    gnomon__cell *cells = gnomon__report_row_of(&t->rows, 0);
    t->rows.id = run;
    gnomon__cell_text(&cells[RANKS_NAME], region[GNOMON__REGION_NAME].text);
    gnomon__cell_text(&cells[RANKS_GROUP], group);
    gnomon__cell_count(&cells[RANKS_TOTAL], ns);
    gnomon__cell_count(&cells[RANKS_TIMES], ns);
    (void)gnomon__report_put(&t->rows);
}

static int begin_ranks(gnomon__rank_table *t)
{
    static const gnomon__table_choice no_groups = {.sort = -1};
    if (t->rows.of)
        return GNOMON_OK;
    int code =
        gnomon__report_begin(&t->rows, &ranks_report, &no_groups, t, NULL);
    t->rows.keeps_texts = true;
    return code;
}

int gnomon__rank_table_add(gnomon__rank_table *t, const gnomon_run_info *run,
                           const gnomon_profile *stage)
{
    gnomon__report_rows all = {0};
    uint32_t number;
    const gnomon__table_choice by = {
        .by = t->by > GNOMON__BY_HOST ? t->by : GNOMON__BY_NOTHING};
    int code = find_run(t, run, &number);
    if (!code && (begin_ranks(t) || gnomon__report_make(&all, &gnomon__regions,
                                                        &by, NULL, stage)))
        code = no_room_for_ranks();
    for (size_t i = 0; !code && i < all.table.row_count; i++)
        add_row(t, number,
                by.by   ? all.groups.texts[all.table.rows[i].group]
                : t->by ? t->runs[number].host
                        : "",
                gnomon__cells_of(&all.table, i));
    gnomon__report_free(&all);
    return !code && t->rows.code ? no_room_for_ranks() : code;
}

/* ---- The report ------------------------------------------------------------------ */

static int ranks_create(const gnomon_options *options, void **self)
{
    return gnomon__report_create(&ranks_report, options, self);
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
    .destroy = free,
};

int gnomon__rank_table_print(gnomon__rank_table *t, const void *self,
                             const gnomon_profile *stage,
                             const gnomon_writer *out)
{
    static const char *const words[] = {[GNOMON__BY_HOST] = "host",
                                        [GNOMON__BY_CATEGORY] = "category",
                                        [GNOMON__BY_FILE] = "file"};
    gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    gnomon__report_table *table = &t->rows.table;
    if (self)
        choice = *(const gnomon__table_choice *)self;
    t->rows.more = t; /* which may have been moved */
    int code = gnomon__report_end(&t->rows);
    table->title =
        gnomon__table_keep(table, "%" PRIu32 " rank%s, time of each",
                           t->run_count, t->run_count == 1 ? "" : "s");
    table->group_word = words[t->by];
    table->is_part = !self;
    if (code || !table->title)
        return no_room_for_ranks();
    return gnomon__table_print(table, &choice, stage, out);
}

void gnomon__rank_table_free(gnomon__rank_table *t)
{
    for (uint32_t i = 0; i < t->run_count; i++)
        gnomon__free(t->runs[i].host);
    gnomon__free(t->runs);
    if (t->rows.of)
        gnomon__report_free(&t->rows);
    *t = (gnomon__rank_table){0};
}
