/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The rows of a Chrome trace: one for each event, in the order of the profile, and flows
 * right after the rows that they lead from and to; and of labels on streams. `at` is a moment less `base`. */
#include "export/chrome.h"

#include <stdlib.h>

#include "print/order.h"

/* The launch among the links of a row; NULL: none. */
static inline const gnomon__link_end *launch_among(const gnomon__link_end *ends,
                                                   size_t count)
{
    for (size_t i = count; i > 0; i--)
        if (ends[i - 1].kind == GNOMON_LINK_LAUNCH)
            return &ends[i - 1];
    return NULL;
}

/* ---- Labels ------------------------------------------------------------------------- */

/* Which are open on each track, and how long those which launched work are on streams, as
 * Kineto writes it: for each label and stream a row from the begin of the first to the end
 * of the last work that was launched under it. Kineto's rows are 2 ns longer and so
 * overlap their neighbours', which viewers drop; these are exact. A scope that events
 * timed on the stream has a row of its own there, and needs none of these. */
typedef struct gnomon__chrome_label {
    uint64_t id;
    uint32_t node, around;
    uint32_t first; /* of its spans, from 1; 0: none */
} gnomon__chrome_label;

typedef struct gnomon__chrome_span {
    uint64_t begin, end;
    uint32_t track, label;
    uint32_t next;  /* of the same label */
    uint32_t timed; /* its scope on the track, where events timed it; 0: not */
} gnomon__chrome_span;

/* Adds the label that is around (outermost: 0) to those which launch. 0: no memory. */
static uint32_t add_label(gnomon__chrome *c, uint64_t id, uint32_t node,
                          uint32_t around)
{
    gnomon__chrome_spans *s = &c->spans;
    const size_t count = s->label_count + 1;
    if (!gnomon__export_needs(
            c->t, count < UINT32_MAX &&
                      gnomon__table_grow(&s->labels, &s->label_room, count + 1,
                                         sizeof *s->labels)))
        return 0;
    s->labels[s->label_count = count] =
        (gnomon__chrome_label){id, node, around, 0};
    return (uint32_t)count;
}

static void drop_ended(gnomon__chrome_labels *l, uint64_t begin)
{
    while (l->open && l->of[l->open - 1].end <= begin)
        l->open--;
}

/* Executions that overlap may end below one that is open: these too, before more room is
 * taken. */
static void drop_all_ended(gnomon__chrome_labels *l, uint64_t begin)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->open; i++)
        if (l->of[i].end > begin)
            l->of[kept++] = l->of[i];
    l->open = kept;
}

/* A label begins; of a track in the order of their begins. */
static void put_label(gnomon__chrome *c, size_t track,
                      const gnomon_event_info *e, uint64_t id)
{
    gnomon__chrome_labels *l = &c->around[track];
    const uint64_t begin = e->begin_ns;
    drop_ended(l, begin);
    const int is_full = l->open == l->room;
    if (is_full)
        drop_all_ended(l, begin);
    if (is_full && 2 * l->open >= l->room && /* so that this is rare */
        !gnomon__export_needs(
            c->t,
            gnomon__table_grow(&l->of, &l->room, l->room + 1, sizeof *l->of)))
        return;
    l->of[l->open].end = begin + e->duration_ns;
    l->of[l->open].node = e->node;
    l->of[l->open].label = 0;
    l->of[l->open++].id = id;
}

/* The id of the innermost one at `begin`; 0: none. */
static uint64_t label_at(gnomon__chrome *c, size_t track, uint64_t begin)
{
    gnomon__chrome_labels *l = &c->around[track];
    drop_ended(l, begin);
    return l->open ? l->of[l->open - 1].id : 0;
}

/* The innermost label at `begin`, in the list of those which launch; 0: there is none. */
static uint32_t label_launches(gnomon__chrome *c, size_t track, uint64_t begin)
{
    gnomon__chrome_labels *l = &c->around[track];
    uint32_t label = 0;
    drop_ended(l, begin);
    for (size_t i = 0; i < l->open; i++) {
        if (!l->of[i].label)
            l->of[i].label = add_label(c, l->of[i].id, l->of[i].node, label);
        label = l->of[i].label;
    }
    return label;
}

