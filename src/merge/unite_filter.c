/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Filters act on the numbers of a part while it is added. */
#include "merge/unite_filter.h"

#include <stdlib.h>

#include "gnomon.h"

#include "platform/memory.h"
#include "print/links.h"

int gnomon__filter_begin(gnomon__united_part *part)
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

/* Whether the times of the scope around a node no longer add up once it is left out. */
static int breaks_sums(const gnomon_node_info *n, int blocks)
{
    return !blocks || !n->host || n->open ||
           n->flags &
               (GNOMON_NODE_CROSSED | GNOMON_NODE_PARTIAL | GNOMON_NODE_CLOCK);
}

int gnomon__filter_node(gnomon__united_part *part, size_t number,
                        const gnomon_node_info *n, int blocks)
{
    uint32_t *node = part->map.of[GNOMON_NODES];
    const uint32_t around = node[n->parent];
    const int is_range = (n->flags & GNOMON_NODE_RANGE) != 0;
    if (!part->state)
        return 1;
    const unsigned outer = part->state[n->parent];
    /* A range is in no time of what is around it, and now what is inside it is. */
    if (around && outer & GNOMON__LEFT_OUT_RANGE && !is_range)
        gnomon__united_partial(part, around);
    if (part->is_taken[n->region]) {
        part->state[number] = blocks && n->host ? GNOMON__INSIDE_TIMES : 0;
        return 1;
    }
    node[number] = around;
    part->state[number] =
        (unsigned char)(GNOMON__LEFT_OUT |
                        (is_range ? GNOMON__LEFT_OUT_RANGE : 0) |
                        (outer & GNOMON__INSIDE_TIMES));
    if (blocks && (n->device || (n->host && n->host->count)))
        part->u->left_out |= 1u << GNOMON_NODES;
    if (is_range || !around)
        return 0;
    if (breaks_sums(n, blocks))
        gnomon__united_partial(part, around);
    return blocks && n->host && outer & GNOMON__INSIDE_TIMES &&
                   gnomon__fold_add_self(&part->u->fold, around,
                                         n->host->self_ns)
               ? -1
               : 0;
}

/* ---- Links ------------------------------------------------------------------------- */

static int is_in(const gnomon__united_part *part, uint32_t node)
{
    return part->map.of[GNOMON_NODES][node] ||
           gnomon__filter_left_out(part, node);
}

/* The nearest kept node above a left-out one that no kept node is around: above work
 * that was submitted is who did it. 0: none. */
static uint32_t kept_submitter(const gnomon__united_part *part, uint32_t node)
{
    const uint32_t *map = part->map.of[GNOMON_NODES];
    while (node && !map[node])
        node = part->submitter[node];
    return node;
}

int gnomon__filter_link(const gnomon__united_part *part, gnomon_link_info *l)
{
    if (!part->submitter)
        return 1;
    if (!is_in(part, l->from) || !is_in(part, l->to))
        return 0;
    l->from = kept_submitter(part, l->from);
    return l->from && part->map.of[GNOMON_NODES][l->to];
}

/* Where submitted work was left out, what is kept of it was submitted in its place, in
 * all its executions. */
static int add_links(gnomon__united_part *part, const bool *is_linked,
                     const unsigned char *has)
{
    const uint32_t *map = part->map.of[GNOMON_NODES];
    gnomon_node_info n;
    for (uint32_t i = 1; i <= part->count[GNOMON_NODES]; i++) {
        if (!map[i] || gnomon__filter_left_out(part, i) || is_linked[i])
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

int gnomon__filter_links(gnomon__united_part *part)
{
    const size_t count = part->count[GNOMON_NODES];
    gnomon_node_info n;
    bool *is_linked;
    uint64_t *in_part;
    if (!part->is_taken || !part->count[GNOMON_LINKS])
        return GNOMON_OK;
    unsigned char *has = gnomon__alloc(count + 1);
    if (!has)
        return gnomon__no_memory_to_merge();
    for (uint32_t i = 1; i <= count; i++) {
        gnomon_profile_node(part->p, i, &n);
        if (is_in(part, i))
            has[i] = gnomon__united_is_chosen(part, &n) ? 2 : 1;
    }
    int code = gnomon__linked_parents(&part->submitter, &is_linked, &in_part,
                                      has, part->p)
                   ? gnomon__no_memory_to_merge()
                   : add_links(part, is_linked, has);
    free(is_linked);
    free(in_part);
    gnomon__free(has);
    return code;
}

void gnomon__filter_free(gnomon__united_part *part)
{
    gnomon__free(part->is_taken);
    gnomon__free(part->state);
    free(part->submitter);
}
