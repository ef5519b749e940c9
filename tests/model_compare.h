/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares a profile with the model: every path, in both directions, with
 * its numbers and its histogram; open scopes, links, counters, stages. Uses
 * only the public readers. */
#ifndef GNOMON_TESTS_MODEL_COMPARE_H
#define GNOMON_TESTS_MODEL_COMPARE_H

#include "model_events.h"
#include "probe_profile.h"

/* The generator's regions. */
static const char *model_region_name(int region);

/* What a stage of the profile covers: the open one or the one reported; each
 * finished stage by itself, as in a file; or all of one name together. */
enum model_scope { MODEL_ONE, MODEL_FILE, MODEL_NAMES };

/* Of which time its events are: all that are there now; of the stage that is over,
 * which a file has with those of all stages before; of a cycle that is over; of the run. */
enum model_time { MODEL_NOW, MODEL_STAGE, MODEL_CYCLE, MODEL_RUN, MODEL_PART };

typedef struct model_match {
    const model *m;
    const gnomon_profile *p;
    enum model_scope scope;
    enum model_time time;
    const model_view *of;
    int cycle;             /* for MODEL_CYCLE */
    int view;              /* its serial */
    int path[MODEL_NODES]; /* of the model, by number in the profile */
    gnomon_node_info node[MODEL_NODES];
    gnomon_stage_info stages[MODEL_STAGES];
    size_t node_count, stage_count;
} model_match;

static model_match model_x;

/* The sums of a path over the model's stages that are one stage in the
 * profile. */
typedef struct model_sum {
    uint64_t count, late, total, self, min, max;
    int first, is_open;
} model_sum;

/* The cell of a duration, by search: 32 cells of one ns, then 16 an octave. */
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

/* ---- Stages ---------------------------------------------------------------------- */

/* Whether the profile's stage `number` covers the model's `stage`. */
static int model_is_in(const model_match *x, size_t number, uint32_t stage)
{
    const gnomon_stage_info *s = &x->stages[number];
    if (x->scope != MODEL_NAMES)
        return s->ordinal == stage;
    return strcmp(x->m->stages[stage - 1].name, s->name) == 0 &&
           model_stage_is_due(x->m, stage);
}

/* 0: not in the profile */
static size_t model_stage_number(const model_match *x, uint32_t stage)
{
    size_t i = 1;
    while (i <= x->stage_count && !model_is_in(x, i, stage))
        i++;
    return i <= x->stage_count ? i : 0;
}

static uint64_t model_late_in(const model_match *x, uint32_t stage)
{
    uint64_t late = 0;
    for (int i = 0; i < x->m->node_count; i++) {
        const model_node *n = &x->m->nodes[i];
        if (n->stage == stage && x->m->paths[n->path].view == x->view)
            late += n->late;
    }
    return late;
}

/* Whether it is the open stage, which ends with the last end. */
static int model_is_open_short(const model_match *x, uint32_t stage)
{
    return !x->m->stages[stage - 1].is_over &&
           model_is_cut_short(x->m, x->view);
}

static uint64_t model_recorded_in(const model_match *x, uint32_t stage)
{
    for (int i = 0; i < x->m->recorded_count; i++)
        if (x->m->recorded[i].view == x->view &&
            x->m->recorded[i].stage == stage)
            return x->m->recorded[i].ns -
                   (model_is_open_short(x, stage) ? x->m->recorded[i].idle : 0);
    return 0;
}

/* A cycle has its own steps, and so has a trace that came after the first step. */
static int model_has_own_steps(const model_match *x)
{
    return x->time == MODEL_CYCLE ||
           (x->of->has_trace && x->of->came_late && x->time != MODEL_STAGE);
}

