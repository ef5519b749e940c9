/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A part is added kind after kind, in the order of a file: so whatever an entity names has
 * its number when it is added. For each kind a function says whether an entity of the part
 * is wanted, and as what.
 *
 * Invariant: whatever is united has a number, whatever names it names that, and no two of
 * a kind have the same key, but for what happened at a moment. */
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "merge/united.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fields.h"

/* gnomon__fold's `keep`: each text is kept once. */
static int keep_item(gnomon__fold *f, int entity, void *of)
{
    gnomon__unite *u = (gnomon__unite *)(void *)f;
    gnomon__copier copier = {f->m, gnomon__copy_once, &u->texts, NULL};
    return gnomon__copy_inside(&copier, &gnomon__structs[entity], of);
}

/* Whether what is of that stage is wanted, 0 being none. */
static int is_of_stage(const gnomon__united_part *part, uint32_t stage)
{
    if (!part->only)
        return 1;
    return part->only->name ? part->map.of[GNOMON_STAGES][stage] != 0 : !stage;
}

/* Whether a node, by the part's numbers, is of the wanted stage and view. */
static int is_chosen(const gnomon__united_part *part, const gnomon_node_info *n)
{
    return is_of_stage(part, n->stage) &&
           (!part->only || !n->view || part->only->view == GNOMON__ALL_VIEWS ||
            part->map.of[GNOMON_VIEWS][n->view] == part->only->view);
}

/* Says that the times of a node, by its united number, do not add up. */
static void set_partial(const gnomon__united_part *part, uint32_t node)
{
    gnomon_node_info *n = gnomon__model_at(part->u->fold.m, GNOMON_NODES, node);
    n->flags |= GNOMON_NODE_PARTIAL;
}

/* ---- The filter ---------------------------------------------------------------------
 *
 * It acts on the numbers of a part while that is added: a node that is left out has the
 * number of the scope around it. */

/* Of a node of the part: in part->state. */
#define LEFT_OUT 1u
#define LEFT_OUT_RANGE 2u
/* Its times, or those of the kept node around it, are in. */
#define INSIDE_TIMES 4u

/* Before nodes: asks the filter for each region. */
static int begin_filter(gnomon__united_part *part)
{
    const gnomon__filter *filter = part->u->filter;
    gnomon_region_info region;
    if (!filter)
        return GNOMON_OK;
    part->is_taken = gnomon__alloc(part->count[GNOMON_REGIONS] + 1);
    part->state = gnomon__alloc(part->count[GNOMON_NODES] + 1);
    if (!part->is_taken || !part->state)
        return gnomon__no_memory_to_merge();
    for (size_t i = 1; i <= part->count[GNOMON_REGIONS]; i++) {
        gnomon_profile_region(part->p, i, &region);
        part->is_taken[i] =
            gnomon__filter_takes(filter, region.name, region.category) != 0;
    }
    return GNOMON_OK;
}

/* Whether a counter's region is taken; it is counted if it is not. */
static int filter_counter(const gnomon__united_part *part, uint32_t region)
{
    if (gnomon__filter_has(part, region))
        return 1;
    part->u->left_out |= 1u << GNOMON_COUNTERS;
    return 0;
}

static int is_left_out(const gnomon__united_part *part, uint32_t node)
{
    return part->state && part->state[node] & LEFT_OUT;
}

/* Whether the times of the scope around a node no longer add up once it is left out. */
static int breaks_sums(const gnomon_node_info *n, int blocks)
{
    return !blocks || !n->host || n->open ||
           n->flags &
               (GNOMON_NODE_CROSSED | GNOMON_NODE_PARTIAL | GNOMON_NODE_CLOCK);
}

/* Whether a node that was chosen is taken, its parent being added or left out; `blocks`:
 * it has its own times. 1, 0, or -1: no memory. */
