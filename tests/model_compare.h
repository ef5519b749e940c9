/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds a profile against the model: every path, in both directions, with its
 * numbers and its histogram; open scopes, links, counters, stages. Reads through
 * the public readers alone. */
#ifndef GNOMON_TESTS_MODEL_COMPARE_H
#define GNOMON_TESTS_MODEL_COMPARE_H

#include "model_facts.h"

/* The generator's regions. */
static const char *model_region_name(int region);

typedef struct model_match {
    const model *m;
    const gnomon_profile *p;
    int view;              /* serial */
    uint32_t only;         /* the stage, or 0: all */
    int node[MODEL_NODES]; /* of the model, by number in the profile */
    uint64_t first[MODEL_NODES];
} model_match;

/* The cell of a duration, by trying: 32 of one ns, then 16 an octave. */
static uint32_t model_cell(uint64_t ns)
{
    uint32_t cell = 0;
    uint64_t width = 1, low = 0;
    for (; ns - low >= width; cell++) {
        low += width;
        if (cell + 1 >= 32 && (cell + 1) % 16 == 0)
            width *= 2;
    }
    return cell;
}

static int model_counted(const model *m, int node)
{
    for (int i = 0; i < m->event_count; i++)
        if (m->events[i].node == node)
            return 1;
    return 0;
}

static int model_stage_taken(const model_match *x, uint32_t stage)
{
    return !x->only || stage == x->only;
}

/* A path is in the profile if something ended or is open in it in the stage, or
 * in a path below. */
static int model_taken(const model_match *x, int node)
{
    const model *m = x->m;
    const model_node *n = &m->nodes[node];
    if (model_stage_taken(x, n->stage) &&
        (n->exec != NOWHERE || model_counted(m, node)))
        return 1;
    for (int i = 0; i < m->node_count; i++)
        if (m->nodes[i].parent == node && model_taken(x, i))
            return 1;
    return 0;
}

static int model_thread_of(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info t;
    int thread = NOWHERE;
    if (!gnomon_profile_track(p, track, &t))
        sscanf(t.name, "w%d", &thread);
    return thread;
}

static int model_find(const model_match *x, const gnomon_node_info *n)
{
    const model *m = x->m;
    gnomon_stage_info s = {0};
    if (n->stage)
        gnomon_profile_stage(x->p, n->stage, &s);
    int thread = model_thread_of(x->p, n->track);
    int parent = n->parent ? x->node[n->parent] : NOWHERE;
    for (int i = 0; i < m->node_count; i++) {
        const model_node *o = &m->nodes[i];
        if (o->view == x->view && o->thread == thread && o->parent == parent &&
            o->is_range == !!(n->flags & GNOMON_NODE_RANGE) &&
            (n->stage ? o->stage == s.ordinal
                      : !model_stage_taken(x, o->stage) && model_taken(x, i)) &&
            strcmp(model_region_name(o->region), node_name(x->p, n)) == 0)
            return i;
    }
    return NOWHERE;
}

static int model_same_stats(const model *m, int node, const gnomon_stats *s)
{
    static uint64_t cells[1024];
    uint64_t count = 0, total = 0, min = UINT64_MAX, max = 0;
    int ok = 1;
    memset(cells, 0, sizeof cells);
    for (int i = 0; i < m->event_count; i++) {
        const model_event *e = &m->events[i];
        if (e->node != node)
            continue;
        count++;
        total += e->ns;
        min = e->ns < min ? e->ns : min;
        max = e->ns > max ? e->ns : max;
        cells[model_cell(e->ns)]++;
    }
    ok &= CHECK_EQ(s->count, count) & CHECK_EQ(s->total_ns, total);
    ok &= CHECK_EQ(s->self_ns, m->nodes[node].self);
    ok &= CHECK_EQ(s->min_ns, count ? min : 0) & CHECK_EQ(s->max_ns, max);
    for (size_t i = 0; i < s->cell_count; i++) {
        uint64_t *cell = &cells[s->cells[i].cell & 1023];
        ok &= CHECK_EQ(s->cells[i].count, *cell);
        count -= *cell;
        *cell = 0;
    }
    return ok & CHECK_EQ(count, 0); /* so no cell is missing */
}

static int model_same_node(model_match *x, size_t number)
{
    gnomon_node_info n;
    gnomon_profile_node(x->p, number, &n);
    int node = x->node[number] = model_find(x, &n);
    x->first[number] = n.first;
    if (!CHECK(node != NOWHERE))
        return 0;
    const model_node *o = &x->m->nodes[node];
    int ok = CHECK(model_taken(x, node));
    ok &= CHECK_EQ(n.open, o->exec != NOWHERE);
    ok &= CHECK_EQ(n.first != 0, o->first != 0);
    if (n.flags & GNOMON_NODE_CROSSED)
        ok &= CHECK(o->crossed || x->m->health.crossed);
    ok &= CHECK_EQ(n.host != NULL, model_stage_taken(x, o->stage));
    if (n.host)
        ok &= model_same_stats(x->m, node, n.host);
    for (size_t i = 1; i < number; i++) {
        const model_node *b = &x->m->nodes[x->node[i]];
        ok &= CHECK(x->node[i] != node);
        if (o->first && b->first && o->first != b->first)
            ok &= CHECK_EQ(x->first[i] < n.first, b->first < o->first);
    }
    return ok;
}