static int model_same_stage(const model_match *x, size_t number)
{
    const gnomon_stage_info *s = &x->stages[number];
    uint64_t begin = UINT64_MAX, end = 0, late = 0, recorded = 0;
    model_stage all = {.step_min = UINT64_MAX};
    uint32_t count = 0, last = 0;
    int ok = 1, is_over = 1;
    for (uint32_t i = 1; i <= (uint32_t)x->m->stage_count; i++) {
        const model_stage *o = &x->m->stages[i - 1];
        if (!model_is_in(x, number, i))
            continue;
        uint64_t its = model_begin_of(x->m, o);
        begin = its < begin ? its : begin;
        end = o->is_over                  ? o->ended
              : model_is_open_short(x, i) ? x->m->last_end
                                          : x->m->now;
        is_over = o->is_over;
        last = i;
        count++;
        late += model_late_in(x, i);
        recorded += model_recorded_in(x, i);
        all.steps += o->steps;
        all.step_total += o->step_total;
        if (o->steps && o->step_min < all.step_min)
            all.step_min = o->step_min;
        if (o->steps && o->step_max > all.step_max)
            all.step_max = o->step_max;
    }
    if (!CHECK(count > 0))
        return 0;
    ok &= CHECK_STR(s->name, x->m->stages[last - 1].name);
    ok &= CHECK_EQ(s->ordinal, last) & CHECK_EQ(s->count, count);
    ok &= CHECK_EQ(s->ended, is_over) & CHECK_EQ(s->late, late);
    ok &= CHECK_EQ(s->begin_ns, begin) & CHECK_EQ(s->end_ns, end);
    ok &= CHECK_EQ(s->recorded_ns, recorded);
    if (model_has_own_steps(x))
        return ok;
    ok &= CHECK_EQ(s->steps == NULL, all.steps == 0);
    if (!s->steps || !ok)
        return ok;
    ok &= CHECK_EQ(s->steps->count, all.steps);
    ok &= CHECK_EQ(s->steps->total_ns, all.step_total);
    ok &= CHECK_EQ(s->steps->min_ns, all.step_min);
    ok &= CHECK_EQ(s->steps->max_ns, all.step_max);
    return ok;
}

/* Each expected stage is there once. `since`: the first of a file. */
static int model_same_stages(const model_match *x, uint32_t since)
{
    int ok = 1;
    size_t numbers = 0;
    for (size_t i = 1; i <= x->stage_count; i++)
        ok = ok && model_same_stage(x, i);
    if (x->scope == MODEL_ONE)
        return ok & CHECK_EQ(x->stage_count, 1);
    for (uint32_t i = 1; ok && i <= (uint32_t)x->m->stage_count; i++) {
        if (x->scope == MODEL_FILE ? i < since || !x->m->stages[i - 1].is_over
                                   : !model_stage_is_due(x->m, i))
            continue;
        size_t number = model_stage_number(x, i);
        ok &= CHECK(number != 0);
        numbers += x->stages[number].ordinal == i;
    }
    return ok & CHECK_EQ(numbers, x->stage_count);
}

/* ---- Nodes ----------------------------------------------------------------------- */

static model_sum model_sum_of(const model_match *x, int path, size_t number,
                              uint64_t *cells)
{
    const model *m = x->m;
    model_sum sum = {.min = UINT64_MAX};
    for (int n = 0; n < m->node_count; n++) {
        const model_node *node = &m->nodes[n];
        if (node->path != path || !model_is_in(x, number, node->stage))
            continue;
        sum.count += node->count;
        sum.late += node->late;
        sum.self += node->self;
        if (node->first && (!sum.first || node->first < sum.first))
            sum.first = node->first;
        for (int i = 0; node->count && i < m->event_count; i++) {
            const model_event *e = &m->events[i];
            if (e->node != n)
                continue;
            sum.total += e->ns;
            sum.min = e->ns < sum.min ? e->ns : sum.min;
            sum.max = e->ns > sum.max ? e->ns : sum.max;
            if (cells)
                cells[model_cell(e->ns)]++;
        }
    }
    int exec = m->paths[path].exec;
    sum.is_open =
        exec != NOWHERE && model_is_in(x, number, m->execs[exec].stage);
    sum.min = sum.count ? sum.min : 0;
    return sum;
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
    int thread = model_thread_of(x->p, n->track);
    int parent = n->parent ? x->path[n->parent] : NOWHERE;
    for (int i = 0; i < x->m->path_count; i++) {
        const model_path *o = &x->m->paths[i];
        if (o->view == x->view && o->thread == thread && o->parent == parent &&
            o->is_range == !!(n->flags & GNOMON_NODE_RANGE) &&
            strcmp(model_region_name(o->region), node_name(x->p, n)) == 0)
            return i;
    }
    return NOWHERE;
}

