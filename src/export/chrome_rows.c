/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of a Chrome trace: one for each event, in the order of the profile, and flows
 * right after the rows that they lead from and to. */
#include "export/chrome.h"

#include <stdlib.h>

/* The op that is open on a track, whose External id API rows take. Ops nest seldom
 * deeper; then the outer one's is taken. */
#define OPEN_OPS 8

typedef struct gnomon__chrome_open {
    uint32_t count;
    struct {
        uint64_t end, id;
    } of[OPEN_OPS];
} gnomon__chrome_open;

static uint64_t zero_of_track(const gnomon__chrome *c, size_t track)
{
    gnomon_track_info k;
    (void)gnomon_profile_track(c->p, track, &k);
    return c->zero[k.run];
}

void gnomon__chrome_row(gnomon__chrome *c)
{
    if (c->is_first)
        gnomon__export_literal(c->t, "\n");
    else
        gnomon__export_literal(c->t, ",\n");
    c->is_first = 0;
}

/* ---- Operations around ----------------------------------------------------------- */

static uint64_t op_around(gnomon__chrome_open *o, uint64_t begin)
{
    while (o->count && o->of[o->count - 1].end <= begin)
        o->count--;
    return o->count ? o->of[o->count - 1].id : 0;
}

static void open_op(gnomon__chrome_open *o, uint64_t end, uint64_t id)
{
    if (o->count == OPEN_OPS)
        return;
    o->of[o->count].end = end;
    o->of[o->count++].id = id;
}

/* ---- Flows ------------------------------------------------------------------------- */

static const char *flow_name(int kind)
{
    return kind == GNOMON_LINK_LAUNCH     ? "ac2g"
           : kind == GNOMON_LINK_BACKWARD ? "fwdbwd"
                                          : "submit";
}

static void put_place(gnomon__chrome *c, int64_t pid, int64_t tid, uint64_t ns)
{
    gnomon__export_literal(c->t, ",\"pid\":");
    gnomon__export_signed(c->t, pid);
    gnomon__export_literal(c->t, ",\"tid\":");
    gnomon__export_signed(c->t, tid);
    gnomon__export_literal(c->t, ",\"ts\":");
    gnomon__export_us(c->t, ns);
}

static void put_flow(gnomon__chrome *c, const gnomon__chrome_end *end,
                     int64_t pid, int64_t tid, uint64_t ns)
{
    const char *name = flow_name(end->kind);
    gnomon__chrome_row(c);
    if (end->is_effect)
        gnomon__export_literal(c->t, "{\"ph\":\"f\",\"bp\":\"e\",\"id\":");
    else
        gnomon__export_literal(c->t, "{\"ph\":\"s\",\"id\":");
    gnomon__export_number(c->t, c->links.first + end->flow);
    gnomon__export_literal(c->t, ",\"cat\":\"");
    gnomon__export_string(c->t, name);
    gnomon__export_literal(c->t, "\",\"name\":\"");
    gnomon__export_string(c->t, name);
    gnomon__export_literal(c->t, "\"");
    put_place(c, pid, tid, ns);
    gnomon__export_literal(c->t, "}");
}

/* ---- Executions ---------------------------------------------------------------------- */

/* args of an execution that links name: the correlation of a launch, and the External id
 * of the op around it, which its effect takes over. */
static void put_linked(gnomon__chrome *c, const gnomon__chrome_end *ends,
                       size_t count, uint64_t op)
{
    const gnomon__chrome_end *launch = NULL;
    for (size_t i = 0; i < count; i++)
        if (ends[i].kind == GNOMON_LINK_LAUNCH)
            launch = &ends[i];
    if (launch && launch->is_effect)
        op = c->links.external[launch->flow];
    else if (launch)
        c->links.external[launch->flow] = op;
    if (launch) {
        gnomon__export_literal(c->t, ",\"correlation\":");
        gnomon__export_number(c->t, c->links.first + launch->flow);
    }
    if (op) {
        gnomon__export_literal(c->t, ",\"External id\":");
        gnomon__export_number(c->t, op);
    }
}

/* What `args` has besides the path's: each begins with a comma, which the first loses. */
static void put_execution_args(gnomon__chrome *c, const gnomon__chrome_node *n,
                               const gnomon_event_info *e, uint64_t number,
                               const gnomon__chrome_end *ends, size_t links)
{
    gnomon__chrome_open *open = &c->open[e->track];
    uint64_t around = op_around(open, e->begin_ns);
    gnomon__export_literal(c->t, ",\"args\":{");
    size_t from = c->t->used;
    if (n->is_op) {
        gnomon__export_literal(c->t, ",\"External id\":");
        gnomon__export_number(c->t, number);
        open_op(open, e->begin_ns + e->duration_ns, number);
    } else if (links) {
        put_linked(c, ends, links, around);
    }
    gnomon__export_put(c->t, n->args, n->args_size);
    if (c->t->used > from) /* all of it is in the buffer: see row_room */
        c->t->room[from] = ' ';
    gnomon__export_literal(c->t, "}}");
}