static int model_same_opens(const model_match *x)
{
    int ok = 1;
    size_t opens = 0, count = gnomon_profile_count(x->p, GNOMON_OPENS);
    for (size_t i = 1; i <= count; i++) {
        gnomon_open_info o;
        gnomon_profile_open(x->p, i, &o);
        int exec = x->m->nodes[x->node[o.node]].exec;
        if (CHECK(exec != NOWHERE))
            ok &= CHECK_EQ(o.begin_ns, x->m->execs[exec].begin);
    }
    for (int i = 0; i < x->m->node_count; i++)
        opens += x->m->nodes[i].view == x->view &&
                 x->m->nodes[i].exec != NOWHERE && model_taken(x, i);
    return ok & CHECK_EQ(count, opens);
}

static int model_same_links(const model_match *x)
{
    int ok = 1;
    size_t links = 0, count = gnomon_profile_count(x->p, GNOMON_LINKS);
    for (int i = 0; i < x->m->link_count; i++) {
        const model_link *l = &x->m->links[i];
        if (l->view != x->view || !model_taken(x, l->from) ||
            !model_taken(x, l->to))
            continue;
        links++;
        uint64_t found = 0;
        for (size_t k = 1; k <= count; k++) {
            gnomon_link_info info;
            gnomon_profile_link(x->p, k, &info);
            if (x->node[info.from] == l->from && x->node[info.to] == l->to &&
                (int)info.kind == l->kind)
                found = info.count;
        }
        ok &= CHECK_EQ(found, l->count);
    }
    return ok & CHECK_EQ(count, links);
}

static int model_same_counters(const model_match *x)
{
    int ok = 1;
    size_t counters = 0, count = gnomon_profile_count(x->p, GNOMON_COUNTERS);
    for (int i = 0; i < x->m->counter_count; i++) {
        const model_counter *c = &x->m->counters[i];
        if (c->view != x->view || !model_stage_taken(x, c->stage))
            continue;
        counters++;
        int found = 0;
        for (size_t k = 1; k <= count; k++) {
            gnomon_counter_info info;
            gnomon_region_info region;
            gnomon_stage_info stage;
            gnomon_profile_counter(x->p, k, &info);
            gnomon_profile_region(x->p, info.region, &region);
            gnomon_profile_stage(x->p, info.stage, &stage);
            if (model_thread_of(x->p, info.track) != c->thread ||
                stage.ordinal != c->stage ||
                strcmp(region.name, model_region_name(c->region)) != 0)
                continue;
            found++;
            ok &= CHECK_EQ(info.count, c->count);
            ok &= CHECK(info.last == c->last && info.min == c->min &&
                        info.max == c->max && info.sum == c->sum);
        }
        ok &= CHECK_EQ(found, 1);
    }
    return ok & CHECK_EQ(count, counters);
}

static int model_same_stages(const model_match *x)
{
    int ok = 1;
    for (size_t i = 1; i <= gnomon_profile_count(x->p, GNOMON_STAGES); i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(x->p, i, &s);
        if (!CHECK(s.ordinal >= 1 && (int)s.ordinal <= x->m->stage_count))
            return 0;
        const model_stage *o = &x->m->stages[s.ordinal - 1];
        uint64_t end = o->is_over ? o->ended : x->m->now;
        uint64_t begin = o->was_opened ? o->opened : end;
        if (o->was_marked && o->marked < begin)
            begin = o->marked;
        ok &= CHECK_STR(s.name, o->name) & CHECK_EQ(s.ended, o->is_over);
        ok &= CHECK_EQ(s.begin_ns, begin) & CHECK_EQ(s.end_ns, end);
        ok &= CHECK_EQ(s.steps == NULL, o->steps == 0);
        if (!s.steps)
            continue;
        ok &= CHECK_EQ(s.steps->count, o->steps);
        ok &= CHECK_EQ(s.steps->total_ns, o->step_total);
        ok &= CHECK_EQ(s.steps->min_ns, o->step_min);
        ok &= CHECK_EQ(s.steps->max_ns, o->step_max);
    }
    return ok & CHECK_EQ(gnomon_profile_count(x->p, GNOMON_STAGES),
                         x->only ? 1 : x->m->stage_count);
}

/* Whether view `place` of the model is what `profiler` has to show. */
static int model_compare(const model *m, int place, const char *profiler,
                         int all_stages)
{
    static model_match x;
    gnomon_profile *p = profile_of(profiler, all_stages);
    if (!p)
        return 0;
    x.m = m;
    x.p = p;
    x.view = m->views[place].serial;
    x.only = all_stages ? 0 : (uint32_t)m->stage_count;
    size_t count = gnomon_profile_count(p, GNOMON_NODES), taken = 0;
    int ok = CHECK(count < MODEL_NODES);
    for (size_t i = 1; ok && i <= count; i++)
        ok = model_same_node(&x, i);
    for (int i = 0; ok && i < m->node_count; i++)
        taken += m->nodes[i].view == x.view && model_taken(&x, i);
    ok = ok && CHECK_EQ(count, taken);
    ok = ok && model_same_opens(&x) && model_same_links(&x) &&
         model_same_counters(&x) && model_same_stages(&x);
    gnomon_profile_free(p);
    return ok;
}

#endif
