/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A model of what marks mean: slow, plain, and written from the documents, not
 * from the recorder. It keeps every execution, and every duration by path and by
 * the stage in which it began.
 *
 * Time is the test clock: model_pass gives each ns to the innermost open scope
 * of each thread, as each view sees it. model_compare.h holds it against a
 * profile. Everything here returns what the program under test must do too. */
#ifndef GNOMON_TESTS_MODEL_H
#define GNOMON_TESTS_MODEL_H

#include "marks.h"

#define MODEL_VIEWS 4
#define MODEL_THREADS 3
#define MODEL_REGIONS 16
#define MODEL_NODES 8192
#define MODEL_EVENTS 16384
#define MODEL_EXECS 8192
#define MODEL_STAGES 256
#define MODEL_STEPS 4096
#define MODEL_OTHER MODEL_REGIONS /* of a path: what is past a limit */
#define NOWHERE (-1)

enum model_kind { MODEL_SCOPE, MODEL_ACTION, MODEL_RANGE };

/* A path on one thread in one view. */
typedef struct model_path {
    int view, thread, parent, region, is_range;
    int exec;    /* open: the execution; else NOWHERE */
    int crossed; /* its child outlived it, or it outlived its parent */
} model_path;

/* The sums of a path, in the stage in which executions began. */
typedef struct model_node {
    int path;
    uint32_t stage;
    uint64_t self, count,
        late;  /* late: of these, those that ended after the stage */
    int first; /* its first end, as the number of an operation; 0: none */
} model_node;

/* An execution that finished, a mark, or a counter's sample, as one view saw it. */
typedef struct model_event {
    int node;                       /* where it counts; a sample: NOWHERE */
    int view, thread, region, kind; /* gnomon_event_kind */
    int path;  /* its own; of a mark or sample the one around it */
    int cycle; /* of the view's trace, in which it began; 0: it is in no trace */
    uint32_t stage, ended; /* in which it began, and ended */
    uint64_t begin, ns;
    double value;
    int is_told,
        is_dropped; /* the stage in which it ended was reported: without it */
    int is_given;   /* a part of a stream has it */
    int is_lost;    /* inside an "(other)" */
} model_event;

typedef struct model_exec {
    uint64_t token; /* the token that the library returned; actions: 0 */
    enum model_kind kind;
    int thread, region, is_open, config, offs;
    uint32_t stage;
    uint64_t begin;
    int view[MODEL_VIEWS]; /* the serial of the view that saw it; 0: none */
    int node[MODEL_VIEWS];
    int path[MODEL_VIEWS];      /* NOWHERE: it is inside an "(other)" */
    int is_hooked[MODEL_VIEWS]; /* its hooks get the end too */
    int cycle[MODEL_VIEWS];     /* as of an event */
} model_exec;

/* What a region did in a step. */
typedef struct model_step_time {
    uint64_t ns, calls, of_thread[MODEL_THREADS];
} model_step_time;

typedef struct model_view {
    int serial; /* 0: the slot is free */
    int filter, schedule, has_tree, has_report, has_file;
    int has_trace;       /* it records events, in cycles: */
    int came_late;       /* after the first step of the run */
    int cycle, cycle_at; /* the last one; where it is in the stage; 0: none */
    int is_leaving;      /* its last profiles are made */
    int has_ready;       /* it gets each cycle that is over, */
    uint64_t given;      /* so many, or all events at the end */
    int keep; /* which of them, of a table; those of the last steps: */
    uint64_t kept_since, last_steps[3], steps_seen;
    uint64_t lost[MODEL_THREADS]; /* events, as parts of a stream tell */
    int has_steps;                /* it records times of steps: */
    uint64_t came;                /* steps that begin from then on */
    model_step_time step_time[MODEL_REGIONS];      /* of the open step */
    uint32_t since;                                /* stage */
    uint64_t starts, stops, marks, steps, samples; /* that a hook must get */
    uint64_t reports;
} model_view;

typedef struct model_counter {
    int view, thread, region;
    uint32_t stage;
    uint64_t count, nans;
    double last, min, max, sum;
} model_counter;

