/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gaps: how long each track was idle between its outermost executions, and the longest
 * of these times with what came before and after. As text a table of tracks and one of
 * gaps; as another table, where columns, groups, an order or a format are asked for,
 * that of the gaps.
 */
#include <inttypes.h>

#include "gnomon/profiler.h"
#include "print/gaps.h"
#include "print/rows.h"

static const char *gaps_track_name(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info of;
    return gnomon_profile_track(p, track, &of) ? "" : of.name;
}

/* "Gaps of rank 3": the report is of one run, which may be of many. */
static void gaps_put_title(gnomon__report_rows *r)
{
    gnomon_run_info run;
    if (gnomon_profile_count(r->profile, GNOMON_RUNS) != 1 ||
        gnomon_profile_run(r->profile, 1, &run) || run.rank < 0 ||
        run.world_size < 2)
        return;
    r->table.title =
        gnomon__table_keep(&r->table, "Gaps of rank %" PRId32, run.rank);
    if (!r->table.title)
        r->code = GNOMON_ENOMEM;
}

/* ---- Tracks ------------------------------------------------------------------------ */

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
    [GAP_SUMS_THREAD] = GNOMON__COLUMN("thread", "Thread", TEXT, SHOWN, MADE),
    [GAP_SUMS_EXECUTIONS] =
        GNOMON__COLUMN("executions", "Executions", COUNT, SHOWN, MADE),
    [GAP_SUMS_BUSY] = GNOMON__COLUMN("busy", "Busy", TIME, SHOWN, MADE),
    [GAP_SUMS_IDLE] = GNOMON__COLUMN("idle", "Idle", TIME, SHOWN, MADE),
    [GAP_SUMS_SHARE] = GNOMON__COLUMN("percent", "%", SHARE, SHOWN, MADE),
    [GAP_SUMS_GAPS] = GNOMON__COLUMN("gaps", "Gaps", COUNT, SHOWN, MADE),
    [GAP_SUMS_LONGEST] =
        GNOMON__COLUMN("longest", "Longest", TIME, SHOWN, MADE)};

static void gaps_read_tracks(gnomon__report_rows *r)
{
    const gnomon__gaps *g = r->more;
    gaps_put_title(r);
    for (uint32_t i = 1; i <= g->track_count; i++) {
        const gnomon__gap_track *t = &g->tracks[i];
        if (!t->executions)
            continue;
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_text(&cells[GAP_SUMS_THREAD],
                          gaps_track_name(r->profile, i));
        gnomon__cell_count(&cells[GAP_SUMS_EXECUTIONS], t->executions);
        gnomon__cell_count(&cells[GAP_SUMS_BUSY], t->busy_ns);
        gnomon__cell_count(&cells[GAP_SUMS_IDLE], t->idle_ns);
        gnomon__cell_share(&cells[GAP_SUMS_SHARE], t->idle_ns,
                           t->busy_ns + t->idle_ns);
        gnomon__cell_count(&cells[GAP_SUMS_GAPS], t->gaps);
        if (t->gaps)
            gnomon__cell_count(&cells[GAP_SUMS_LONGEST], t->longest_ns);
    }
}

static const gnomon__report gaps_tracks = {.name = "tracks",
                                           .title = "Gaps",
                                           .columns = gap_sums_columns,
                                           .column_count = GAP_SUMS_COLUMNS,
                                           .sort = GAP_SUMS_IDLE,
                                           .read = gaps_read_tracks};

/* ---- Gaps -------------------------------------------------------------------------- */

enum {
    GAPS_THREAD,
    GAPS_AT,
    GAPS_GAP,
    GAPS_SCOPE,
    GAPS_AFTER,
    GAPS_BEFORE,
    GAPS_STEP,
    GAPS_RANK,
    GAPS_COLUMNS
};

static const gnomon__column gaps_columns[GAPS_COLUMNS] = {
    [GAPS_THREAD] = GNOMON__COLUMN("thread", "Thread", TEXT, SHOWN, MADE),
    [GAPS_AT] = GNOMON__COLUMN("at", "At", TIME, SHOWN, MADE),
    [GAPS_GAP] = GNOMON__COLUMN("gap", "Gap", TIME, SHOWN, MADE),
    [GAPS_SCOPE] = GNOMON__COLUMN("scope", "In", TEXT, SHOWN, MADE),
    [GAPS_AFTER] = GNOMON__COLUMN("after", "After", TEXT, SHOWN, MADE),
    [GAPS_BEFORE] = GNOMON__COLUMN("before", "Before", TEXT, SHOWN, MADE),
    [GAPS_STEP] = GNOMON__COLUMN("step", "Step", ID, SHOWN, MADE),
    [GAPS_RANK] = GNOMON__COLUMN("rank", "Rank", ID, EXTRA, MADE)};

