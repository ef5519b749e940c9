/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a merged profile keeps of what happened at a moment and of steps, and the order of
 * all, from its content alone, so that equal profiles are equal bytes, whatever they were
 * merged from.
 *
 * Paths of a track are ordered by when they were first entered. A profile has only when
 * they first ended ("first"). But two paths, neither below the other, are never open at
 * once: the one that ended first began first. And a path begins before all below it. So
 * the key is the earliest end of the path or of any below it, then its depth. If a
 * profile has no such times, the names of the paths decide. */
#include <stdlib.h>
#include <string.h>

#include "merge/united.h"
#include "platform/memory.h"
#include "print/order.h"
#include "profile/fields.h"

/* Of a stage and view so many steps keep what they were made of. */
#define SLOWEST_UNITED 10
#define MERGE_FROM 4096u /* open scopes: fewer are not merged, to save time */
#define PRUNE_FROM 8192u /* times: fewer are not pruned, to save time */

/* ---- Open scopes ------------------------------------------------------------------
 *
 * Two of one key are two, but for copies in several readings of one process. `reserved` is
 * the reading until all are in order. */

static int compare_same_opens(const void *a, const void *b)
{
    return gnomon__compare_keys(GNOMON_OPENS, a, b);
}

GNOMON__ORDER(compare_opens, gnomon_open_info, OF(compare_same_opens(a, b)),
              UP(reserved))

/* Keeps, of each node, as many open scopes as it has open executions: the last begun. */
static size_t last_opens(const gnomon__unite *u, gnomon_open_info *o,
                         size_t count)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        size_t open = ((const gnomon_node_info *)gnomon__model_at(
                           u->fold.m, GNOMON_NODES, o[i].node))
                          ->open;
        end = i + 1;
        while (end < count && o[end].node == o[i].node)
            end++;
        for (size_t k = end - i > open ? end - open : i; k < end; k++)
            o[kept++] = o[k];
    }
    return kept;
}

static void merge_opens(gnomon__unite *u)
{
    gnomon__table *t = &u->fold.m->tables[GNOMON_OPENS];
    if (!u->fold.way->takes_larger)
        return;
    gnomon__sort(t->items, t->count, t->size, compare_opens);
    gnomon__leave_out_copies(t, compare_same_opens, compare_opens);
    t->count = last_opens(u, (void *)t->items, t->count);
    u->opens_kept = t->count;
}

int gnomon__unite_opens_end(gnomon__united_part *part)
{
    gnomon__unite *u = part->u;
    const size_t count = gnomon__model_count(u->fold.m, GNOMON_OPENS);
    if (count > MERGE_FROM && count > 2 * u->opens_kept)
        merge_opens(u);
    return GNOMON_OK;
}

/* ---- Steps, and what they were made of -------------------------------------------
 *
 * A step keeps the rank and the stage it was in, where ranks or stages are added up,
 * and its begin is part of its key: so two steps never become one. Times of all steps
 * add up. Of the steps that have times of their own the slowest stay, by an order of
 * all of them: so it does not matter in which order sets were united. */

/* Steps are kept that times refer to. */
int gnomon__unite_steps_begin(gnomon__united_part *part)
{
    gnomon_step_time_info t;
    for (size_t i = 1; i <= part->count[GNOMON_STEP_TIMES]; i++)
        if (gnomon_profile_step_time(part->p, i, &t) == GNOMON_OK)
            part->map.of[GNOMON_STEPS][t.step] = 1;
    part->map.of[GNOMON_STEPS][0] = 0;
    return GNOMON_OK;
}

/* `reserved`: it is kept anyway. */
int gnomon__unite_steps_take(gnomon__united_part *part, gnomon__any *item)
{
    const unsigned rules = part->u->fold.rules;
    uint32_t *map = part->map.of[GNOMON_STEPS];
    gnomon_step_info *s = &item->step;
    gnomon_stage_info stage;
    gnomon_run_info run = gnomon__no_run;
    s->reserved =
        !(rules & GNOMON__UNITE_RANKS) &&
        (!(rules & GNOMON__UNITE_NAMES) || s->stage == part->last_stage);
    const int is_in = map[part->number] || s->reserved;
    map[part->number] = 0;
    if (!is_in || !part->map.of[GNOMON_STAGES][s->stage])
        return 0;
    gnomon_profile_stage(part->p, s->stage, &stage);
    if (part->run && rules & GNOMON__UNITE_RANKS)
        gnomon_profile_run(part->p, part->run, &run);
    if (s->rank < 0)
        s->rank = run.rank;
    if (!s->ordinal && rules & (GNOMON__UNITE_RANKS | GNOMON__UNITE_NAMES))
        s->ordinal = stage.ordinal;
    return 1;
}