/* ---- Timed scopes ------------------------------------------------------------------- */

static uint32_t span_depth(const gnomon_profile *p, uint32_t node)
{
    gnomon_node_info n;
    uint32_t depth = 0;
    for (; node && !gnomon_profile_node(p, node, &n); node = n.parent)
        depth++;
    return depth;
}

/* The path to a label is also on the track of its work. Its node there, if events timed
 * it; 0: they did not. */
static uint32_t span_timed(const gnomon_profile *p, uint32_t work,
                           uint32_t label)
{
    gnomon_node_info n, of;
    uint32_t depth = span_depth(p, work), wanted = span_depth(p, label);
    uint32_t at = work;
    for (; depth > wanted && !gnomon_profile_node(p, at, &n); depth--)
        at = n.parent;
    return at && !gnomon_profile_node(p, at, &n) &&
                   !gnomon_profile_node(p, label, &of) &&
                   n.flags & GNOMON_NODE_PART && n.region == of.region
               ? at
               : 0;
}

/* ---- Spans -------------------------------------------------------------------------- */

static void extend_span(gnomon__chrome *c, uint32_t label,
                        const gnomon_event_info *e)
{
    gnomon__chrome_spans *s = &c->spans;
    const uint64_t end = e->begin_ns + e->duration_ns;
    uint32_t at = s->labels[label].first;
    while (at && s->of[at].track != e->track)
        at = s->of[at].next;
    if (at) { /* events of a track come in the order of their begins */
        if (s->of[at].end < end)
            s->of[at].end = end;
        return;
    }
    if (!gnomon__export_needs(c->t, s->count + 1 < UINT32_MAX &&
                                        gnomon__table_grow(&s->of, &s->room,
                                                           s->count + 2,
                                                           sizeof *s->of)))
        return;
    s->of[++s->count] = (gnomon__chrome_span){
        .begin = e->begin_ns,
        .end = end,
        .track = e->track,
        .label = label,
        .next = s->labels[label].first,
        .timed = span_timed(c->line.p, e->node, s->labels[label].node)};
    s->labels[label].first = (uint32_t)s->count;
}

/* Work counts for the label around its launch, and for all around that. */
static void extend_spans(gnomon__chrome *c, const gnomon_event_info *e)
{
    size_t count = 0;
    const gnomon__link_end *ends = gnomon__links_at(&c->line, e, &count);
    const gnomon__link_end *launch = launch_among(ends, count);
    uint32_t label =
        launch && launch->is_effect ? c->flows[launch->flow].label : 0;
    for (; label; label = c->spans.labels[label].around) {
        const gnomon__chrome_node *n =
            gnomon__chrome_node_at(c, c->spans.labels[label].node);
        if (n && n->is_annotation)
            extend_span(c, label, e);
    }
}

/* The longer one first, and of equal ones the outer one, which came first. */
GNOMON__ORDER(compare_spans, gnomon__chrome_span, UP(track), UP(begin),
              DOWN(end), UP(label))

/* By track and begin, from 0 on, without those of scopes that have rows. */
static void order_spans(gnomon__chrome *c)
{
    gnomon__chrome_spans *s = &c->spans;
    size_t used = 0;
    s->next = calloc(c->line.track_count + 2, sizeof *s->next);
    if (!gnomon__export_needs(c->t, s->next != NULL))
        return;
    for (size_t i = 1; i <= s->count; i++)
        if (!s->of[i].timed || !c->nodes[s->of[i].timed].has_rows)
            s->of[used++] = s->of[i];
    s->count = used;
    GNOMON__SORT(s->of, s->count, compare_spans);
    for (size_t i = s->count; i > 0; i--)
        s->next[s->of[i - 1].track] = i - 1;
}

/* A profile that has such rows itself, as one that was made of a trace, keeps them. Scopes
 * that events timed are others: waits are included. */
static void meet_work(gnomon__chrome *c, const gnomon_event_info *e)
{
    const gnomon__chrome_node *n = gnomon__chrome_node_at(c, e->node);
    if (n && n->is_timed)
        c->nodes[e->node].has_rows = 1;
    if (n && n->is_span)
        c->spans.count = c->spans.label_count = 0;
    if (n && !n->is_wait && !n->is_timed && c->spans.label_count)
        extend_spans(c, e);
}

