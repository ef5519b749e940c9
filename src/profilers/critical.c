/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * critical: the critical path of the slowest steps, or of one step: the chain of
 * executions, from its end back to its begin, each of which the next one had to wait for,
 * over all threads and streams. Pieces of one region on one thread are one row, where the
 * first of them is. The rows of a step add up to it: where there are more than are listed,
 * a last row has the rest.
 *
 * The walk begins at the step's end, on the thread that steps are made on: the one whose
 * outermost executions most often end last in a step. It goes back through what was
 * innermost there. It leaves a track in two cases:
 *   - An execution in which nothing else has run yet has a cause on another track that
 *     ended while it ran: it waited for that one.
 *   - An outermost execution has a cause on another track, and its own track had nothing
 *     to do when that ended (or when it began, if the cause still ran): the time from one
 *     to the other is queued.
 * Each moment of the step is in exactly one piece.
 *
 * Each track of a step is cut into the times in which one of its executions was innermost: a
 * lookup by a moment is then a binary search. Each turn of the walk either goes back in
 * time, or changes the track without that; the second happens only so often in a row, so
 * that links in a circle end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "gnomon/tool.h"
#include "print/events.h"
#include "print/letters.h"
#include "print/order.h"
#include "print/rows.h"

#define CRITICAL_STEPS 3   /* that are shown */
#define CRITICAL_TURNS 16u /* that lead to no earlier moment */

typedef struct critical_settings {
    gnomon__table_choice table; /* the first */
    uint64_t steps, step;
    bool has_step;
} critical_settings;

#define CRITICAL_COLUMN_LIST(X) \
    X(CRITICAL_WHAT, "what", "What", TEXT, SHOWN, KEY) \
    X(CRITICAL_TIME, "time", "Time", TIME, SHOWN, SUM) \
    X(CRITICAL_SHARE, "percent", "%", SHARE, SHOWN, MADE) \
    X(CRITICAL_COUNT, "count", "Count", COUNT, SHOWN, SUM) \
    X(CRITICAL_AT, "at", "At", TIME, SHOWN, LEAST) \
    X(CRITICAL_THREAD, "thread", "Thread", TEXT, SHOWN, KEY) \
    X(CRITICAL_STATE, "state", "State", TEXT, SHOWN, KEY) \
    X(CRITICAL_CAUSE, "cause", "Link", TEXT, SHOWN, KEY) \
    X(CRITICAL_RANK, "rank", "Rank", ID, EXTRA, LAST) \
    /* when its first piece begins: an id ascends */ \
    X(CRITICAL_ORDER, "", "", ID, HIDDEN, LEAST) \
    X(CRITICAL_STEP, "", "", COUNT, HIDDEN, LAST) /* its length */
GNOMON__COLUMNS(critical_columns, CRITICAL_COLUMNS, CRITICAL_COLUMN_LIST);

enum critical_state {
    PIECE_RUNS,
    PIECE_QUEUED, /* its cause is over, it has not begun */
    PIECE_IDLE    /* nothing is marked on the track */
};

typedef struct critical_steps {
    const gnomon_profile *profile;
    gnomon__event_steps steps;
    struct critical_track *tracks; /* by number */
    size_t track_count, node_count;
    unsigned char *is_taken;  /* by node: it is there, and no range */
    unsigned char *has_event; /* by step, in the order of `steps` */
    gnomon__keyed_list links; /* cause and kind, by the effect */
    uint64_t missing;         /* events that are not there */
    bool has_events;
} critical_steps;

struct critical_track {
    uint64_t last_ends; /* in how many steps it was the last to end */
    uint32_t run, kind;
    size_t first, count; /* its segments in the step */
};

typedef struct critical_item {
    uint64_t begin, end, instance;
    uint32_t track, node;
    size_t order;      /* of its event */
    bool is_outermost; /* on its track, in the step */
} critical_item;

/* A time in which one execution was innermost on its track. Those of a track do not
 * overlap and are in order. */
