/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The rows of a Chrome trace: one for each event, in the order of the profile, and flows
 * right after the rows that they lead from and to. `at` is a moment less `base`. */
#include "export/chrome.h"

#include <stdlib.h>

/* ---- Flows ------------------------------------------------------------------------- */

static const char *region_name(const gnomon__chrome *c, uint32_t region)
{
    gnomon_region_info r = {.name = ""};
    (void)gnomon_profile_region(c->line.p, region, &r);
    return r.name;
}

/* Of a late effect it leads to an instant in it. */
static void put_flow(gnomon__chrome *c, const gnomon__link_end *end,
                     const gnomon_event_info *e, int64_t tid, uint64_t at)
{
    static const char *const names[] = {
        [GNOMON_LINK_SUBMIT] =
            ",\"cat\":\"submit\",\"name\":\"submit\",\"pid\":",
        [GNOMON_LINK_BACKWARD] =
            ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"pid\":",
        [GNOMON_LINK_LAUNCH] = ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":"};
    const int64_t pid = c->line.tracks[e->track].pid;
    gnomon_node_info n = {.region = 0};
    uint64_t ns;
    if (gnomon__links_is_late(c->line.p, end, e, &ns)) {
        at += ns - e->begin_ns;
        (void)gnomon_profile_node(c->line.p, e->node, &n);
        gnomon__chrome_row(c);
        gnomon__export_form(c->t,
                            "{'ph':'i','s':'t','cat':'link','name':'%s',"
                            "'pid':%jd,'tid':%jd,'ts':%jx}",
                            region_name(c, n.region), pid, tid, at);
    }
    gnomon__chrome_row(c);
    if (end->is_effect)
        gnomon__export_literal(c->t, "{\"ph\":\"f\",\"bp\":\"e\",\"id\":");
    else
        gnomon__export_literal(c->t, "{\"ph\":\"s\",\"id\":");
    gnomon__export_number(c->t, c->first_flow + end->flow);
    gnomon__export_string(
        c->t, names[end->kind <= GNOMON_LINK_LAUNCH ? end->kind : 0]);
    gnomon__export_form(c->t, "%jd,'tid':%jd,'ts':%jx}", pid, tid, at);
}

/* ---- Executions ---------------------------------------------------------------------- */

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
                            const gnomon__link_end *launch)
{
    if (launch && launch->is_effect && !n->is_label)
        return c->flows[launch->flow].external;
    uint64_t id =
        n->is_label ? own
                    : gnomon__chrome_label_at(c, c->line.tracks[e->track].host,
                                              e->begin_ns);
    if (launch && !launch->is_effect)
        c->flows[launch->flow].external = id;
    return n->is_label || n->is_call || launch ? id : 0;
}

/* What readers find a launch and its work by. */
static uint64_t correlation_of(const gnomon__chrome *c,
                               const gnomon__link_end *launch)
{
    return c->first_flow + (launch ? launch->flow : c->links.flows + c->alone);
}

static void put_execution_args(gnomon__chrome *c, const gnomon__chrome_node *n,
                               const gnomon_event_info *e, uint64_t own,
                               const gnomon__link_end *launch)
{
    int args = 0;
    uint64_t id = external_id(c, n, e, own, launch);
    gnomon__export_literal(c->t, ",\"args\":{");
    /* Readers take a row of work without a number for one of the host. */
    if ((launch && !n->is_label) || n->is_work) {
        args = 1;
        gnomon__export_literal(c->t, "\"correlation\":");
        gnomon__export_number(c->t, correlation_of(c, launch));
    }
    if (id) {
        gnomon__export_string(c->t, &",\"External id\":"[!args]);
        gnomon__export_number(c->t, id);
        args = 1;
    }
    if (n->moved && e->duration_ns) {
        gnomon__export_string(c->t, &",\"memory bandwidth (GB/s)\":"[!args]);
        gnomon__export_double(c->t, (double)n->moved / (double)e->duration_ns);
        args = 1;
    }
    put_node_args(c, n, args);
}