/* After the rows of hosts: how long labels are on streams. */
static void find_spans(gnomon__chrome *c)
{
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    gnomon__event_cursor_all(&at, c->what, c->line.p);
    while (!c->t->code && (c->spans.label_count || c->line.crossed.is_timed) &&
           (e = gnomon__event_cursor_next(&at)) != NULL)
        if (e->kind == GNOMON_EVENT_EXECUTION &&
            gnomon__timeline_on_device(&c->line, e->track) &&
            gnomon__export_needs(c->t, gnomon__crossed_meet(&c->line.crossed, e,
                                                            at.walk.number)))
            meet_work(c, e);
    gnomon__crossed_ready(&c->line.crossed);
    order_spans(c);
}

/* Up to its first argument. */
static void begin_row(gnomon__chrome *c, const char *category, const char *name,
                      int64_t pid, int64_t tid, uint64_t at, uint64_t ns)
{
    gnomon__chrome_row(c);
    gnomon__export_form(c->t,
                        "{'ph':'X','cat':'%s','name':'%s','pid':%jd,'tid':%jd,"
                        "'ts':%jx,'dur':%jx,'args':{",
                        category, name, pid, tid, at, ns);
}

static void put_span(gnomon__chrome *c, const gnomon__chrome_span *s)
{
    const gnomon__chrome_label *label = &c->spans.labels[s->label];
    const uint64_t zero = gnomon__chrome_zero(c, s->track);
    uint32_t lane = gnomon__timeline_lane(&c->line, s->track, NULL, 0,
                                          zero + s->begin, zero + s->end);
    gnomon_node_info n = {.region = 0};
    gnomon_region_info region = {.name = ""};
    const char *category = "gpu_user_annotation";
    if (!gnomon__export_needs(c->t, lane != GNOMON__NO_LANE))
        return;
    (void)gnomon_profile_node(c->line.p, label->node, &n);
    (void)gnomon_profile_region(c->line.p, n.region, &region);
    if (c->what->for_tensorboard &&
        gnomon__chrome_hides_collective(category, region.name))
        category = "gpu_label";
    begin_row(c, category, region.name, c->line.tracks[s->track].pid,
              gnomon__chrome_tid(c, s->track, lane), zero + s->begin,
              s->end - s->begin);
    gnomon__export_form(c->t, "'External id':%ju}}", label->id);
}

/* The rows of those of a track that begin up to `ns`. */
static void put_spans(gnomon__chrome *c, size_t track, uint64_t ns)
{
    gnomon__chrome_spans *s = &c->spans;
    size_t *i = &s->next[track];
    for (; *i < s->count && s->of[*i].track == track && s->of[*i].begin <= ns;
         ++*i)
        put_span(c, &s->of[*i]);
}

/* ---- Flows ------------------------------------------------------------------------- */

static const char *region_name(const gnomon__chrome *c, uint32_t region)
{
    gnomon_region_info r = {.name = ""};
    (void)gnomon_profile_region(c->line.p, region, &r);
    return r.name;
}

/* If the effect began before its cause, the arrow leads to an instant in it. */
static void put_flow(gnomon__chrome *c, const gnomon__link_end *end,
                     const gnomon_event_info *e, int64_t tid, uint64_t at)
{
    static const char *const names[] = {[GNOMON_LINK_SUBMIT] = "submit",
                                        [GNOMON_LINK_BACKWARD] = "fwdbwd",
                                        [GNOMON_LINK_LAUNCH] = "ac2g"};
    const char *kind = names[end->kind <= GNOMON_LINK_LAUNCH ? end->kind : 0];
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
    gnomon__out_text(c->t, end->is_effect ? "{\"ph\":\"f\",\"bp\":\"e\",\"id\":"
                                          : "{\"ph\":\"s\",\"id\":");
    gnomon__export_form(
        c->t, "%ju,'cat':'%s','name':'%s','pid':%jd,'tid':%jd,'ts':%jx}",
        c->first_flow + end->flow, kind, kind, pid, tid, at);
}

/* ---- Executions ---------------------------------------------------------------------- */