typedef struct model_link {
    int view, from, to, kind; /* the edge's two paths */
    uint32_t stage;
    uint64_t count;
} model_link;

/* How long a view recorded in a stage. */
typedef struct model_recorded {
    int view;
    uint32_t stage;
    uint64_t ns, idle; /* `idle`: of these, since the last end */
} model_recorded;

typedef struct model_stage {
    char name[8];
    int was_opened, is_over, was_marked;
    uint64_t opened, ended, marked;
    uint64_t steps, step_total, step_min, step_max, step_begin;
} model_stage;

/* A step that a view recorded from its begin to its end, and the time of
 * each region in it. */
typedef struct model_step_of {
    int view, thread;
    uint32_t stage;
    uint64_t number, begin, ns;
    model_step_time region[MODEL_REGIONS];
} model_step_of;

typedef struct model {
    uint64_t now;
    uint64_t last_end;   /* of what a tree saw, or of a step */
    uint64_t step_since; /* scopes count in the open step from here on */
    int operation, serials, config;
    int offs;         /* how often the last profiler was detached */
    int has_no_order; /* of first ends: some were delivered late */
    int is_tight;     /* there is little memory for events */
    int most_depth,
        most_paths; /* of the trees of one thread; more: "(other)" */
    int is_run_over, has_steps;
    model_view views[MODEL_VIEWS];
    model_path paths[MODEL_NODES];
    int path_count;
    model_node nodes[MODEL_NODES];
    int node_count;
    model_event events[MODEL_EVENTS];
    int event_count;
    model_exec execs[MODEL_EXECS];
    int exec_count;
    model_counter counters[512];
    int counter_count;
    model_link links[2048];
    int link_count;
    model_recorded recorded[2048];
    int recorded_count;
    model_step_of steps[MODEL_STEPS];
    int step_count;
    model_stage stages[MODEL_STAGES];
    int stage_count;                          /* the last one is open */
    int action[MODEL_THREADS][MODEL_REGIONS]; /* exec, or NOWHERE */
    gnomon_health
        health; /* what health must count for the program's mistakes */
} model;

/* Whether a filter takes a region, and whether a schedule records after so
 * many steps of a stage: both from the generator's tables. */
static int model_takes(int filter, int region);
static int model_is_window(int schedule, uint64_t steps);
static int
model_kept_steps(int keep); /* keep=2steps: 2; 0: all events are kept */
static int model_is_stream(int keep);
/* The cycle of a stage, from 1; 0: none. Without a schedule: 1. */
static int model_cycle_at(int schedule, uint64_t steps);
static int model_is_scheduled(int schedule);

/* Clears only what was used: the whole is more than a megabyte. */
#define MODEL_CLEAR(rows, count) \
    memset(rows, 0, (size_t)(count) * sizeof *(rows))

static void model_start(model *m)
{
    MODEL_CLEAR(m->paths, m->path_count);
    MODEL_CLEAR(m->nodes, m->node_count);
    MODEL_CLEAR(m->events, m->event_count);
    MODEL_CLEAR(m->execs, m->exec_count);
    MODEL_CLEAR(m->counters, m->counter_count);
    MODEL_CLEAR(m->links, m->link_count);
    MODEL_CLEAR(m->recorded, m->recorded_count);
    MODEL_CLEAR(m->steps, m->step_count);
    MODEL_CLEAR(m->stages, m->stage_count);
    memset(m->views, 0, sizeof m->views);
    memset(&m->health, 0, sizeof m->health);
    m->operation = m->serials = m->config = m->offs = m->path_count =
        m->node_count = m->event_count = m->exec_count = m->counter_count =
            m->link_count = m->recorded_count = m->step_count = 0;
    m->most_depth = m->most_paths = INT32_MAX;
    m->has_no_order = m->is_tight = m->is_run_over = m->has_steps = 0;
    m->now = gnomon__test_ticks;
    m->step_since = m->last_end = 0;
    m->stage_count = 1;
    for (int t = 0; t < MODEL_THREADS; t++)
        for (int r = 0; r < MODEL_REGIONS; r++)
            m->action[t][r] = NOWHERE;
}

