/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gaps: how long each track was idle between its outermost executions, and the longest
 * of these times with what came before and after. As text a table of tracks and one of
 * gaps; as another table, where columns, groups, an order or a format are asked for,
 * that of the gaps. A pure function from a profile with events.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "print/gaps.h"
#include "print/groups.h"

#define GAPS_PRESET 10u /* gaps that are listed, of each group */

/* Begins with the choice: gnomon__table_choice says why. */
typedef struct gaps_settings {
    gnomon__table_choice table;
    void (*log)(const char *line); /* NULL: attached from C */
} gaps_settings;

enum {
    GAPS_THREAD,
    GAPS_AT,
    GAPS_GAP,
    GAPS_AFTER,
    GAPS_BEFORE,
    GAPS_STEP,
    GAPS_RANK,
    GAPS_COLUMNS
};

static const gnomon__column gaps_columns[GAPS_COLUMNS] = {
    [GAPS_THREAD] = {"thread", "Thread", GNOMON__CELL_TEXT, false},
    [GAPS_AT] = {"at", "At", GNOMON__CELL_TIME, false},
    [GAPS_GAP] = {"gap", "Gap", GNOMON__CELL_TIME, false},
    [GAPS_AFTER] = {"after", "After", GNOMON__CELL_TEXT, false},
    [GAPS_BEFORE] = {"before", "Before", GNOMON__CELL_TEXT, false},
    [GAPS_STEP] = {"step", "Step", GNOMON__CELL_ID, false},
    [GAPS_RANK] = {"rank", "Rank", GNOMON__CELL_ID, true}};

enum {
    GAP_SUMS_THREAD,
    GAP_SUMS_EXECUTIONS,
    GAP_SUMS_BUSY,
    GAP_SUMS_IDLE,
    GAP_SUMS_SHARE,
    GAP_SUMS_GAPS,
    GAP_SUMS_LONGEST,
    GAP_SUMS_COLUMNS
};

/* The share is of the time in which the track was busy or idle. */
static const gnomon__column gap_sums_columns[GAP_SUMS_COLUMNS] = {
    [GAP_SUMS_THREAD] = {"thread", "Thread", GNOMON__CELL_TEXT, false},
    [GAP_SUMS_EXECUTIONS] = {"executions", "Executions", GNOMON__CELL_COUNT,
                             false},
    [GAP_SUMS_BUSY] = {"busy", "Busy", GNOMON__CELL_TIME, false},
    [GAP_SUMS_IDLE] = {"idle", "Idle", GNOMON__CELL_TIME, false},
    [GAP_SUMS_SHARE] = {"percent", "%", GNOMON__CELL_SHARE, false},
    [GAP_SUMS_GAPS] = {"gaps", "Gaps", GNOMON__CELL_COUNT, false},
    [GAP_SUMS_LONGEST] = {"longest", "Longest", GNOMON__CELL_TIME, false}};

/* ---- Rows ------------------------------------------------------------------------ */

static const char *gaps_track_name(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info of;
    return gnomon_profile_track(p, track, &of) ? "" : of.name;
}

static const char *gaps_node_name(const gnomon_profile *p, uint32_t node)
{
    gnomon_node_info n;
    gnomon_region_info region;
    if (gnomon_profile_node(p, node, &n) ||
        gnomon_profile_region(p, n.region, &region))
        return "";
    return region.name;
}

