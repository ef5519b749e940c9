/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What happened: executions as begins and ends, among them what had not ended, the flows
 * that join them, moments, steps, and memory over time. A track's packets must be in the
 * order of their moments: so the ends of what is over are written before the next begin,
 * from the lanes, which hold what is open. */
#include "export/perfetto.h"

#include <stdlib.h>

/* Begins an event at a moment of its run. */
static gnomon__wire *begin_moment(gnomon__perfetto *f, uint32_t run,
                                  uint64_t ns, uint64_t uuid, uint32_t type)
{
    return gnomon__perfetto_event(f, run, gnomon__perfetto_unix(f, run, ns),
                                  uuid, type);
}

/* ---- Flows ---------------------------------------------------------------------- */

void gnomon__perfetto_meet(gnomon__perfetto *f, const gnomon_event_info *e,
                           size_t number, uint64_t unix_ns)
{
    size_t count;
    uint64_t ns;
    const gnomon__link_end *ends =
        gnomon__links_at(&f->links, &f->line, e, &count);
    for (size_t i = 0; i < count; i++) {
        gnomon__perfetto_flow *flow = &f->flows[ends[i].flow];
        const int side = ends[i].is_effect;
        if (flow->event[side])
            continue;
        flow->event[side] = number;
        flow->begin[side] = unix_ns;
        flow->is_late |=
            (uint8_t)gnomon__links_is_late(f->line.p, &ends[i], e, &ns);
    }
}

/* Events of equal times are in the order of the file. */
static int is_in_order(const gnomon__perfetto_flow *flow)
{
    return flow->event[0] && flow->event[1] &&
           (flow->begin[0] != flow->begin[1] ? flow->begin[0] < flow->begin[1]
                                             : flow->event[0] < flow->event[1]);
}

void gnomon__perfetto_join(gnomon__perfetto *f)
{
    for (size_t i = 0; i < f->links.count; i++) {
        const gnomon__link_end *cause = &f->links.ends[i];
        gnomon__perfetto_flow *flow = &f->flows[cause->flow];
        if (cause->is_effect)
            continue;
        flow->is_late &= !is_in_order(flow);
        flow->is_drawn = flow->event[0] && (flow->is_late || is_in_order(flow));
        f->runs[cause->run].undrawn_links += !flow->is_drawn;
    }
}

/* What is written when its moment comes. */
static void note_late(gnomon__perfetto *f, const gnomon__perfetto_late *late)
{
    gnomon__perfetto_late *of =
        gnomon__export_grown(f->late, &f->late_room, f->late_count, sizeof *of);
    if (of) {
        f->late = of;
        of[f->late_count++] = *late;
    } else {
        f->has_no_memory = 1;
    }
}

/* The flows of a slice that begins; those that lead into it later are noted. */
static void put_flows(gnomon__perfetto *f, const gnomon_event_info *e,
                      size_t number, uint32_t region)
{
    size_t count;
    uint64_t ns = 0;
    const gnomon__link_end *ends =
        gnomon__links_at(&f->links, &f->line, e, &count);
    for (size_t i = 0; i < count; i++) {
        const gnomon__perfetto_flow *flow = &f->flows[ends[i].flow];
        const uint64_t id = f->flows_before + ends[i].flow + 1;
        const int side = ends[i].is_effect;
        if (!flow->is_drawn || flow->event[side] != number)
            continue;
        if (side && flow->is_late) {
            (void)gnomon__links_is_late(f->line.p, &ends[i], e, &ns);
            note_late(f, &(gnomon__perfetto_late){e->track, f->begun_lane,
                                                  region, ns, id});
        } else {
            gnomon__wire_fixed(&f->wire, side ? EVENT_LAST_FLOW : EVENT_FLOW,
                               id);
        }
    }
}