static void put_node_args(gnomon__chrome *c, const gnomon__chrome_node *n,
                          int args)
{
    size_t comma = !args && n->args_size;
    gnomon__out_put(c->t, n->args + comma, n->args_size - comma);
    gnomon__out_literal(c->t, "}}");
}

/* An operation or label has an id of its own. A call has that of the one around it, and
 * what it launched takes that over. */
static uint64_t external_id(gnomon__chrome *c, const gnomon__chrome_node *n,
                            const gnomon_event_info *e, uint64_t own,
                            const gnomon__link_end *launch)
{
    if (launch && launch->is_effect && !n->is_label)
        return c->flows[launch->flow].external;
    uint64_t id = n->is_label
                      ? own
                      : label_at(c, c->line.tracks[e->track].host, e->begin_ns);
    if (launch && !launch->is_effect)
        c->flows[launch->flow].external = id;
    return n->is_label || n->is_call || launch ? id : 0;
}

/* What readers find a launch and its work by. */
static uint64_t correlation_of(const gnomon__chrome *c,
                               const gnomon__link_end *launch)
{
    return c->first_flow +
           (launch ? launch->flow : c->line.links.flows + c->alone);
}

static void put_execution_args(gnomon__chrome *c, const gnomon__chrome_node *n,
                               const gnomon_event_info *e, uint64_t own,
                               const gnomon__link_end *launch)
{
    int args = 0;
    uint64_t id = external_id(c, n, e, own, launch);
    gnomon__out_literal(c->t, ",\"args\":{");
    /* Readers take a row of work without a number for one of the host. */
    if ((launch && !n->is_label) || n->is_work) {
        args = 1;
        gnomon__out_literal(c->t, "\"correlation\":");
        gnomon__out_number(c->t, correlation_of(c, launch));
    }
    if (id) {
        gnomon__out_text(c->t, &",\"External id\":"[!args]);
        gnomon__out_number(c->t, id);
        args = 1;
    }
    if (n->moved && e->duration_ns) {
        gnomon__out_text(c->t, &",\"memory bandwidth (GB/s)\":"[!args]);
        gnomon__export_double(c->t, (double)n->moved / (double)e->duration_ns);
        args = 1;
    }
    put_node_args(c, n, args);
}

/* Up to its args. False: no memory. */
static bool begin_execution(gnomon__chrome *c, const gnomon__chrome_node *n,
                            size_t track, const gnomon_event_info *e,
                            size_t number, uint64_t at, int64_t *tid)
{
    const uint64_t duration = e->duration_ns;
    uint32_t lane =
        gnomon__timeline_lane(&c->line, track, e, number, at, at + duration);
    if (!gnomon__export_needs(
            c->t, n && lane != GNOMON__NO_LANE &&
                      (!c->what->layer || c->what->layer(c, e->node))))
        return false;
    *tid = gnomon__chrome_tid(c, track, lane);
    gnomon__chrome_row(c);
    gnomon__out_put(c->t, n->head, n->head_size);
    gnomon__out_signed(c->t, *tid);
    gnomon__out_literal(c->t, ",\"ts\":");
    gnomon__export_us(c->t, at);
    gnomon__out_literal(c->t, ",\"dur\":");
    gnomon__export_us(c->t, duration);
    return true;
}

/* Readers find what launched work by a call with its number, and leave out work without
 * one. */
static void put_call(gnomon__chrome *c, const gnomon__link_end *launch,
                     const gnomon__chrome_flow *flow, int64_t pid, int64_t tid,
                     uint64_t at)
{
    const uint64_t id = flow ? flow->external : 0;
    begin_row(c, c->what->for_tensorboard ? "Runtime" : "cuda_runtime",
              "launch (not recorded)", pid, tid, at, 0);
    gnomon__export_form(c->t, "'correlation':%ju", correlation_of(c, launch));
    if (id)
        gnomon__export_form(c->t, ",'External id':%ju", id);
    gnomon__out_literal(c->t, "}}");
}