/* Room for a row's own args, so that its first comma can still be changed. */
static void row_room(gnomon__chrome *c, const gnomon__chrome_node *n)
{
    if (GNOMON__TEXT_ROOM - c->t->used <
        (size_t)n->head_size + n->args_size + 512)
        gnomon__export_text_flush(c->t);
}

/* Up to its args. 0: no memory. */
static int begin_execution(gnomon__chrome *c, const gnomon__chrome_node *n,
                           size_t track, uint64_t zero, uint64_t begin,
                           uint64_t duration, int64_t *tid)
{
    uint32_t lane =
        gnomon__lanes_put(&c->lanes, track, begin, begin + duration);
    if (!n || lane == GNOMON__NO_LANE)
        return 0;
    *tid = lane ? gnomon__chrome_lane_tid(track, lane) : c->ids.tracks[track];
    gnomon__chrome_row(c);
    row_room(c, n);
    gnomon__export_put(c->t, n->head, n->head_size);
    gnomon__export_signed(c->t, *tid);
    gnomon__export_literal(c->t, ",\"ts\":");
    gnomon__export_us(c->t, zero + begin);
    gnomon__export_literal(c->t, ",\"dur\":");
    gnomon__export_us(c->t, duration);
    return 1;
}

static int put_execution(gnomon__chrome *c, const gnomon_event_info *e,
                         size_t number, uint64_t zero)
{
    size_t links = 0;
    int64_t tid;
    const gnomon__chrome_node *n = gnomon__chrome_node_at(c, e->node);
    const gnomon__chrome_end *ends =
        e->instance ? gnomon__chrome_links_at(&c->links, e->instance, &links)
                    : NULL;
    if (!begin_execution(c, n, e->track, zero, e->begin_ns, e->duration_ns,
                         &tid))
        return 0;
    put_execution_args(c, n, e, c->events_before + number, ends, links);
    for (size_t i = 0; i < links; i++)
        if (!ends[i].is_again)
            put_flow(c, &ends[i], c->ids.pids[e->track], tid,
                     zero + e->begin_ns);
    return 1;
}

/* ---- What had not ended -------------------------------------------------------- */

/* Those that began before `ns`, from the file's begin on and up to its end. */
static int put_opens(gnomon__chrome *c, size_t track, uint64_t ns,
                     uint64_t zero)
{
    const gnomon_open_info *o;
    gnomon_track_info k;
    gnomon_run_info run = {.now_ns = 0};
    int64_t tid;
    while ((o = gnomon__chrome_opens_next(&c->opens, track, ns))) {
        (void)gnomon_profile_track(c->p, track, &k);
        (void)gnomon_profile_run(c->p, k.run ? k.run : 1, &run);
        uint64_t begin = o->begin_ns, end = run.now_ns;
        if (zero + begin < c->start)
            begin = c->start - zero;
        if (c->what->until_unix_ns &&
            c->base + zero + end > c->what->until_unix_ns)
            end = c->what->until_unix_ns - c->base - zero;
        if (end < begin)
            continue;
        const gnomon__chrome_node *n = gnomon__chrome_node_at(c, o->node);
        if (!begin_execution(c, n, track, zero, begin, end - begin, &tid))
            return 0;
        gnomon__export_literal(c->t, ",\"args\":{\"finished\": false");
        gnomon__export_string(c->t, n->args_size ? "," : "");
        gnomon__export_put(c->t, n->args + !!n->args_size,
                           n->args_size - !!n->args_size);
        gnomon__export_literal(c->t, "}}");
    }
    return 1;
}

/* ---- Moments --------------------------------------------------------------------------- */

static void put_region_name(gnomon__chrome *c, uint32_t region)
{
    gnomon_region_info r = {.name = ""};
    (void)gnomon_profile_region(c->p, region, &r);
    gnomon__export_literal(c->t, ",\"name\":");
    gnomon__export_json(c->t, r.name);
}

static void put_mark(gnomon__chrome *c, const gnomon_event_info *e,
                     uint64_t zero)
{
    gnomon__chrome_row(c);
    gnomon__export_literal(
        c->t, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\"");
    put_region_name(c, e->region);
    put_place(c, c->ids.pids[e->track], c->ids.tracks[e->track],
              zero + e->begin_ns);
    gnomon__export_literal(c->t, ",\"args\":{}}");
}

/* A sample that is no number leaves a gap: viewers read no such values. */
static void put_sample(gnomon__chrome *c, const gnomon_event_info *e,
                       uint64_t zero)
{
    double is_number = e->value - e->value;
    if (is_number < 0 || is_number > 0 || !(is_number >= 0))
        return;
    gnomon__chrome_row(c);
    gnomon__export_literal(c->t, "{\"ph\":\"C\"");
    put_region_name(c, e->region);
    put_place(c, c->ids.pids[e->track], c->ids.tracks[e->track],
              zero + e->begin_ns);
    gnomon__export_literal(c->t, ",\"args\":{\"value\":");
    gnomon__export_double(c->t, e->value);
    gnomon__export_literal(c->t, "}}");
}