/* Those that lead into slices of a lane up to `until`. */
static void put_late_flows(gnomon__perfetto *f, size_t row, uint32_t lane,
                           uint64_t until)
{
    while (f->late_count) {
        size_t first = f->late_count;
        for (size_t i = 0; i < f->late_count; i++)
            if (f->late[i].row == row && f->late[i].lane == lane &&
                f->late[i].ns <= until &&
                (first == f->late_count || f->late[i].ns < f->late[first].ns))
                first = i;
        if (first == f->late_count)
            return;
        const gnomon__perfetto_late at = f->late[first];
        f->late[first] = f->late[--f->late_count];
        gnomon__wire *w =
            begin_moment(f, f->rows[row].run, at.ns,
                         gnomon__perfetto_lane(f, row, lane), TYPE_INSTANT);
        gnomon__perfetto_name(f, at.region);
        gnomon__wire_fixed(w, EVENT_LAST_FLOW, at.flow);
        gnomon__perfetto_event_end(f);
    }
}

/* ---- Slices --------------------------------------------------------------------- */

/* The end of what has not ended, in ns of its run: it is never written. */
#define NEVER UINT64_MAX

/* The ends of what is over at `until`. */
static void put_ends(gnomon__perfetto *f, size_t row, uint64_t until)
{
    uint32_t lanes = gnomon__lanes_of(&f->lanes, row);
    uint64_t end;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        while (gnomon__lanes_take(&f->lanes, row, lane, until, &end)) {
            if (f->late_count)
                put_late_flows(f, row, lane, end);
            if (end == NEVER)
                continue;
            begin_moment(f, f->rows[row].run, end,
                         gnomon__perfetto_lane(f, row, lane), TYPE_END);
            gnomon__perfetto_event_end(f);
        }
        if (f->late_count)
            put_late_flows(f, row, lane, until);
    }
}

/* Begins a slice on the first lane of the row, from `first_lane` on, where it nests,
 * after the ends of those that are over; gnomon__perfetto_event_end closes the event. A
 * row's begins come in order. 0: no memory. */
static int begin_slice(gnomon__perfetto *f, size_t row, uint32_t first_lane,
                       uint64_t begin, uint64_t end)
{
    put_ends(f, row, begin);
    uint32_t lane = gnomon__lanes_put(&f->lanes, row, first_lane, begin, end);
    uint64_t uuid =
        lane == GNOMON__NO_LANE ? 0 : gnomon__perfetto_lane(f, row, lane);
    if (!uuid)
        return 0;
    f->begun_lane = lane;
    begin_moment(f, f->rows[row].run, begin, uuid, TYPE_BEGIN);
    return 1;
}

/* ---- Executions ------------------------------------------------------------------- */

static int put_execution(gnomon__perfetto *f, const gnomon_event_info *e,
                         size_t number)
{
    const gnomon__perfetto_node *n = gnomon__perfetto_node_at(f, e->node);
    const uint64_t end = e->duration_ns < NEVER - 1 - e->begin_ns
                             ? e->begin_ns + e->duration_ns
                             : NEVER - 1;
    if (!n)
        return 1;
    gnomon__perfetto_intern(f, f->rows[e->track].run, n->region, n->op);
    if (!begin_slice(f, e->track, gnomon__crossed_lane(&f->crossed, e, number),
                     e->begin_ns, end))
        return 0;
    gnomon__perfetto_name(f, n->region);
    put_flows(f, e, number, n->region);
    gnomon__perfetto_op(f, n->op);
    gnomon__perfetto_event_end(f);
    return 1;
}

/* What had not ended. One that began before the time that is shown begins with it, and
 * says so. */
static int put_open(gnomon__perfetto *f, const gnomon_open_info *o)
{
    const uint32_t run = f->rows[o->track].run;
    const uint64_t unix_ns = gnomon__perfetto_unix(f, run, o->begin_ns);
    const uint64_t floor = f->runs[run].floor;
    const gnomon__perfetto_node *n = gnomon__perfetto_node_at(f, o->node);
    if (!n || (f->what->until_unix_ns && unix_ns >= f->what->until_unix_ns))
        return 1;
    gnomon__perfetto_intern(f, run, n->region, n->op);
    if (!begin_slice(f, o->track, 0,
                     unix_ns < floor
                         ? floor - f->line.runs[run].info.zero_unix_ns
                         : o->begin_ns,
                     NEVER))
        return 0;
    gnomon__perfetto_name(f, n->region);
    gnomon__perfetto_op(f, n->op);
    if (unix_ns < floor)
        gnomon__perfetto_note(&f->wire, GNOMON__PERFETTO_BEGAN, NULL,
                              ANNOTATION_UINT, unix_ns);
    gnomon__perfetto_event_end(f);
    return 1;
}

