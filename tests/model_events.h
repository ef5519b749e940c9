/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The second part of the model: marks, counters, links, stages and steps. */
#ifndef GNOMON_TESTS_MODEL_EVENTS_H
#define GNOMON_TESTS_MODEL_EVENTS_H

#include <math.h>

#include "model.h"

/* ---- Marks, counters, links --------------------------------------------------- */

static void model_mark(model *m, int thread, int region)
{
    int is_hooked;
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!model_records(m, v, region, &is_hooked))
            continue;
        if (m->views[v].has_tree)
            model_touch_stage(m);
        int parent = model_innermost(m, v, thread), is_inside;
        int path = model_path_in(m, v, thread, region, &is_inside);
        m->views[v].marks += (uint64_t)is_hooked;
        model_event *e = model_event_of(m, v, thread, region);
        e->node = model_node_of(m, path, (uint32_t)m->stage_count);
        e->path = parent;
        e->kind = GNOMON_EVENT_MARK;
        e->cycle = model_cycle_now(m, v);
        model_count(m, e->node);
    }
}

static void model_sample(model *m, int thread, int region, double value)
{
    int is_hooked;
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!model_records(m, v, region, &is_hooked))
            continue;
        m->views[v].samples += (uint64_t)is_hooked;
        if (m->views[v].has_tree)
            model_touch_stage(m);
        model_event *e = model_event_of(m, v, thread, region);
        e->path = model_innermost(m, v, thread);
        e->kind = GNOMON_EVENT_COUNTER;
        e->cycle = model_cycle_now(m, v);
        e->value = value;
        model_counter key = {.view = m->views[v].serial,
                             .thread = thread,
                             .region = region,
                             .stage = (uint32_t)m->stage_count};
        int i = 0;
        while (i < m->counter_count && (m->counters[i].view != key.view ||
                                        m->counters[i].thread != thread ||
                                        m->counters[i].region != region ||
                                        m->counters[i].stage != key.stage))
            i++;
        if (i == m->counter_count)
            m->counters[m->counter_count++] = key;
        model_counter *c = &m->counters[i];
        if (isnan(value)) {
            c->nans++;
            continue;
        }
        c->min = !c->count || value < c->min ? value : c->min;
        c->max = !c->count || value > c->max ? value : c->max;
        c->count++;
        c->last = value;
        c->sum += value;
    }
}

/* One end of a link: the open path of a thread in each view, in one configuration. */
typedef struct model_link_end {
    int is_set, config, path[MODEL_VIEWS];
} model_link_end;

static model_link_end model_link_out(const model *m, int thread)
{
    model_link_end p = {model_attached(m) != 0, m->config, {0}};
    for (int v = 0; v < MODEL_VIEWS; v++)
        p.path[v] = model_innermost(m, v, thread);
    return p;
}

static void model_link_in(model *m, const model_link_end *p, int thread,
                          int kind)
{
    if (!p->is_set || !model_trees(m))
        return;
    if (p->config != m->config) {
        m->health.lost_links++;
        return;
    }
    for (int v = 0; v < MODEL_VIEWS; v++) {
        uint32_t stage = (uint32_t)m->stage_count;
        int to = model_innermost(m, v, thread);
        if (to == NOWHERE || p->path[v] == NOWHERE)
            continue;
        int i = 0;
        while (i < m->link_count &&
               (m->links[i].from != p->path[v] || m->links[i].to != to ||
                m->links[i].kind != kind || m->links[i].stage != stage))
            i++;
        if (i == m->link_count)
            m->links[m->link_count++] = (model_link){
                m->views[v].serial, p->path[v], to, kind, stage, 0};
        m->links[i].count++;
    }
}

/* ---- Stages and steps --------------------------------------------------------- */

/* Times since the last step count in this step, or in none. */
static void model_steps_begin(model *m)
{
    for (int v = 0; v < MODEL_VIEWS; v++)
        memset(m->views[v].step_time, 0, sizeof m->views[v].step_time);
    m->step_since = m->now;
}

/* Cycles of traces end and begin; those of a stage end with it. */
static void model_cycles_move(model *m, int is_stage_over)
{
    uint64_t steps = model_stage_now(m)->steps;
    for (int v = 0; v < MODEL_VIEWS; v++) {
        model_view *view = &m->views[v];
        if (!view->serial || !view->has_trace)
            continue;
        int was = view->cycle_at, is = model_cycle_at(view->schedule, steps);
        view->cycle_at =
            is_stage_over && model_is_scheduled(view->schedule) ? 0 : is;
        if (view->cycle_at == was)
            continue;
        if (was)
            view->given += (uint64_t)view->has_ready;
        view->cycle += view->cycle_at != 0;
    }
}

/* The thread has ended the step from `begin` to now: views that were attached and
 * recorded since its begin have it. */
static void model_steps_take(model *m, int thread, uint64_t begin)
{
    const model_stage *s = model_stage_now(m);
    for (int v = 0; v < MODEL_VIEWS; v++) {
        model_view *view = &m->views[v];
        model_step_of *step = &m->steps[m->step_count];
        if (view->serial && view->has_steps && view->came <= begin &&
            model_is_window(model_tree_schedule(view), s->steps)) {
            *step = (model_step_of){.view = view->serial,
                                    .thread = thread,
                                    .stage = (uint32_t)m->stage_count,
                                    .number = s->steps,
                                    .begin = begin,
                                    .ns = m->now - begin};
            memcpy(step->region, view->step_time, sizeof step->region);
            m->step_count++;
        }
    }
    model_steps_begin(m);
}

