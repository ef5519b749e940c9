/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sorts the nodes by the row in which they count. So rows are added up one after the
 * other, with one histogram for all. */
#include "print/rows.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "gnomon/report.h"

typedef struct row_node {
    const char *name, *category;
    uint32_t group;
    uint32_t node;
} row_node;

/* What a device did has rows of its own (print/device_names.h), also where its kind says
 * nothing. */
static bool region_has_row(const gnomon_region_info *r)
{
    if (strcmp(r->category, "cuda_sync") == 0 ||
        strcmp(r->category, "overhead") == 0)
        return false;
    switch (r->kind) {
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

/* Those on a stream that are a part of others' are left out. A path that was left before an
 * end has self time alone. */
static bool has_times(const gnomon_node_info *n)
{
    return !(n->flags & GNOMON_NODE_PART) &&
           ((n->host && (n->host->count || n->host->self_ns)) ||
            (n->device && n->device->count));
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
            !region_has_row(&region))
            continue;
        to[count++] = (row_node){
            region.name, region.category,
            gnomon__group_of(groups, node.track, node.region), (uint32_t)i};
    }
    qsort(to, count, sizeof *to, by_row);
    return count;
}

/* ---- Adding up ------------------------------------------------------------------- */

typedef struct row_sums {
    gnomon_sum host, device;
} row_sums;

/* Appends the sum's cells to those of the rows before. point_to_cells sets the pointers
 * when all are there, as the array may move. */
static bool keep_sum(gnomon__region_rows *all, gnomon_stats *to,
                     const gnomon_sum *sum)
{
    size_t need = all->cell_count + GNOMON_CELLS;
    if (!sum->stats.count)
        return true;
    if (need > all->cell_room) {
        size_t room = 2 * need;
        gnomon_cell *more = calloc(room, sizeof *more);
        if (!more)
            return false;
        if (all->cell_count)
            memcpy(more, all->cells, all->cell_count * sizeof *more);
        free(all->cells);
        all->cells = more;
        all->cell_room = room;
    }
    gnomon_sum_stats(sum, all->cells + all->cell_count, to);
    all->cell_count += to->cell_count;
    return true;
}

static void add_row_node(gnomon__region_row *row, row_sums *sums,
                         const gnomon_node_info *n)
{
    gnomon_sum_add(&sums->host, n->host);
    gnomon_sum_add(&sums->device, n->device);
    if (n->host && n->host->count && n->first && n->first < row->first)
        row->first = n->first;
}

/* Leaves the sums empty. What has no finished execution is no row. */
static bool close_row(gnomon__region_rows *all, row_sums *sums)
{
    gnomon__region_row *row = &all->rows[all->count - 1];
    bool ok = keep_sum(all, &row->host, &sums->host) &&
              keep_sum(all, &row->device, &sums->device);
    if (!sums->host.stats.count && !sums->device.stats.count)
        all->count--;
    memset(&sums->host, 0, sizeof sums->host);
    if (sums->device.stats.struct_size)
        memset(&sums->device, 0, sizeof sums->device);
    return ok;
}

static bool add_up(gnomon__region_rows *all, const row_node *nodes, size_t n,
                   row_sums *sums, const gnomon_profile *p)
{
    bool ok = true;
    gnomon_node_info node;
    for (size_t i = 0; ok && i < n; i++) {
        if (!i || by_row_key(&nodes[i - 1], &nodes[i]) != 0) {
            ok = !i || close_row(all, sums);
            gnomon__region_row *row = &all->rows[all->count++];
            *row = (gnomon__region_row){.name = nodes[i].name,
                                        .category = nodes[i].category,
                                        .group = nodes[i].group,
                                        .first = UINT64_MAX};
            if (all->count > 1 && row[-1].group == row->group &&
                strcmp(row[-1].name, row->name) == 0)
                row->shares_name = row[-1].shares_name = true;
        }
        (void)gnomon_profile_node(p, nodes[i].node, &node);
        add_row_node(&all->rows[all->count - 1], sums, &node);
    }
    return ok && (!n || close_row(all, sums));
}

/* Sets each row's pointers to its cells, which no longer move. */
static void point_to_cells(gnomon__region_rows *all)
{
    gnomon_cell *at = all->cells;
    for (size_t i = 0; i < all->count; i++) {
        all->rows[i].host.cells = at;
        at += all->rows[i].host.cell_count;
        all->rows[i].device.cells = at;
        at += all->rows[i].device.cell_count;
    }
}

int gnomon__region_rows_make(gnomon__region_rows *all,
                             const gnomon__groups *groups,
                             const gnomon_profile *p)
{
    size_t n = gnomon_profile_count(p, GNOMON_NODES) + 1;
    row_node *nodes = calloc(n, sizeof *nodes);
    row_sums *sums = calloc(1, sizeof *sums);
    bool ok = nodes && sums;
    *all = (gnomon__region_rows){0};
    if (ok) {
        n = sort_nodes(nodes, groups, p);
        all->rows = calloc(n + 1, sizeof *all->rows);
        ok = all->rows && add_up(all, nodes, n, sums, p);
    }
    if (ok)
        point_to_cells(all);
    free(nodes);
    free(sums);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

void gnomon__region_rows_free(gnomon__region_rows *all)
{
    free(all->rows);
    free(all->cells);
    *all = (gnomon__region_rows){0};
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
