/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gaps: how long each track was idle between its outermost executions, and the longest
 * of these times with what came before and after. As text a table of tracks and one of
 * gaps; as another table, where columns, groups, an order or a format are asked for,
 * that of the gaps.
 *
 * A gap is the time on a track between one outermost execution and the next; a scope that
 * is still open is none. No gap is counted from one stage to the next one, nor where events
 * are missing: outside of a schedule's windows, or while they were lost on this track.
 * Ranges fill no gap, as they take no thread's time.
 */
#include <inttypes.h>
#include <string.h>

#include "print/events.h"
#include "print/order.h"
#include "print/rows.h"

typedef struct gaps_gap {
    uint64_t begin_ns, ns;
    uint32_t track;
    uint32_t after, before; /* nodes: what ended last, what began next */
    uint32_t group;         /* of the track */
} gaps_gap;

/* Sums of a track. */
typedef struct gaps_track {
    uint64_t executions; /* outermost ones */
    uint64_t busy_ns;    /* in at least one of them */
    uint64_t idle_ns, longest_ns, gaps;
    uint64_t until_ns; /* when the last one ends */
    uint32_t last;     /* its node; 0: there was none in this stage */
    uint32_t stage;
} gaps_track;

/* The longest gaps of a group: of twice as many, when that many came. */
typedef struct gaps_list {
    gaps_gap *at;
    size_t count, room;
} gaps_list;

typedef struct gaps_found {
    const gnomon_profile *profile;
    gaps_track *tracks; /* by number */
    size_t track_count;
    gaps_list *lists; /* by group */
    size_t groups, limit;
    gnomon__event_steps steps;
    uint64_t missing; /* events that are not there */
    bool has_events;
    uint64_t *until_ns; /* by node: when it is free again; 0: it has not run */
    gnomon_loss_info *lost; /* of events, with a time */
    size_t lost_count;
} gaps_found;

/* ---- What is not known ------------------------------------------------------------ */

static bool gaps_read_losses(gaps_found *g)
{
    const size_t count = gnomon_profile_count(g->profile, GNOMON_LOSSES);
    g->lost = calloc(count + 1, sizeof *g->lost);
    for (size_t i = 1; g->lost && i <= count; i++) {
        gnomon_loss_info l;
        if (gnomon_profile_loss(g->profile, i, &l) != GNOMON_OK ||
            strncmp(l.kind, "events_", 7) != 0)
            continue;
        g->missing += l.count;
        if (l.begin_ns || l.end_ns)
            g->lost[g->lost_count++] = l;
    }
    return g->lost != NULL;
}

static bool gaps_is_known(const gaps_found *g, const gaps_gap *gap)
{
    const uint64_t end = gap->begin_ns + gap->ns;
    for (size_t i = 0; i < g->lost_count; i++) {
        const gnomon_loss_info *l = &g->lost[i];
        if ((!l->track || l->track == gap->track) && l->begin_ns <= end &&
            l->end_ns >= gap->begin_ns)
            return false;
    }
    return !gnomon__event_steps_miss(&g->steps, gap->begin_ns, end);
}

/* ---- The longest ---------------------------------------------------------------- */

/* The longest first; of equal ones the earlier, then the lower track. */
GNOMON__ORDER(gaps_by_length, gaps_gap, DOWN(ns), UP(begin_ns), UP(track))

/* Leaves the `limit` longest, in their order. */
static void gaps_cut(gaps_list *l, size_t limit)
{
    GNOMON__SORT(l->at, l->count, gaps_by_length);
    l->count = l->count < limit ? l->count : limit;
}

static bool gaps_keep(gaps_list *l, size_t limit, const gaps_gap *gap)
{
    if (l->count / 2 >= limit)
        gaps_cut(l, limit);
    return GNOMON__PUSH(l->at, l->room, l->count, *gap);
}

/* ---- Events --------------------------------------------------------------------- */