/* If no call was recorded, the label counts as the launch, at its begin. Work whose launch
 * is not known, or not in the trace, gets a call beside the steps. */
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
        put_call(c, launch, flow, k->pid, tid, at);
    if (!is_cause && (!n->is_work || (flow && flow->has_call)))
        return;
    if (!is_cause && run->has_thread)
        put_call(c, launch, flow, run->pid, GNOMON__STEPS_TID, at);
    if (flow)
        flow->has_call = 1;
    else
        c->alone++;
}

static void put_execution(gnomon__chrome *c, const gnomon_event_info *e,
                          size_t number, uint64_t at)
{
    size_t links = 0, host = c->line.tracks[e->track].host;
    int64_t tid;
    const gnomon__chrome_node *n = gnomon__chrome_node_at(c, e->node);
    const gnomon__link_end *ends = gnomon__links_at(&c->line, e, &links);
    if (!begin_execution(c, n, host, e, number, at, &tid))
        return;
    uint64_t own = c->labels_before + number;
    const gnomon__link_end *launch = launch_among(ends, links);
    put_execution_args(c, n, e, own, launch);
    if (n->is_label)
        put_label(c, host, e, own);
    if (launch && !launch->is_effect) /* or the label launches by itself */
        c->flows[launch->flow].label = label_launches(c, host, e->begin_ns);
    for (size_t i = 0; i < links; i++)
        if (!ends[i].is_again)
            put_flow(c, &ends[i], e, tid, at);
    if (launch || n->is_work)
        put_missing_call(c, n, e, launch, tid, at);
}

/* ---- What had not ended -------------------------------------------------------- */

/* Its row lasts from the file's begin on and up to its end. */
static void put_open(gnomon__chrome *c, const gnomon_open_info *o)
{
    const uint64_t zero = gnomon__chrome_zero(c, o->track);
    const gnomon_run_info *run =
        &c->line.runs[c->line.tracks[o->track].run].info;
    /* External ids of steps and opens come after those of events. */
    const uint64_t id = c->labels_before +
                        gnomon_profile_count(c->line.p, GNOMON_EVENTS) +
                        gnomon_profile_count(c->line.p, GNOMON_STEPS) +
                        (uint64_t)(o - c->line.opens.of) + 1;
    gnomon_event_info e = {.node = o->node, .begin_ns = o->begin_ns};
    uint64_t end = run->now_ns;
    int64_t tid;
    if (zero + e.begin_ns < c->start)
        e.begin_ns = c->start - zero;
    if (c->what->until_unix_ns && c->base + zero + end > c->what->until_unix_ns)
        end = c->what->until_unix_ns - c->base - zero;
    if (end < e.begin_ns)
        return;
    e.duration_ns = end - e.begin_ns;
    const gnomon__chrome_node *n = gnomon__chrome_node_at(c, o->node);
    if (!begin_execution(c, n, o->track, &e, 0, zero + e.begin_ns, &tid))
        return;
    gnomon__out_literal(c->t, ",\"args\":{\"finished\": false");
    if (n->is_label)
        gnomon__export_form(c->t, ",'External id':%ju", id);
    put_node_args(c, n, 1);
    if (n->is_label)
        put_label(c, o->track, &e, id);
}

