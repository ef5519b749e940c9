/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds up the nodes with times of events by name, group and device. The node of a scope
 * on its thread has those of all devices; nodes on streams have parts of them. */
#include "print/timed_rows.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"

/* A node that was timed on a device. */
typedef struct timed_node {
    const char *name;
    uint32_t group;
    uint32_t number;
    int32_t device; /* of a part; -1: all */
} timed_node;

/* Whether the node was timed, and is shown; *device is as in timed_node. */
static int timed_is_shown(const gnomon_profile *profile,
                          const gnomon_node_info *n, int32_t *device)
{
    gnomon_track_info t;
    *device = -1;
    if (!n->device || !n->device->count ||
        gnomon_profile_track(profile, n->track, &t) != GNOMON_OK)
        return 0;
    if (t.kind != GNOMON_TRACK_STREAM)
        return t.kind == GNOMON_TRACK_THREAD;
    *device = t.device;
    return (n->flags & GNOMON_NODE_PART) != 0;
}

static size_t timed_find(const gnomon_profile *profile,
                         const gnomon__groups *groups, timed_node *nodes)
{
    size_t count = 0, node_count = gnomon_profile_count(profile, GNOMON_NODES);
    for (size_t i = 1; i <= node_count; i++) {
        gnomon_node_info n;
        gnomon_region_info region;
        int32_t device;
        if (gnomon_profile_node(profile, i, &n) == GNOMON_OK &&
            timed_is_shown(profile, &n, &device) &&
            gnomon_profile_region(profile, n.region, &region) == GNOMON_OK)
            nodes[count++] = (timed_node){
                region.name, gnomon__group_of(groups, n.track, n.region),
                (uint32_t)i, device};
    }
    return count;
}

static int timed_by_name(const void *left, const void *right)
{
    const timed_node *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    const int order = strcmp(a->name, b->name);
    return order ? order : (a->device > b->device) - (a->device < b->device);
}

/* Those of single devices below that of all of them. */
static int timed_by_total(const void *left, const void *right)
{
    const gnomon__timed_row *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->all_ns != b->all_ns)
        return a->all_ns > b->all_ns ? -1 : 1;
    const int order = strcmp(a->name, b->name);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Rows of single devices stay where a name has several. By name and device. */
static size_t timed_keep_parts(gnomon__timed_row *rows, size_t count)
{
    size_t kept = 0, same;
    for (size_t i = 0; i < count; i += same) {
        const gnomon__timed_row first = rows[i];
        for (same = 1; i + same < count &&
                       rows[i + same].group == first.group &&
                       strcmp(rows[i + same].name, first.name) == 0;)
            same++;
        for (size_t k = i; k < i + same; k++) {
            if (rows[k].number >= 0 && (same < 3 || first.number >= 0))
                continue;
            rows[kept] = rows[k];
            rows[kept++].all_ns = first.device.total_ns;
        }
    }
    return kept;
}

/* One row for each name in each group, and one for each of its devices. */
static size_t timed_unite(const gnomon_profile *profile,
                          gnomon__timed_row *rows, const timed_node *nodes,
                          size_t count)
{
    size_t united = 0;
    for (size_t i = 0; i < count; i++) {
        gnomon_node_info n;
        (void)gnomon_profile_node(profile, nodes[i].number, &n);
        if (!i || timed_by_name(&nodes[i - 1], &nodes[i]) != 0)
            rows[united++] = (gnomon__timed_row){.name = nodes[i].name,
                                                 .group = nodes[i].group,
                                                 .number = nodes[i].device};
        gnomon__timed_row *row = &rows[united - 1];
        gnomon_stats_add(&row->device, n.device);
        row->host_calls += n.host ? n.host->count : 0;
        row->host_ns += n.host ? n.host->total_ns : 0;
    }
    return timed_keep_parts(rows, united);
}

int gnomon__timed_rows(const gnomon_profile *profile,
                       const gnomon__groups *groups, gnomon__timed_row **rows,
                       size_t *count)
{
    size_t used = 0;
    timed_node *nodes =
        calloc(gnomon_profile_count(profile, GNOMON_NODES) + 1, sizeof *nodes);
    if (!nodes)
        return GNOMON_ENOMEM;
    *count = timed_find(profile, groups, nodes);
    if (*count > 1)
        qsort(nodes, *count, sizeof *nodes, timed_by_name);
    for (size_t i = 0; i < *count; i++)
        used += !i || timed_by_name(&nodes[i - 1], &nodes[i]) != 0;
    *rows = calloc(used + 1, sizeof **rows);
    if (*rows)
        *count = timed_unite(profile, *rows, nodes, *count);
    free(nodes);
    if (!*rows)
        return GNOMON_ENOMEM;
    if (*count > 1)
        qsort(*rows, *count, sizeof **rows, timed_by_total);
    return GNOMON_OK;
}