/* ---- The slowest ------------------------------------------------------------------------- */

typedef struct slow_step {
    const gnomon_step_info *step;
    const gnomon_step_time_info *time;
} slow_step;

static gnomon_step_time_info *time_at(const gnomon__unite *u, size_t number)
{
    return gnomon__model_at(u->fold.m, GNOMON_STEP_TIMES, number);
}

static size_t time_count(const gnomon__unite *u)
{
    return gnomon__model_count(u->fold.m, GNOMON_STEP_TIMES);
}

GNOMON__ORDER(step_order, gnomon_step_info, UP(rank), UP(ordinal), UP(begin_ns),
              OF(gnomon__compare_keys(GNOMON_STEPS, a, b)))

/* By stage and view, then the slowest first, then as a live profile has them. */
GNOMON__ORDER(slow_step_order, slow_step, UP(time->stage), UP(time->view),
              DOWN(time->time->max_ns), OF(step_order(a->step, b->step)))

/* is_out[time]: of the whole times of steps, those that are not among the slowest of
 * their stage and view. 0: no memory. */
static int leave_out(const gnomon__unite *u, unsigned char *is_out)
{
    size_t count = 0, position = 0;
    slow_step *slow = gnomon__alloc((time_count(u) + 1) * sizeof *slow);
    for (size_t i = 1; slow && i <= time_count(u); i++)
        if (time_at(u, i)->step && !time_at(u, i)->region)
            slow[count++] = (slow_step){
                gnomon__model_at(u->fold.m, GNOMON_STEPS, time_at(u, i)->step),
                time_at(u, i)};
    GNOMON__SORT(slow, count, slow_step_order);
    for (size_t i = 0; i < count; i++) {
        const gnomon_step_time_info *a = slow[i].time;
        const gnomon_step_time_info *b = i ? slow[i - 1].time : a;
        position =
            a->stage == b->stage && a->view == b->view ? position + 1 : 1;
        is_out[a - time_at(u, 1) + 1] = position > SLOWEST_UNITED;
    }
    gnomon__free(slow);
    return slow != NULL;
}

/* The whole time of the time's step; 0: none. */
static uint32_t whole_time_of(const gnomon__unite *u,
                              const gnomon_step_time_info *t)
{
    gnomon_step_time_info whole = *t;
    whole.region = 0;
    return t->step ? gnomon__fold_find(&u->fold, GNOMON_STEP_TIMES, &whole) : 0;
}

/* In the end the model has them. */
static void free_time(const gnomon_step_time_info *t)
{
    gnomon__sum *sum = (gnomon__sum *)(size_t)t->time;
    if (!sum || sum->m)
        return;
    gnomon__sum_free(sum);
    gnomon__free(sum);
}

/* Those that stay, moved to the front; named[step]: whether one of them names it. */
static void move_times(gnomon__unite *u, unsigned char *is_out, uint32_t *named)
{
    const size_t count = time_count(u);
    size_t kept = 0;
    for (size_t i = 1; i <= count; i++)
        is_out[i] = is_out[whole_time_of(u, time_at(u, i))];
    for (size_t i = 1; i <= count; i++) {
        if (is_out[i]) {
            free_time(time_at(u, i));
            continue;
        }
        named[time_at(u, i)->step] = 1;
        *time_at(u, ++kept) = *time_at(u, i);
    }
    u->fold.m->tables[GNOMON_STEP_TIMES].count = kept;
}

/* Likewise; number[step]: what it is now. */
static void move_steps(gnomon__unite *u, uint32_t *number)
{
    gnomon__table *t = &u->fold.m->tables[GNOMON_STEPS];
    size_t kept = 0;
    for (size_t i = 1; i <= t->count; i++) {
        const gnomon_step_info *s =
            gnomon__model_at(u->fold.m, GNOMON_STEPS, i);
        if (!number[i] && !s->reserved)
            continue;
        memmove(t->items + kept++ * t->size, s, t->size);
        number[i] = (uint32_t)kept;
    }
    t->count = kept;
    number[0] = 0;
    for (size_t i = 1; i <= time_count(u); i++)
        time_at(u, i)->step = number[time_at(u, i)->step];
}

