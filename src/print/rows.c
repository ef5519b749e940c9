/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Nodes are sorted to the rows that they count in, so that one histogram serves
 * all rows, one after the other. */
#include "print/rows.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"

#define ROW_CELLS 976 /* of all durations of 64 bits */

typedef struct row_node {
    const char *name, *category;
    uint32_t group;
    uint32_t node;
} row_node;

static bool region_has_row(uint32_t kind)
{
    switch (kind) {
    case GNOMON_KIND_MARK:
    case GNOMON_KIND_COUNTER:
    case GNOMON_KIND_API:
    case GNOMON_KIND_KERNEL:
    case GNOMON_KIND_COPY:
    case GNOMON_KIND_SET:
        return false;
    default:
        return true;
    }
}

static int by_row_key(const row_node *a, const row_node *b)
{
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->category, b->category);
}

static int by_row(const void *left, const void *right)
{
    const row_node *a = left, *b = right;
    int order = by_row_key(a, b);
    return order ? order : (a->node > b->node) - (a->node < b->node);
}

static bool has_times(const gnomon_node_info *n)
{
    return (n->host && n->host->count) || (n->device && n->device->count);
}

static size_t sort_nodes(row_node *to, const gnomon__groups *groups,
                         const gnomon_profile *p)
{
    size_t count = 0;
    gnomon_node_info node;
    gnomon_region_info region;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        if (gnomon_profile_node(p, i, &node) != GNOMON_OK ||
            !has_times(&node) ||
            gnomon_profile_region(p, node.region, &region) != GNOMON_OK ||
            !region_has_row(region.kind))
            continue;
        to[count++] = (row_node){
            region.name, region.category,
            gnomon__group_of(groups, node.track, node.region), (uint32_t)i};
    }
    qsort(to, count, sizeof *to, by_row);
    return count;
}

typedef struct row_histogram {
    uint64_t counts[ROW_CELLS];
    gnomon_cell cells[ROW_CELLS];
} row_histogram;

static void add_row_node(gnomon__region_row *row, row_histogram *h,
                         const gnomon_node_info *n)
{
    const gnomon_stats *s = n->host;
    if (n->device) {
        row->device_calls += n->device->count;
        row->device_ns += n->device->total_ns;
    }
    if (!s || !s->count)
        return;
    if (!row->calls || s->min_ns < row->min_ns)
        row->min_ns = s->min_ns;
    if (s->max_ns > row->max_ns)
        row->max_ns = s->max_ns;
    if (n->first && n->first < row->first)
        row->first = n->first;
    row->calls += s->count;
    row->total_ns += s->total_ns;
    row->self_ns += s->self_ns;
    for (size_t i = 0; i < s->cell_count; i++)
        if (s->cells[i].cell < ROW_CELLS)
            h->counts[s->cells[i].cell] += s->cells[i].count;
}

/* Reads the quantiles, and leaves the histogram empty. */
static void close_row(gnomon__region_row *row, row_histogram *h)
{
    gnomon_stats s = {.count = row->calls,
                      .min_ns = row->min_ns,
                      .max_ns = row->max_ns,
                      .cells = h->cells};
    for (uint32_t i = 0; i < ROW_CELLS; i++) {
        if (h->counts[i])
            h->cells[s.cell_count++] = (gnomon_cell){i, 0, h->counts[i]};
        h->counts[i] = 0;
    }
    if (!row->calls)
        return;
    row->mean_ns = row->total_ns / row->calls;
    row->p50_ns = gnomon_quantile_ns(&s, 0.5);
    row->p90_ns = gnomon_quantile_ns(&s, 0.9);
    row->p99_ns = gnomon_quantile_ns(&s, 0.99);
}

static size_t add_up(gnomon__region_row *rows, const row_node *nodes, size_t n,
                     row_histogram *h, const gnomon_profile *p)
{
    size_t count = 0;
    gnomon_node_info node;
    for (size_t i = 0; i < n; i++) {
        if (!i || by_row_key(&nodes[i - 1], &nodes[i]) != 0) {
            gnomon__region_row *row = &rows[count++];
            if (i)
                close_row(row - 1, h);
            *row = (gnomon__region_row){.name = nodes[i].name,
                                        .category = nodes[i].category,
                                        .group = nodes[i].group,
                                        .first = UINT64_MAX};
            if (i && row[-1].group == row->group &&
                strcmp(row[-1].name, row->name) == 0)
                row->shares_name = row[-1].shares_name = true;
        }
        (void)gnomon_profile_node(p, nodes[i].node, &node);
        add_row_node(&rows[count - 1], h, &node);
    }
    if (count)
        close_row(&rows[count - 1], h);
    return count;
}

int gnomon__region_rows(gnomon__region_row **rows, size_t *count,
                        const gnomon__groups *groups, const gnomon_profile *p)
{
    size_t n = gnomon_profile_count(p, GNOMON_NODES) + 1;
    row_node *nodes = calloc(n, sizeof *nodes);
    row_histogram *h = calloc(1, sizeof *h);
    *rows = NULL;
    *count = 0;
    if (nodes && h) {
        n = sort_nodes(nodes, groups, p);
        *rows = calloc(n + 1, sizeof **rows);
    }
    if (*rows)
        *count = add_up(*rows, nodes, n, h, p);
    free(nodes);
    free(h);
    return *rows ? GNOMON_OK : GNOMON_ENOMEM;
}

uint64_t gnomon__recorded_ns(const gnomon_profile *p)
{
    uint64_t ns = 0;
    gnomon_stage_info s;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++)
        if (gnomon_profile_stage(p, i, &s) == GNOMON_OK)
            ns += s.recorded_ns ? s.recorded_ns : s.end_ns - s.begin_ns;
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    return runs > 1 ? ns / runs : ns;
}