static int filter_node(gnomon__united_part *part, const gnomon_node_info *n,
                       int blocks)
{
    const size_t number = part->number;
    uint32_t *node = part->map.of[GNOMON_NODES];
    const uint32_t around = node[n->parent];
    const int is_range = (n->flags & GNOMON_NODE_RANGE) != 0;
    if (!part->state)
        return 1;
    const unsigned outer = part->state[n->parent];
    /* A range is in no time of what is around it, and now what is inside it is. */
    if (around && outer & LEFT_OUT_RANGE && !is_range)
        set_partial(part, around);
    if (part->is_taken[n->region]) {
        part->state[number] = blocks && n->host ? INSIDE_TIMES : 0;
        return 1;
    }
    node[number] = around;
    part->state[number] =
        (unsigned char)(LEFT_OUT | (is_range ? LEFT_OUT_RANGE : 0) |
                        (outer & INSIDE_TIMES));
    if (blocks && (n->device || (n->host && n->host->count)))
        part->u->left_out |= 1u << GNOMON_NODES;
    if (is_range || !around)
        return 0;
    if (breaks_sums(n, blocks))
        set_partial(part, around);
    return blocks && n->host && outer & INSIDE_TIMES &&
                   gnomon__fold_add_self(&part->u->fold, around,
                                         n->host->self_ns)
               ? -1
               : 0;
}

/* ---- Links ------------------------------------------------------------------------- */

static int is_in(const gnomon__united_part *part, uint32_t node)
{
    return part->map.of[GNOMON_NODES][node] || is_left_out(part, node);
}

/* The nearest kept node above a left-out one that no kept node is around: above work
 * that was submitted is who did it. 0: none. */
static uint32_t kept_submitter(const gnomon__united_part *part, uint32_t node)
{
    const uint32_t *map = part->map.of[GNOMON_NODES];
    while (node && !map[node])
        node = part->linked[node].parent;
    return node;
}

/* A link of nodes that are left out becomes one of the nodes around them. 0: it is left
 * out. */
static int filter_link(const gnomon__united_part *part, gnomon_link_info *l)
{
    if (!part->linked)
        return 1;
    if (!is_in(part, l->from) || !is_in(part, l->to))
        return 0;
    l->from = kept_submitter(part, l->from);
    return l->from && part->map.of[GNOMON_NODES][l->to];
}

/* Where submitted work was left out, what is kept of it was submitted in its place, in
 * all its executions. */
static int add_links(gnomon__united_part *part, const unsigned char *has)
{
    const uint32_t *map = part->map.of[GNOMON_NODES];
    gnomon_node_info n;
    for (uint32_t i = 1; i <= part->count[GNOMON_NODES]; i++) {
        if (!map[i] || is_left_out(part, i) || part->linked[i].is_linked)
            continue;
        gnomon_profile_node(part->p, i, &n);
        const uint32_t from =
            map[n.parent] ? 0 : kept_submitter(part, n.parent);
        if (!from || map[from] == map[i])
            continue;
        gnomon_link_info *to = gnomon__model_add(part->u->fold.m, GNOMON_LINKS);
        if (!to)
            return gnomon__no_memory_to_merge();
        to->from = map[from];
        to->to = map[i];
        to->kind = GNOMON_LINK_SUBMIT;
        to->count = has[i] > 1 && n.host && n.host->count ? n.host->count : 1;
    }
    return GNOMON_OK;
}

/* After nodes: finds who submitted what. */
static int begin_links(gnomon__united_part *part)
{
    const size_t count = part->count[GNOMON_NODES];
    gnomon_node_info n;
    if (!part->is_taken || !part->count[GNOMON_LINKS])
        return GNOMON_OK;
    unsigned char *has = gnomon__alloc(count + 1);
    if (!has)
        return gnomon__no_memory_to_merge();
    for (uint32_t i = 1; i <= count; i++) {
        gnomon_profile_node(part->p, i, &n);
        if (is_in(part, i))
            has[i] = is_chosen(part, &n) ? 2 : 1;
    }
    part->linked = gnomon__linked_parents(has, part->p);
    const int code =
        part->linked ? add_links(part, has) : gnomon__no_memory_to_merge();
    gnomon__free(has);
    return code;
}

static void free_filter(gnomon__united_part *part)
{
    gnomon__free(part->is_taken);
    gnomon__free(part->state);
    free(part->linked);
}

static int has_rule(const gnomon__united_part *part, unsigned rule)
{
    return (part->u->fold.rules & rule) != 0;
}

/* Ranks have no common zero time, so moments of theirs are not kept in a sum. */
static int has_moments(const gnomon__united_part *part)
{
    return !has_rule(part, GNOMON__UNITE_RANKS);
}

/* ---- The run --------------------------------------------------------------------- */

/* If a run has several records, the greatest is kept (gnomon__compare_runs), with
 * its metadata. */
