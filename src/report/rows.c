/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of names. Executions are sorted to the rows that they count in, so that
 * one histogram serves all rows, one after the other. */
#include "report/rows.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "platform/error.h"
#include "platform/memory.h"

#define CELLS 976 /* of all durations of 64 bits */

const char *const gnomon__cli_row_keys[] = {
    [GNOMON__ROW_TOTAL] = "total", [GNOMON__ROW_SELF] = "self",
    [GNOMON__ROW_MEAN] = "mean",   [GNOMON__ROW_CALLS] = "calls",
    [GNOMON__ROW_NAME] = "name",   [GNOMON__ROW_MIN] = "min",
    [GNOMON__ROW_P50] = "p50",     [GNOMON__ROW_P90] = "p90",
    [GNOMON__ROW_P99] = "p99",     [GNOMON__ROW_MAX] = "max",
    [GNOMON__ROW_MAX + 1] = NULL};

/* ---- Which node counts in which row ------------------------------------------- */

typedef struct row_node {
    const char *name;
    uint32_t track;
    uint32_t node;
} row_node;

static int has_row(uint32_t kind)
{
    return kind == GNOMON_KIND_SCOPE || kind == GNOMON_KIND_FUNCTION ||
           kind == GNOMON_KIND_ACTION || kind == GNOMON_KIND_RANGE;
}

static int by_row(const void *left, const void *right)
{
    const row_node *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->node > b->node) - (a->node < b->node);
}

static size_t find_nodes(const gnomon_profile *p, int by_track, row_node *to)
{
    size_t n = 0;
    gnomon_node_info node;
    gnomon_region_info region;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_profile_node(p, i, &node);
        if (!node.host || !node.host->count)
            continue;
        gnomon_profile_region(p, node.region, &region);
        if (has_row(region.kind))
            to[n++] =
                (row_node){region.name, by_track ? node.track : 0, (uint32_t)i};
    }
    if (n > 1)
        qsort(to, n, sizeof *to, by_row);
    return n;
}

/* ---- Adding up ------------------------------------------------------------------ */

typedef struct row_histogram {
    uint64_t counts[CELLS];
    gnomon_cell cells[CELLS];
} row_histogram;

static void add_node(gnomon__cli_row *row, row_histogram *h,
                     const gnomon_node_info *n)
{
    const gnomon_stats *s = n->host;
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
        if (s->cells[i].cell < CELLS)
            h->counts[s->cells[i].cell] += s->cells[i].count;
}

/* Reads the quantiles, and leaves the histogram empty. */
static void close_row(gnomon__cli_row *row, row_histogram *h)
{
    gnomon_stats s = {.count = row->calls,
                      .min_ns = row->min_ns,
                      .max_ns = row->max_ns,
                      .cells = h->cells};
    for (uint32_t i = 0; i < CELLS; i++) {
        if (h->counts[i])
            h->cells[s.cell_count++] = (gnomon_cell){i, 0, h->counts[i]};
        h->counts[i] = 0;
    }
    row->mean_ns = row->total_ns / row->calls;
    row->p50_ns = gnomon_quantile_ns(&s, 0.5);
    row->p90_ns = gnomon_quantile_ns(&s, 0.9);
    row->p99_ns = gnomon_quantile_ns(&s, 0.99);
}

static size_t add_up(const gnomon_profile *p, const row_node *nodes, size_t n,
                     gnomon__cli_row *rows, row_histogram *h)
{
    size_t count = 0;
    gnomon_node_info node;
    for (size_t i = 0; i < n; i++) {
        if (!i || nodes[i].track != nodes[i - 1].track ||
            strcmp(nodes[i].name, nodes[i - 1].name) != 0) {
            if (count)
                close_row(&rows[count - 1], h);
            rows[count++] = (gnomon__cli_row){.name = nodes[i].name,
                                              .track = nodes[i].track,
                                              .first = UINT64_MAX};
        }
        gnomon_profile_node(p, nodes[i].node, &node);
        add_node(&rows[count - 1], h, &node);
    }
    if (count)
        close_row(&rows[count - 1], h);
    return count;
}

/* ---- Order ------------------------------------------------------------------------- */

static uint64_t row_value(const gnomon__cli_row *r, int key)
{
    const uint64_t values[] = {[GNOMON__ROW_TOTAL] = r->total_ns,
                               [GNOMON__ROW_SELF] = r->self_ns,
                               [GNOMON__ROW_MEAN] = r->mean_ns,
                               [GNOMON__ROW_CALLS] = r->calls,
                               [GNOMON__ROW_NAME] = 0,
                               [GNOMON__ROW_MIN] = r->min_ns,
                               [GNOMON__ROW_P50] = r->p50_ns,
                               [GNOMON__ROW_P90] = r->p90_ns,
                               [GNOMON__ROW_P99] = r->p99_ns,
                               [GNOMON__ROW_MAX] = r->max_ns};
    return values[key];
}

static int by_key(const void *left, const void *right, void *context)
{
    const gnomon__cli_row *a = left, *b = right;
    const int key = *(const int *)context;
    const uint64_t x = row_value(a, key), y = row_value(b, key);
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (x != y)
        return x > y ? -1 : 1;
    if (key != GNOMON__ROW_NAME && a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return strcmp(a->name, b->name);
}

int gnomon__cli_rows(const gnomon_profile *p, int by_track, int key,
                     gnomon__cli_row **rows, size_t *count)
{
    size_t n = gnomon_profile_count(p, GNOMON_NODES) + 1;
    row_node *nodes = gnomon__alloc(n * sizeof *nodes);
    row_histogram *h = gnomon__alloc(sizeof *h);
    *rows = NULL;
    *count = 0;
    if (nodes && h) {
        n = find_nodes(p, by_track, nodes);
        *rows = gnomon__alloc((n + 1) * sizeof **rows);
    }
    if (*rows)
        *count = add_up(p, nodes, n, *rows, h);
    if (*count > 1)
        qsort_r(*rows, *count, sizeof **rows, by_key, &key);
    gnomon__free(nodes);
    gnomon__free(h);
    return *rows ? GNOMON_OK
                 : gnomon__fail(GNOMON_ENOMEM, "no memory for the rows");
}
