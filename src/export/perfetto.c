/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Perfetto export: the file, profile by profile.
 *
 * What happened is executions as begins and ends, among them what had not ended, the flows
 * that join them, moments, steps, and memory over time. A track's packets must be in the
 * order of their moments: so the ends of what is over are written before the next begin,
 * from the lanes, which hold what is open.
 *
 * A trace also says of each run what it is, and what of it is missing. That is a moment on a
 * track "trace notes" of its process, and one for each loss.
 *
 * Where something that must be known before the first event is in the events, they are
 * read twice; and once more where there is memory. */
#include "export/perfetto.h"

#include <stdlib.h>

#include "print/order.h"

/* Perfetto keeps 512 nested slices of a track, the last of them for an instant: of a
 * deeper one it takes the end for that of another. */
#define MOST_DEEP 511

/* ---- Moments ------------------------------------------------------------------------ */

/* Begins an event at a moment of its run. */
static gnomon__wire *begin_moment(gnomon__perfetto *f, uint32_t run,
                                  uint64_t ns, uint64_t uuid, uint32_t type)
{
    return gnomon__perfetto_event(f, run, gnomon__perfetto_unix(f, run, ns),
                                  uuid, type);
}

/* ---- Flows ---------------------------------------------------------------------- */

/* Event `number` is in this file, and begins at this moment. */
static void meet_links(gnomon__perfetto *f, const gnomon_event_info *e,
                       size_t number, uint64_t unix_ns)
{
    size_t count;
    uint64_t ns;
    const gnomon__link_end *ends = gnomon__links_at(&f->line, e, &count);
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

/* After all were met: which links are drawn, and how many are not. */
static void join_links(gnomon__perfetto *f)
{
    for (size_t i = 0; i < f->line.links.count; i++) {
        const gnomon__link_end *cause = &f->line.links.ends[i];
        gnomon__perfetto_flow *flow = &f->flows[cause->flow];
        if (cause->is_effect)
            continue;
        flow->is_late &= !is_in_order(flow);
        flow->is_drawn = flow->event[0] && (flow->is_late || is_in_order(flow));
        f->runs[cause->run].undrawn_links += !flow->is_drawn;
    }
}

/* The flows of a slice that begins; those that lead into it later are noted. */
static void put_flows(gnomon__perfetto *f, const gnomon_event_info *e,
                      size_t number, uint32_t region)
{
    size_t count;
    uint64_t ns = 0;
    const gnomon__link_end *ends = gnomon__links_at(&f->line, e, &count);
    for (size_t i = 0; i < count; i++) {
        const gnomon__perfetto_flow *flow = &f->flows[ends[i].flow];
        const uint64_t id = f->flows_before + ends[i].flow + 1;
        const int side = ends[i].is_effect;
        if (!flow->is_drawn || flow->event[side] != number)
            continue;
        if (side && flow->is_late) {
            (void)gnomon__links_is_late(f->line.p, &ends[i], e, &ns);
            gnomon__export_needs(
                f->t,
                GNOMON__PUSH(f->late, f->late_room, f->late_count,
                             (gnomon__perfetto_late){e->track, f->begun_lane,
                                                     region, ns, id}));
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
    uint32_t lanes = gnomon__lanes_of(&f->line.lanes, row);
    uint64_t end;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        while (gnomon__lanes_take(&f->line.lanes, row, lane, until, &end)) {
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

/* Begins a slice, of event `number` (0: of none), on the first lane of the row where it
 * nests, after the ends of those that are over; gnomon__perfetto_event_end closes the event. A
 * row's begins come in order. */
static void begin_slice(gnomon__perfetto *f, size_t row,
                        const gnomon_event_info *e, size_t number,
                        uint64_t begin, uint64_t end)
{
    put_ends(f, row, begin);
    uint32_t lane = gnomon__timeline_lane(&f->line, row, e, number, begin, end);
    if (!gnomon__export_needs(f->t, lane != GNOMON__NO_LANE))
        lane = 0;
    f->begun_lane = lane;
    begin_moment(f, f->rows[row].run, begin,
                 gnomon__perfetto_lane(f, row, lane), TYPE_BEGIN);
}

/* ---- Executions ------------------------------------------------------------------- */

static void put_execution(gnomon__perfetto *f, const gnomon_event_info *e,
                          size_t number)
{
    const gnomon__perfetto_node *n = gnomon__perfetto_node_at(f, e->node);
    const uint64_t end = e->duration_ns < NEVER - 1 - e->begin_ns
                             ? e->begin_ns + e->duration_ns
                             : NEVER - 1;
    if (!n)
        return;
    gnomon__perfetto_intern(f, f->rows[e->track].run, n->region, n->op);
    begin_slice(f, e->track, e, number, e->begin_ns, end);
    gnomon__perfetto_name(f, n->region);
    put_flows(f, e, number, n->region);
    gnomon__perfetto_op(f, n->op);
    gnomon__perfetto_event_end(f);
}

/* What had not ended. One that began before the time that is shown begins with it, and
 * says so. */
static void put_open(gnomon__perfetto *f, const gnomon_open_info *o)
{
    const uint32_t run = f->rows[o->track].run;
    const uint64_t unix_ns = gnomon__perfetto_unix(f, run, o->begin_ns);
    const uint64_t floor = f->runs[run].floor;
    const gnomon__perfetto_node *n = gnomon__perfetto_node_at(f, o->node);
    if (!n || (f->what->until_unix_ns && unix_ns >= f->what->until_unix_ns))
        return;
    gnomon__perfetto_intern(f, run, n->region, n->op);
    begin_slice(f, o->track, NULL, 0,
                unix_ns < floor ? floor - f->line.runs[run].info.zero_unix_ns
                                : o->begin_ns,
                NEVER);
    gnomon__perfetto_name(f, n->region);
    gnomon__perfetto_op(f, n->op);
    if (unix_ns < floor)
        gnomon__perfetto_note(&f->wire, GNOMON__PERFETTO_BEGAN, NULL,
                              ANNOTATION_UINT, unix_ns);
    gnomon__perfetto_event_end(f);
}

/* Those of the track that began at `ns` or before it. */
static void put_opens(gnomon__perfetto *f, size_t track, uint64_t ns)
{
    const gnomon_open_info *o;
    while (!f->t->code &&
           (o = gnomon__opens_next(&f->line.opens, track, ns)) != NULL)
        put_open(f, o);
}

/* ---- Marks and samples ------------------------------------------------------------ */

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

static void put_event(gnomon__perfetto *f, const gnomon_event_info *e,
                      size_t number)
{
    put_opens(f, e->track, e->begin_ns);
    if (e->kind == GNOMON_EVENT_EXECUTION)
        put_execution(f, e, number);
    else if (e->kind == GNOMON_EVENT_MARK)
        put_mark(f, e, NULL);
    else if (e->kind == GNOMON_EVENT_COUNTER)
        put_sample(f, e);
    f->has_memory |= e->kind == GNOMON_EVENT_MEMORY;
}

static void put_events(gnomon__perfetto *f)
{
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    f->has_memory =
        f->what->until_unix_ns != 0; /* it may be before that time */
    gnomon__event_cursor_all(&at, f->what, f->line.p);
    while (!f->t->code && (e = gnomon__event_cursor_next(&at)) != NULL) {
        const uint32_t run = f->rows[e->track].run;
        const uint64_t ns = gnomon__perfetto_unix(f, run, e->begin_ns);
        if (ns < f->runs[run].first)
            f->runs[run].first = ns;
        put_event(f, e, at.walk.number);
    }
    for (size_t i = 1; i <= f->line.track_count; i++)
        put_opens(f, i, UINT64_MAX);
    for (size_t i = 1; !f->t->code && i <= f->row_count; i++)
        put_ends(f, i, NEVER);
}

/* ---- Steps ------------------------------------------------------------------------ */

/* On a track of their own: a scope may begin in one and end in the next. */
typedef struct perfetto_step {
    gnomon_step_info info;
    const char *stage;
    size_t row;
} perfetto_step;

GNOMON__ORDER(compare_steps, perfetto_step, UP(row), UP(info.begin_ns),
              UP(info.number))

/* torch's name for steps, by which tools find them. */
static void put_step(gnomon__perfetto *f, const perfetto_step *s)
{
    const uint32_t of = f->rows[s->row].run;
    gnomon__perfetto_run *run = &f->runs[of];
    uint64_t end = s->info.end_ns ? s->info.end_ns : NEVER;
    if (!gnomon__export_takes(f->what,
                              gnomon__perfetto_unix(f, of, s->info.begin_ns)))
        return;
    if (end != NEVER && gnomon__perfetto_unix(f, of, end) <= run->floor) {
        run->skipped_steps++;
        return;
    }
    begin_slice(f, s->row, NULL, 0, s->info.begin_ns, end);
    gnomon__wire *w = &f->wire;
    gnomon__wire_text(w, EVENT_CATEGORIES, "step");
    gnomon__wire_form(w, EVENT_NAME, "ProfilerStep#%ju", s->info.number);
    gnomon__perfetto_note_text(w, GNOMON__PERFETTO_STAGE, NULL, s->stage);
    if (s->info.rank >= 0)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_RANK, NULL, ANNOTATION_UINT,
                              (uint64_t)s->info.rank);
    gnomon__perfetto_event_end(f);
}

static void put_steps(gnomon__perfetto *f)
{
    size_t count = gnomon_profile_count(f->line.p, GNOMON_STEPS);
    perfetto_step *steps = calloc(count + 1, sizeof *steps);
    if (!gnomon__export_needs(f->t, steps != NULL))
        count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t run = gnomon__timeline_step(
            &f->line, i + 1, &steps[i].info, &steps[i].stage);
        steps[i].row = f->line.track_count + 1 + run;
    }
    GNOMON__SORT(steps, count, compare_steps);
    for (size_t i = 0; i < count && !f->t->code; i++)
        put_step(f, &steps[i]);
    free(steps);
}

/* ---- Memory ----------------------------------------------------------------------- */

/* How many bytes pools hold over time. What was in a pool before the first event is not
 * known; the file's first event of memory counts from 0, also one before the time that is
 * shown. */
static void put_memory(gnomon__perfetto *f, const gnomon_event_info *e,
                       uint64_t unix_ns)
{
    if (e->region > f->line.track_count || e->value - e->value != 0)
        return;
    gnomon__perfetto_place *pool = gnomon__perfetto_pool(f, e->region);
    if (!pool)
        return;
    pool->bytes += e->value;
    if (!gnomon__export_takes(f->what, unix_ns))
        return;
    gnomon__wire *w = begin_moment(f, f->rows[e->region].run, e->begin_ns,
                                   pool->uuid, TYPE_COUNTER);
    gnomon__wire_double(w, EVENT_DOUBLE, pool->bytes);
    gnomon__perfetto_event_end(f);
}

static void put_pools(gnomon__perfetto *f)
{
    gnomon__memory memory;
    gnomon_event_info e;
    uint64_t at;
    if (!f->has_memory)
        return;
    gnomon__export_needs(f->t, gnomon__memory_begin(&memory, &f->line));
    while (!f->t->code && gnomon__memory_next(&memory, &e, &at))
        put_memory(f, &e, at);
    gnomon__memory_end(&memory);
}

/* ---- What it is --------------------------------------------------------------------- */

/* A moment that does not make the time that is shown longer. */
static uint64_t time_in(const gnomon__perfetto *f,
                        const gnomon__perfetto_run *run, uint64_t unix_ns)
{
    uint64_t until = f->what->until_unix_ns, most = INT64_MAX;
    if (unix_ns < run->floor)
        unix_ns = run->floor;
    if (until && unix_ns >= until)
        unix_ns = until - 1;
    return unix_ns < most ? unix_ns : most;
}

static gnomon__wire *begin_notice(gnomon__perfetto *f, uint32_t run,
                                  uint64_t unix_ns)
{
    uint64_t uuid = gnomon__perfetto_notices(f, run);
    return gnomon__perfetto_event(f, run, time_in(f, &f->runs[run], unix_ns),
                                  uuid, TYPE_INSTANT);
}

static uint64_t first_moment(const gnomon__perfetto *f, uint32_t run)
{
    return f->runs[run].first < UINT64_MAX
               ? f->runs[run].first
               : f->line.runs[run].info.zero_unix_ns;
}

static void say_run(gnomon__wire *w, const gnomon_run_info *r)
{
    if (r->rank >= 0)
        gnomon__perfetto_note(w, 0, "rank", ANNOTATION_INT, (uint64_t)r->rank);
    if (r->local_rank >= 0)
        gnomon__perfetto_note(w, 0, "local rank", ANNOTATION_INT,
                              (uint64_t)r->local_rank);
    if (r->world_size >= 0)
        gnomon__perfetto_note(w, 0, "world size", ANNOTATION_INT,
                              (uint64_t)r->world_size);
    gnomon__perfetto_note(w, 0, "pid", ANNOTATION_INT, (uint64_t)r->pid);
    gnomon__perfetto_note_text(w, 0, "host", r->host);
    gnomon__perfetto_note_text(w, 0, "job", r->job);
    gnomon__perfetto_note_text(w, 0, "attempt", r->attempt);
    gnomon__perfetto_note_text(w, 0, "uuid", r->uuid);
    gnomon__perfetto_note_text(w, 0, "spec", r->spec);
    gnomon__perfetto_note_text(w, 0, "clock", r->clock);
    gnomon__perfetto_note(w, 0, "clock error ns", ANNOTATION_INT,
                          r->clock_error_ns);
}

static void say_metadata(const gnomon__perfetto *f, gnomon__wire *w,
                         uint32_t run)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(f->line.p, i, &m); i++)
        if (m.run == run)
            gnomon__perfetto_note_json(w, 0, m.key, m.json);
}

static void put_run(gnomon__perfetto *f, uint32_t run)
{
    gnomon__wire *w = begin_notice(f, run, first_moment(f, run));
    gnomon__wire_text(w, EVENT_NAME, "run");
    gnomon__wire_text(w, EVENT_CATEGORIES, "run");
    if (run)
        say_run(w, &f->line.runs[run].info);
    say_metadata(f, w, run);
    gnomon__perfetto_event_end(f);
}

/* ---- What is missing ------------------------------------------------------------------ */

/* The name is the kind; the count says how often. */
static gnomon__wire *begin_loss(gnomon__perfetto *f, uint32_t run,
                                uint64_t unix_ns, const char *kind,
                                uint64_t count)
{
    gnomon__wire *w = begin_notice(f, run, unix_ns);
    gnomon__wire_text(w, EVENT_CATEGORIES, "loss");
    gnomon__wire_text(w, EVENT_NAME, kind);
    gnomon__perfetto_note(w, 0, "count", ANNOTATION_UINT, count);
    return w;
}

static void put_loss(gnomon__perfetto *f, const gnomon_loss_info *l)
{
    const uint32_t run = gnomon__timeline_run_of(&f->line, l->run);
    const int has_time = l->begin_ns || l->end_ns;
    const uint64_t begin = gnomon__perfetto_unix(f, run, l->begin_ns);
    gnomon__wire *w = begin_loss(
        f, run, has_time ? begin : first_moment(f, run), l->kind, l->count);
    if (l->track && l->track <= f->line.track_count)
        gnomon__perfetto_note_text(w, 0, "thread",
                                   f->line.tracks[l->track].info.name);
    if (has_time) {
        gnomon__perfetto_note(w, 0, "from Unix ns", ANNOTATION_INT, begin);
        gnomon__perfetto_note(w, 0, "to Unix ns", ANNOTATION_INT,
                              gnomon__perfetto_unix(f, run, l->end_ns));
    }
    gnomon__perfetto_event_end(f);
}

/* What this file lacks, though the profile has it. */
static void put_left_out(gnomon__perfetto *f, uint32_t run, const char *kind,
                         uint64_t count)
{
    if (!count)
        return;
    begin_loss(f, run, first_moment(f, run), kind, count);
    gnomon__perfetto_event_end(f);
}

static void put_about(gnomon__perfetto *f)
{
    gnomon_loss_info l;
    for (uint32_t i = f->line.run_count ? 1 : 0; i <= f->line.run_count; i++) {
        put_run(f, i);
        put_left_out(f, i, "links not drawn", f->runs[i].undrawn_links);
        put_left_out(f, i, "steps before the first event",
                     f->runs[i].skipped_steps);
    }
    for (size_t i = 1; !gnomon_profile_loss(f->line.p, i, &l); i++)
        put_loss(f, &l);
}

/* ---- Runs and rows ---------------------------------------------------------------- */

/* Viewers take processes of one number for the same, and threads of one. */
static void identify_rows(gnomon__perfetto *f)
{
    gnomon__timeline *l = &f->line;
    for (size_t i = 0; i <= l->run_count; i++)
        if (l->runs[i].pid <= GNOMON__STEPS_TID ||
            l->runs[i].pid >= GNOMON__MADE_UP_PID)
            l->runs[i].pid = GNOMON__MADE_UP_PID +
                             (int64_t)(f->runs_before + i) %
                                 (GNOMON__MADE_UP_TID - GNOMON__MADE_UP_PID);
    for (size_t i = 1; i <= l->track_count; i++)
        if (!l->tracks[i].tid || l->tracks[i].tid >= GNOMON__MADE_UP_TID)
            l->tracks[i].tid =
                GNOMON__MADE_UP_TID + (int64_t)i % GNOMON__MADE_UP_TID;
}

static int begin_rows(gnomon__perfetto *f)
{
    gnomon_loss_info l;
    const size_t runs = f->line.run_count, tracks = f->line.track_count;
    f->row_count = tracks + runs + 1;
    f->runs = calloc(runs + 1, sizeof *f->runs);
    f->rows = calloc(f->row_count + 1, sizeof *f->rows);
    if (!f->runs || !f->rows)
        return 0;
    for (size_t i = 0; i <= runs; i++)
        f->runs[i] =
            (gnomon__perfetto_run){.first = UINT64_MAX, .uuid = ++f->uuids};
    for (size_t i = 1; i <= f->row_count; i++)
        f->rows[i] = (gnomon__perfetto_row){
            .run =
                i > tracks ? (uint32_t)(i - tracks - 1) : f->line.tracks[i].run,
            .uuid = ++f->uuids};
    for (size_t i = 1; !gnomon_profile_loss(f->line.p, i, &l); i++)
        if (l.run <= runs && strcmp(l.kind, "events_overwritten") == 0)
            f->runs[l.run].has_wrapped = 1;
    identify_rows(f);
    return 1;
}

/* Reads all events, if it must: the ends of links, crossed scopes, and from where on each
 * run is shown. */
static void look(gnomon__perfetto *f)
{
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    int must = f->line.links.count || f->line.crossed.is_timed;
    for (size_t i = 0; i <= f->line.run_count; i++)
        must |= f->runs[i].has_wrapped;
    gnomon__event_cursor_all(&at, f->what, f->line.p);
    while (must && !f->t->code &&
           (e = gnomon__event_cursor_next(&at)) != NULL) {
        const uint32_t run = f->rows[e->track].run;
        const uint64_t ns = gnomon__perfetto_unix(f, run, e->begin_ns);
        if (ns < f->runs[run].first)
            f->runs[run].first = ns;
        gnomon__export_needs(
            f->t, gnomon__crossed_meet(&f->line.crossed, e, at.walk.number));
        if (e->instance && e->kind == GNOMON_EVENT_EXECUTION)
            meet_links(f, e, at.walk.number, ns);
    }
    gnomon__crossed_ready(&f->line.crossed);
    for (size_t i = 0; i <= f->line.run_count; i++) {
        gnomon__perfetto_run *run = &f->runs[i];
        if (f->what->until_unix_ns)
            run->floor = f->what->from_unix_ns;
        else if (run->has_wrapped && run->first < UINT64_MAX)
            run->floor = run->first;
    }
}

/* ---- The file --------------------------------------------------------------------- */

static int begin_perfetto(gnomon__perfetto *f, size_t which)
{
    if (!gnomon__timeline_begin(&f->line, f->what, which) ||
        !gnomon__timeline_draw(&f->line, MOST_DEEP, 0) || !begin_rows(f))
        return 0;
    f->flows = calloc(f->line.links.flows + 1, sizeof *f->flows);
    return f->flows && gnomon__perfetto_names_begin(f);
}

static void end_perfetto(gnomon__perfetto *f)
{
    f->runs_before += f->line.run_count + 1;
    f->flows_before += f->line.links.flows;
    gnomon__perfetto_names_end(f);
    gnomon__timeline_end(&f->line);
    free(f->places.of);
    free(f->late);
    free(f->flows);
    free(f->rows);
    free(f->runs);
    f->places = (gnomon__perfetto_places){0};
    f->late = NULL;
    f->late_count = f->late_room = 0;
    f->flows = NULL;
    f->rows = NULL;
    f->runs = NULL;
}

/* Run 0 has a process only where there is no run at all. */
static void put_perfetto(gnomon__perfetto *f)
{
    look(f);
    join_links(f);
    for (uint32_t i = f->line.run_count > 0; i <= f->line.run_count; i++)
        gnomon__perfetto_process(f, i);
    put_steps(f);
    put_events(f);
    put_pools(f);
    put_about(f);
}

static int write_perfetto(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__perfetto f = {.what = what, .t = gnomon__export_text_begin(out)};
    for (size_t i = 0; f.t && i < what->count && !f.t->code; i++) {
        if (gnomon__export_needs(f.t, begin_perfetto(&f, i)))
            put_perfetto(&f);
        end_perfetto(&f);
    }
    gnomon__wire_free(&f.wire);
    return gnomon__export_text_end(f.t);
}

const gnomon__exporter gnomon__export_perfetto = {
    .name = "perfetto",
    .extension = ".pftrace",
    .about = "Perfetto's own format, for large traces",
    .write = write_perfetto,
};