static int unite_run(gnomon__united_part *part)
{
    gnomon__fold *f = &part->u->fold;
    gnomon_run_info run = gnomon__no_run;
    const int is_none = has_rule(part, GNOMON__UNITE_NO_RUN);
    part->map.of[GNOMON_RUNS][part->run] = !is_none;
    if (is_none)
        return GNOMON_OK;
    if (part->run && has_moments(part) &&
        gnomon_profile_run(part->p, part->run, &run) != GNOMON_OK)
        return gnomon__shared_changed();
    gnomon_run_info *to = gnomon__model_count(f->m, GNOMON_RUNS)
                              ? gnomon__model_at(f->m, GNOMON_RUNS, 1)
                              : NULL;
    int order = to ? gnomon__compare_runs(&run, to) : 1;
    part->is_latest = order >= 0;
    if (!to && !(to = gnomon__model_add(f->m, GNOMON_RUNS)))
        return gnomon__no_memory_to_merge();
    if (order <= 0)
        return GNOMON_OK;
    f->m->tables[GNOMON_METADATA].count = 0;
    gnomon__slots_empty(&f->slots[GNOMON_METADATA]);
    *to = run;
    return keep_item(f, GNOMON_RUNS, to) ? GNOMON_OK
                                         : gnomon__no_memory_to_merge();
}

/* ---- Stages ---------------------------------------------------------------------- */

#define OF_OTHER_VIEWS UINT32_MAX /* all times of the stage */

static int is_stage_in(const gnomon__united_part *part,
                       const gnomon_stage_info *s)
{
    const gnomon__stage_filter *only = part->only;
    return s->run == part->run &&
           (!only || (only->name && strcmp(s->name, only->name) == 0 &&
                      (s->ordinal == only->ordinal ||
                       has_rule(part, GNOMON__UNITE_NAMES))));
}

/* In one view a stage was recorded as long as that view did. 0: it did not at all. */
static int is_stage_of_view(const gnomon__united_part *part,
                            gnomon_stage_info *s)
{
    gnomon_view_time_info t;
    uint32_t time = part->view_time ? part->view_time[part->number] : 0;
    if (time && time != OF_OTHER_VIEWS) {
        gnomon_profile_view_time(part->p, time, &t);
        s->recorded_ns = t.recorded_ns;
    }
    return time != OF_OTHER_VIEWS;
}

static int take_stage(gnomon__united_part *part, gnomon__any *item)
{
    gnomon_stage_info *s = &item->stage;
    if (!is_stage_in(part, s) || !is_stage_of_view(part, s))
        return 0;
    if (!part->last_stage || s->ordinal > part->last_ordinal) {
        part->last_stage = part->number;
        part->last_ordinal = s->ordinal;
    }
    if (part->only)
        s->ordinal = part->only->ordinal;
    if (!has_moments(part)) {
        s->end_ns -= s->begin_ns;
        s->begin_ns = 0;
    }
    return 1;
}

/* ---- Tracks and paths ------------------------------------------------------------- */

static int take_track(gnomon__united_part *part, gnomon__any *item)
{
    if (!has_moments(part))
        item->track.index = 0;
    return item->track.run == part->run;
}

/* Chooses the nodes of the wanted stage, and their parents. A parent of another stage is
 * kept without statistics, and a parent of a left-out child is partial: as in the
 * summary of a stage. */
static int begin_nodes(gnomon__united_part *part)
{
    gnomon__fold *f = &part->u->fold;
    uint32_t *node = part->map.of[GNOMON_NODES];
    size_t chosen = 0;
    gnomon_node_info n;
    for (size_t i = part->count[GNOMON_NODES]; i >= 1; i--) {
        gnomon_profile_node(part->p, i, &n);
        if (!part->map.of[GNOMON_TRACKS][n.track]) /* of another run */
            continue;
        if (is_chosen(part, &n))
            node[i] = 1;
        if (node[i] && n.parent)
            node[n.parent] = 1;
        chosen += node[i];
    }
    f->tracks = part->map.of[GNOMON_TRACKS];
    if (chosen && (!gnomon__model_reserve(f->m, GNOMON_NODES, chosen) ||
                   gnomon__slots_reserve(&f->slots[GNOMON_NODES], chosen)))
        return gnomon__no_memory_to_merge();
    return begin_filter(part);
}

static int take_node(gnomon__united_part *part, gnomon__any *item)
{
    gnomon_node_info *n = &item->node;
    const uint32_t *node = part->map.of[GNOMON_NODES];
    if (!part->map.of[GNOMON_TRACKS][n->track])
        return 0;
    const int is_of_another = !is_chosen(part, n);
    if (is_of_another && node[n->parent])
        set_partial(part, node[n->parent]);
    if (!node[part->number])
        return 0;
    const int is_taken = filter_node(part, n, !is_of_another);
    if (is_of_another) {
        n->host = n->device = NULL;
        n->memory_count = 0;
        n->work = NULL;
    }
    return is_taken;
}