/* What is around both, so it is still open; 0: nothing. */
static uint32_t gaps_common(const gnomon_profile *p, uint32_t a, uint32_t b)
{
    gnomon_node_info n;
    while (a != b) {
        uint32_t *lower = a > b ? &a : &b; /* parents have lower numbers */
        if (gnomon_profile_node(p, *lower, &n) != GNOMON_OK)
            return 0;
        *lower = n.parent < *lower ? n.parent : 0;
    }
    return a;
}

static void gaps_add_row(gnomon__report_rows *r, const gnomon__gap *gap)
{
    const gnomon__gaps *g = r->more;
    const gnomon_step_info *step =
        gnomon__event_step_at(&g->steps, gap->begin_ns);
    gnomon__cell *cells = gnomon__report_row_of(r, gap->group);
    gnomon__report_node after, before;
    gnomon_track_info track = {.kind = GNOMON_TRACK_STREAM};
    gnomon_run_info run;
    uint32_t scope;
    (void)gnomon__report_node_at(r->profile, gap->after, &after);
    (void)gnomon__report_node_at(r->profile, gap->before, &before);
    (void)gnomon_profile_track(r->profile, gap->track, &track);
    gnomon__cell_text(&cells[GAPS_THREAD], track.name);
    gnomon__cell_count(&cells[GAPS_AT], gap->begin_ns);
    gnomon__cell_count(&cells[GAPS_GAP], gap->ns);
    if (track.kind == GNOMON_TRACK_THREAD &&
        (scope = gaps_common(r->profile, after.of.parent, before.of.parent)) !=
            0)
        gnomon__cell_text(&cells[GAPS_SCOPE], gnomon__report_path(r, scope));
    gnomon__cell_text(&cells[GAPS_AFTER], after.region.name);
    gnomon__cell_text(&cells[GAPS_BEFORE], before.region.name);
    if (step)
        gnomon__cell_count(&cells[GAPS_STEP], step->number);
    if (!gnomon_profile_run(r->profile, track.run, &run) && run.rank >= 0)
        gnomon__cell_count(&cells[GAPS_RANK], (uint64_t)run.rank);
}

static void gaps_read(gnomon__report_rows *r)
{
    gnomon__gaps *g = r->more;
    gaps_put_title(r);
    if (!r->code)
        r->code = gnomon__gaps_make(g, r->profile, r->choice->limit,
                                    r->groups.count, r->groups.of_track);
    if (!g->has_events)
        r->none = GNOMON__NO_EVENTS;
    for (size_t i = 0; !r->code && i < g->groups; i++)
        for (size_t k = 0; k < g->heaps[i].count; k++)
            gaps_add_row(r, &g->heaps[i].at[k]);
}

static int gaps_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    int code = gnomon__report_part(&gaps_tracks, r->more, SIZE_MAX, true,
                                   r->profile, out);
    if (code || !r->table.row_count)
        return code;
    r->table.is_part = true;
    r->table.title = "The longest";
    out->write(out, "\n", 1);
    return gnomon__report_put_table(r, out);
}

static void gaps_note(const gnomon__report_rows *r, const gnomon_writer *out)
{
    const gnomon__gaps *g = r->more;
    if (g->missing)
        out->print(out, "\n%" PRIu64 " event%s missing%s\n", g->missing,
                   g->missing == 1 ? " is" : "s are",
                   g->lost_count
                       ? ": gaps in that time are left out"
                       : ", it is not known when: it may be in these gaps");
}

static void gaps_free(void *more)
{
    gnomon__gaps_free(more);
}

static const gnomon__report gaps_report = {
    .name = "gaps",
    .title = "Gaps",
    .columns = gaps_columns,
    .column_count = GAPS_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_HOST,
    .limit = 10, /* of each group */
    .sort = GAPS_GAP,
    .more_size = sizeof(gnomon__gaps),
    .read = gaps_read,
    .text = gaps_text,
    .note = gaps_note,
    .free_more = gaps_free,
};

GNOMON__REPORT_PROFILER(
    gaps, gaps_report, GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    "when threads and streams were idle, and between what",
    GNOMON__TEXT_OPTIONS("10", "how many of the longest gaps",
                         "the longest of each thread, rank, host"));