static int model_attached(const model *m)
{
    int n = 0;
    for (int v = 0; v < MODEL_VIEWS; v++)
        n += m->views[v].serial != 0;
    return n;
}

static int model_trees(const model *m)
{
    int n = 0;
    for (int v = 0; v < MODEL_VIEWS; v++)
        n += m->views[v].serial && m->views[v].has_tree;
    return n;
}

static model_stage *model_stage_now(model *m)
{
    return &m->stages[m->stage_count - 1];
}

/* Whether view `v`, if still attached, saw the execution begin. */
static int model_saw(const model *m, const model_exec *e, int v)
{
    return e->view[v] && e->view[v] == m->views[v].serial;
}

static int model_seen(const model *m, const model_exec *e)
{
    for (int v = 0; v < MODEL_VIEWS; v++)
        if (model_saw(m, e, v))
            return 1;
    return 0;
}

/* Beside a trace the tree sees every step, as if it had no schedule. */
static int model_tree_schedule(const model_view *view)
{
    return view->has_trace ? 0 : view->schedule;
}

/* Whether view `v` records executions that begin now, and its hooks get them. */
static int model_records(model *m, int v, int region, int *is_hooked)
{
    const model_view *view = &m->views[v];
    uint64_t steps = model_stage_now(m)->steps;
    *is_hooked = model_is_window(view->schedule, steps);
    return view->serial && model_takes(view->filter, region) &&
           model_is_window(model_tree_schedule(view), steps);
}

/* Whether it has a path there. */
static int model_is_placed(const model *m, const model_exec *e, int v)
{
    return model_saw(m, e, v) && e->path[v] != NOWHERE;
}

/* Whether it has none in any: such a scope may have no token. */
static int model_is_inside_other(const model *m, const model_exec *e)
{
    for (int v = 0; v < MODEL_VIEWS; v++)
        if (model_is_placed(m, e, v))
            return 0;
    return model_seen(m, e);
}

/* The open scope of the thread that the view saw begin last. NULL: none. */
static const model_exec *model_inside(const model *m, int v, int thread)
{
    for (int i = m->exec_count; i-- > 0;) {
        const model_exec *e = &m->execs[i];
        if (e->is_open && e->thread == thread && e->kind != MODEL_RANGE &&
            model_is_placed(m, e, v))
            return e;
    }
    return NULL;
}

/* The path of that scope; NOWHERE: none. */
static int model_innermost(const model *m, int v, int thread)
{
    const model_exec *e =
        m->views[v].serial ? model_inside(m, v, thread) : NULL;
    return e ? e->path[v] : NOWHERE;
}

static void model_record(model *m, int view, uint64_t ns)
{
    uint32_t stage = (uint32_t)m->stage_count;
    int i = 0;
    while (i < m->recorded_count &&
           (m->recorded[i].view != view || m->recorded[i].stage != stage))
        i++;
    if (i == m->recorded_count)
        m->recorded[m->recorded_count++] = (model_recorded){view, stage, 0, 0};
    m->recorded[i].ns += ns;
    m->recorded[i].idle += ns;
}

static void model_ended(model *m)
{
    m->last_end = m->now;
    for (int i = 0; i < m->recorded_count; i++)
        m->recorded[i].idle = 0;
}

static uint64_t model_begin_of(const model *m, const model_stage *s)
{
    uint64_t begin = s->was_opened ? s->opened : s->is_over ? s->ended : m->now;
    return s->was_marked && s->marked < begin ? s->marked : begin;
}

/* Whether the open stage ends with the last end: nobody opened it, and no range is open,
 * nor anything else in a tree of the view; of any view, for 0. */
static int model_is_cut_short(const model *m, int serial)
{
    const model_stage *s = &m->stages[m->stage_count - 1];
    if (s->was_opened || m->last_end <= model_begin_of(m, s))
        return 0;
    for (int i = 0; i < m->exec_count; i++) {
        const model_exec *e = &m->execs[i];
        if (!e->is_open)
            continue;
        if (e->kind == MODEL_RANGE && e->token)
            return 0;
        for (int v = 0; v < MODEL_VIEWS; v++)
            if (e->kind != MODEL_RANGE && m->views[v].has_tree &&
                model_is_placed(m, e, v) && (!serial || serial == e->view[v]))
                return 0;
    }
    return 1;
}