typedef struct critical_segment {
    uint64_t begin, end;
    uint32_t item;
} critical_segment;

typedef struct critical_step {
    uint64_t begin, end;
    critical_item *items; /* by track and begin */
    size_t item_count, item_room;
    critical_segment *segments; /* by track */
    size_t segment_count;
    gnomon__keyed_list names; /* items, by instance */
} critical_step;

/* ---- What all steps share ------------------------------------------------------------ */

static bool critical_read_tracks(critical_steps *c)
{
    c->tracks = calloc(c->track_count + 1, sizeof *c->tracks);
    c->is_taken = calloc(c->node_count + 1, 1);
    c->has_event = calloc(c->steps.count + 1, 1);
    if (!c->tracks || !c->is_taken || !c->has_event)
        return false;
    for (size_t i = 1; i <= c->track_count; i++) {
        gnomon_track_info t;
        (void)gnomon_profile_track(c->profile, i, &t);
        c->tracks[i].run = t.run;
        c->tracks[i].kind = t.kind;
    }
    for (size_t i = 1; i <= c->node_count; i++) {
        gnomon_node_info n;
        if (gnomon_profile_node(c->profile, i, &n) == GNOMON_OK)
            c->is_taken[i] =
                n.region && !(n.flags & (GNOMON_NODE_RANGE | GNOMON_NODE_PART));
    }
    return true;
}

/* The last execution of each step that ends in it, on any thread. */
typedef struct critical_last {
    uint64_t end;
    uint32_t track;
} critical_last;

static void critical_see(critical_steps *c, critical_last *last,
                         const gnomon_event_info *e)
{
    const uint64_t end = e->begin_ns + e->duration_ns;
    const gnomon_step_info *step =
        end ? gnomon__event_step_at(&c->steps, end - 1) : NULL;
    gnomon_stage_info stage;
    if (!step || gnomon_profile_stage(c->profile, step->stage, &stage) ||
        stage.run != c->tracks[e->track].run)
        return;
    const size_t at = (size_t)(step - c->steps.at);
    c->has_event[at] = 1;
    if (c->tracks[e->track].kind != GNOMON_TRACK_THREAD)
        return;
    if (!last[at].track || end > last[at].end ||
        (end == last[at].end && e->track < last[at].track))
        last[at] = (critical_last){end, e->track};
}

static bool critical_read_ends(critical_steps *c)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    critical_last *last = calloc(c->steps.count + 1, sizeof *last);
    gnomon__walk_all(&walk, c->profile);
    while (last && (e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_EXECUTION || e->track > c->track_count)
            continue;
        c->has_events = true;
        if (e->node <= c->node_count && c->is_taken[e->node])
            critical_see(c, last, e);
    }
    for (size_t i = 0; last && i < c->steps.count; i++)
        c->tracks[last[i].track].last_ends++;
    free(last);
    return last != NULL;
}

/* GNOMON_OK or GNOMON_ENOMEM; free in any case. */
static int critical_make(critical_steps *c, const gnomon_profile *profile)
{
    gnomon_loss_info l;
    *c = (critical_steps){
        .profile = profile,
        .track_count = gnomon_profile_count(profile, GNOMON_TRACKS),
        .node_count = gnomon_profile_count(profile, GNOMON_NODES)};
    for (size_t i = 1; gnomon_profile_loss(profile, i, &l) == GNOMON_OK; i++)
        if (strncmp(l.kind, "events_", 7) == 0)
            c->missing += l.count;
    int code = gnomon__event_steps_make(&c->steps, profile, 0);
    if (!code && (!critical_read_tracks(c) ||
                  !gnomon__keyed_links(&c->links, profile, -1) ||
                  !critical_read_ends(c)))
        code = GNOMON_ENOMEM;
    return code;
}

static void critical_free(void *more)
{
    critical_steps *c = more;
    gnomon__event_steps_free(&c->steps);
    free(c->tracks);
    free(c->is_taken);
    free(c->has_event);
    free(c->links.at);
}

