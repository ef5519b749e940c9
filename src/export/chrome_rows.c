/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The rows of a Chrome trace: one for each event, in the order of the profile, and flows
 * right after the rows that they lead from and to. */
#include "export/chrome.h"

#include <stdlib.h>

#include "print/event_walk.h"

/* ---- Flows ------------------------------------------------------------------------- */

static const char *region_name(const gnomon__chrome *c, uint32_t region)
{
    gnomon_region_info r = {.name = ""};
    (void)gnomon_profile_region(c->p, region, &r);
    return r.name;
}

static const char *flow_name(int kind)
{
    return kind == GNOMON_LINK_LAUNCH     ? "ac2g"
           : kind == GNOMON_LINK_BACKWARD ? "fwdbwd"
                                          : "submit";
}

/* Perfetto draws no arrow to what began before its cause, as a wait does: it leads to an
 * instant in it, when the link came in. Returns the moment to which the flow leads. */
static uint64_t put_late_end(gnomon__chrome *c, const gnomon__chrome_end *end,
                             const gnomon_event_info *e, uint64_t zero,
                             int64_t tid)
{
    gnomon_link_info l;
    gnomon_node_info n = {.region = 0};
    if (!end->is_effect || gnomon_profile_link(c->p, end->link, &l) ||
        !gnomon__export_is_late(&l, e))
        return zero + e->begin_ns;
    (void)gnomon_profile_node(c->p, e->node, &n);
    gnomon__chrome_row(c);
    gnomon__export_literal(
        c->t, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"link\",\"name\":");
    gnomon__export_json(c->t, region_name(c, n.region));
    gnomon__chrome_place(c, c->ids.pids[e->track], tid, zero + l.to_ns);
    gnomon__export_literal(c->t, "}");
    return zero + l.to_ns;
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
    gnomon__chrome_place(c, pid, tid, ns);
    gnomon__export_literal(c->t, "}");
}

/* ---- Executions ---------------------------------------------------------------------- */

/* Names an arg, after a comma if it is not the first. */
static void begin_arg(gnomon__chrome *c, int *args, const char *name)
{
    gnomon__export_string(c->t, (*args)++ ? ",\"" : "\"");
    gnomon__export_string(c->t, name);
    gnomon__export_literal(c->t, "\":");
}

static void put_node_args(gnomon__chrome *c, const gnomon__chrome_node *n,
                          int args)
{
    size_t comma = !args && n->args_size;
    gnomon__export_put(c->t, n->args + comma, n->args_size - comma);
    gnomon__export_literal(c->t, "}}");
}

/* An operation or label has an id of its own. A call has that of the one around it, and
 * what it launched takes that over. */
static uint64_t external_id(gnomon__chrome *c, const gnomon__chrome_node *n,
                            const gnomon_event_info *e, uint64_t own,
                            const gnomon__chrome_end *launch)
{
    if (launch && launch->is_effect && !n->is_label)
        return c->links.external[launch->flow];
    uint64_t id = n->is_label ? own
                              : gnomon__chrome_around_at(&c->around,
                                                         c->ids.hosts[e->track],
                                                         e->begin_ns);
    if (launch && !launch->is_effect)
        c->links.external[launch->flow] = id;
    return n->is_label || n->is_call || launch ? id : 0;
}

static void put_execution_args(gnomon__chrome *c, const gnomon__chrome_node *n,
                               const gnomon_event_info *e, uint64_t own,
                               const gnomon__chrome_end *launch)
{
    int args = 0;
    uint64_t id = external_id(c, n, e, own, launch);
    gnomon__export_literal(c->t, ",\"args\":{");
    /* Readers take a row of work without a number for one of the host. */
    if ((launch && !n->is_label) || n->is_work) {
        begin_arg(c, &args, "correlation");
        gnomon__export_number(c->t, launch ? c->links.first + launch->flow
                                           : c->links.first + c->links.flows +
                                                 c->links.alone);
    }
    if (id) {
        begin_arg(c, &args, "External id");
        gnomon__export_number(c->t, id);
    }
    if (n->moved && e->duration_ns) {
        begin_arg(c, &args, "memory bandwidth (GB/s)");
        gnomon__export_double(c->t, (double)n->moved / (double)e->duration_ns);
    }
    put_node_args(c, n, args);
}