/* The node of a path in a stage of the profile; 0: there is none. */
static size_t model_node_at(const model_match *x, int path, size_t stage)
{
    size_t i = 1;
    while (i <= x->node_count &&
           (x->path[i] != path || x->node[i].stage != stage))
        i++;
    return i <= x->node_count ? i : 0;
}

static int model_same_cells(const gnomon_stats *s, uint64_t *cells,
                            uint64_t count)
{
    int ok = 1;
    for (size_t i = 0; i < s->cell_count; i++) {
        uint64_t *cell = &cells[s->cells[i].cell & 1023];
        ok &= CHECK_EQ(s->cells[i].count, *cell);
        count -= *cell;
        *cell = 0;
    }
    return ok & CHECK_EQ(count, 0); /* so no cell is missing */
}

/* Where what is open on a path counts; 0: in no stage of the profile. What moved to the
 * path at a stage's end has no times on it before it ends, and so no node of that stage. */
static size_t model_open_at(const model_match *x, int path)
{
    int exec = x->m->paths[path].exec;
    size_t stage = model_stage_number(x, x->m->execs[exec].stage);
    return x->m->paths[path].crossed && !model_node_at(x, path, stage) ? 0
                                                                       : stage;
}

/* Whether what is open on a path goes on elsewhere after the stage that is reported. */
static int model_moves(const model_match *x, int path)
{
    const int exec = x->m->paths[path].exec, v = (int)(x->of - x->m->views);
    return exec != NOWHERE && model_closed(x->m, v, x->m->execs[exec].thread,
                                           1) > MODEL_MOST_CLOSED;
}

static int model_same_node(const model_match *x, size_t number)
{
    static uint64_t cells[1024];
    const gnomon_node_info *n = &x->node[number];
    int path = x->path[number], exec = x->m->paths[path].exec;
    int ok = CHECK(model_node_at(x, path, n->stage) ==
                   number); /* all but one of them */
    ok &=
        CHECK_EQ(!!(n->flags & GNOMON_NODE_OTHER), model_is_other(x->m, path));
    if (n->parent && n->stage && x->node[n->parent].stage != n->stage)
        ok &= CHECK(!x->node[n->parent].stage &&
                    !model_node_at(x, x->path[n->parent], n->stage));
    if (!n->stage) { /* it leads to others, or its stage is left out */
        int is_open = exec != NOWHERE && !model_open_at(x, path);
        ok &= CHECK(!n->host);
        return ok & (x->scope == MODEL_FILE || CHECK_EQ(n->open, is_open));
    }
    memset(cells, 0, sizeof cells);
    model_sum sum = model_sum_of(x, path, n->stage, cells);
    if (!CHECK(n->host != NULL))
        return 0;
    ok &= CHECK_EQ(n->host->count, sum.count);
    ok &= CHECK_EQ(n->host->total_ns, sum.total);
    ok &= CHECK_EQ(n->host->self_ns, sum.self);
    ok &= CHECK_EQ(n->host->min_ns, sum.min);
    ok &= CHECK_EQ(n->host->max_ns, sum.max);
    ok &= model_same_cells(n->host, cells, sum.count);
    ok &= CHECK_EQ(n->first != 0, sum.first != 0);
    if (x->scope != MODEL_FILE)
        ok &= CHECK_EQ(n->open, sum.is_open);
    if (n->flags & GNOMON_NODE_CROSSED)
        ok &= CHECK(x->m->paths[path].crossed || x->m->health.crossed ||
                    model_moves(x, path));
    for (size_t i = 1; x->scope == MODEL_ONE && i < number; i++) {
        int first =
            x->node[i].stage ? model_sum_of(x, x->path[i], 1, NULL).first : 0;
        if (sum.first && first && sum.first != first && !x->m->has_no_order)
            ok &= CHECK_EQ(x->node[i].first < n->first, first < sum.first);
    }
    if (!ok)
        fprintf(stderr, "    node %zu: %s, stage %u, path %d\n", number,
                node_name(x->p, n), (unsigned)n->stage, path);
    return ok;
}