/* Those of the track that began at `ns` or before it. */
static int put_opens(gnomon__perfetto *f, size_t track, uint64_t ns)
{
    const gnomon_open_info *o;
    int ok = 1;
    while (ok && (o = gnomon__opens_next(&f->opens, track, ns)) != NULL)
        ok = put_open(f, o);
    return ok;
}

/* ---- Moments ---------------------------------------------------------------------- */

/* `value` NULL: a mark. */
static void put_mark(gnomon__perfetto *f, const gnomon_event_info *e,
                     const char *value)
{
    const uint32_t run = f->rows[e->track].run;
    gnomon__perfetto_intern(f, run, e->region, 0);
    put_ends(f, e->track, e->begin_ns);
    gnomon__wire *w =
        begin_moment(f, run, e->begin_ns, gnomon__perfetto_lane(f, e->track, 0),
                     TYPE_INSTANT);
    gnomon__perfetto_name(f, e->region);
    if (value)
        gnomon__perfetto_note_text(w, GNOMON__PERFETTO_VALUE, NULL, value);
    gnomon__perfetto_event_end(f);
}

/* A value that no curve can have is a moment on the counter's thread. */
static void put_sample(gnomon__perfetto *f, const gnomon_event_info *e)
{
    if (e->value - e->value != 0) {
        put_mark(f, e, e->value > 0 ? "inf" : e->value < 0 ? "-inf" : "NaN");
        return;
    }
    gnomon__wire *w = begin_moment(
        f, f->rows[e->track].run, e->begin_ns,
        gnomon__perfetto_counter(f, e->track, e->region), TYPE_COUNTER);
    gnomon__wire_double(w, EVENT_DOUBLE, e->value);
    gnomon__perfetto_event_end(f);
}

/* ---- All events ------------------------------------------------------------------- */

static int put_event(gnomon__perfetto *f, const gnomon_event_info *e,
                     size_t number)
{
    if (!put_opens(f, e->track, e->begin_ns))
        return 0;
    if (e->kind == GNOMON_EVENT_EXECUTION)
        return put_execution(f, e, number);
    if (e->kind == GNOMON_EVENT_MARK)
        put_mark(f, e, NULL);
    else if (e->kind == GNOMON_EVENT_COUNTER)
        put_sample(f, e);
    f->has_memory |= e->kind == GNOMON_EVENT_MEMORY;
    return 1;
}

int gnomon__perfetto_events(gnomon__perfetto *f)
{
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    int ok = 1;
    f->has_memory =
        f->what->until_unix_ns != 0; /* it may be before that time */
    gnomon__event_cursor_all(&at, f->what, f->line.p);
    while (ok && !f->t->code && !f->has_no_memory &&
           (e = gnomon__event_cursor_next(&at)) != NULL) {
        const uint32_t run = f->rows[e->track].run;
        const uint64_t ns = gnomon__perfetto_unix(f, run, e->begin_ns);
        if (ns < f->runs[run].first)
            f->runs[run].first = ns;
        ok = put_event(f, e, at.walk.number);
    }
    for (size_t i = 1; ok && i <= f->line.track_count; i++)
        ok = put_opens(f, i, UINT64_MAX);
    for (size_t i = 1; ok && i <= f->row_count; i++)
        put_ends(f, i, NEVER);
    return ok;
}

/* ---- Steps ------------------------------------------------------------------------ */

