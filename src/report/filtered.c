/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entities keep their numbers; left-out ones read as zeroes. So several nodes of one
 * region may have the same parent, which reports add up by name. Links that stand for
 * left-out ones follow all others. */
#include "report/filtered.h"

#include <stdbool.h>
#include <stdlib.h>

#include "gnomon.h"
#include "platform/memory.h"
#include "print/links.h"

typedef struct filtered_link {
    uint32_t from, to;
    uint64_t count;
} filtered_link;

struct gnomon__filtered {
    gnomon_profile base; /* what readers see */
    const gnomon_profile *of;
    size_t nodes, regions;
    unsigned char *is_taken; /* by the region's number */
    uint32_t *around;        /* by the node's number: itself, or the innermost
                                kept node around it; 0: none */
    uint64_t *more_self;     /* of left-out nodes inside it */
    gnomon_stats *stats;     /* of nodes with `more_self`; else zeroes */
    uint32_t *parents; /* gnomon__linked_parents, malloc's; NULL: no links */
    size_t links;
    filtered_link *added;
    size_t added_count, added_room;
};

static const gnomon__filtered *filtered_of(const gnomon_profile *p)
{
    return (const gnomon__filtered *)(const void *)p;
}

static size_t filtered_count(const gnomon_profile *p, int entity)
{
    const gnomon__filtered *f = filtered_of(p);
    return gnomon_profile_count(f->of, entity) +
           (entity == GNOMON_LINKS ? f->added_count : 0);
}

static int filtered_node(const gnomon__filtered *f, size_t number,
                         gnomon_node_info *n)
{
    const uint32_t size = n->struct_size;
    int code = f->of->api->get(f->of, GNOMON_NODES, number, n);
    if (code)
        return code;
    if (f->around[number] != number) {
        *n = (gnomon_node_info){.struct_size = size};
        return GNOMON_OK;
    }
    n->parent = f->around[n->parent];
    if (f->more_self[number] && n->host)
        n->host = &f->stats[number];
    return GNOMON_OK;
}

/* The nearest kept node above a left-out one that no kept node is around: above work
 * that was submitted is who did it. 0: none. */
static uint32_t kept_submitter(const gnomon__filtered *f, uint32_t node)
{
    while (node && !f->around[node])
        node = f->parents[node];
    return f->around[node];
}

/* A link of a left-out node is one of the kept node around it. */
static int filtered_get_link(const gnomon__filtered *f, size_t number,
                             gnomon_link_info *link)
{
    if (number > f->links && number - f->links <= f->added_count) {
        const filtered_link *added = &f->added[number - f->links - 1];
        *link = (gnomon_link_info){.struct_size = link->struct_size,
                                   .from = added->from,
                                   .to = added->to,
                                   .kind = GNOMON_LINK_SUBMIT,
                                   .count = added->count};
        return GNOMON_OK;
    }
    int code = f->of->api->get(f->of, GNOMON_LINKS, number, link);
    if (code)
        return code;
    link->from = kept_submitter(f, link->from);
    link->to = f->around[link->to];
    return link->from && link->to ? GNOMON_OK : GNOMON_EINVAL;
}

static int filtered_get(const gnomon_profile *p, int entity, size_t number,
                        void *info)
{
    const gnomon__filtered *f = filtered_of(p);
    if (entity == GNOMON_NODES)
        return filtered_node(f, number, info);
    if (entity == GNOMON_LINKS)
        return filtered_get_link(f, number, info);
    int code = f->of->api->get(f->of, entity, number, info);
    if (!code && entity == GNOMON_OPENS) {
        const gnomon_open_info *open = info;
        code = f->around[open->node] == open->node ? GNOMON_OK : GNOMON_EINVAL;
    } else if (!code && entity == GNOMON_COUNTERS) {
        const gnomon_counter_info *counter = info;
        code = f->is_taken[counter->region] ? GNOMON_OK : GNOMON_EINVAL;
    } else if (!code && entity == GNOMON_STEP_TIMES) {
        const gnomon_step_time_info *time = info; /* region 0: the steps */
        code = !time->region || f->is_taken[time->region] ? GNOMON_OK
                                                          : GNOMON_EINVAL;
    }
    return code;
}