/* Every path with executions, or an open one, is there. */
static int model_has_all(const model_match *x)
{
    int ok = 1;
    for (int i = 0; i < x->m->path_count; i++) {
        if (x->m->paths[i].view != x->view)
            continue;
        for (size_t s = 1; s <= x->stage_count; s++) {
            model_sum sum = model_sum_of(x, i, s, NULL);
            int is_open = sum.is_open && model_open_at(x, i) == s;
            if ((sum.count || sum.self || is_open) &&
                !CHECK(model_node_at(x, i, s)))
                ok = !fprintf(stderr, "    no node of %s, stage %zu, path %d\n",
                              model_region_name(x->m->paths[i].region), s, i);
        }
    }
    return ok;
}

/* ---- Opens, links, counters -------------------------------------------------------- */

static int model_same_opens(const model_match *x)
{
    int ok = 1;
    size_t opens = 0, count = gnomon_profile_count(x->p, GNOMON_OPENS);
    for (size_t i = 1; i <= count; i++) {
        gnomon_open_info o;
        gnomon_profile_open(x->p, i, &o);
        int exec = x->m->paths[x->path[o.node]].exec;
        if (CHECK(exec != NOWHERE))
            ok &= CHECK_EQ(o.begin_ns, x->m->execs[exec].begin);
    }
    for (int i = 0; i < x->m->path_count; i++)
        opens +=
            x->m->paths[i].view == x->view && x->m->paths[i].exec != NOWHERE;
    return ok & CHECK_EQ(count, opens);
}

/* An edge between two paths, in any stage of the profile. */
static int model_same_links(const model_match *x)
{
    int ok = 1;
    uint64_t expected = 0, all = 0;
    size_t count = gnomon_profile_count(x->p, GNOMON_LINKS);
    for (size_t k = 1; k <= count; k++) {
        gnomon_link_info info;
        gnomon_profile_link(x->p, k, &info);
        all += info.count;
    }
    for (int i = 0; i < x->m->link_count; i++) {
        const model_link *l = &x->m->links[i];
        if (l->view != x->view || !model_stage_number(x, l->stage))
            continue;
        expected += l->count;
        uint64_t found = 0, its = 0;
        for (int k = 0; k < x->m->link_count; k++) {
            const model_link *o = &x->m->links[k];
            if (o->from == l->from && o->to == l->to && o->kind == l->kind &&
                model_stage_number(x, o->stage))
                its += o->count;
        }
        for (size_t k = 1; k <= count; k++) {
            gnomon_link_info info;
            gnomon_profile_link(x->p, k, &info);
            if (x->path[info.from] == l->from && x->path[info.to] == l->to &&
                (int)info.kind == l->kind)
                found += info.count;
        }
        ok &= CHECK_EQ(found, its);
    }
    return ok & CHECK_EQ(all, expected);
}