/* On a track of their own: a scope may begin in one and end in the next. */
typedef struct perfetto_step {
    gnomon_step_info info;
    const char *stage;
    size_t row;
} perfetto_step;

static int compare_steps(const void *left, const void *right)
{
    const perfetto_step *a = left, *b = right;
    int by = gnomon__export_order(a->row, b->row);
    by = by ? by : gnomon__export_order(a->info.begin_ns, b->info.begin_ns);
    return by ? by : gnomon__export_order(a->info.number, b->info.number);
}

/* As torch names steps: tools find them by it. */
static int put_step(gnomon__perfetto *f, const perfetto_step *s)
{
    const uint32_t of = f->rows[s->row].run;
    gnomon__perfetto_run *run = &f->runs[of];
    uint64_t end = s->info.end_ns ? s->info.end_ns : NEVER;
    if (!gnomon__export_takes(f->what,
                              gnomon__perfetto_unix(f, of, s->info.begin_ns)))
        return 1;
    if (end != NEVER && gnomon__perfetto_unix(f, of, end) <= run->floor) {
        run->skipped_steps++;
        return 1;
    }
    if (!begin_slice(f, s->row, 0, s->info.begin_ns, end))
        return 0;
    gnomon__wire *w = &f->wire;
    gnomon__wire_text(w, EVENT_CATEGORIES, "step");
    gnomon__wire_form(w, EVENT_NAME, "ProfilerStep#%ju", s->info.number);
    gnomon__perfetto_note_text(w, GNOMON__PERFETTO_STAGE, NULL, s->stage);
    if (s->info.rank >= 0)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_RANK, NULL, ANNOTATION_UINT,
                              (uint64_t)s->info.rank);
    gnomon__perfetto_event_end(f);
    return 1;
}

int gnomon__perfetto_steps(gnomon__perfetto *f)
{
    size_t count = gnomon_profile_count(f->line.p, GNOMON_STEPS);
    perfetto_step *steps = calloc(count + 1, sizeof *steps);
    int ok = steps != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        gnomon_stage_info stage = {.name = ""};
        (void)gnomon_profile_step(f->line.p, i + 1, &steps[i].info);
        (void)gnomon_profile_stage(f->line.p, steps[i].info.stage, &stage);
        steps[i].stage = stage.name ? stage.name : "";
        steps[i].row = f->line.track_count + 1 +
                       gnomon__timeline_run_of(&f->line, stage.run);
    }
    if (ok && count)
        qsort(steps, count, sizeof *steps, compare_steps);
    for (size_t i = 0; ok && i < count && !f->t->code; i++)
        ok = put_step(f, &steps[i]);
    free(steps);
    return ok;
}

/* ---- Memory ----------------------------------------------------------------------- */

/* How many bytes pools hold over time. What was in a pool before the first event is not
 * known; the file's first event of memory counts from 0, also one before the time that is
 * shown. */
static int put_memory(gnomon__perfetto *f, const gnomon_event_info *e,
                      uint64_t unix_ns)
{
    if (e->region > f->line.track_count || e->value - e->value != 0)
        return 1;
    gnomon__perfetto_place *pool = gnomon__perfetto_pool(f, e->region);
    if (!pool)
        return 0;
    pool->bytes += e->value;
    if (!gnomon__export_takes(f->what, unix_ns))
        return 1;
    gnomon__wire *w = begin_moment(f, f->rows[e->region].run, e->begin_ns,
                                   pool->uuid, TYPE_COUNTER);
    gnomon__wire_double(w, EVENT_DOUBLE, pool->bytes);
    gnomon__perfetto_event_end(f);
    return 1;
}

int gnomon__perfetto_pools(gnomon__perfetto *f)
{
    gnomon__memory memory;
    gnomon_event_info e;
    uint64_t at;
    if (!f->has_memory)
        return 1;
    int ok = gnomon__memory_begin(&memory, &f->line);
    while (ok && !f->t->code && gnomon__memory_next(&memory, &e, &at))
        ok = put_memory(f, &e, at);
    gnomon__memory_end(&memory);
    return ok;
}