/* ---- What happened at a moment ------------------------------------------------------ */

static int take_open(gnomon__united_part *part, gnomon__any *item)
{
    item->open.reserved = part->u->parts;
    return has_moments(part) && !is_left_out(part, item->open.node);
}

/* Of a part of which all else is added. */
static int keep_events(gnomon__united_part *part)
{
    const gnomon__stage_filter *only = part->only;
    const uint32_t *stages = part->map.of[GNOMON_STAGES];
    const size_t stage_count = only ? part->count[GNOMON_STAGES] : 0;
    if (!has_moments(part) || !part->count[GNOMON_EVENTS])
        return GNOMON_OK;
    gnomon__event_part *to = gnomon__events_add(&part->u->events, part->p);
    if (!to ||
        !(to->windows = gnomon__alloc((stage_count + 1) * sizeof *to->windows)))
        return gnomon__no_memory_to_merge();
    to->is_outside = !only || !only->name;
    for (size_t i = 1; i <= stage_count; i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(part->p, i, &s);
        if ((stages[i] || !only->name) && s.run == part->run)
            to->windows[to->window_count++] =
                (gnomon__event_window){s.begin_ns, s.end_ns};
    }
    for (uint32_t i = 1; i <= part->count[GNOMON_NODES]; i++)
        if (is_left_out(part, i))
            part->map.of[GNOMON_NODES][i] = 0;
    to->is_taken = part->is_taken;
    part->is_taken = NULL;
    to->of = part->map;
    part->map = (gnomon__numbers){{0}};
    memcpy(to->count, part->count, sizeof to->count);
    return GNOMON_OK;
}

/* ---- Links, counters, losses, metadata ---------------------------------------------- */

static int take_link(gnomon__united_part *part, gnomon__any *item)
{
    gnomon_link_info *l = &item->link;
    if (!has_moments(part)) /* nor have instances */
        l->from_instance = l->to_instance = l->from_ns = l->to_ns = 0;
    return filter_link(part, l);
}

static int take_counter(gnomon__united_part *part, gnomon__any *item)
{
    return is_of_stage(part, item->counter.stage) &&
           filter_counter(part, item->counter.region);
}

static int take_strip(gnomon__united_part *part, gnomon__any *item)
{
    return !item->strip.region || gnomon__filter_has(part, item->strip.region);
}

/* Losses of no run belong to the file; gnomon__merge_rest has them. */
static int take_loss(gnomon__united_part *part, gnomon__any *item)
{
    gnomon_loss_info *l = &item->loss;
    if (!has_moments(part))
        l->begin_ns = l->end_ns = 0;
    return l->run == part->run && (l->run || !part->count[GNOMON_RUNS]);
}

/* Its value may replace another one, so it must live as long. */
static int take_metadata(gnomon__united_part *part, gnomon__any *item)
{
    if (!has_moments(part) || !part->is_latest ||
        item->metadata.run != part->run)
        return 0;
    return keep_item(&part->u->fold, GNOMON_METADATA, item) ? 1 : -1;
}

/* ---- Times of views ------------------------------------------------------------------
 *
 * Views with different schedules record one stage for different times, and a stage has
 * room for one. So a merge keeps the time of each view by itself, and the report of a view
 * takes its own. A run that was recorded in one view gets a time for each of its stages
 * when it is merged first: so the grouping of inputs makes no difference. */

/* Finds the times of the view that is asked for, if one is. */
static int begin_stages(gnomon__united_part *part)
{
    const uint32_t *views = part->map.of[GNOMON_VIEWS];
    const uint32_t view = part->only ? part->only->view : 0;
    gnomon_view_time_info t;
    gnomon_node_info n;
    if (!view || view == GNOMON__ALL_VIEWS || !part->count[GNOMON_VIEW_TIMES])
        return GNOMON_OK;
    uint32_t *of = gnomon__alloc((part->count[GNOMON_STAGES] + 1) * sizeof *of);
    if (!(part->view_time = of))
        return gnomon__no_memory_to_merge();
    for (uint32_t i = 1; i <= part->count[GNOMON_VIEW_TIMES]; i++) {
        gnomon_profile_view_time(part->p, i, &t);
        if (views[t.view] == view)
            of[t.stage] = i;
        else if (!of[t.stage])
            of[t.stage] = OF_OTHER_VIEWS;
    }
    /* A time may be lost from a damaged file. */
    for (size_t i = 1; i <= part->count[GNOMON_NODES]; i++) {
        gnomon_profile_node(part->p, i, &n);
        if (of[n.stage] == OF_OTHER_VIEWS && n.view && views[n.view] == view)
            of[n.stage] = 0;
    }
    return GNOMON_OK;
}