static void model_pass(model *m, uint64_t ns)
{
    const model_stage *s = model_stage_now(m);
    m->now += ns;
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!m->views[v].serial)
            continue;
        if ((s->was_opened || s->was_marked) &&
            model_is_window(model_tree_schedule(&m->views[v]), s->steps))
            model_record(m, m->views[v].serial, ns);
        for (int t = 0; t < MODEL_THREADS; t++) {
            const model_exec *e = model_inside(m, v, t);
            if (e)
                m->nodes[e->node[v]].self += ns;
        }
    }
}

static int model_path_of(model *m, int v, int thread, int parent, int region,
                         int is_range)
{
    int view = m->views[v].serial;
    for (int i = 0; i < m->path_count; i++) {
        const model_path *p = &m->paths[i];
        if (p->view == view && p->thread == thread && p->parent == parent &&
            p->region == region && p->is_range == is_range)
            return i;
    }
    m->paths[m->path_count] =
        (model_path){view, thread, parent, region, is_range, NOWHERE, 0};
    return m->path_count++;
}

static int model_is_other(const model *m, int path)
{
    return path != NOWHERE && m->paths[path].region == MODEL_OTHER;
}

/* The region that a new execution or mark inside `parent` counts at: its own, or past a
 * limit MODEL_OTHER; of a range the depth is none. */
static int model_region_in(model *m, int v, int thread, int parent, int region,
                           int is_range)
{
    int depth = 0, paths = 0, view = m->views[v].serial;
    for (int p = parent; p != NOWHERE; p = m->paths[p].parent)
        depth++;
    for (int i = 0; i < m->path_count; i++) {
        const model_path *p = &m->paths[i];
        if (p->view != view || p->thread != thread || p->region == MODEL_OTHER)
            continue;
        if (p->parent == parent && p->region == region &&
            p->is_range == is_range)
            return region;
        paths++;
    }
    if (!m->views[v].has_tree ||
        ((is_range || depth < m->most_depth) && paths < m->most_paths))
        return region;
    if (!is_range && depth >= m->most_depth)
        m->health.too_deep++;
    else
        m->health.other_nodes++;
    return MODEL_OTHER;
}

/* The path that it counts at. What is inside an "(other)" counts there: then *is_inside. */
static int model_path_in(model *m, int v, int thread, int region,
                         int *is_inside)
{
    int parent = model_innermost(m, v, thread), depth = 0;
    *is_inside = model_is_other(m, parent);
    if (!*is_inside) {
        region = model_region_in(m, v, thread, parent, region, 0);
        return model_path_of(m, v, thread, parent, region, 0);
    }
    for (int p = parent; p != NOWHERE; p = m->paths[p].parent)
        depth++;
    if (depth > m->most_depth)
        m->health.too_deep++;
    else
        m->health.other_nodes++;
    return parent;
}

static int model_node_of(model *m, int path, uint32_t stage)
{
    for (int i = 0; i < m->node_count; i++)
        if (m->nodes[i].path == path && m->nodes[i].stage == stage)
            return i;
    m->nodes[m->node_count] = (model_node){.path = path, .stage = stage};
    return m->node_count++;
}

/* What view `v` has of it beside its node follows. */
static model_event *model_event_of(model *m, int v, int thread, int region)
{
    model_event *e = &m->events[m->event_count++];
    *e = (model_event){.node = NOWHERE,
                       .view = m->views[v].serial,
                       .thread = thread,
                       .region = region,
                       .path = NOWHERE,
                       .stage = (uint32_t)m->stage_count,
                       .ended = (uint32_t)m->stage_count,
                       .begin = m->now};
    return e;
}

static void model_count(model *m, int node)
{
    model_node *n = &m->nodes[node];
    n->count++;
    n->late += n->stage != (uint32_t)m->stage_count;
    if (!n->first)
        n->first = m->operation;
}

/* A stage begins at its first mark, if that comes before it is opened. */
static void model_touch_stage(model *m)
{
    model_stage *s = model_stage_now(m);
    if (!s->was_marked) {
        s->was_marked = 1;
        s->marked = m->now;
    }
}