static void filter_nodes(gnomon__filtered *f)
{
    gnomon_node_info n;
    for (uint32_t i = 1; i <= f->nodes; i++) {
        gnomon_profile_node(f->of, i, &n);
        f->around[i] = f->is_taken[n.region] ? i : f->around[n.parent];
        if (f->around[i] != i && n.host)
            f->more_self[f->around[i]] += n.host->self_ns;
    }
    for (uint32_t i = 1; i <= f->nodes; i++) {
        gnomon_profile_node(f->of, i, &n);
        if (f->around[i] != i || !f->more_self[i] || !n.host)
            continue;
        f->stats[i] = *n.host;
        f->stats[i].self_ns += f->more_self[i];
    }
}

/* Where submitted work was left out, what is kept of it was submitted in its place, in
 * all its executions. 0: no memory. */
static int add_links(gnomon__filtered *f, const bool *is_linked)
{
    gnomon_node_info n;
    for (uint32_t i = 1; i <= f->nodes; i++) {
        gnomon_profile_node(f->of, i, &n);
        if (f->around[i] != i || f->around[n.parent] || is_linked[i])
            continue;
        const uint32_t from = kept_submitter(f, n.parent);
        if (!from || from == i)
            continue;
        if (!gnomon__grow(&f->added, &f->added_room, f->added_count + 1,
                          sizeof *f->added))
            return 0;
        f->added[f->added_count++] = (filtered_link){
            from, i, n.host && n.host->count ? n.host->count : 1};
    }
    return 1;
}

static int filter_links(gnomon__filtered *f)
{
    bool *is_linked;
    f->links = gnomon_profile_count(f->of, GNOMON_LINKS);
    if (gnomon__linked_parents(&f->parents, &is_linked, NULL, f->of))
        return 0;
    const int ok = add_links(f, is_linked);
    free(is_linked);
    return ok;
}

gnomon__filtered *gnomon__filtered_create(const gnomon_profile *of,
                                          const gnomon__filter *filter)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = filtered_count,
                                           .get = filtered_get};
    gnomon__filtered *f = gnomon__alloc(sizeof *f);
    if (!f)
        return NULL;
    f->base.api = &api;
    f->of = of;
    f->nodes = gnomon_profile_count(of, GNOMON_NODES);
    f->regions = gnomon_profile_count(of, GNOMON_REGIONS);
    f->is_taken = gnomon__alloc(f->regions + 1);
    f->around = gnomon__alloc((f->nodes + 1) * sizeof *f->around);
    f->more_self = gnomon__alloc((f->nodes + 1) * sizeof *f->more_self);
    f->stats = gnomon__alloc((f->nodes + 1) * sizeof *f->stats);
    if (!f->is_taken || !f->around || !f->more_self || !f->stats) {
        gnomon__filtered_free(f);
        return NULL;
    }
    for (size_t i = 1; i <= f->regions; i++) {
        gnomon_region_info region;
        gnomon_profile_region(of, i, &region);
        f->is_taken[i] =
            (unsigned char)(gnomon__filter_takes(filter, region.name,
                                                 region.category) != 0);
    }
    filter_nodes(f);
    if (gnomon_profile_count(of, GNOMON_LINKS) && !filter_links(f)) {
        gnomon__filtered_free(f);
        return NULL;
    }
    return f;
}

const gnomon_profile *gnomon__filtered_profile(const gnomon__filtered *f)
{
    return &f->base;
}

void gnomon__filtered_free(gnomon__filtered *f)
{
    if (!f)
        return;
    gnomon__free(f->is_taken);
    gnomon__free(f->around);
    gnomon__free(f->more_self);
    gnomon__free(f->stats);
    gnomon__free(f->added);
    free(f->parents);
    gnomon__free(f);
}
