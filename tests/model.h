/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A model of what marks mean: slow, plain, and written from the documents, not
 * from the recorder. It keeps every execution, and every duration by path.
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
#define NOWHERE (-1)

enum model_kind { MODEL_SCOPE, MODEL_ACTION, MODEL_RANGE };

/* A path on one thread as one view sees it. */
typedef struct model_node {
    int view, thread, parent, region, is_range;
    uint32_t stage;
    uint64_t self;
    int crossed; /* a child outlived it, or it its parent */
    int first;   /* its first end, as the number of an operation; 0: none */
    int exec;    /* open: which; else NOWHERE */
} model_node;

/* Something finished: `ns` at a node. */
typedef struct model_event {
    int node;
    uint64_t ns;
} model_event;

typedef struct model_exec {
    uint64_t token; /* what the library called it; actions: 0 */
    enum model_kind kind;
    int thread, region, is_open, config;
    uint32_t stage;
    uint64_t begin;
    int view[MODEL_VIEWS]; /* the serial of the view that saw it; 0: none */
    int node[MODEL_VIEWS];
} model_exec;

typedef struct model_view {
    int serial; /* 0: the place is free */
    int filter, has_tree;
    uint64_t starts, stops, marks, steps, samples; /* that a hook must get */
} model_view;

typedef struct model_counter {
    int view, thread, region;
    uint32_t stage;
    uint64_t count;
    double last, min, max, sum;
} model_counter;

typedef struct model_link {
    int view, from, to, kind;
    uint64_t count;
} model_link;

typedef struct model_stage {
    char name[8];
    int was_opened, is_over, was_marked;
    uint64_t opened, ended, marked;
    uint64_t steps, step_total, step_min, step_max, step_begin;
} model_stage;

typedef struct model {
    uint64_t now;
    int operation, serials, config;
    model_view views[MODEL_VIEWS];
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
    model_stage stages[MODEL_STAGES];
    int stage_count;                          /* the last one is open */
    int action[MODEL_THREADS][MODEL_REGIONS]; /* exec, or NOWHERE */
    gnomon_health health; /* what the program's mistakes must have counted */
} model;

/* Which regions a filter takes: the generator's table, by name. */
static int model_takes(int filter, int region);

/* Clears what was used: all of it is more than a megabyte. */
#define MODEL_CLEAR(rows, count) \
    memset(rows, 0, (size_t)(count) * sizeof *(rows))

