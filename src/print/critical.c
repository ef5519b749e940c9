/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cuts each track of a step into the times in which one of its executions was innermost: a
 * lookup by a moment is then a binary search. Then walks back through the step. Each turn
 * of the walk either goes back in time, or changes the track without that; the second
 * happens only so often in a row, so that links in a circle end. */
#include "print/critical.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"

#define CRITICAL_TURNS 16u /* that lead to no earlier moment */

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

static bool critical_read_links(gnomon__critical *c)
{
    gnomon_link_info l;
    bool ok = true;
    for (size_t i = 1; ok && !gnomon_profile_link(c->profile, i, &l); i++)
        if (l.from_instance && l.to_instance)
            ok = gnomon__keyed_add(&c->links, l.to_instance, l.from_instance,
                                   l.kind);
    gnomon__keyed_sort(&c->links);
    return ok;
}

static bool critical_read_tracks(gnomon__critical *c)
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

static void critical_see(gnomon__critical *c, critical_last *last,
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

static bool critical_read_ends(gnomon__critical *c)
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

int gnomon__critical_make(gnomon__critical *c, const gnomon_profile *profile)
{
    gnomon_loss_info l;
    *c = (gnomon__critical){
        .profile = profile,
        .track_count = gnomon_profile_count(profile, GNOMON_TRACKS),
        .node_count = gnomon_profile_count(profile, GNOMON_NODES)};
    for (size_t i = 1; gnomon_profile_loss(profile, i, &l) == GNOMON_OK; i++)
        if (strncmp(l.kind, "events_", 7) == 0)
            c->missing += l.count;
    int code = gnomon__event_steps_make(&c->steps, profile, 0);
    if (!code && (!critical_read_tracks(c) || !critical_read_links(c) ||
                  !critical_read_ends(c)))
        code = GNOMON_ENOMEM;
    return code;
}

void gnomon__critical_free(gnomon__critical *c)
{
    gnomon__event_steps_free(&c->steps);
    free(c->tracks);
    free(c->is_taken);
    free(c->has_event);
    free(c->links.at);
    *c = (gnomon__critical){0};
}

/* Whether `a` is listed before `b`: the slower, of equal ones the earlier. */
static bool critical_is_before(const gnomon_step_info *a,
                               const gnomon_step_info *b)
{
    const uint64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;
    return x != y ? x > y : a < b;
}

const gnomon_step_info *gnomon__critical_next(const gnomon__critical *c,
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
    if (s->item_count == s->item_room) {
        size_t room = s->item_room ? 2 * s->item_room : 256;
        critical_item *items = realloc(s->items, room * sizeof *items);
        if (!items)
            return false;
        s->items = items;
        s->item_room = room;
    }
    s->items[s->item_count++] = (critical_item){.begin = e->begin_ns,
                                                .end = critical_end(e),
                                                .instance = e->instance,
                                                .track = e->track,
                                                .node = e->node,
                                                .order = order};
    return true;
}

/* The outer of two that begin together comes first. */
static int critical_by_track(const void *left, const void *right)
{
    const critical_item *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool critical_read_items(critical_step *s, const gnomon__critical *c,
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
    if (s->item_count)
        qsort(s->items, s->item_count, sizeof *s->items, critical_by_track);
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

static bool critical_cut(critical_step *s, gnomon__critical *c)
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
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->segments[middle].begin < ns)
            low = middle + 1;
        else
            high = middle;
    }
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

/* Sets the segments of the tracks too. Free it in any case. */
static int critical_load(critical_step *s, gnomon__critical *c,
                         const gnomon_step_info *step)
{
    gnomon_stage_info stage = {.run = 0};
    *s = (critical_step){.begin = step->begin_ns, .end = step->end_ns};
    (void)gnomon_profile_stage(c->profile, step->stage, &stage);
    return critical_read_items(s, c, stage.run) && critical_cut(s, c) &&
                   critical_name_items(s)
               ? GNOMON_OK
               : GNOMON_ENOMEM;
}

static void critical_unload(critical_step *s)
{
    free(s->items);
    free(s->segments);
    free(s->names.at);
    *s = (critical_step){0};
}

/* ---- The walk -------------------------------------------------------------------------- */

typedef struct critical_walk {
    gnomon__critical *c;
    critical_step s;
    uint64_t at;         /* all after it is in pieces */
    uint32_t track;      /* where it is */
    unsigned turns;      /* since it went back */
    gnomon__piece piece; /* that was put last; its end is 0 before the first */
    gnomon__piece_use *use;
    void *context;
} critical_walk;

static void critical_use(critical_walk *w)
{
    if (w->piece.end_ns)
        w->use(w->context, &w->piece);
}

/* From `begin` to where the walk is. In a row one execution has one piece. */
static void critical_put(critical_walk *w, uint64_t begin, uint32_t item,
                         int state)
{
    gnomon__piece *last = &w->piece;
    begin = begin > w->s.begin ? begin : w->s.begin;
    if (begin >= w->at)
        return;
    if (!last->end_ns || last->state != state || last->track != w->track ||
        last->cause >= 0 || last->execution != item) {
        critical_use(w);
        *last = (gnomon__piece){
            .end_ns = w->at,
            .track = w->track,
            .node = state == GNOMON__PIECE_IDLE ? 0 : w->s.items[item].node,
            .execution = item,
            .state = state,
            .cause = -1};
    }
    w->at = last->begin_ns = begin;
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
    const gnomon__critical *c = w->c;
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
    if (w->turns++ >= CRITICAL_TURNS)
        return false;
    w->piece.cause = (int)cause->kind;
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
        critical_put(w, cause.at, segment->item, GNOMON__PIECE_RUNS);
        if (critical_turn(w, &cause))
            return;
    }
    critical_put(w, segment->begin, segment->item, GNOMON__PIECE_RUNS);
    if (!is_first || !item->is_outermost)
        return;
    const critical_segment *before =
        critical_before(&w->s, &w->c->tracks[w->track], segment->begin);
    cause = critical_cause_of(w, item, false);
    if (!cause.from || (before && before->end >= cause.at))
        return;
    critical_put(w, cause.at, segment->item, GNOMON__PIECE_QUEUED);
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
            critical_put(w, s ? s->end : w->s.begin, UINT32_MAX,
                         GNOMON__PIECE_IDLE);
        w->turns = w->at < was ? 0 : w->turns;
    }
    critical_use(w);
}

/* The thread on which steps are made. */
static uint32_t critical_main(const gnomon__critical *c, uint32_t run)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i <= c->track_count; i++)
        if (c->tracks[i].run == run &&
            (!found || c->tracks[i].last_ends > c->tracks[found].last_ends))
            found = i;
    return found;
}

int gnomon__critical_read(gnomon__critical *c, const gnomon_step_info *step,
                          gnomon__piece_use *use, void *context)
{
    critical_walk w = {
        .c = c, .at = step->end_ns, .use = use, .context = context};
    gnomon_stage_info stage = {.run = 0};
    int code = critical_load(&w.s, c, step);
    (void)gnomon_profile_stage(c->profile, step->stage, &stage);
    w.track = critical_main(c, stage.run);
    if (!code)
        critical_go_back(&w);
    critical_unload(&w.s);
    return code;
}
