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
#include "merge/moments.h"
#include "merge/unite_steps.h"
#include "merge/united.h"
#include "platform/memory.h"

typedef struct node_order_key {
    const gnomon__unite *u;
    uint64_t first; /* end of it or of any below it */
    uint32_t track;
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

static void make_node_keys(const gnomon__unite *u, node_order_key *keys)
{
    const size_t count = gnomon__model_count(u->fold.m, GNOMON_NODES);
    for (uint32_t i = 1; i <= count; i++) {
        const gnomon_node_info *node = node_of(u, i);
        keys[i - 1] = (node_order_key){
            u, node->first ? node->first : UINT64_MAX, node->track,
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
        if (node->memory_count > 1)
            qsort(pools, node->memory_count, sizeof *pools, pool_order);
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
    gnomon__table *t = &u->fold.m->tables[GNOMON_NODES];
    node_order_key *keys = gnomon__alloc((t->count + 1) * sizeof *keys);
    uint32_t *numbers = gnomon__alloc((t->count + 1) * sizeof *numbers);
    gnomon_node_info *sorted = NULL;
    if (keys && numbers) {
        renumber_nodes(u, n);
        make_node_keys(u, keys);
        qsort(keys, t->count, sizeof *keys, united_order);
        sorted = gnomon__alloc((t->count + 1) * sizeof *sorted);
    }
    for (uint32_t i = 0; sorted && i < t->count; i++)
        numbers[keys[i].number] = i + 1;
    for (size_t i = 0; sorted && i < t->count; i++) {
        sorted[i] = *node_of(u, keys[i].number);
        sorted[i].parent = numbers[sorted[i].parent];
    }
    n->of[GNOMON_NODES] = numbers;
    gnomon__free(keys);
    if (!sorted)
        return gnomon__no_memory_to_merge();
    gnomon__free(t->items);
    t->items = (char *)sorted;
    t->room = t->count + 1;
    return u->fold.way->takes_larger ? mark_contradictions(u->fold.m)
                                     : GNOMON_OK;
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
    gnomon__sort_opens(t);
    return GNOMON_OK;
}

int gnomon__unite_order(gnomon__unite *u)
{
    gnomon__numbers n = {{0}};
    gnomon__merge_opens(u);
    int code = gnomon__unite_keep_slowest(u);
    for (int i = GNOMON__SHARED; !code && i < GNOMON__ENTITIES; i++)
        code = order_kind(u, gnomon__file_order[i], &n);
    if (!code)
        code = gnomon__unite_steps_end(u);
    if (!code && u->events)
        code = gnomon__events_end(u->events, &n, u->fold.way->takes_larger);
    gnomon__numbers_free(&n);
    return code;
}
