/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The model's second half: marks, counters, links, stages and steps. */
#ifndef GNOMON_TESTS_MODEL_FACTS_H
#define GNOMON_TESTS_MODEL_FACTS_H

#include "model.h"

/* ---- Marks, counters, links --------------------------------------------------- */

static void model_mark(model *m, int thread, int region)
{
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!m->views[v].serial || !model_takes(m->views[v].filter, region))
            continue;
        if (m->views[v].has_tree)
            model_touch_stage(m);
        int parent = model_innermost(m, v, thread);
        int node = model_node_of(m, v, thread, parent, region,
                                 (uint32_t)m->stage_count, 0);
        m->views[v].marks++;
        model_log(m, node, 0);
    }
}

static void model_sample(model *m, int thread, int region, double value)
{
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!m->views[v].serial || !model_takes(m->views[v].filter, region))
            continue;
        m->views[v].samples++;
        if (m->views[v].has_tree)
            model_touch_stage(m);
        model_counter key = {m->views[v].serial,
                             thread,
                             region,
                             (uint32_t)m->stage_count,
                             0,
                             0,
                             value,
                             value,
                             0};
        int i = 0;
        while (i < m->counter_count && (m->counters[i].view != key.view ||
                                        m->counters[i].thread != thread ||
                                        m->counters[i].region != region ||
                                        m->counters[i].stage != key.stage))
            i++;
        if (i == m->counter_count)
            m->counters[m->counter_count++] = key;
        model_counter *c = &m->counters[i];
        c->count++;
        c->last = value;
        c->sum += value;
        c->min = value < c->min ? value : c->min;
        c->max = value > c->max ? value : c->max;
    }
}

/* Where a thread was: a node for each view, of one configuration. */
typedef struct model_place {
    int is_set, config, node[MODEL_VIEWS];
} model_place;

static model_place model_link_out(const model *m, int thread)
{
    model_place p = {model_attached(m) != 0, m->config, {0}};
    for (int v = 0; v < MODEL_VIEWS; v++)
        p.node[v] =
            m->views[v].serial ? model_innermost(m, v, thread) : NOWHERE;
    return p;
}

static void model_link_in(model *m, const model_place *p, int thread, int kind)
{
    if (!p->is_set || !model_trees(m))
        return;
    if (p->config != m->config) {
        m->health.lost_links++;
        return;
    }
    for (int v = 0; v < MODEL_VIEWS; v++) {
        int to = m->views[v].serial ? model_innermost(m, v, thread) : NOWHERE;
        if (to == NOWHERE || p->node[v] == NOWHERE)
            continue;
        int i = 0;
        while (i < m->link_count &&
               (m->links[i].from != p->node[v] || m->links[i].to != to ||
                m->links[i].kind != kind))
            i++;
        if (i == m->link_count)
            m->links[m->link_count++] =
                (model_link){m->views[v].serial, p->node[v], to, kind, 0};
        m->links[i].count++;
    }
}

/* ---- Stages and steps --------------------------------------------------------- */

static void model_stage_over(model *m)
{
    model_stage *s = model_stage_now(m);
    s->is_over = 1;
    s->ended = m->now;
    m->stage_count++;
}

static void model_stage_begin(model *m, const char *name)
{
    if (model_stage_now(m)->was_opened)
        model_stage_over(m);
    model_stage *s = model_stage_now(m);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->was_opened = 1;
    s->opened = s->step_begin = m->now;
}

static int model_stage_end(model *m)
{
    if (!model_stage_now(m)->was_opened)
        return GNOMON_ESTATE;
    model_stage_over(m);
    return GNOMON_OK;
}

/* The first step of a stage begins with it, without a beginning it takes no
 * time; a later one begins with the step before or the opening. */
static void model_step(model *m)
{
    if (!model_attached(m))
        return;
    model_stage *s = model_stage_now(m);
    uint64_t begin = s->step_begin;
    if (!s->steps) {
        begin = s->was_opened ? s->opened : m->now;
        if (s->was_marked && s->marked < begin)
            begin = s->marked;
    }
    uint64_t d = m->now - begin;
    s->step_min = !s->steps || d < s->step_min ? d : s->step_min;
    s->step_max = d > s->step_max ? d : s->step_max;
    s->step_total += d;
    s->steps++;
    s->step_begin = m->now;
    for (int v = 0; v < MODEL_VIEWS; v++)
        m->views[v].steps += m->views[v].serial != 0;
}

#endif