/* Of one view the time is in the stage now. */
static int take_view_time(gnomon__united_part *part, gnomon__any *item)
{
    const int is_in =
        !part->only && part->map.of[GNOMON_STAGES][item->view_time.stage];
    part->has_view_times |= is_in;
    return is_in;
}

/* The run's only view; 0: it has none, or several. */
static uint32_t only_view(const gnomon__united_part *part)
{
    gnomon_node_info n;
    if (part->count[GNOMON_VIEWS] != 1)
        return 0;
    for (size_t i = 1; i <= part->count[GNOMON_NODES]; i++) {
        gnomon_profile_node(part->p, i, &n);
        if (n.view && part->map.of[GNOMON_TRACKS][n.track])
            return n.view;
    }
    return 0;
}

static int end_view_times(gnomon__united_part *part)
{
    uint32_t view = part->only || part->has_view_times || !has_moments(part)
                        ? 0
                        : only_view(part);
    for (uint32_t i = 1; view && i <= part->count[GNOMON_STAGES]; i++) {
        gnomon_stage_info s;
        if (!part->map.of[GNOMON_STAGES][i])
            continue;
        gnomon_profile_stage(part->p, i, &s);
        gnomon_view_time_info t = {.struct_size = sizeof t,
                                   .stage = part->map.of[GNOMON_STAGES][i],
                                   .view = part->map.of[GNOMON_VIEWS][view],
                                   .recorded_ns = s.recorded_ns
                                                      ? s.recorded_ns
                                                      : s.end_ns - s.begin_ns};
        if (!gnomon__fold_add(&part->u->fold, GNOMON_VIEW_TIMES, &t))
            return gnomon__no_memory_to_merge();
    }
    return GNOMON_OK;
}

/* ---- A part ----------------------------------------------------------------------- */

/* Of each kind but runs and what is shared. `take`: whether an entity, which has the
 * part's numbers, is wanted; it may change it. 1, 0, or -1: no memory. `begin` and `end`
 * return GNOMON_OK or an error. */
static const struct unite_rule {
    int (*begin)(gnomon__united_part *part);
    int (*take)(gnomon__united_part *part, gnomon__any *item);
    int (*end)(gnomon__united_part *part);
} unite_rules[GNOMON__ENTITIES] = {
    [GNOMON_METADATA] = {.take = take_metadata},
    [GNOMON_STAGES] = {begin_stages, take_stage, NULL},
    [GNOMON_STEPS] = {gnomon__unite_steps_begin, gnomon__unite_steps_take,
                      NULL},
    [GNOMON_TRACKS] = {.take = take_track},
    [GNOMON_NODES] = {begin_nodes, take_node, NULL},
    [GNOMON_OPENS] = {NULL, take_open, gnomon__unite_opens_end},
    [GNOMON_LINKS] = {begin_links, take_link, NULL},
    [GNOMON_COUNTERS] = {.take = take_counter},
    [GNOMON_LOSSES] = {.take = take_loss},
    [GNOMON_STEP_TIMES] = {NULL, gnomon__unite_times_take,
                           gnomon__unite_times_end},
    [GNOMON_VIEW_TIMES] = {NULL, take_view_time, end_view_times},
    [GNOMON_STRIPS] = {.take = take_strip},
};

/* Whether all its required references are in. */
static int is_whole(const gnomon__struct *s, const void *of)
{
    const gnomon__field *f = NULL;
    while ((f = gnomon__next_number(s, f)) != NULL)
        if (f->rules & GNOMON__NEEDED && !gnomon__field_32(f, of))
            return 0;
    return 1;
}