/* The cycle of the view's trace that events which begin now are in. */
static int model_cycle_now(const model *m, int v)
{
    return m->views[v].cycle_at ? m->views[v].cycle : 0;
}

/* It began inside an "(other)": it counts there at once, without time, and as an event it
 * is lost. */
static void model_count_inside(model *m, model_exec *e, int v)
{
    model_event *event = model_event_of(m, v, e->thread, e->region);
    event->node = e->node[v];
    event->cycle = e->cycle[v];
    event->is_lost = 1;
    model_count(m, e->node[v]);
    e->path[v] = NOWHERE;
}

/* The new execution's number; it has one also if no view sees it. */
static int model_begin(model *m, int thread, int region, enum model_kind kind)
{
    model_exec *e = &m->execs[m->exec_count];
    *e = (model_exec){.kind = kind,
                      .thread = thread,
                      .region = region,
                      .is_open = 1,
                      .config = m->config,
                      .offs = m->offs,
                      .stage = (uint32_t)m->stage_count,
                      .begin = m->now};
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!model_records(m, v, region, &e->is_hooked[v]))
            continue;
        m->views[v].starts += (uint64_t)e->is_hooked[v];
        e->view[v] = m->views[v].serial;
        e->cycle[v] = model_cycle_now(m, v);
        if (m->views[v].has_tree)
            model_touch_stage(m);
        if (kind == MODEL_RANGE)
            continue;
        int is_inside;
        e->path[v] = model_path_in(m, v, thread, region, &is_inside);
        e->node[v] = model_node_of(m, e->path[v], e->stage);
        if (is_inside)
            model_count_inside(m, e, v);
        else
            m->paths[e->path[v]].exec = m->exec_count;
    }
    return m->exec_count++;
}

#define MODEL_MOST_CLOSED 16

static void model_cross_path(model *m, int path)
{
    for (; path != NOWHERE; path = m->paths[path].parent)
        m->paths[path].crossed = 1;
}

/* How many executions on the innermost path have ended: in this stage, or in
 * all. */
static int model_closed(const model *m, int v, int thread, int all)
{
    int n = 0;
    for (int p = model_innermost(m, v, thread); p != NOWHERE;
         p = m->paths[p].parent) {
        int e = m->paths[p].exec;
        if (e != NOWHERE && m->execs[e].stage != (uint32_t)m->stage_count &&
            !all)
            break;
        n += e == NOWHERE;
    }
    return n;
}

/* The open executions of the thread, of this stage or of all, keep their
 * paths' parents. */
static void model_shorten(model *m, int v, int thread, int all)
{
    int inside = NOWHERE;
    for (int i = 0; i < m->exec_count; i++) {
        model_exec *e = &m->execs[i];
        if (!e->is_open || e->thread != thread || e->kind == MODEL_RANGE ||
            !model_is_placed(m, e, v))
            continue;
        int path = e->path[v];
        if (all || e->stage == (uint32_t)m->stage_count)
            path = model_path_of(m, v, thread, inside, e->region, 0);
        inside = path;
        if (path == e->path[v])
            continue;
        model_cross_path(m, path);
        model_cross_path(m, e->path[v]);
        m->paths[e->path[v]].exec = NOWHERE;
        e->path[v] = path;
        e->node[v] = model_node_of(m, path, e->stage);
    }
    for (int i = 0; i < m->exec_count; i++) {
        const model_exec *e = &m->execs[i];
        if (e->is_open && e->thread == thread && e->kind != MODEL_RANGE &&
            model_is_placed(m, e, v))
            m->paths[e->path[v]].exec = i;
    }
}

/* `inner` is open while `e` ends: the times of the paths between them do not
 * add up. */
static void model_cross(model *m, const model_exec *e, int v)
{
    for (int i = m->exec_count; i-- > 0;) {
        const model_exec *inner = &m->execs[i];
        if (inner == e)
            return;
        if (!inner->is_open || inner->thread != e->thread ||
            inner->kind == MODEL_RANGE || !model_is_placed(m, inner, v))
            continue;
        model_cross_path(m, inner->path[v]);
    }
}