/* Up to its args. 0: no memory. */
static int begin_execution(gnomon__chrome *c, const gnomon__chrome_node *n,
                           size_t track, uint32_t first_lane, uint64_t zero,
                           uint64_t begin, uint64_t duration, int64_t *tid)
{
    uint32_t lane = gnomon__lanes_put_after(&c->lanes, track, first_lane, begin,
                                            begin + duration);
    if (!n || lane == GNOMON__NO_LANE)
        return 0;
    *tid = lane ? gnomon__chrome_lane_tid(track, lane) : c->ids.tracks[track];
    gnomon__chrome_row(c);
    gnomon__export_put(c->t, n->head, n->head_size);
    gnomon__export_signed(c->t, *tid);
    gnomon__export_literal(c->t, ",\"ts\":");
    gnomon__export_us(c->t, zero + begin);
    gnomon__export_literal(c->t, ",\"dur\":");
    gnomon__export_us(c->t, duration);
    return 1;
}

/* Notes the label around a launch, or that launches by itself. */
static int note_label(gnomon__chrome *c, const gnomon_event_info *e,
                      const gnomon__chrome_end *launch)
{
    return !launch || launch->is_effect ||
           gnomon__chrome_around_label(&c->around, &c->spans,
                                       c->ids.hosts[e->track], e->begin_ns,
                                       &c->links.label[launch->flow]);
}

/* Readers find what launched work by a call with its number, and leave out work without
 * one. `id`: External id; 0: none. */
static void put_call(gnomon__chrome *c, uint64_t correlation, uint64_t id,
                     int64_t pid, int64_t tid, uint64_t ns)
{
    gnomon__chrome_row(c);
    gnomon__export_literal(c->t, "{\"ph\":\"X\",\"cat\":\"");
    gnomon__export_string(c->t, c->what->for_tensorboard ? "Runtime"
                                                         : "cuda_runtime");
    gnomon__export_literal(c->t, "\",\"name\":\"launch (not recorded)\"");
    gnomon__chrome_place(c, pid, tid, ns);
    gnomon__export_literal(c->t, ",\"dur\":0.000,\"args\":{\"correlation\":");
    gnomon__export_number(c->t, correlation);
    if (id) {
        gnomon__export_literal(c->t, ",\"External id\":");
        gnomon__export_number(c->t, id);
    }
    gnomon__export_literal(c->t, "}}");
}

/* Where no call was recorded: the label launched at its begin. Of work whose launch is not
 * known, or not in the trace, a call is beside the steps. */
static void put_missing_call(gnomon__chrome *c, const gnomon__chrome_node *n,
                             const gnomon_event_info *e,
                             const gnomon__chrome_end *launch, int64_t tid,
                             uint64_t zero)
{
    gnomon__chrome_links *l = &c->links;
    gnomon_track_info k;
    uint64_t number = l->first + (launch ? launch->flow : l->flows + l->alone);
    if (launch && !launch->is_effect) {
        if (n->is_label)
            put_call(c, number, l->external[launch->flow],
                     c->ids.pids[e->track], tid, zero + e->begin_ns);
        l->has_call[launch->flow] = 1;
    } else if (n->is_work && !(launch && l->has_call[launch->flow])) {
        (void)gnomon_profile_track(c->p, e->track, &k);
        if (c->ids.has_thread[k.run])
            put_call(c, number, launch ? l->external[launch->flow] : 0,
                     c->ids.runs[k.run], GNOMON__CHROME_STEPS,
                     zero + e->begin_ns);
        if (launch)
            l->has_call[launch->flow] = 1;
        else
            l->alone++;
    }
}

static int put_execution(gnomon__chrome *c, const gnomon_event_info *e,
                         size_t number, uint64_t zero)
{
    size_t links = 0, host = c->ids.hosts[e->track];
    int64_t tid;
    const gnomon__chrome_node *n = gnomon__chrome_node_at(c, e->node);
    const gnomon__chrome_end *ends =
        gnomon__chrome_links_at(&c->links, c->p, e, &links);
    if (!begin_execution(c, n, host,
                         gnomon__crossed_lane(&c->crossed, e, number), zero,
                         e->begin_ns, e->duration_ns, &tid))
        return 0;
    uint64_t own = c->labels_before + number;
    const gnomon__chrome_end *launch = gnomon__chrome_launch(ends, links);
    put_execution_args(c, n, e, own, launch);
    if ((n->is_label && !gnomon__chrome_around_put(&c->around, host, e, own)) ||
        !note_label(c, e, launch))
        return 0;
    for (size_t i = 0; i < links; i++)
        if (!ends[i].is_again)
            put_flow(c, &ends[i], c->ids.pids[e->track], tid,
                     put_late_end(c, &ends[i], e, zero, tid));
    put_missing_call(c, n, e, launch, tid, zero);
    return 1;
}