static void put_memory(gnomon__chrome *c, const gnomon_event_info *e,
                       uint64_t zero)
{
    gnomon_track_info pool = {.device = -1};
    (void)gnomon_profile_track(c->p, e->region, &pool);
    gnomon__chrome_row(c);
    gnomon__export_literal(c->t, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":"
                                 "\"cpu_instant_event\",\"name\":\"[memory]\"");
    put_place(c, c->ids.pids[e->track], c->ids.tracks[e->track],
              zero + e->begin_ns);
    gnomon__export_literal(c->t, ",\"args\":{\"Device Type\":");
    gnomon__export_number(c->t, pool.device >= 0);
    gnomon__export_literal(c->t, ",\"Device Id\":");
    gnomon__export_signed(c->t, pool.device);
    gnomon__export_literal(c->t, ",\"Bytes\":");
    gnomon__export_signed(c->t, (int64_t)e->value);
    gnomon__export_literal(c->t, ",\"Addr\":");
    gnomon__export_number(c->t, e->instance);
    gnomon__export_literal(c->t,
                           ",\"Total Allocated\":0,\"Total Reserved\":0}}");
}

static int put_event(gnomon__chrome *c, const gnomon_event_info *e,
                     size_t number, uint64_t zero)
{
    switch (e->kind) {
    case GNOMON_EVENT_EXECUTION:
        return put_execution(c, e, number, zero);
    case GNOMON_EVENT_MARK:
        put_mark(c, e, zero);
        return 1;
    case GNOMON_EVENT_COUNTER:
        put_sample(c, e, zero);
        return 1;
    case GNOMON_EVENT_MEMORY:
        put_memory(c, e, zero);
        return 1;
    default:
        return 1;
    }
}

/* ---- Steps -------------------------------------------------------------------------------- */

/* Of the time that has events. In a lane of their own: a scope may begin in one step and
 * end in the next. */
static void put_steps(gnomon__chrome *c)
{
    gnomon_step_info s;
    gnomon_stage_info stage = {.run = 0};
    for (size_t i = 1; !gnomon_profile_step(c->p, i, &s); i++) {
        (void)gnomon_profile_stage(c->p, s.stage, &stage);
        size_t track = gnomon__chrome_step_track(c->p, stage.run);
        uint64_t zero = c->zero[stage.run];
        if (!s.end_ns || !track || s.phase < GNOMON_PHASE_RECORD ||
            zero + s.end_ns <= c->start || zero + s.begin_ns > c->end ||
            !gnomon__export_takes(c->what, c->base + zero + s.begin_ns))
            continue;
        gnomon__chrome_row(c);
        gnomon__export_literal(c->t,
                               "{\"ph\":\"X\",\"cat\":\"user_annotation\","
                               "\"name\":\"ProfilerStep#");
        gnomon__export_number(c->t, s.number);
        gnomon__export_literal(c->t, "\"");
        put_place(c, c->ids.pids[track], gnomon__chrome_lane_tid(track, 0),
                  zero + s.begin_ns);
        gnomon__export_literal(c->t, ",\"dur\":");
        gnomon__export_us(c->t, s.end_ns - s.begin_ns);
        gnomon__export_literal(c->t, ",\"args\":{}}");
    }
}

/* ---- All of a profile --------------------------------------------------------------------- */

/* Opens that began after their track's last event. */
static int put_last_opens(gnomon__chrome *c, size_t tracks)
{
    int ok = 1;
    for (size_t i = 1; ok && i <= tracks; i++)
        ok = put_opens(c, i, UINT64_MAX, zero_of_track(c, i));
    return ok;
}

int gnomon__chrome_rows(gnomon__chrome *c)
{
    size_t tracks = gnomon_profile_count(c->p, GNOMON_TRACKS), last = 0;
    size_t count = gnomon_profile_count(c->p, GNOMON_EVENTS);
    uint64_t zero = 0;
    gnomon_event_info e;
    c->open = calloc(tracks + 1, sizeof *c->open);
    int ok = c->open != NULL;
    put_steps(c);
    for (size_t i = 1; ok && i <= count && !c->t->code; i++) {
        (void)gnomon_profile_event(c->p, i, &e);
        if (e.track != last)
            zero = zero_of_track(c, last = e.track);
        if (gnomon__export_takes(c->what, c->base + zero + e.begin_ns))
            ok = put_opens(c, e.track, e.begin_ns, zero) &&
                 put_event(c, &e, i, zero);
    }
    ok = ok && put_last_opens(c, tracks);
    free(c->open);
    c->open = NULL;
    return ok;
}