static int gaps_add_row(gnomon__report_table *table, const gnomon__gaps *g,
                        const gnomon__gap *gap)
{
    const gnomon_step_info *step =
        gnomon__event_step_at(&g->steps, gap->begin_ns);
    gnomon__cell *cells = gnomon__table_add(table, gap->group, 0);
    gnomon_track_info track;
    gnomon_run_info run;
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[GAPS_THREAD],
                      gaps_track_name(g->profile, gap->track));
    gnomon__cell_count(&cells[GAPS_AT], gap->begin_ns);
    gnomon__cell_count(&cells[GAPS_GAP], gap->ns);
    gnomon__cell_text(&cells[GAPS_AFTER],
                      gaps_node_name(g->profile, gap->after));
    gnomon__cell_text(&cells[GAPS_BEFORE],
                      gaps_node_name(g->profile, gap->before));
    if (step)
        gnomon__cell_count(&cells[GAPS_STEP], step->number);
    if (!gnomon_profile_track(g->profile, gap->track, &track) &&
        !gnomon_profile_run(g->profile, track.run, &run) && run.rank >= 0)
        gnomon__cell_count(&cells[GAPS_RANK], (uint64_t)run.rank);
    return GNOMON_OK;
}

static int gaps_add_sums(gnomon__report_table *table, const gnomon__gaps *g,
                         uint32_t track)
{
    const gnomon__gap_track *t = &g->tracks[track];
    const uint64_t all = t->busy_ns + t->idle_ns;
    gnomon__cell *cells = t->executions ? gnomon__table_add(table, 0, 0) : NULL;
    if (!cells)
        return t->executions ? GNOMON_ENOMEM : GNOMON_OK;
    gnomon__cell_text(&cells[GAP_SUMS_THREAD],
                      gaps_track_name(g->profile, track));
    gnomon__cell_count(&cells[GAP_SUMS_EXECUTIONS], t->executions);
    gnomon__cell_count(&cells[GAP_SUMS_BUSY], t->busy_ns);
    gnomon__cell_count(&cells[GAP_SUMS_IDLE], t->idle_ns);
    if (all)
        gnomon__cell_number(&cells[GAP_SUMS_SHARE],
                            100.0 * (double)t->idle_ns / (double)all);
    gnomon__cell_count(&cells[GAP_SUMS_GAPS], t->gaps);
    if (t->gaps)
        gnomon__cell_count(&cells[GAP_SUMS_LONGEST], t->longest_ns);
    return GNOMON_OK;
}

/* ---- The report -------------------------------------------------------------------- */

/* "Gaps of rank 3": the report is of one run, which may be of many. */
static const char *gaps_title(gnomon__report_table *table,
                              const gnomon_profile *p)
{
    gnomon_run_info run;
    if (gnomon_profile_count(p, GNOMON_RUNS) != 1 ||
        gnomon_profile_run(p, 1, &run) || run.rank < 0 || run.world_size < 2)
        return "Gaps";
    return gnomon__table_keep(table, "Gaps of rank %" PRId32, run.rank);
}

static int gaps_print_sums(const gnomon__gaps *g, const gnomon_writer *out)
{
    static const gnomon__table_choice choice = {.limit = SIZE_MAX,
                                                .sort = GAP_SUMS_IDLE};
    gnomon__report_table table = {.name = "tracks",
                                  .columns = gap_sums_columns,
                                  .column_count = GAP_SUMS_COLUMNS};
    int code = GNOMON_OK;
    table.title = gaps_title(&table, g->profile);
    if (!table.title)
        code = GNOMON_ENOMEM;
    for (uint32_t i = 1; !code && i <= g->track_count; i++)
        code = gaps_add_sums(&table, g, i);
    if (!code)
        code = gnomon__table_print(&table, &choice, g->profile, out);
    gnomon__table_free(&table);
    return code;
}

static void gaps_print_missing(const gnomon__gaps *g, const gnomon_writer *out)
{
    if (g->missing)
        out->print(out, "\n%" PRIu64 " event%s missing%s\n", g->missing,
                   g->missing == 1 ? " is" : "s are",
                   g->lost_count
                       ? ": gaps in that time are left out"
                       : ", it is not known when: it may be in these gaps");
}