/* What has ended was reported, if it was kept. */
static void model_reported(model *m)
{
    for (int i = 0; i < m->event_count; i++) {
        model_event *e = &m->events[i];
        for (int v = 0; !e->is_told && v < MODEL_VIEWS; v++)
            if (e->view == m->views[v].serial)
                e->is_dropped = e->begin < m->views[v].kept_since;
        e->is_told = 1;
    }
}

static void model_stage_over(model *m)
{
    model_stage *s = model_stage_now(m);
    int is_short = model_is_cut_short(m, 0);
    for (int i = 0; i < m->recorded_count; i++)
        if (is_short && m->recorded[i].stage == (uint32_t)m->stage_count)
            m->recorded[i].ns -= m->recorded[i].idle;
    s->is_over = 1;
    s->ended = is_short ? m->last_end : m->now;
    model_steps_begin(m);
    model_cycles_move(m, 1);
    model_reported(m);
    m->stage_count++;
    model_cycles_move(m, 0);
    for (int v = 0; v < MODEL_VIEWS; v++)
        m->views[v].reports += m->views[v].serial && m->views[v].has_report;
}

/* What is open goes on in the next stage; the reports of the one before have it where it
 * was at its end. */
static void model_stage_reported(model *m)
{
    for (int t = 0; t < MODEL_THREADS; t++)
        for (int v = 0; v < MODEL_VIEWS; v++)
            if (m->views[v].serial &&
                model_closed(m, v, t, 1) > MODEL_MOST_CLOSED)
                model_shorten(m, v, t, 1);
}

/* Whether the open stage has anything to report. */
static int model_stage_is_due(const model *m, uint32_t stage)
{
    const model_stage *s = &m->stages[stage - 1];
    return s->is_over || s->was_opened || s->was_marked || stage == 1;
}

static void model_stage_begin(model *m, const char *name)
{
    if (model_stage_now(m)->was_opened)
        model_stage_over(m);
    model_stage *s = model_stage_now(m);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->was_opened = 1;
    s->opened = s->step_begin = m->now;
    model_steps_begin(m);
}

static int model_stage_end(model *m)
{
    if (!model_stage_now(m)->was_opened)
        return GNOMON_ESTATE;
    model_stage_over(m);
    return GNOMON_OK;
}

/* With `keep=2steps` what began before the last two steps is missing, and so counted. */
static void model_expire(model *m, uint64_t begin)
{
    for (int v = 0; v < MODEL_VIEWS; v++) {
        model_view *view = &m->views[v];
        uint64_t kept = (uint64_t)model_kept_steps(view->keep);
        if (!view->serial || !view->has_trace || !kept)
            continue;
        view->last_steps[view->steps_seen++ % kept] = begin;
        if (view->steps_seen >= kept)
            view->kept_since = view->last_steps[view->steps_seen % kept];
    }
}

/* The first step of a stage begins where the stage is opened, or else at the stage's first
 * mark; if it has none, the step takes no time. Each later step begins with the step
 * before or the opening. */
static void model_step(model *m, int thread)
{
    if (!model_attached(m))
        return;
    model_stage *s = model_stage_now(m);
    uint64_t begin = s->step_begin;
    if (!s->steps)
        begin = s->was_opened ? s->opened : s->was_marked ? s->marked : m->now;
    uint64_t d = m->now - begin;
    s->step_min = !s->steps || d < s->step_min ? d : s->step_min;
    s->step_max = d > s->step_max ? d : s->step_max;
    s->step_total += d;
    model_steps_take(m, thread, begin);
    model_ended(m);
    model_expire(m, begin);
    s->steps++;
    m->has_steps = 1;
    s->step_begin = m->now;
    model_cycles_move(m, 0);
    for (int v = 0; v < MODEL_VIEWS; v++)
        m->views[v].steps += m->views[v].serial != 0;
}

/* ---- Threads -------------------------------------------------------------------- */

/* The thread ends with its open executions: none of them finishes, but their
 * self time is kept. `left_open` must be at least what one view saw open, at
 * most all. */
static void model_thread_over(model *m, int thread, uint64_t *least,
                              uint64_t *most)
{
    uint64_t by_view[MODEL_VIEWS] = {0};
    *least = *most = 0;
    for (int i = m->exec_count; i-- > 0;) {
        model_exec *e = &m->execs[i];
        if (e->thread != thread || e->kind == MODEL_RANGE)
            continue;
        e->config = -1; /* nobody waits for its end any more */
        if (!e->is_open)
            continue;
        *most += (uint64_t)model_seen(m, e);
        for (int v = 0; v < MODEL_VIEWS; v++) {
            if (!model_saw(m, e, v))
                continue;
            m->views[v].stops += /* GNOMON_FRAME_UNFINISHED */
                (uint64_t)e->is_hooked[v];
            if (e->path[v] == NOWHERE)
                continue;
            by_view[v]++;
            if (m->views[v].has_tree)
                model_ended(m);
            m->paths[e->path[v]].exec = NOWHERE;
            for (int p = e->path[v]; p != NOWHERE; p = m->paths[p].parent)
                m->paths[p].crossed = 1;
        }
        e->is_open = 0;
    }
    for (int v = 0; v < MODEL_VIEWS; v++)
        *least = by_view[v] > *least ? by_view[v] : *least;
    for (int r = 0; r < MODEL_REGIONS; r++)
        m->action[thread][r] = NOWHERE;
}

#endif