/* Whether `a` is listed before `b`: the slower, of equal ones the earlier. */
static bool critical_is_before(const gnomon_step_info *a,
                               const gnomon_step_info *b)
{
    const uint64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;
    return x != y ? x > y : a < b;
}

/* The next slower one of the steps that have executions: after NULL the slowest, after the
 * last one NULL. O(steps). */
static const gnomon_step_info *critical_next(const critical_steps *c,
                                             const gnomon_step_info *after)
{
    const gnomon_step_info *best = NULL;
    for (size_t i = 0; i < c->steps.count; i++) {
        const gnomon_step_info *s = &c->steps.at[i];
        if (c->has_event[i] && (!after || critical_is_before(after, s)) &&
            (!best || critical_is_before(s, best)))
            best = s;
    }
    return best;
}

/* ---- Executions ----------------------------------------------------------------- */

static uint64_t critical_end(const gnomon_event_info *e)
{
    const uint64_t end = e->begin_ns + e->duration_ns;
    return end < e->begin_ns ? UINT64_MAX : end;
}

static bool critical_add_item(critical_step *s, const gnomon_event_info *e,
                              size_t order)
{
    return GNOMON__PUSH(s->items, s->item_room, s->item_count,
                        (critical_item){.begin = e->begin_ns,
                                        .end = critical_end(e),
                                        .instance = e->instance,
                                        .track = e->track,
                                        .node = e->node,
                                        .order = order});
}

/* The outer of two that begin together comes first. */
GNOMON__ORDER(critical_by_track, critical_item, UP(track), UP(begin), DOWN(end),
              UP(order))

static bool critical_read_items(critical_step *s, const critical_steps *c,
                                uint32_t run)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon__walk_all(&walk, c->profile);
    while ((e = gnomon__walk_next(&walk)) != NULL)
        if (e->kind == GNOMON_EVENT_EXECUTION && e->track <= c->track_count &&
            e->node <= c->node_count && c->is_taken[e->node] &&
            c->tracks[e->track].run == run && e->begin_ns < s->end &&
            critical_end(e) > s->begin && !critical_add_item(s, e, walk.number))
            return false;
    GNOMON__SORT(s->items, s->item_count, critical_by_track);
    return true;
}

/* ---- Segments --------------------------------------------------------------------- */

typedef struct critical_sweep {
    critical_step *s;
    uint32_t *open; /* items, innermost last */
    size_t open_count;
    uint64_t at; /* all before it is in segments */
} critical_sweep;

static void critical_sweep_to(critical_sweep *w, uint64_t ns)
{
    ns = ns < w->s->end ? ns : w->s->end;
    if (w->open_count && ns > w->at)
        w->s->segments[w->s->segment_count++] =
            (critical_segment){w->at, ns, w->open[w->open_count - 1]};
    w->at = ns > w->at ? ns : w->at;
}

/* Until `ns`, by which some may have ended. */
static void critical_sweep_ends(critical_sweep *w, uint64_t ns)
{
    while (w->open_count && w->s->items[w->open[w->open_count - 1]].end <= ns) {
        critical_sweep_to(w, w->s->items[w->open[w->open_count - 1]].end);
        w->open_count--;
    }
    critical_sweep_to(w, ns);
}

static void critical_sweep_track(critical_sweep *w, size_t first, size_t last)
{
    w->open_count = 0;
    w->at = w->s->begin;
    for (size_t i = first; i < last; i++) {
        critical_item *item = &w->s->items[i];
        critical_sweep_ends(w, item->begin);
        item->is_outermost = !w->open_count;
        w->open[w->open_count++] = (uint32_t)i;
    }
    critical_sweep_ends(w, UINT64_MAX);
}