/* Up to its args. 0: no memory. */
static int begin_execution(gnomon__chrome *c, const gnomon__chrome_node *n,
                           size_t track, uint32_t first_lane, uint64_t at,
                           uint64_t duration, int64_t *tid)
{
    uint32_t lane =
        gnomon__lanes_put(&c->lanes, track, first_lane, at, at + duration);
    if (!n || lane == GNOMON__NO_LANE)
        return 0;
    *tid = gnomon__chrome_tid(c, track, lane);
    gnomon__chrome_row(c);
    gnomon__export_put(c->t, n->head, n->head_size);
    gnomon__export_signed(c->t, *tid);
    gnomon__export_literal(c->t, ",\"ts\":");
    gnomon__export_us(c->t, at);
    gnomon__export_literal(c->t, ",\"dur\":");
    gnomon__export_us(c->t, duration);
    return 1;
}

/* Notes the label around a launch, or that launches by itself. */
static int note_label(gnomon__chrome *c, const gnomon_event_info *e,
                      const gnomon__link_end *launch)
{
    return !launch || launch->is_effect ||
           gnomon__chrome_label_launches(c, c->line.tracks[e->track].host,
                                         e->begin_ns,
                                         &c->flows[launch->flow].label);
}

/* Readers find what launched work by a call with its number, and leave out work without
 * one. */
static void put_call(gnomon__chrome *c, const gnomon__link_end *launch,
                     int64_t pid, int64_t tid, uint64_t at)
{
    const uint64_t id = launch ? c->flows[launch->flow].external : 0;
    gnomon__chrome_row(c);
    gnomon__export_form(
        c->t,
        "{'ph':'X','cat':'%s','name':'launch (not recorded)','pid':%jd,"
        "'tid':%jd,'ts':%jx,'dur':0.000,'args':{'correlation':%ju",
        c->what->for_tensorboard ? "Runtime" : "cuda_runtime", pid, tid, at,
        correlation_of(c, launch));
    if (id)
        gnomon__export_form(c->t, ",'External id':%ju", id);
    gnomon__export_literal(c->t, "}}");
}

/* Where no call was recorded: the label launched at its begin. Of work whose launch is not
 * known, or not in the trace, a call is beside the steps. */
static void put_missing_call(gnomon__chrome *c, const gnomon__chrome_node *n,
                             const gnomon_event_info *e,
                             const gnomon__link_end *launch, int64_t tid,
                             uint64_t at)
{
    const gnomon__timeline_track *k = &c->line.tracks[e->track];
    const gnomon__timeline_run *run = &c->line.runs[k->run];
    gnomon__chrome_flow *flow = launch ? &c->flows[launch->flow] : NULL;
    const int is_cause = launch && !launch->is_effect;
    if (is_cause && n->is_label)
        put_call(c, launch, k->pid, tid, at);
    if (!is_cause && (!n->is_work || (flow && flow->has_call)))
        return;
    if (!is_cause && run->has_thread)
        put_call(c, launch, run->pid, GNOMON__STEPS_TID, at);
    if (flow)
        flow->has_call = 1;
    else
        c->alone++;
}

static int put_execution(gnomon__chrome *c, const gnomon_event_info *e,
                         size_t number, uint64_t at)
{
    size_t links = 0, host = c->line.tracks[e->track].host;
    int64_t tid;
    const gnomon__chrome_node *n = gnomon__chrome_node_at(c, e->node);
    const gnomon__link_end *ends =
        gnomon__links_at(&c->links, &c->line, e, &links);
    if (!begin_execution(c, n, host,
                         gnomon__crossed_lane(&c->crossed, e, number), at,
                         e->duration_ns, &tid))
        return 0;
    uint64_t own = c->labels_before + number;
    const gnomon__link_end *launch = gnomon__chrome_launch(ends, links);
    put_execution_args(c, n, e, own, launch);
    if ((n->is_label && !gnomon__chrome_label_put(c, host, e, own)) ||
        !note_label(c, e, launch))
        return 0;
    for (size_t i = 0; i < links; i++)
        if (!ends[i].is_again)
            put_flow(c, &ends[i], e, tid, at);
    if (launch || n->is_work)
        put_missing_call(c, n, e, launch, tid, at);
    return 1;
}

/* ---- What had not ended -------------------------------------------------------- */