static bool gaps_add(gaps_found *g, gaps_track *t, const gaps_gap *gap)
{
    if (!gaps_is_known(g, gap))
        return true;
    t->gaps++;
    t->idle_ns += gap->ns;
    t->longest_ns = gap->ns > t->longest_ns ? gap->ns : t->longest_ns;
    return gaps_keep(&g->lists[gap->group], g->limit, gap);
}

/* Whether an execution around it is there, which comes first. */
static bool gaps_is_inside(const gaps_found *g, const gnomon_event_info *e,
                           uint32_t parent)
{
    gnomon_node_info n;
    while (parent && g->until_ns[parent] <= e->begin_ns &&
           gnomon_profile_node(g->profile, parent, &n) == GNOMON_OK)
        parent = n.parent < parent ? n.parent : 0;
    return parent != 0;
}

static bool gaps_add_execution(gaps_found *g, const gnomon_event_info *e,
                               uint32_t group)
{
    gaps_track *t = &g->tracks[e->track];
    uint64_t end = e->begin_ns + e->duration_ns, from = e->begin_ns;
    gnomon_node_info n;
    bool ok = true;
    end = end < e->begin_ns ? UINT64_MAX : end;
    if (gnomon_profile_node(g->profile, e->node, &n) != GNOMON_OK ||
        !n.region || n.flags & GNOMON_NODE_RANGE)
        return true;
    g->until_ns[e->node] = end + (end != UINT64_MAX);
    if (gaps_is_inside(g, e, n.parent))
        return true;
    if (t->stage != n.stage)
        t->last = 0;
    if (t->last && e->begin_ns > t->until_ns)
        ok = gaps_add(g, t,
                      &(gaps_gap){.begin_ns = t->until_ns,
                                  .ns = e->begin_ns - t->until_ns,
                                  .track = e->track,
                                  .after = t->last,
                                  .before = e->node,
                                  .group = group});
    else if (t->last)
        from = t->until_ns;
    t->executions++;
    t->stage = n.stage;
    t->busy_ns += end > from ? end - from : 0;
    if (!t->last || end >= t->until_ns) {
        t->until_ns = end;
        t->last = e->node;
    }
    return ok;
}

/* Reads the events once, in their order, and keeps for each track what was busy last.
 * Keeps the longest gaps of each group, at most `limit`. O(nodes + tracks + steps + groups
 * * limit) memory. */
static int gaps_find(gaps_found *g, const gnomon_profile *profile, size_t limit,
                     const gnomon__groups *groups)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    const size_t nodes = gnomon_profile_count(profile, GNOMON_NODES);
    const size_t tracks = gnomon_profile_count(profile, GNOMON_TRACKS);
    *g = (gaps_found){.profile = profile,
                      .track_count = tracks,
                      .groups = groups->count,
                      .limit = limit};
    g->tracks = calloc(tracks + 1, sizeof *g->tracks);
    g->lists = calloc(g->groups, sizeof *g->lists);
    g->until_ns = calloc(nodes + 1, sizeof *g->until_ns);
    if (!g->tracks || !g->lists || !g->until_ns || !gaps_read_losses(g))
        return GNOMON_ENOMEM;
    int code = gnomon__event_steps_make(&g->steps, profile, 0);
    gnomon__walk_all(&walk, profile);
    while (!code && (e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_EXECUTION || e->track > tracks)
            continue;
        g->has_events = true;
        if (e->node <= nodes &&
            !gaps_add_execution(g, e, gnomon__group_of(groups, e->track, 0)))
            code = GNOMON_ENOMEM;
    }
    for (size_t i = 0; i < g->groups; i++)
        gaps_cut(&g->lists[i], limit);
    return code;
}

static void gaps_free(void *more)
{
    gaps_found *g = more;
    for (size_t i = 0; g->lists && i < g->groups; i++)
        free(g->lists[i].at);
    free(g->lists);
    free(g->tracks);
    free(g->until_ns);
    free(g->lost);
    gnomon__event_steps_free(&g->steps);
}

