/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The order of a merged profile, from its content alone, so that equal profiles are equal
 * bytes, whatever they were merged from.
 *
 * Paths of a track are ordered by when they were first entered. A profile has only when
 * they first ended ("first"). But two paths, neither below the other, are never open at
 * once: the one that ended first began first. And a path begins before all below it. So
 * the key is the earliest end of the path or of any below it, then its depth. If a
 * profile has no such times, the names of the paths decide. */
#include <stdlib.h>
#include <string.h>

#include "profile/keys.h"
#include "merge/unite_steps.h"
#include "merge/united.h"
#include "platform/memory.h"

typedef struct node_order_key {
    const gnomon__unite *u;
    uint64_t first; /* end of it or of any below it */
    uint32_t track; /* as ordered */
    uint32_t depth;
    uint32_t number; /* before */
} node_order_key;

/* ---- Paths --------------------------------------------------------------------------- */

static gnomon_node_info *node_of(const gnomon__unite *u, size_t number)
{
    return gnomon__model_at(u->fold.m, GNOMON_NODES, number);
}

static int compare_path_ends(const gnomon_node_info *a,
                             const gnomon_node_info *b)
{
    if (a->region != b->region)
        return GNOMON__COMPARE(a->region, b->region);
    if (a->op != b->op)
        return GNOMON__COMPARE(a->op, b->op);
    return GNOMON__COMPARE(a->view, b->view);
}

/* Of equal depth: by their outermost difference, in names, then in stages. */
static int compare_paths(const gnomon__unite *u, uint32_t left, uint32_t right)
{
    const gnomon_stage_info *s, *t;
    int order = 0;
    while (left != right) {
        const gnomon_node_info *a = node_of(u, left);
        const gnomon_node_info *b = node_of(u, right);
        int difference = compare_path_ends(a, b);
        if (!difference && a->stage != b->stage) {
            if (!a->stage || !b->stage) {
                difference = a->stage ? 1 : -1;
            } else {
                s = gnomon__model_at(u->fold.m, GNOMON_STAGES, a->stage);
                t = gnomon__model_at(u->fold.m, GNOMON_STAGES, b->stage);
                difference = gnomon__compare_keys(GNOMON_STAGES, s, t);
            }
        }
        order = difference ? difference : order; /* the outermost difference */
        left = a->parent;
        right = b->parent;
    }
    return order;
}

static int united_order(const void *left, const void *right)
{
    const node_order_key *a = left, *b = right;
    if (a->track != b->track)
        return GNOMON__COMPARE(a->track, b->track);
    if (a->first != b->first)
        return GNOMON__COMPARE(a->first, b->first);
    if (a->depth != b->depth)
        return GNOMON__COMPARE(a->depth, b->depth);
    return a->number == b->number ? 0
                                  : compare_paths(a->u, a->number, b->number);
}

static void make_node_keys(const gnomon__unite *u, const gnomon__numbers *n,
                           node_order_key *keys)
{
    const size_t count = gnomon__model_count(u->fold.m, GNOMON_NODES);
    for (uint32_t i = 1; i <= count; i++) {
        const gnomon_node_info *node = node_of(u, i);
        keys[i - 1] = (node_order_key){
            u, node->first ? node->first : UINT64_MAX,
            n->of[GNOMON_TRACKS][node->track],
            node->parent ? keys[node->parent - 1].depth + 1 : 0, i};
    }
    for (size_t i = count; i >= 1; i--) {
        uint32_t parent = node_of(u, i)->parent;
        if (parent && keys[i - 1].first < keys[parent - 1].first)
            keys[parent - 1].first = keys[i - 1].first;
    }
}

static int pool_order(const void *left, const void *right)
{
    const gnomon_memory_stats *a = left, *b = right;
    return GNOMON__COMPARE(a->pool, b->pool);
}