static bool critical_cut(critical_step *s, critical_steps *c)
{
    critical_sweep w = {.s = s};
    s->segments = calloc(2 * s->item_count + 1, sizeof *s->segments);
    w.open = calloc(s->item_count + 1, sizeof *w.open);
    for (size_t i = 0; i <= c->track_count; i++)
        c->tracks[i].first = c->tracks[i].count = 0;
    for (size_t i = 0, k; w.open && s->segments && i < s->item_count; i = k) {
        struct critical_track *t = &c->tracks[s->items[i].track];
        for (k = i;
             k < s->item_count && s->items[k].track == s->items[i].track;)
            k++;
        t->first = s->segment_count;
        critical_sweep_track(&w, i, k);
        t->count = s->segment_count - t->first;
    }
    free(w.open);
    return w.open && s->segments;
}

/* The last segment of the track that begins before `ns`, or NULL. */
static const critical_segment *critical_before(const critical_step *s,
                                               const struct critical_track *t,
                                               uint64_t ns)
{
    size_t low = t->first, high = t->first + t->count;
    GNOMON__SEARCH(low, high, i, s->segments[i].begin < ns)
    return low > t->first ? &s->segments[low - 1] : NULL;
}

/* ---- Instances ---------------------------------------------------------------------- */

static bool critical_name_items(critical_step *s)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->item_count; i++)
        if (s->items[i].instance)
            ok = gnomon__keyed_add(&s->names, s->items[i].instance, i, 0);
    gnomon__keyed_sort(&s->names);
    return ok;
}

/* The execution of that instance; NULL: it did not run in the step. */
static const critical_item *critical_named(const critical_step *s,
                                           uint64_t instance)
{
    const gnomon__keyed *name = gnomon__keyed_find(&s->names, instance);
    return name ? &s->items[name->value] : NULL;
}

/* ---- The walk -------------------------------------------------------------------------- */

typedef struct critical_walk {
    critical_steps *c;
    critical_step s;
    const gnomon_step_info *step;
    uint64_t at;    /* all after it is in pieces */
    uint32_t track; /* where it is */
    unsigned turns; /* since it went back */
    /* The piece that was put last, which is the row at hand; NULL: none was. */
    gnomon__cell *piece;
    uint32_t item; /* what runs or is queued in it */
    int state;     /* critical_state */
    bool is_over;  /* it has its cause: the next one is on another track */
    gnomon__report_rows *rows;
    uint32_t group;
} critical_walk;

/* Begins a piece of what is innermost, or of nothing, on the track where the walk is. */
static void critical_begin_piece(critical_walk *w, uint32_t item, int state)
{
    static const char *const states[] = {[PIECE_RUNS] = "runs",
                                         [PIECE_QUEUED] = "queued",
                                         [PIECE_IDLE] = "idle"};
    const gnomon_step_info *step = w->step;
    gnomon__report_rows *r = w->rows;
    gnomon__cell *cells = gnomon__report_row_of(r, w->group);
    gnomon__report_node n;
    gnomon_track_info track = {.name = ""};
    gnomon_run_info run;
    (void)gnomon__report_node_at(
        r->profile, state == PIECE_IDLE ? 0 : w->s.items[item].node, &n);
    gnomon__cell_text(&cells[CRITICAL_WHAT],
                      n.of.region ? n.region.name : "(nothing marked)");
    gnomon__cell_count(&cells[CRITICAL_COUNT], 1);
    gnomon__cell_text(&cells[CRITICAL_STATE], states[state]);
    gnomon__cell_text(&cells[CRITICAL_CAUSE], "");
    if (gnomon_profile_track(r->profile, w->track, &track) == GNOMON_OK &&
        !gnomon_profile_run(r->profile, track.run, &run) && run.rank >= 0)
        gnomon__cell_count(&cells[CRITICAL_RANK], (uint64_t)run.rank);
    gnomon__cell_text(&cells[CRITICAL_THREAD], track.name);
    gnomon__cell_count(&cells[CRITICAL_STEP], step->end_ns - step->begin_ns);
    w->piece = cells;
    w->item = item;
    w->state = state;
    w->is_over = false;
}