/* Its row lasts from the file's begin on and up to its end. 0: no memory. */
static int put_open(gnomon__chrome *c, const gnomon_open_info *o)
{
    const uint64_t zero = gnomon__chrome_zero(c, o->track);
    const gnomon_run_info *run =
        &c->line.runs[c->line.tracks[o->track].run].info;
    /* External ids of steps and opens come after those of events. */
    const uint64_t id = c->labels_before +
                        gnomon_profile_count(c->line.p, GNOMON_EVENTS) +
                        gnomon_profile_count(c->line.p, GNOMON_STEPS) +
                        (uint64_t)(o - c->opens.of) + 1;
    gnomon_event_info e = {.node = o->node, .begin_ns = o->begin_ns};
    uint64_t end = run->now_ns;
    int64_t tid;
    if (zero + e.begin_ns < c->start)
        e.begin_ns = c->start - zero;
    if (c->what->until_unix_ns && c->base + zero + end > c->what->until_unix_ns)
        end = c->what->until_unix_ns - c->base - zero;
    if (end < e.begin_ns)
        return 1;
    e.duration_ns = end - e.begin_ns;
    const gnomon__chrome_node *n = gnomon__chrome_node_at(c, o->node);
    if (!begin_execution(c, n, o->track, 0, zero + e.begin_ns, e.duration_ns,
                         &tid))
        return 0;
    gnomon__export_literal(c->t, ",\"args\":{\"finished\": false");
    if (n->is_label)
        gnomon__export_form(c->t, ",'External id':%ju", id);
    put_node_args(c, n, 1);
    return !n->is_label || gnomon__chrome_label_put(c, o->track, &e, id);
}

/* Those that began before `ns`. */
static int put_opens(gnomon__chrome *c, size_t track, uint64_t ns)
{
    const gnomon_open_info *o;
    int ok = 1;
    while (ok && (o = gnomon__opens_next(&c->opens, track, ns)) != NULL)
        ok = put_open(c, o);
    return ok;
}

/* ---- Moments --------------------------------------------------------------------------- */

/* A sample that is no number is an instant, as viewers draw no such value. */
static void put_moment(gnomon__chrome *c, const gnomon_event_info *e,
                       uint64_t at)
{
    const gnomon__timeline_track *k = &c->line.tracks[e->track];
    const int is_sample = e->kind == GNOMON_EVENT_COUNTER;
    const int is_number = is_sample && e->value - e->value == 0;
    gnomon__chrome_row(c);
    gnomon__export_string(c->t, is_number ? "{\"ph\":\"C\""
                                          : "{\"ph\":\"i\",\"s\":\"t\","
                                            "\"cat\":\"cpu_instant_event\"");
    gnomon__export_form(c->t,
                        ",'name':'%s','pid':%jd,'tid':%jd,'ts':%jx,'args':{",
                        region_name(c, e->region), k->pid, k->tid, at);
    if (is_number)
        gnomon__export_form(c->t, "'value':%g", e->value);
    else if (is_sample)
        gnomon__export_form(c->t, "'value':'%s'",
                            e->value > 0   ? "inf"
                            : e->value < 0 ? "-inf"
                                           : "NaN");
    gnomon__export_literal(c->t, "}}");
}

static int put_event(gnomon__chrome *c, const gnomon_event_info *e,
                     size_t number, uint64_t at)
{
    if (e->kind == GNOMON_EVENT_EXECUTION)
        return put_execution(c, e, number, at);
    if (e->kind == GNOMON_EVENT_MARK || e->kind == GNOMON_EVENT_COUNTER)
        put_moment(c, e, at);
    c->has_memory |= e->kind == GNOMON_EVENT_MEMORY; /* after all others */
    return 1;
}

/* ---- Steps -------------------------------------------------------------------------------- */

/* Of the time that has events. In a lane of their own: a scope may begin in one step and
 * end in the next. */
static void put_steps(gnomon__chrome *c)
{
    gnomon_step_info s;
    gnomon_stage_info stage = {.run = 0};
    size_t events = gnomon_profile_count(c->line.p, GNOMON_EVENTS);
    for (size_t i = 1; !gnomon_profile_step(c->line.p, i, &s); i++) {
        (void)gnomon_profile_stage(c->line.p, s.stage, &stage);
        const gnomon__timeline_run *run =
            &c->line.runs[gnomon__timeline_run_of(&c->line, stage.run)];
        uint64_t zero = run->info.zero_unix_ns - c->base;
        if (!s.end_ns || !run->has_thread || s.phase < GNOMON_PHASE_RECORD ||
            zero + s.end_ns <= c->start || zero + s.begin_ns > c->end ||
            !gnomon__export_takes(c->what, c->base + zero + s.begin_ns))
            continue;
        gnomon__chrome_row(c);
        gnomon__export_form(
            c->t,
            "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#%ju',"
            "'pid':%jd,'tid':%d,'ts':%jx,'dur':%jx,'args':{'External id':%ju}}",
            s.number, run->pid, GNOMON__STEPS_TID, zero + s.begin_ns,
            s.end_ns - s.begin_ns, c->labels_before + events + i);
    }
}