/* ---- What had not ended -------------------------------------------------------- */

/* External ids of steps and opens come after those of events. */
static uint64_t id_of_open(const gnomon__chrome *c, const gnomon_open_info *o)
{
    return c->labels_before + gnomon_profile_count(c->p, GNOMON_EVENTS) +
           gnomon_profile_count(c->p, GNOMON_STEPS) +
           (uint64_t)(o - c->opens.of) + 1;
}

/* 0: no memory. */
static int put_open_args(gnomon__chrome *c, const gnomon__chrome_node *n,
                         const gnomon_open_info *o, uint64_t begin,
                         uint64_t end)
{
    gnomon__export_literal(c->t, ",\"args\":{\"finished\": false");
    if (n->is_label) {
        gnomon__export_literal(c->t, ",\"External id\":");
        gnomon__export_number(c->t, id_of_open(c, o));
    }
    put_node_args(c, n, 1);
    return !n->is_label || gnomon__chrome_around_put(
                               &c->around, o->track,
                               &(gnomon_event_info){.node = o->node,
                                                    .begin_ns = begin,
                                                    .duration_ns = end - begin},
                               id_of_open(c, o));
}

/* Those that began before `ns`, from the file's begin on and up to its end. */
static int put_opens(gnomon__chrome *c, size_t track, uint64_t ns,
                     uint64_t zero)
{
    const gnomon_open_info *o;
    gnomon_track_info k;
    gnomon_run_info run = {.now_ns = 0};
    int64_t tid;
    while ((o = gnomon__opens_next(&c->opens, track, ns))) {
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
        if (!begin_execution(c, n, track, 0, zero, begin, end - begin, &tid))
            return 0;
        if (!put_open_args(c, n, o, begin, end))
            return 0;
    }
    return 1;
}

/* ---- Moments --------------------------------------------------------------------------- */

/* `value`: of a sample; NULL: none. */
static void put_mark(gnomon__chrome *c, const gnomon_event_info *e,
                     uint64_t zero, const char *value)
{
    gnomon__chrome_moment(c, e->track, zero + e->begin_ns,
                          "\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\"",
                          region_name(c, e->region));
    if (value) {
        gnomon__export_literal(c->t, "\"value\":\"");
        gnomon__export_string(c->t, value);
        gnomon__export_literal(c->t, "\"");
    }
    gnomon__export_literal(c->t, "}}");
}

/* A sample that is no number is an instant, as viewers draw no such value. */
static void put_sample(gnomon__chrome *c, const gnomon_event_info *e,
                       uint64_t zero)
{
    double rest = e->value - e->value; /* 0, if it is a number */
    if (!(rest >= 0)) {
        put_mark(c, e, zero,
                 e->value > 0   ? "inf"
                 : e->value < 0 ? "-inf"
                                : "NaN");
        return;
    }
    gnomon__chrome_moment(c, e->track, zero + e->begin_ns, "\"C\"",
                          region_name(c, e->region));
    gnomon__export_literal(c->t, "\"value\":");
    gnomon__export_double(c->t, e->value);
    gnomon__export_literal(c->t, "}}");
}