static int keep_slowest(gnomon__unite *u)
{
    const size_t steps = gnomon__model_count(u->fold.m, GNOMON_STEPS);
    unsigned char *is_out = gnomon__alloc(time_count(u) + 1);
    uint32_t *number = gnomon__alloc((steps + 1) * sizeof *number);
    int ok = number && is_out && leave_out(u, is_out);
    if (ok) {
        move_times(u, is_out, number);
        move_steps(u, number);
        ok = !gnomon__fold_index(&u->fold, GNOMON_STEPS) &&
             !gnomon__fold_index(&u->fold, GNOMON_STEP_TIMES);
    }
    gnomon__free(is_out);
    gnomon__free(number);
    u->times_kept = time_count(u);
    return ok ? GNOMON_OK : gnomon__no_memory_to_merge();
}

/* ---- The whole --------------------------------------------------------------------------- */

int gnomon__unite_times_take(gnomon__united_part *part, gnomon__any *item)
{
    const gnomon_step_time_info *t = &item->step_time;
    return (!t->step || part->map.of[GNOMON_STEPS][t->step]) &&
           (!t->region || gnomon__filter_has(part, t->region));
}

int gnomon__unite_times_end(gnomon__united_part *part)
{
    gnomon__unite *u = part->u;
    return time_count(u) > PRUNE_FROM && time_count(u) > 2 * u->times_kept
               ? keep_slowest(u)
               : GNOMON_OK;
}

static int end_steps(gnomon__unite *u)
{
    for (size_t i = 1; i <= time_count(u); i++) {
        gnomon_step_time_info *time = time_at(u, i);
        const gnomon_step_time_info heap = *time;
        if (!gnomon__sum_keep((const gnomon__sum *)(size_t)heap.time, u->fold.m,
                              &time->time))
            return gnomon__no_memory_to_merge();
        free_time(&heap);
    }
    return GNOMON_OK;
}

void gnomon__unite_steps_free(gnomon__unite *u)
{
    for (size_t i = 1; i <= time_count(u); i++)
        free_time(time_at(u, i));
}

typedef struct node_order_key {
    uint32_t number; /* before; first */
    uint32_t track;
    uint32_t depth;
    uint64_t first; /* end of it or of any below it */
    const gnomon__unite *u;
} node_order_key;

/* ---- Paths --------------------------------------------------------------------------- */

static gnomon_node_info *node_of(const gnomon__unite *u, size_t number)
{
    return gnomon__model_at(u->fold.m, GNOMON_NODES, number);
}

GNOMON__ORDER(compare_path_ends, gnomon_node_info, UP(region), UP(op), UP(view),
              UP(flags &GNOMON_NODE_RANGE))

/* Nodes of equal depth: by their outermost difference, in names, then in
 * stages. */
static int compare_paths(const gnomon__unite *u, uint32_t left, uint32_t right)
{
    int order = 0;
    while (left != right) {
        const gnomon_node_info *a = node_of(u, left);
        const gnomon_node_info *b = node_of(u, right);
        int difference = compare_path_ends(a, b);
        if (!difference)
            difference = GNOMON__COMPARE(a->stage, b->stage);
        order = difference ? difference : order; /* the outermost difference */
        left = a->parent;
        right = b->parent;
    }
    return order;
}

GNOMON__ORDER(united_order, node_order_key, UP(track), UP(first), UP(depth),
              OF(a->number == b->number
                     ? 0
                     : compare_paths(a->u, a->number, b->number)))

static void make_node_keys(const gnomon__unite *u, node_order_key *keys)
{
    const size_t count = gnomon__model_count(u->fold.m, GNOMON_NODES);
    for (uint32_t i = 1; i <= count; i++) {
        const gnomon_node_info *node = node_of(u, i);
        keys[i - 1] = (node_order_key){
            i, node->track, node->parent ? keys[node->parent - 1].depth + 1 : 0,
            node->first ? node->first : UINT64_MAX, u};
    }
    for (size_t i = count; i >= 1; i--) {
        uint32_t parent = node_of(u, i)->parent;
        if (parent && keys[i - 1].first < keys[parent - 1].first)
            keys[parent - 1].first = keys[i - 1].first;
    }
}