static void model_start(model *m)
{
    MODEL_CLEAR(m->nodes, m->node_count);
    MODEL_CLEAR(m->events, m->event_count);
    MODEL_CLEAR(m->execs, m->exec_count);
    MODEL_CLEAR(m->counters, m->counter_count);
    MODEL_CLEAR(m->links, m->link_count);
    MODEL_CLEAR(m->stages, m->stage_count);
    memset(m->views, 0, sizeof m->views);
    memset(&m->health, 0, sizeof m->health);
    m->operation = m->serials = m->config = m->node_count = m->event_count =
        m->exec_count = m->counter_count = m->link_count = 0;
    m->now = gnomon__test_ticks;
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

/* Whether view `v` of today saw the execution begin. */
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

/* The innermost open scope of the thread that the view saw begin: the one that
 * began last. Its node; NOWHERE: none. */
static int model_innermost(const model *m, int v, int thread)
{
    for (int i = m->exec_count; i-- > 0;) {
        const model_exec *e = &m->execs[i];
        if (e->is_open && e->thread == thread && e->kind != MODEL_RANGE &&
            model_saw(m, e, v))
            return e->node[v];
    }
    return NOWHERE;
}

static void model_pass(model *m, uint64_t ns)
{
    m->now += ns;
    for (int v = 0; v < MODEL_VIEWS; v++)
        for (int t = 0; m->views[v].serial && t < MODEL_THREADS; t++) {
            int node = model_innermost(m, v, t);
            if (node != NOWHERE)
                m->nodes[node].self += ns;
        }
}

static int model_node_of(model *m, int v, int thread, int parent, int region,
                         uint32_t stage, int is_range)
{
    int view = m->views[v].serial;
    for (int i = 0; i < m->node_count; i++) {
        const model_node *n = &m->nodes[i];
        if (n->view == view && n->thread == thread && n->parent == parent &&
            n->region == region && n->stage == stage && n->is_range == is_range)
            return i;
    }
    m->nodes[m->node_count] = (model_node){
        view, thread, parent, region, is_range, stage, 0, 0, 0, NOWHERE};
    return m->node_count++;
}

static void model_log(model *m, int node, uint64_t ns)
{
    m->events[m->event_count++] = (model_event){node, ns};
    if (!m->nodes[node].first)
        m->nodes[node].first = m->operation;
}

/* A stage begins with its first mark, if that comes before its opening. */
static void model_touch_stage(model *m)
{
    model_stage *s = model_stage_now(m);
    if (!s->was_marked) {
        s->was_marked = 1;
        s->marked = m->now;
    }
}

/* The new execution's number, whether or not anybody sees it. */
static int model_begin(model *m, int thread, int region, enum model_kind kind)
{
    model_exec *e = &m->execs[m->exec_count];
    *e = (model_exec){.kind = kind,
                      .thread = thread,
                      .region = region,
                      .is_open = 1,
                      .config = m->config,
                      .stage = (uint32_t)m->stage_count,
                      .begin = m->now};
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!m->views[v].serial || !model_takes(m->views[v].filter, region))
            continue;
        m->views[v].starts++;
        e->view[v] = m->views[v].serial;
        if (m->views[v].has_tree)
            model_touch_stage(m);
        if (kind == MODEL_RANGE)
            continue;
        int parent = model_innermost(m, v, thread);
        e->node[v] = model_node_of(m, v, thread, parent, region, e->stage, 0);
    }
    /* Only now: it is no parent of its own. */
    for (int v = 0; v < MODEL_VIEWS; v++)
        if (model_saw(m, e, v) && kind != MODEL_RANGE)
            m->nodes[e->node[v]].exec = m->exec_count;
    return m->exec_count++;
}

/* `inner` is open while `e` ends: the paths between them do not add up. */
static void model_cross(model *m, const model_exec *e, int v)
{
    for (int i = m->exec_count; i-- > 0;) {
        const model_exec *inner = &m->execs[i];
        if (inner == e)
            return;
        if (!inner->is_open || inner->thread != e->thread ||
            inner->kind == MODEL_RANGE || !model_saw(m, inner, v))
            continue;
        for (int n = inner->node[v]; n != NOWHERE; n = m->nodes[n].parent)
            m->nodes[n].crossed = 1;
    }
}

static void model_close(model *m, int exec, int thread)
{
    model_exec *e = &m->execs[exec];
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!model_saw(m, e, v))
            continue;
        m->views[v].stops++;
        int node = e->node[v];
        if (e->kind == MODEL_RANGE) {
            node = model_node_of(m, v, thread, NOWHERE, e->region, e->stage, 1);
        } else {
            model_cross(m, e, v);
            m->nodes[node].exec = NOWHERE;
        }
        model_log(m, node, m->now - e->begin);
    }
    e->is_open = 0;
}

/* The end of a scope by its token, on any thread; with what began inside, or
 * alone. */
static void model_end(model *m, int exec, int thread, int alone)
{
    model_exec *e = &m->execs[exec];
    if (!e->token)
        return;
    if (e->thread != thread) {
        m->health.foreign++;
        return;
    }
    if (!e->is_open) {
        m->health.unmatched += e->config == m->config;
        return;
    }
    if (!model_seen(m, e)) {
        e->is_open = 0; /* those who saw it are gone */
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
        if (e->config == m->config || model_seen(m, e)) {
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