static int unite_items(gnomon__united_part *part, int entity)
{
    const gnomon__struct *s = &gnomon__structs[entity];
    uint32_t *map = part->map.of[entity];
    gnomon__any item;
    for (size_t i = 1; i <= part->count[entity]; i++) {
        item.struct_size = s->size;
        part->number = i;
        part->p->api->get(part->p, entity, i, &item);
        int is_in = unite_rules[entity].take(part, &item);
        if (is_in > 0) {
            gnomon__renumber(&part->map, entity, &item);
            is_in = is_whole(s, &item);
        }
        if (!is_in)
            continue;
        uint32_t number =
            is_in < 0 ? 0 : gnomon__fold_add(&part->u->fold, entity, &item);
        if (!number)
            return gnomon__no_memory_to_merge();
        if (map)
            map[i] = number;
        gnomon__any *united = gnomon__model_at(part->u->fold.m, entity, number);
        if (entity == GNOMON_STEPS)
            united->step.reserved |= item.step.reserved;
    }
    return GNOMON_OK;
}

static int unite_kind(gnomon__united_part *part, int entity)
{
    const struct unite_rule *rule = &unite_rules[entity];
    int code = rule->begin ? rule->begin(part) : GNOMON_OK;
    if (!code)
        code = unite_items(part, entity);
    return !code && rule->end ? rule->end(part) : code;
}

static int begin_united_part(gnomon__united_part *part)
{
    static const int own[] = {GNOMON_RUNS, GNOMON_STAGES, GNOMON_STEPS,
                              GNOMON_TRACKS, GNOMON_NODES};
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        part->count[k] = gnomon_profile_count(part->p, k);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t n = part->count[own[i]] + 1 + part->run; /* of any run */
        part->map.of[own[i]] = gnomon__alloc(n * sizeof(uint32_t));
        if (!part->map.of[own[i]])
            return gnomon__no_memory_to_merge();
    }
    return gnomon__shared_find(part->u->shared, part->p, &part->map);
}

int gnomon__unite_add(gnomon__unite *u, const gnomon_profile *p, uint32_t run,
                      const gnomon__stage_filter *only)
{
    gnomon__united_part part = {.u = u, .p = p, .run = run, .only = only};
    int code = begin_united_part(&part);
    u->parts++;
    if (!code)
        code = unite_run(&part);
    for (int i = 0; !code && i < GNOMON__ENTITIES; i++)
        if (unite_rules[gnomon__file_order[i]].take)
            code = unite_kind(&part, gnomon__file_order[i]);
    if (!code)
        code = keep_events(&part);
    gnomon__free(part.view_time);
    free_filter(&part);
    gnomon__numbers_free(&part.map);
    return code;
}

/* ---- The whole -------------------------------------------------------------------- */

int gnomon__unite_create(gnomon__unite **out, const gnomon__shared *shared,
                         unsigned rules)
{
    gnomon__unite *u = *out = gnomon__alloc(sizeof *u);
    if (!u)
        return gnomon__no_memory_to_merge();
    u->shared = shared;
    u->fold.rules = rules;
    u->fold.way = rules & GNOMON__UNITE_READINGS ? &gnomon__fold_readings
                                                 : &gnomon__fold_sums;
    u->fold.keep = keep_item;
    if ((u->fold.m = gnomon__model_create()) != NULL)
        return GNOMON_OK;
    gnomon__free(u);
    *out = NULL;
    return gnomon__no_memory_to_merge();
}

int gnomon__unite_has_stages(const gnomon__unite *u)
{
    return gnomon__model_count(u->fold.m, GNOMON_STAGES) > 0;
}

void gnomon__unite_filter(gnomon__unite *u, const gnomon__filter *filter)
{
    u->filter = filter;
}

uint32_t gnomon__unite_left_out(const gnomon__unite *u)
{
    return u->left_out;
}

/* Events were checked where they are. */
int gnomon__unite_finish(gnomon__unite *u, int code, gnomon_profile **out)
{
    *out = NULL;
    if (!u)
        return code;
    gnomon__model *m = u->fold.m;
    if (!code)
        code = gnomon__shared_lend(u->shared, m);
    if (!code)
        code = gnomon__unite_order(u);
    if (!code)
        code = gnomon_profile_check(&m->base);
    if (!code) {
        *out = &m->base;
        u->fold.m = NULL;
        if (u->events && gnomon__events_source(u->events)->count) {
            gnomon__model_set_events(m, gnomon__events_source(u->events));
            u->events = NULL;
        }
    }
    gnomon__unite_free(u);
    return code;
}

void gnomon__unite_free(gnomon__unite *u)
{
    if (!u)
        return;
    if (u->fold.m) {
        gnomon__unite_steps_free(u);
        gnomon_profile_free(&u->fold.m->base);
    }
    gnomon__events_free(u->events);
    gnomon__text_table_free(&u->texts);
    gnomon__fold_free(&u->fold);
    gnomon__free(u);
}