static int keep_node(gnomon__model *out, const gnomon__numbers *n,
                     const gnomon_node_info *from)
{
    gnomon_node_info *to = gnomon__model_add(out, GNOMON_NODES);
    if (!to)
        return gnomon__no_memory_to_merge();
    *to = *from;
    gnomon__renumber(n, GNOMON_NODES, to);
    gnomon_memory_stats *pools = (gnomon_memory_stats *)(size_t)to->memory;
    for (size_t i = 0; i < to->memory_count; i++) /* the fold's own */
        pools[i].pool = n->of[GNOMON_TRACKS][pools[i].pool];
    if (to->memory_count > 1)
        qsort(pools, to->memory_count, sizeof *pools, pool_order);
    return GNOMON_OK;
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

static int order_nodes(const gnomon__unite *u, gnomon__model *out,
                       gnomon__numbers *n)
{
    const size_t count = gnomon__model_count(u->fold.m, GNOMON_NODES);
    int code = GNOMON_OK;
    node_order_key *keys = gnomon__alloc((count + 1) * sizeof *keys);
    uint32_t *numbers = gnomon__alloc((count + 1) * sizeof *numbers);
    n->of[GNOMON_NODES] = numbers;
    if (!keys || !numbers) {
        gnomon__free(keys);
        return gnomon__no_memory_to_merge();
    }
    make_node_keys(u, n, keys);
    qsort(keys, count, sizeof *keys, united_order);
    for (uint32_t i = 0; i < count; i++)
        numbers[keys[i].number] = i + 1;
    if (count && !gnomon__model_reserve(out, GNOMON_NODES, count))
        code = gnomon__no_memory_to_merge();
    for (size_t i = 0; !code && i < count; i++)
        code = keep_node(out, n, node_of(u, keys[i].number));
    if (!code && u->fold.way->takes_larger)
        code = mark_contradictions(out);
    gnomon__free(keys);
    return code;
}

/* ---- Leaves ---------------------------------------------------------------------------- */

/* Moves a table as it is. */
static void move_items(gnomon__unite *u, gnomon__model *out, int entity)
{
    gnomon__table *from = &u->fold.m->tables[entity],
                  *to = &out->tables[entity];
    gnomon__free(to->items);
    *to = *from;
    from->items = NULL;
    from->count = from->room = 0;
}

static void order_leaves(gnomon__unite *u, gnomon__model *out,
                         const gnomon__numbers *n, int entity)
{
    gnomon__merge_leaves(u, entity); /* by the numbers of before */
    for (size_t i = 1; i <= gnomon__model_count(u->fold.m, entity); i++) {
        gnomon__any *leaf = gnomon__model_at(u->fold.m, entity, i);
        gnomon__renumber(n, entity, leaf);
        if (entity == GNOMON_OPENS)
            leaf->open.reserved = 0; /* which reading it was of */
        if (entity == GNOMON_EVENTS)
            leaf->event.reserved = 0;
    }
    gnomon__sort_leaves(u, entity);
    move_items(u, out, entity);
}

/* From numbers of what was united to those of the result. */
static void order_maps(const gnomon__unite *u, const gnomon__numbers *n)
{
    static const int kinds[] = {GNOMON_TRACKS, GNOMON_NODES};
    for (gnomon__unite_map *map = u->maps; map; map = map->next)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (size_t i = 1;
                 map->of.of[kinds[k]] && i <= map->count[kinds[k]]; i++)
                map->of.of[kinds[k]][i] =
                    n->of[kinds[k]][map->of.of[kinds[k]][i]];
}

int gnomon__unite_order(gnomon__unite *u, gnomon__model *out)
{
    static const int leaves[] = {
        GNOMON_OPENS,  GNOMON_LINKS,  GNOMON_COUNTERS,  GNOMON_METADATA,
        GNOMON_LOSSES, GNOMON_EVENTS, GNOMON_VIEW_TIMES};
    gnomon__numbers n = {{0}};
    gnomon__slots_free(
        &u->fold.slots[GNOMON_NODES]); /* nothing is looked for any more */
    int code = gnomon__order_items(u, out, GNOMON_STAGES, &n);
    if (!code)
        code = gnomon__order_steps(u, out, &n);
    if (!code)
        code = gnomon__order_items(u, out, GNOMON_TRACKS, &n);
    if (!code)
        code = order_nodes(u, out, &n);
    for (size_t i = 0; !code && i < sizeof leaves / sizeof *leaves; i++)
        order_leaves(u, out, &n, leaves[i]);
    if (!code)
        move_items(u, out, GNOMON_RUNS);
    if (!code)
        order_maps(u, &n);
    gnomon__numbers_free(&n);
    return code;
}