/* From `begin` to where the walk is. In a row one execution has one piece. */
static void critical_put(critical_walk *w, uint64_t begin, uint32_t item,
                         int state)
{
    begin = begin > w->s.begin ? begin : w->s.begin;
    if (begin >= w->at)
        return;
    if (!w->piece || w->is_over || w->state != state || w->item != item)
        critical_begin_piece(w, item, state);
    gnomon__cell *const cells = w->piece;
    gnomon__cell_count(&cells[CRITICAL_TIME],
                       cells[CRITICAL_TIME].count + (w->at - begin));
    gnomon__cell_count(&cells[CRITICAL_AT], begin - w->step->begin_ns);
    gnomon__cell_count(&cells[CRITICAL_ORDER], begin);
    w->at = begin;
}

/* What an execution had to wait for; `from` NULL: nothing. */
typedef struct critical_cause {
    const critical_item *from;
    uint64_t at;
    uint32_t kind;
} critical_cause;

/* The cause that came last and was over, or ran, at the moment `until`. With `is_inside`
 * it ended while the effect ran. */
static critical_cause critical_cause_of(const critical_walk *w,
                                        const critical_item *of, bool is_inside)
{
    const critical_steps *c = w->c;
    critical_cause found = {NULL, 0, 0};
    const gnomon__keyed *l = gnomon__keyed_find(&c->links, of->instance);
    for (; l && l < c->links.at + c->links.count && l->key == of->instance;
         l++) {
        const critical_item *from = critical_named(&w->s, l->value);
        if (!from || from->track == of->track)
            continue;
        uint64_t at = from->end;
        if (!is_inside) {
            at = at < of->begin ? at : of->begin;
            if (from->begin >= of->begin)
                continue;
        } else if (l->more == GNOMON_LINK_LAUNCH || at <= of->begin ||
                   at > w->at) {
            continue;
        }
        if (!found.from || at > found.at)
            found = (critical_cause){from, at, l->more};
    }
    return found;
}

/* To the cause, at the moment when it is one; false: too often in a row. */
static bool critical_turn(critical_walk *w, const critical_cause *cause)
{
    static const char *const links[] = {[GNOMON_LINK_SUBMIT] = "submit",
                                        [GNOMON_LINK_BACKWARD] = "backward",
                                        [GNOMON_LINK_LAUNCH] = "launch"};
    if (w->turns++ >= CRITICAL_TURNS)
        return false;
    if (w->piece)
        gnomon__cell_text(&w->piece[CRITICAL_CAUSE],
                          cause->kind <= GNOMON_LINK_LAUNCH ? links[cause->kind]
                                                            : "?");
    w->is_over = true;
    w->track = cause->from->track;
    return true;
}

/* Through what was innermost until now. */
static void critical_through(critical_walk *w, const critical_segment *segment)
{
    const critical_item *item = &w->s.items[segment->item];
    const bool is_first = segment->begin == item->begin;
    critical_cause cause = {NULL, 0, 0};
    if (is_first)
        cause = critical_cause_of(w, item, true);
    if (cause.from) {
        critical_put(w, cause.at, segment->item, PIECE_RUNS);
        if (critical_turn(w, &cause))
            return;
    }
    critical_put(w, segment->begin, segment->item, PIECE_RUNS);
    if (!is_first || !item->is_outermost)
        return;
    const critical_segment *before =
        critical_before(&w->s, &w->c->tracks[w->track], segment->begin);
    cause = critical_cause_of(w, item, false);
    if (!cause.from || (before && before->end >= cause.at))
        return;
    critical_put(w, cause.at, segment->item, PIECE_QUEUED);
    (void)critical_turn(w, &cause);
}