/* ---- All of a profile --------------------------------------------------------------------- */

/* With what is to come before it: scopes that are open, labels on a stream. */
static int put_in_order(gnomon__chrome *c, const gnomon_event_info *e,
                        size_t number, uint64_t at, int of_devices)
{
    return put_opens(c, c->line.tracks[e->track].host, e->begin_ns) &&
           (!of_devices ||
            gnomon__chrome_spans_put(c, e->track, e->begin_ns)) &&
           put_event(c, e, number, at);
}

/* The calls of a thread are a lane of their own, which is read beside it. */
typedef struct gnomon__chrome_calls {
    gnomon__event_cursor at;
    const gnomon_event_info *next;
} gnomon__chrome_calls;

/* 0: no memory. */
static int begin_calls(gnomon__chrome *c)
{
    const size_t tracks = c->line.track_count;
    c->calls = calloc(tracks + 1, sizeof *c->calls);
    for (uint32_t i = 1; c->calls && i <= tracks; i++) {
        const uint32_t host = c->line.tracks[i].host;
        if (host == i)
            continue;
        gnomon__chrome_calls *l = c->calls[host] = calloc(1, sizeof *l);
        if (!l)
            return 0;
        gnomon__event_cursor_of(&l->at, c->what, c->line.p, i, 1,
                                gnomon_profile_count(c->line.p, GNOMON_EVENTS));
        l->next = gnomon__event_cursor_next(&l->at);
    }
    return c->calls != NULL;
}

static void end_calls(gnomon__chrome *c)
{
    for (size_t i = 0; c->calls && i <= c->line.track_count; i++)
        free(c->calls[i]);
    free(c->calls);
    c->calls = NULL;
}

/* A thread's calls that began before `ns`. */
static int put_calls(gnomon__chrome *c, size_t track, uint64_t ns)
{
    gnomon__chrome_calls *l = c->calls[track];
    int ok = 1;
    while (ok && l && l->next && l->next->begin_ns < ns) {
        ok = put_in_order(c, l->next, l->at.walk.number, l->at.begin - c->base,
                          0);
        l->next = gnomon__event_cursor_next(&l->at);
    }
    return ok;
}

static int put_events(gnomon__chrome *c, int of_devices)
{
    size_t last = 0;
    int ok = 1, is_wanted = 0;
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    gnomon__event_cursor_all(&at, c->what, c->line.p);
    while (ok && !c->t->code && (e = gnomon__event_cursor_next(&at)) != NULL) {
        if (e->track != last) {
            last = e->track;
            is_wanted =
                gnomon__timeline_on_device(&c->line, last) == of_devices &&
                c->line.tracks[last].host == last;
        }
        if (is_wanted)
            ok = (of_devices || put_calls(c, last, e->begin_ns)) &&
                 put_in_order(c, e, at.walk.number, at.begin - c->base,
                              of_devices);
    }
    return ok;
}

/* Those of hosts first: what was launched takes over ids from its call. */
int gnomon__chrome_rows(gnomon__chrome *c)
{
    const size_t tracks = c->line.track_count;
    int has_devices = 0;
    c->has_memory = 0;
    put_steps(c);
    int ok = begin_calls(c) && put_events(c, 0);
    for (size_t i = 1; ok && i <= tracks; i++) {
        has_devices |= gnomon__timeline_on_device(&c->line, i);
        ok = put_calls(c, i, UINT64_MAX);
    }
    end_calls(c);
    if (ok && has_devices)
        ok = gnomon__chrome_spans_find(c) && put_events(c, 1);
    for (size_t i = 1; ok && i <= tracks; i++) /* that no event came after */
        ok = put_opens(c, i, UINT64_MAX);
    return ok;
}