GNOMON__ORDER(pool_order, gnomon_memory_stats, UP(pool))

/* But nodes, whose order is not known yet. */
static void renumber_nodes(const gnomon__unite *u, const gnomon__numbers *n)
{
    for (uint32_t i = 1; i <= gnomon__model_count(u->fold.m, GNOMON_NODES);
         i++) {
        gnomon_node_info *node = node_of(u, i);
        gnomon_memory_stats *pools =
            (gnomon_memory_stats *)(size_t)node->memory; /* the fold's own */
        gnomon__renumber(n, GNOMON_NODES, node);
        for (size_t k = 0; k < node->memory_count; k++)
            pools[k].pool = n->of[GNOMON_TRACKS][pools[k].pool];
        GNOMON__SORT(pools, node->memory_count, pool_order);
    }
}

/* If readings contradict each other, as those of one process never do, times of paths do
 * not add up: marks them as partial. */
static int mark_contradictions(gnomon__model *out)
{
    size_t n = gnomon__model_count(out, GNOMON_NODES);
    uint64_t *children = gnomon__alloc((n + 1) * sizeof *children);
    if (!children)
        return gnomon__no_memory_to_merge();
    for (size_t i = n; i >= 1; i--) {
        gnomon_node_info *node = gnomon__model_at(out, GNOMON_NODES, i);
        const gnomon_stats *s = node->host;
        if (!s || (node->flags & GNOMON_NODE_RANGE))
            continue;
        children[node->parent] += s->total_ns;
        if (s->total_ns != s->self_ns + children[i] && !node->open &&
            !(node->flags & (GNOMON_NODE_CROSSED | GNOMON_NODE_CLOCK)))
            node->flags |= GNOMON_NODE_PARTIAL;
    }
    gnomon__free(children);
    return GNOMON_OK;
}

static int order_nodes(gnomon__unite *u, gnomon__numbers *n)
{
    const size_t count = gnomon__model_count(u->fold.m, GNOMON_NODES);
    node_order_key *keys = gnomon__alloc((count + 1) * sizeof *keys);
    if (!keys)
        return gnomon__no_memory_to_merge();
    renumber_nodes(u, n);
    make_node_keys(u, keys);
    GNOMON__SORT(keys, count, united_order);
    const int code = gnomon__take_order(&u->fold, GNOMON_NODES, keys,
                                        sizeof *keys, &n->of[GNOMON_NODES]);
    gnomon__free(keys);
    for (size_t i = 1; !code && i <= count; i++)
        node_of(u, i)->parent = n->of[GNOMON_NODES][node_of(u, i)->parent];
    return !code && u->fold.way->takes_larger ? mark_contradictions(u->fold.m)
                                              : code;
}

/* ---- All kinds ---------------------------------------------------------------------------- */

static int order_kind(gnomon__unite *u, int entity, gnomon__numbers *n)
{
    gnomon__table *t = &u->fold.m->tables[entity];
    gnomon__slots_free(&u->fold.slots[entity]);
    if (entity == GNOMON_NODES)
        return order_nodes(u, n);
    for (size_t i = 1; i <= t->count; i++) {
        gnomon__any *item = gnomon__model_at(u->fold.m, entity, i);
        gnomon__renumber(n, entity, item);
        if (entity == GNOMON_OPENS)
            item->open.reserved = 0;
        else if (entity == GNOMON_STEPS)
            item->step.reserved = 0;
    }
    if (entity != GNOMON_OPENS)
        return gnomon__order_items(&u->fold, entity, &n->of[entity]);
    gnomon__sort(t->items, t->count, t->size, compare_opens);
    return GNOMON_OK;
}

int gnomon__unite_order(gnomon__unite *u)
{
    gnomon__numbers n = {{0}};
    merge_opens(u);
    int code = keep_slowest(u);
    for (int i = GNOMON__SHARED; !code && i < GNOMON__ENTITIES; i++)
        code = order_kind(u, gnomon__file_order[i], &n);
    if (!code)
        code = end_steps(u);
    if (!code && u->events)
        code = gnomon__events_end(u->events, &n, u->fold.way->takes_larger);
    gnomon__numbers_free(&n);
    return code;
}