static void critical_go_back(critical_walk *w)
{
    while (w->at > w->s.begin) {
        const uint64_t was = w->at;
        const critical_segment *s =
            critical_before(&w->s, &w->c->tracks[w->track], w->at);
        if (s && s->end >= w->at)
            critical_through(w, s);
        else
            critical_put(w, s ? s->end : w->s.begin, UINT32_MAX, PIECE_IDLE);
        w->turns = w->at < was ? 0 : w->turns;
    }
}

/* The thread on which steps are made. */
static uint32_t critical_main(const critical_steps *c, uint32_t run)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i <= c->track_count; i++)
        if (c->tracks[i].run == run &&
            (!found || c->tracks[i].last_ends > c->tracks[found].last_ends))
            found = i;
    return found;
}

/* Adds the pieces of a step to the rows of a group. Reads all events; memory for those of
 * the step. GNOMON_OK or GNOMON_ENOMEM. */
static int critical_read_step(critical_steps *c, const gnomon_step_info *step,
                              gnomon__report_rows *rows, uint32_t group)
{
    critical_walk w = {
        .c = c, .step = step, .at = step->end_ns, .rows = rows, .group = group};
    gnomon_stage_info stage = {.run = 0};
    critical_step *s = &w.s;
    (void)gnomon_profile_stage(c->profile, step->stage, &stage);
    *s = (critical_step){.begin = step->begin_ns, .end = step->end_ns};
    const bool is_read = critical_read_items(s, c, stage.run) &&
                         critical_cut(s, c) && critical_name_items(s);
    w.track = critical_main(c, stage.run);
    if (is_read)
        critical_go_back(&w);
    free(s->items);
    free(s->segments);
    free(s->names.at);
    return is_read ? rows->code : GNOMON_ENOMEM;
}

/* ---- The report ------------------------------------------------------------------ */

/* In csv and JSON the step is its number; for people it has its length too. */
static const char *critical_step_text(gnomon__report_rows *r,
                                      const gnomon_step_info *step)
{
    const int format = r->choice->format;
    char took[GNOMON__DURATION];
    if (format == GNOMON__TABLE_CSV || format == GNOMON__TABLE_JSON)
        return gnomon__table_keep(&r->table, "%" PRIu64, step->number);
    return gnomon__table_keep(
        &r->table, "%" PRIu64 ", %s", step->number,
        gnomon__short_duration(took, step->end_ns - step->begin_ns));
}

/* Why there is no path; NULL: there is one. */
static const char *critical_why_none(const critical_steps *c,
                                     const critical_settings *s, uint32_t steps)
{
    if (!c->has_events)
        return GNOMON__NO_EVENTS;
    if (!c->steps.count)
        return "no steps are in this profile: call gnomon_step() at the end of "
               "each";
    if (!steps && s->has_step)
        return "no step of that number has single executions";
    return steps ? NULL : "no step has single executions";
}

static void critical_read(gnomon__report_rows *r)
{
    const critical_settings *s = (const void *)r->choice;
    critical_steps *c = r->more;
    const gnomon_step_info *step = NULL;
    const char **groups = NULL;
    uint32_t used = 0;
    gnomon__report_say_rank(r);
    r->table.group_word = "step";
    if (!r->code)
        r->code = critical_make(c, r->profile);
    if (!r->code)
        groups = gnomon__table_take(&r->table,
                                    (c->steps.count + 1) * sizeof *groups);
    if (!groups)
        r->code = GNOMON_ENOMEM;
    while (!r->code && (s->has_step || used < s->steps) &&
           (step = critical_next(c, step))) {
        if (s->has_step && step->number != s->step)
            continue;
        groups[used] = gnomon__report_kept(r, critical_step_text(r, step));
        r->code = critical_read_step(c, step, r, used++);
    }
    r->table.groups = groups;
    r->none = critical_why_none(c, s, used);
}

/* ---- What is listed ---------------------------------------------------------------- */

/* Row `to` becomes the one of all from there on that are of its group. Returns how many
 * these are. */