static int gaps_print(gnomon__report_table *table, const gnomon__gaps *g,
                      const gaps_settings *s, const gnomon_writer *out)
{
    gnomon__table_choice choice = s->table;
    int code = GNOMON_OK;
    choice.sort = choice.sort < 0 ? GAPS_GAP : choice.sort;
    for (size_t i = 0; i < g->groups; i++)
        for (size_t k = 0; !code && k < g->heaps[i].count; k++)
            code = gaps_add_row(table, g, &g->heaps[i].at[k]);
    if (!code && !s->table.is_table) {
        code = gaps_print_sums(g, out);
        table->is_part = true;
        table->title = "The longest";
        if (table->row_count)
            out->write(out, "\n", 1);
    }
    if (!code && (s->table.is_table || table->row_count))
        code = gnomon__table_print(table, &choice, g->profile, out);
    if (!code && choice.format == GNOMON__TABLE_TEXT)
        gaps_print_missing(g, out);
    return code;
}

/* Without events text is a line that says so; a table is an empty one. */
static int gaps_print_none(const gaps_settings *s, const gnomon_writer *out)
{
    if (s->table.format == GNOMON__TABLE_TEXT)
        out->print(out, "gaps: " GNOMON__NO_EVENTS "\n");
    else if (s->log)
        s->log("gaps: " GNOMON__NO_EVENTS);
    return GNOMON_OK;
}

static int gaps_summary(void *self, const gnomon_profile *profile,
                        const gnomon_writer *out)
{
    static const gaps_settings preset = {
        .table = {.limit = GAPS_PRESET, .sort = -1}};
    const gaps_settings *s = self ? self : &preset;
    gnomon__report_table table = {
        .name = "gaps", .columns = gaps_columns, .column_count = GAPS_COLUMNS};
    gnomon__groups groups;
    gnomon__gaps g = {0};
    if (!profile)
        return GNOMON_EINVAL;
    int code = gnomon__groups_make(&groups, s->table.by, profile, &table);
    if (!code && !(table.title = gaps_title(&table, profile)))
        code = GNOMON_ENOMEM;
    if (!code)
        code = gnomon__gaps_make(&g, profile, s->table.limit, groups.count,
                                 groups.of_track);
    if (!code && !g.has_events)
        code = gaps_print_none(s, out);
    if (!code && (g.has_events || s->table.format != GNOMON__TABLE_TEXT))
        code = gaps_print(&table, &g, s, out);
    gnomon__gaps_free(&g);
    gnomon__groups_free(&groups);
    gnomon__table_free(&table);
    return code ? code : out->write(out, "", 0);
}

static int gaps_create(const gnomon_options *options, void **self)
{
    gaps_settings *s = calloc(1, sizeof *s);
    if (!s)
        return GNOMON_ENOMEM;
    s->log = options->log;
    gnomon__table_choose(&s->table, "gaps", gaps_columns, GAPS_COLUMNS,
                         options);
    s->table.by = gnomon__groups_choose("gaps", GNOMON__BY_THREAD,
                                        GNOMON__BY_HOST, options);
    s->table.is_table = gnomon__table_is_asked_for(&s->table);
    if (s->table.limit == SIZE_MAX)
        s->table.limit = GAPS_PRESET;
    *self = s;
    return GNOMON_OK;
}

static const gnomon_option_info gaps_options[] = {
    GNOMON__TABLE_OPTION("columns", TEXT, "which columns: a|b, or all"),
    GNOMON__TABLE_OPTION("sort", TEXT, "the column that rows are ordered by"),
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .preset = "10",
     .help = "how many of the longest gaps"},
    GNOMON__TABLE_OPTION("by", TEXT, "the longest of each thread, rank, host"),
    GNOMON__TABLE_OPTION("format", TEXT, "text, csv, md or json"),
    {.key = NULL}};

static const gnomon_profiler gap_reporter = {
    .struct_size = sizeof gap_reporter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    .name = "gaps",
    .help = "when threads and streams were idle, and between what",
    .options = gaps_options,
    .create = gaps_create,
    .summary = gaps_summary,
    .destroy = free,
};

GNOMON_PLUGIN(gap_reporter);
