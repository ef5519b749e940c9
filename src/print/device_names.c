/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sorts the nodes of work by name and by the scope around them, and adds them up. */
#include "print/device_names.h"

#include <stdlib.h>
#include <string.h>

typedef struct names_node {
    const char *name, *scope;
    uint32_t group, node;
    int work;
} names_node;

static int names_by_row(const names_node *a, const names_node *b)
{
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->work != b->work)
        return a->work < b->work ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int names_by_scope(const void *left, const void *right)
{
    const names_node *a = left, *b = right;
    const int order = names_by_row(a, b);
    return order ? order : strcmp(a->scope, b->scope);
}

static int names_by_total(const void *left, const void *right)
{
    const gnomon__device_name *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->work != b->work)
        return a->work < b->work ? -1 : 1;
    if (a->stats.total_ns != b->stats.total_ns)
        return a->stats.total_ns > b->stats.total_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

static size_t names_find(names_node *nodes, const gnomon__device_work *w,
                         const gnomon__groups *groups)
{
    size_t count = 0;
    gnomon_node_info n;
    for (uint32_t i = 1; i <= w->nodes; i++) {
        if (!w->work[i] || gnomon_profile_node(w->profile, i, &n) != GNOMON_OK)
            continue;
        nodes[count++] = (names_node){
            .name = gnomon__node_name(w->profile, i),
            .scope = gnomon__node_name(w->profile, n.parent),
            .group = groups ? gnomon__group_of(groups, n.track, n.region) : 0,
            .node = i,
            .work = w->work[i]};
    }
    if (count)
        qsort(nodes, count, sizeof *nodes, names_by_scope);
    return count;
}

/* Nodes of one row and scope follow one another: *scope_ns is of those so far. */
static void names_add(gnomon__device_name *row, const gnomon__device_work *w,
                      const names_node *node, uint64_t *scope_ns)
{
    gnomon_node_info n;
    (void)gnomon_profile_node(w->profile, node->node, &n);
    const gnomon_stats *s = gnomon__work_stats(&n);
    gnomon_stats_add(&row->stats, s);
    row->bytes += gnomon__work_bytes(w->profile, &n);
    *scope_ns += s->total_ns;
    if (*scope_ns > row->scope_ns) {
        row->scope_ns = *scope_ns;
        row->scope = node->scope;
    }
}

int gnomon__device_names_make(gnomon__device_names *names,
                              const gnomon__device_work *w,
                              const gnomon__groups *groups)
{
    names_node *nodes = calloc(w->nodes + 1, sizeof *nodes);
    const size_t count = nodes ? names_find(nodes, w, groups) : 0;
    uint64_t scope_ns = 0;
    *names =
        (gnomon__device_names){.rows = calloc(count + 1, sizeof *names->rows)};
    for (size_t i = 0; names->rows && i < count; i++) {
        const bool is_new = !i || names_by_row(&nodes[i - 1], &nodes[i]) != 0;
        if (is_new)
            names->rows[names->count++] =
                (gnomon__device_name){.name = nodes[i].name,
                                      .scope = "",
                                      .group = nodes[i].group,
                                      .work = nodes[i].work};
        if (is_new || strcmp(nodes[i - 1].scope, nodes[i].scope) != 0)
            scope_ns = 0;
        names_add(&names->rows[names->count - 1], w, &nodes[i], &scope_ns);
    }
    const bool ok = nodes && names->rows;
    free(nodes);
    if (ok && names->count)
        qsort(names->rows, names->count, sizeof *names->rows, names_by_total);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

void gnomon__device_names_free(gnomon__device_names *names)
{
    free(names->rows);
    *names = (gnomon__device_names){0};
}