static int put_event(gnomon__chrome *c, const gnomon_event_info *e,
                     size_t number, uint64_t zero)
{
    switch (e->kind) {
    case GNOMON_EVENT_EXECUTION:
        return put_execution(c, e, number, zero);
    case GNOMON_EVENT_MARK:
        put_mark(c, e, zero, NULL);
        return 1;
    case GNOMON_EVENT_COUNTER:
        put_sample(c, e, zero);
        return 1;
    default: /* comes after all others: chrome_memory.c */
        c->has_memory |= e->kind == GNOMON_EVENT_MEMORY;
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
    size_t events = gnomon_profile_count(c->p, GNOMON_EVENTS);
    for (size_t i = 1; !gnomon_profile_step(c->p, i, &s); i++) {
        (void)gnomon_profile_stage(c->p, s.stage, &stage);
        uint64_t zero = c->zero[stage.run];
        if (!s.end_ns || !c->ids.has_thread[stage.run] ||
            s.phase < GNOMON_PHASE_RECORD || zero + s.end_ns <= c->start ||
            zero + s.begin_ns > c->end ||
            !gnomon__export_takes(c->what, c->base + zero + s.begin_ns))
            continue;
        gnomon__chrome_row(c);
        gnomon__export_literal(c->t,
                               "{\"ph\":\"X\",\"cat\":\"user_annotation\","
                               "\"name\":\"ProfilerStep#");
        gnomon__export_number(c->t, s.number);
        gnomon__export_literal(c->t, "\"");
        gnomon__chrome_place(c, c->ids.runs[stage.run], GNOMON__CHROME_STEPS,
                             zero + s.begin_ns);
        gnomon__export_literal(c->t, ",\"dur\":");
        gnomon__export_us(c->t, s.end_ns - s.begin_ns);
        gnomon__export_literal(c->t, ",\"args\":{\"External id\":");
        gnomon__export_number(c->t, c->labels_before + events + i);
        gnomon__export_literal(c->t, "}}");
    }
}

/* ---- All of a profile --------------------------------------------------------------------- */

/* Opens that began after their track's last event. */
static int put_last_opens(gnomon__chrome *c, size_t tracks)
{
    int ok = 1;
    for (size_t i = 1; ok && i <= tracks; i++)
        ok = put_opens(c, i, UINT64_MAX, gnomon__chrome_zero(c, i));
    return ok;
}

/* With what is to come before it: scopes that are open, labels on a stream. */
static int put_in_order(gnomon__chrome *c, const gnomon_event_info *e,
                        size_t number, uint64_t zero, int of_devices)
{
    if (!gnomon__export_takes(c->what, c->base + zero + e->begin_ns))
        return 1;
    return put_opens(c, c->ids.hosts[e->track], e->begin_ns, zero) &&
           (!of_devices ||
            gnomon__chrome_spans_put(c, e->track, e->begin_ns)) &&
           put_event(c, e, number, zero);
}

/* A thread's calls that began before `ns`. */
static int put_calls(gnomon__chrome *c, size_t track, uint64_t ns)
{
    gnomon_event_info e;
    size_t number;
    uint64_t zero = gnomon__chrome_zero(c, track);
    int ok = 1;
    while (ok &&
           gnomon__chrome_calls_next(&c->calls, c->p, track, ns, &e, &number))
        ok = put_in_order(c, &e, number, zero, 0);
    return ok;
}

static int put_events(gnomon__chrome *c, int of_devices)
{
    size_t last = 0;
    uint64_t zero = 0;
    int ok = 1, is_wanted = 0;
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon__walk_all(&walk, c->p);
    while (ok && !c->t->code && (e = gnomon__walk_next(&walk)) != NULL) {
        if (e->track != last) {
            zero = gnomon__chrome_zero(c, last = e->track);
            is_wanted = gnomon__chrome_on_device(c->p, last) == of_devices &&
                        c->ids.hosts[last] == last;
        }
        if (is_wanted)
            ok = (of_devices || put_calls(c, last, e->begin_ns)) &&
                 put_in_order(c, e, walk.number, zero, of_devices);
    }
    return ok;
}

/* Those of hosts first: what was launched takes over ids from its call. */
int gnomon__chrome_rows(gnomon__chrome *c)
{
    size_t tracks = gnomon_profile_count(c->p, GNOMON_TRACKS);
    int has_devices = 0, ok;
    c->has_memory = 0;
    for (size_t i = 1; i <= tracks; i++)
        has_devices |= gnomon__chrome_on_device(c->p, i);
    put_steps(c);
    ok = put_events(c, 0);
    for (size_t i = 1; ok && i <= tracks; i++)
        ok = put_calls(c, i, UINT64_MAX);
    if (ok && has_devices)
        ok = gnomon__chrome_spans_find(c) && put_events(c, 1);
    return ok && put_last_opens(c, tracks);
}