/* ---- Tracks ------------------------------------------------------------------------ */

/* The share is of the time in which the track was busy or idle. */
#define GAP_SUMS_COLUMN_LIST(X) \
    X(GAP_SUMS_THREAD, "thread", "Thread", TEXT, SHOWN, MADE) \
    X(GAP_SUMS_EXECUTIONS, "executions", "Executions", COUNT, SHOWN, MADE) \
    X(GAP_SUMS_BUSY, "busy", "Busy", TIME, SHOWN, MADE) \
    X(GAP_SUMS_IDLE, "idle", "Idle", TIME, SHOWN, MADE) \
    X(GAP_SUMS_SHARE, "percent", "%", SHARE, SHOWN, MADE) \
    X(GAP_SUMS_GAPS, "gaps", "Gaps", COUNT, SHOWN, MADE) \
    X(GAP_SUMS_LONGEST, "longest", "Longest", TIME, SHOWN, MADE)
GNOMON__COLUMNS(gap_sums_columns, GAP_SUMS_COLUMNS, GAP_SUMS_COLUMN_LIST);

static void gaps_read_tracks(gnomon__report_rows *r)
{
    const gaps_found *g = r->more;
    gnomon_track_info track = {.name = ""};
    gnomon__report_say_rank(r);
    for (uint32_t i = 1; i <= g->track_count; i++) {
        const gaps_track *t = &g->tracks[i];
        if (!t->executions)
            continue;
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        (void)gnomon_profile_track(r->profile, i, &track);
        gnomon__cell_text(&cells[GAP_SUMS_THREAD], track.name);
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

#define GAPS_COLUMN_LIST(X) \
    X(GAPS_THREAD, "thread", "Thread", TEXT, SHOWN, MADE) \
    X(GAPS_AT, "at", "At", TIME, SHOWN, MADE) \
    X(GAPS_GAP, "gap", "Gap", TIME, SHOWN, MADE) \
    X(GAPS_SCOPE, "scope", "In", TEXT, SHOWN, MADE) \
    X(GAPS_AFTER, "after", "After", TEXT, SHOWN, MADE) \
    X(GAPS_BEFORE, "before", "Before", TEXT, SHOWN, MADE) \
    X(GAPS_STEP, "step", "Step", ID, SHOWN, MADE) \
    X(GAPS_RANK, "rank", "Rank", ID, EXTRA, MADE)
GNOMON__COLUMNS(gaps_columns, GAPS_COLUMNS, GAPS_COLUMN_LIST);

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

static void gaps_add_row(gnomon__report_rows *r, const gaps_gap *gap)
{
    const gaps_found *g = r->more;
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
    gaps_found *g = r->more;
    gnomon__report_say_rank(r);
    if (!r->code)
        r->code = gaps_find(g, r->profile, r->choice->limit, &r->groups);
    if (!g->has_events)
        r->none = GNOMON__NO_EVENTS;
    for (size_t i = 0; !r->code && i < g->groups; i++)
        for (size_t k = 0; k < g->lists[i].count; k++)
            gaps_add_row(r, &g->lists[i].at[k]);
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
    const gaps_found *g = r->more;
    if (g->missing)
        out->print(out, "\n%" PRIu64 " event%s missing%s\n", g->missing,
                   g->missing == 1 ? " is" : "s are",
                   g->lost_count
                       ? ": gaps in that time are left out"
                       : ", it is not known when: it may be in these gaps");
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
    .more_size = sizeof(gaps_found),
    .read = gaps_read,
    .text = gaps_text,
    .note = gaps_note,
    .free_more = gaps_free,
};

GNOMON__REPORT_PROFILER(
    gaps, gaps_report, GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    "when threads and streams were idle; holds 90 bytes an execution",
    GNOMON__TEXT_OPTIONS("10", "how many of the longest gaps",
                         "the longest of each thread, rank, host"));