static size_t critical_add_rest(gnomon__report_rows *r, size_t to)
{
    gnomon__report_table *t = &r->table;
    gnomon__cell *rest = gnomon__cells_of(t, to);
    size_t count = 1;
    for (; to + count < t->row_count &&
           t->rows[to + count].group == t->rows[to].group;
         count++)
        rest[CRITICAL_TIME].count +=
            gnomon__cells_of(t, to + count)[CRITICAL_TIME].count;
    gnomon__cell_text(
        &rest[CRITICAL_WHAT],
        gnomon__report_kept(r, gnomon__table_keep(t, "(%zu more)", count)));
    for (int k = CRITICAL_COUNT; k <= CRITICAL_RANK; k++)
        rest[k] = (gnomon__cell){0};
    rest[CRITICAL_ORDER].count = UINT64_MAX;
    return count;
}

/* The longest of each step, in the order of their first pieces. */
static void critical_choose(gnomon__report_rows *r)
{
    gnomon__report_table *t = &r->table;
    size_t kept = 0, in_group = 0;
    r->code = gnomon__table_sort(t, CRITICAL_ORDER);
    if (!r->code)
        r->code = gnomon__table_sort(t, CRITICAL_TIME);
    for (size_t i = 0, n; !r->code && i < t->row_count; i += n) {
        gnomon__cell *cells = gnomon__cells_of(t, i);
        if (!kept || t->rows[kept - 1].group != t->rows[i].group)
            in_group = 0;
        n = in_group++ < r->choice->limit ? 1 : critical_add_rest(r, i);
        if (cells[CRITICAL_CAUSE].is_there && !*cells[CRITICAL_CAUSE].text)
            cells[CRITICAL_CAUSE] = (gnomon__cell){0};
        gnomon__cell_share(&cells[CRITICAL_SHARE], cells[CRITICAL_TIME].count,
                           cells[CRITICAL_STEP].count);
        t->rows[kept++] = t->rows[i];
    }
    t->row_count = kept;
}

static void critical_note(const gnomon__report_rows *r,
                          const gnomon_writer *out)
{
    const critical_steps *c = r->more;
    if (c->missing)
        out->print(out,
                   "\n%" PRIu64 " event%s missing: pieces may be taken for "
                   "others\n",
                   c->missing, c->missing == 1 ? " is" : "s are");
}

/* ---- The profiler ------------------------------------------------------------------ */

static void critical_set(void *settings, const gnomon_options *options)
{
    critical_settings *s = settings;
    s->steps = CRITICAL_STEPS;
    if (!options)
        return;
    s->has_step = options->text(options, "step") != NULL;
    s->step = (uint64_t)options->number(options, "step");
    if (options->number(options, "steps") < 1)
        options->log("critical: steps=: say how many of the slowest, from 1");
    else
        s->steps = (uint64_t)options->number(options, "steps");
}

static const gnomon__report critical_report = {
    .name = "critical",
    .title = "Critical Path",
    .columns = critical_columns,
    .column_count = CRITICAL_COLUMNS,
    .limit = 12, /* of each step */
    .has_own_limit = true,
    .reads = GNOMON__READS_LINKS,
    .sort = -1,
    .order = CRITICAL_ORDER,
    .more_size = sizeof(critical_steps),
    .settings_size = sizeof(critical_settings),
    .set = critical_set,
    .read = critical_read,
    .choose = critical_choose,
    .note = critical_note,
    .free_more = critical_free,
};

GNOMON__REPORT_PROFILER(
    critical, critical_report, GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    "what the slowest steps waited for; holds 90 bytes an execution",
    GNOMON__ORDER_OPTIONS,
    GNOMON__PRESET_OPTION("limit", INTEGER, "12",
                          "how many rows of a step; one more has the rest"),
    GNOMON__PRESET_OPTION("steps", INTEGER, "3",
                          "how many of the slowest steps"),
    GNOMON__TABLE_OPTION("step", INTEGER, "the step of this number alone"),
    GNOMON__PRESET_OPTION("format", TEXT, "text", "text, csv, md or json"));