static void model_close(model *m, int exec, int thread)
{
    model_exec *e = &m->execs[exec];
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!model_saw(m, e, v))
            continue;
        m->views[v].stops += (uint64_t)e->is_hooked[v];
        if (e->kind != MODEL_RANGE && e->path[v] == NOWHERE)
            continue;
        if (e->kind == MODEL_RANGE) {
            int region = model_region_in(m, v, thread, NOWHERE, e->region, 1);
            e->path[v] = model_path_of(m, v, thread, NOWHERE, region, 1);
            e->node[v] = model_node_of(m, e->path[v], e->stage);
        } else {
            model_cross(m, e, v);
            m->paths[e->path[v]].exec = NOWHERE;
        }
        if (m->views[v].has_tree)
            model_ended(m);
        model_event *event = model_event_of(m, v, thread, e->region);
        event->node = e->node[v];
        event->path = e->path[v];
        event->cycle = e->cycle[v];
        event->stage = e->stage;
        event->begin = e->begin;
        event->ns = m->now - e->begin;
        model_count(m, e->node[v]);
        model_step_time *time = &m->views[v].step_time[e->region];
        uint64_t ns =
            m->now - (e->begin > m->step_since ? e->begin : m->step_since);
        time->ns += ns;
        time->of_thread[thread] += ns;
        time->calls++;
    }
    e->is_open = 0;
    for (int v = 0; v < MODEL_VIEWS; v++) {
        const model_exec *inner = e->kind != MODEL_RANGE && model_saw(m, e, v)
                                      ? model_inside(m, v, e->thread)
                                      : NULL;
        if (inner > e && model_closed(m, v, e->thread, 0) > MODEL_MOST_CLOSED)
            model_shorten(m, v, e->thread, 0);
    }
}

/* An end on another thread than the begin: it ends this execution alone. */
static void model_end_elsewhere(model *m, int exec)
{
    model_exec *e = &m->execs[exec];
    if (!e->is_open || !model_seen(m, e)) {
        m->health.foreign += !e->is_open && e->config == m->config;
        e->is_open = 0;
        return;
    }
    model_close(m, exec, e->thread);
    for (int v = 0; v < MODEL_VIEWS; v++)
        if (model_saw(m, e, v))
            model_shorten(m, v, e->thread, 0);
}

/* Ends a scope by its token, on any thread; with the scopes inside it, or
 * alone. */
static void model_end(model *m, int exec, int thread, int alone)
{
    model_exec *e = &m->execs[exec];
    if (!e->token)
        return;
    if (e->thread != thread) {
        model_end_elsewhere(m, exec);
        return;
    }
    if (!e->is_open) {
        m->health.unmatched += e->config == m->config;
        return;
    }
    if (!model_seen(m, e)) {
        e->is_open = 0; /* the views that saw it are detached */
        return;
    }
    for (int i = alone ? 0 : m->exec_count; --i > exec;) {
        model_exec *inner = &m->execs[i];
        if (!inner->is_open || inner->thread != thread ||
            inner->kind != MODEL_SCOPE || !model_seen(m, inner))
            continue;
        m->health.crossed++;
        model_close(m, i, thread);
    }
    model_close(m, exec, thread);
}

static void model_range_end(model *m, int exec, int thread)
{
    model_exec *e = &m->execs[exec];
    if (!e->token)
        return;
    if (!e->is_open)
        m->health.unmatched++;
    else
        model_close(m, exec, thread);
}

/* ---- Actions ----------------------------------------------------------------- */

static void model_start_action(model *m, int thread, int region)
{
    int *action = &m->action[thread][region];
    if (!model_attached(m))
        return;
    if (*action != NOWHERE) {
        const model_exec *e = &m->execs[*action];
        if (e->offs == m->offs || model_seen(m, e)) {
            m->health.twice++;
            return;
        }
    }
    *action = model_begin(m, thread, region, MODEL_ACTION);
}

static void model_stop_action(model *m, int thread, int region)
{
    int *action = &m->action[thread][region];
    if (!model_attached(m))
        return;
    if (*action == NOWHERE)
        m->health.never_started++;
    else
        model_close(m, *action, thread);
    *action = NOWHERE;
}

#endif