/* Those that began before `ns`. */
static void put_opens(gnomon__chrome *c, size_t track, uint64_t ns)
{
    const gnomon_open_info *o;
    while (!c->t->code &&
           (o = gnomon__opens_next(&c->line.opens, track, ns)) != NULL)
        put_open(c, o);
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
    gnomon__out_text(c->t, is_number ? "{\"ph\":\"C\""
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
    gnomon__out_literal(c->t, "}}");
}

static void put_event(gnomon__chrome *c, const gnomon_event_info *e,
                      size_t number, uint64_t at)
{
    if (e->kind == GNOMON_EVENT_EXECUTION)
        put_execution(c, e, number, at);
    else if (e->kind == GNOMON_EVENT_MARK || e->kind == GNOMON_EVENT_COUNTER)
        put_moment(c, e, at);
    c->has_memory |= e->kind == GNOMON_EVENT_MEMORY; /* after all others */
}

/* ---- Steps -------------------------------------------------------------------------------- */

/* Of the time that has events. In a lane of their own: a scope may begin in one step and
 * end in the next. */
static void put_steps(gnomon__chrome *c)
{
    gnomon_step_info s;
    const char *stage;
    uint32_t of;
    size_t events = gnomon_profile_count(c->line.p, GNOMON_EVENTS);
    for (size_t i = 1;
         (of = gnomon__timeline_step(&c->line, i, &s, &stage)) != UINT32_MAX;
         i++) {
        const gnomon__timeline_run *run = &c->line.runs[of];
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
static void put_in_order(gnomon__chrome *c, const gnomon_event_info *e,
                         size_t number, uint64_t at, int of_devices)
{
    put_opens(c, c->line.tracks[e->track].host, e->begin_ns);
    if (of_devices)
        put_spans(c, e->track, e->begin_ns);
    put_event(c, e, number, at);
}

/* The calls of a thread are a lane of their own, which is read beside it. */
typedef struct gnomon__chrome_calls {
    gnomon__event_cursor at;
    const gnomon_event_info *next;
} gnomon__chrome_calls;

static void begin_calls(gnomon__chrome *c)
{
    const size_t tracks = c->line.track_count;
    c->calls = calloc(tracks + 1, sizeof *c->calls);
    gnomon__export_needs(c->t, c->calls != NULL);
    for (uint32_t i = 1; !c->t->code && i <= tracks; i++) {
        const uint32_t host = c->line.tracks[i].host;
        if (host == i)
            continue;
        gnomon__chrome_calls *l = c->calls[host] = calloc(1, sizeof *l);
        if (!gnomon__export_needs(c->t, l != NULL))
            return;
        gnomon__event_cursor_of(&l->at, c->what, c->line.p, i, 1,
                                gnomon_profile_count(c->line.p, GNOMON_EVENTS));
        l->next = gnomon__event_cursor_next(&l->at);
    }
}

static void end_calls(gnomon__chrome *c)
{
    for (size_t i = 0; c->calls && i <= c->line.track_count; i++)
        free(c->calls[i]);
    free(c->calls);
    c->calls = NULL;
}

/* A thread's calls that began before `ns`. */
static void put_calls(gnomon__chrome *c, size_t track, uint64_t ns)
{
    gnomon__chrome_calls *l = c->calls[track];
    while (!c->t->code && l && l->next && l->next->begin_ns < ns) {
        put_in_order(c, l->next, l->at.walk.number, l->at.begin - c->base, 0);
        l->next = gnomon__event_cursor_next(&l->at);
    }
}

static void put_events(gnomon__chrome *c, int of_devices)
{
    size_t last = 0;
    int is_wanted = 0;
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    gnomon__event_cursor_all(&at, c->what, c->line.p);
    while (!c->t->code && (e = gnomon__event_cursor_next(&at)) != NULL) {
        if (e->track != last) {
            last = e->track;
            is_wanted =
                gnomon__timeline_on_device(&c->line, last) == of_devices &&
                c->line.tracks[last].host == last;
        }
        if (is_wanted && !of_devices)
            put_calls(c, last, e->begin_ns);
        if (is_wanted)
            put_in_order(c, e, at.walk.number, at.begin - c->base, of_devices);
    }
}

/* Those of hosts first: what was launched takes over ids from its call. */
void gnomon__chrome_rows(gnomon__chrome *c)
{
    const size_t tracks = c->line.track_count;
    int has_devices = 0;
    c->has_memory = 0;
    put_steps(c);
    begin_calls(c);
    put_events(c, 0);
    for (size_t i = 1; !c->t->code && i <= tracks; i++) {
        has_devices |= gnomon__timeline_on_device(&c->line, i);
        put_calls(c, i, UINT64_MAX);
    }
    end_calls(c);
    if (has_devices) {
        find_spans(c);
        put_events(c, 1);
    }
    for (size_t i = 1; i <= tracks; i++) /* that no event came after */
        put_opens(c, i, UINT64_MAX);
}

void gnomon__chrome_rows_end(gnomon__chrome *c)
{
    for (size_t i = 0; c->around && i <= c->line.track_count; i++)
        free(c->around[i].of);
    free(c->around);
    free(c->spans.labels);
    free(c->spans.of);
    free(c->spans.next);
    c->around = NULL;
    c->spans = (gnomon__chrome_spans){0};
}