static model_counter model_counter_in(const model_match *x,
                                      const model_counter *of, size_t stage)
{
    model_counter sum = {.view = 0};
    for (int i = 0; i < x->m->counter_count; i++) {
        const model_counter *c = &x->m->counters[i];
        if (c->view != x->view || c->thread != of->thread ||
            c->region != of->region || !model_is_in(x, stage, c->stage))
            continue;
        sum.nans += c->nans;
        if (!c->count)
            continue;
        sum.min = !sum.count || c->min < sum.min ? c->min : sum.min;
        sum.max = !sum.count || c->max > sum.max ? c->max : sum.max;
        sum.last = c->last; /* they are sorted by stage */
        sum.sum += c->sum;
        sum.count += c->count;
    }
    return sum;
}

static int model_same_counters(const model_match *x)
{
    int ok = 1;
    for (int i = 0; i < x->m->counter_count; i++) {
        const model_counter *c = &x->m->counters[i];
        size_t number = model_stage_number(x, c->stage), found = 0;
        if (c->view != x->view || !number)
            continue;
        model_counter sum = model_counter_in(x, c, number);
        for (size_t k = 1; k <= gnomon_profile_count(x->p, GNOMON_COUNTERS);
             k++) {
            gnomon_counter_info info;
            gnomon_region_info region;
            gnomon_profile_counter(x->p, k, &info);
            gnomon_profile_region(x->p, info.region, &region);
            if (model_thread_of(x->p, info.track) != c->thread ||
                info.stage != number ||
                strcmp(region.name, model_region_name(c->region)) != 0)
                continue;
            found++;
            ok &= CHECK_EQ(info.count, sum.count);
            ok &= CHECK_EQ(info.nans, sum.nans);
            ok &= CHECK(info.last == sum.last && info.min == sum.min &&
                        info.max == sum.max && info.sum == sum.sum);
        }
        ok &= CHECK_EQ(found, 1);
    }
    return ok;
}

/* ---- Which profile -------------------------------------------------------------- */

/* Finds the model's paths in `p`. NULL: some are in the profile alone. */
static model_match *model_match_of(const model *m, int number,
                                   const gnomon_profile *p,
                                   enum model_scope scope, enum model_time time)
{
    model_match *x = &model_x;
    const model_view *v = &m->views[number];
    x->time = time;
    x->of = v;
    x->m = m;
    x->p = p;
    x->view = v->serial;
    x->scope = scope;
    x->node_count = gnomon_profile_count(p, GNOMON_NODES);
    x->stage_count = gnomon_profile_count(p, GNOMON_STAGES);
    if (!CHECK(x->node_count < MODEL_NODES && x->stage_count < MODEL_STAGES))
        return NULL;
    for (size_t i = 1; i <= x->stage_count; i++)
        gnomon_profile_stage(p, i, &x->stages[i]);
    for (size_t i = 1; i <= x->node_count; i++) {
        gnomon_profile_node(p, i, &x->node[i]);
        x->path[i] = model_find(x, &x->node[i]);
        if (!CHECK(x->path[i] != NOWHERE))
            return NULL;
    }
    return x;
}

#include "model_steps.h"
#include "model_trace.h"

/* ---- The whole profile --------------------------------------------------- */

/* Whether `p` is what view `number` of the model must show. */
static int model_compare(const model *m, int number, const gnomon_profile *p,
                         enum model_scope scope, enum model_time time)
{
    const model_match *x = model_match_of(m, number, p, scope, time);
    const model_view *v = &m->views[number];
    int ok = x && model_same_stages(x, v->since);
    for (size_t i = 1; ok && i <= x->node_count; i++)
        ok = model_same_node(x, i);
    ok = ok && model_has_all(x) && model_same_counters(x);
    ok = ok && model_same_links(x);
    ok = ok && (model_has_own_steps(x) || model_same_steps(x));
    ok = ok && model_same_trace(x);
    if (scope != MODEL_FILE)
        ok = ok && model_same_opens(x);
    return ok;
}

#endif
