/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Gives each node of a device's track its row, by group and name, and adds work to the
 * rows of all that is around it, to each once. */
#include "print/device_scopes.h"

#include <stdlib.h>
#include <string.h>

/* A node that leads to work, and its row. */
typedef struct scopes_node {
    const char *name;
    uint32_t group, node;
} scopes_node;

typedef struct scopes_maker {
    gnomon__device_scopes *of;
    const gnomon__device_times *times;
    const gnomon__device_work *work;
    uint32_t *row;    /* by node: 1 + index of its row; 0: it has none */
    uint32_t *parent; /* by node */
    size_t seen; /* pieces of work so far: what counts in a row counts once */
} scopes_maker;

static int scopes_by_key(const scopes_node *a, const scopes_node *b)
{
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int scopes_by_name(const void *left, const void *right)
{
    return scopes_by_key(left, right);
}

/* Scopes have no times on a device's track, or those of events. Work without a parent has
 * itself as its scope's stand-in: a row named "". */
static bool scopes_leads(const scopes_maker *m, const gnomon_node_info *n,
                         uint32_t number)
{
    const int work = m->work->work[number];
    gnomon_track_info t;
    if (work != GNOMON__WORK_NONE)
        return gnomon__work_is_busy(work) && !n->parent;
    return gnomon_profile_track(m->work->profile, n->track, &t) == GNOMON_OK &&
           t.device >= 0 &&
           (!gnomon__work_stats(n) || n->flags & GNOMON_NODE_PART);
}

static bool scopes_make_rows(scopes_maker *m, const gnomon__groups *groups)
{
    const gnomon_profile *p = m->work->profile;
    scopes_node *nodes = calloc(m->work->nodes + 1, sizeof *nodes);
    size_t count = 0;
    gnomon_node_info n;
    for (uint32_t i = 1; nodes && i <= m->work->nodes; i++) {
        if (gnomon_profile_node(p, i, &n) != GNOMON_OK)
            continue;
        m->parent[i] = n.parent;
        if (scopes_leads(m, &n, i))
            nodes[count++] =
                (scopes_node){m->work->work[i] ? "" : gnomon__node_name(p, i),
                              gnomon__group_of(groups, n.track, n.region), i};
    }
    m->of->rows = calloc(count + 1, sizeof *m->of->rows);
    const bool ok = nodes && m->of->rows;
    if (ok && count)
        qsort(nodes, count, sizeof *nodes, scopes_by_name);
    for (size_t i = 0; ok && i < count; i++) {
        if (!i || scopes_by_key(&nodes[i - 1], &nodes[i]) != 0)
            m->of->rows[m->of->count++] = (gnomon__device_scope){
                .name = nodes[i].name, .group = nodes[i].group};
        m->row[nodes[i].node] = (uint32_t)m->of->count;
    }
    free(nodes);
    return ok;
}

/* The node whose row the work is of. */
static uint32_t scopes_launcher(const scopes_maker *m, uint32_t node)
{
    return m->parent[node] ? m->parent[node] : node;
}

static void scopes_add_sums(scopes_maker *m)
{
    gnomon_node_info n;
    for (uint32_t i = 1; i <= m->work->nodes; i++) {
        if (!gnomon__work_is_busy(m->work->work[i]) ||
            gnomon_profile_node(m->work->profile, i, &n) != GNOMON_OK)
            continue;
        const gnomon_stats *s = gnomon__work_stats(&n);
        m->seen++;
        for (uint32_t k = scopes_launcher(m, i), own = k; k; k = m->parent[k]) {
            gnomon__device_scope *row =
                m->row[k] ? &m->of->rows[m->row[k] - 1] : NULL;
            if (!row || row->seen == m->seen)
                continue;
            row->seen = m->seen;
            row->work += s->count;
            row->total_ns += s->total_ns;
            row->self_ns += k == own ? s->total_ns : 0;
        }
    }
}

static void scopes_add_delay(gnomon__device_scope *row,
                             const gnomon__work_item *item)
{
    /* Clocks of device and host agree to some us: no delay is below 0. */
    const uint64_t ns = item->begin_ns > item->launched_ns
                            ? item->begin_ns - item->launched_ns
                            : 0;
    row->delayed++;
    row->delay_ns += ns;
    row->most_delay_ns = ns > row->most_delay_ns ? ns : row->most_delay_ns;
}

static void scopes_add_busy(gnomon__device_scope *row,
                            const gnomon__work_item *item)
{
    if (row->device != item->device + 1) {
        row->device = item->device + 1;
        row->until_ns = 0;
    }
    const uint64_t from =
        item->begin_ns > row->until_ns ? item->begin_ns : row->until_ns;
    if (item->end_ns > from) {
        row->busy_ns += item->end_ns - from;
        row->until_ns = item->end_ns;
    }
}

static void scopes_add_events(scopes_maker *m)
{
    for (size_t i = 0; i < m->times->count; i++) {
        const gnomon__work_item *item = &m->times->items[i];
        m->seen++;
        for (uint32_t k = scopes_launcher(m, item->node), own = k; k;
             k = m->parent[k]) {
            gnomon__device_scope *row =
                m->row[k] ? &m->of->rows[m->row[k] - 1] : NULL;
            if (!row || row->seen == m->seen)
                continue;
            row->seen = m->seen;
            scopes_add_busy(row, item);
            if (k == own && item->call_track)
                scopes_add_delay(row, item);
        }
    }
}

/* As strcmp; clang-tidy does not see that rows have names. */
static int scopes_compare(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) : 0;
}

/* Executions on threads; where groups are streams there is no telling whose. */
static void scopes_add_calls(scopes_maker *m, const gnomon__groups *groups)
{
    const gnomon_profile *p = m->work->profile;
    gnomon_node_info n;
    gnomon_track_info t;
    for (uint32_t i = 1; i <= m->work->nodes; i++) {
        if (gnomon_profile_node(p, i, &n) != GNOMON_OK || !n.host ||
            m->work->work[i] ||
            gnomon_profile_track(p, n.track, &t) != GNOMON_OK || t.device >= 0)
            continue;
        const char *name = gnomon__node_name(p, i);
        const uint32_t group = gnomon__group_of(groups, n.track, n.region);
        size_t low = 0, high = m->of->count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            const gnomon__device_scope *row = &m->of->rows[middle];
            const int order = row->group != group
                                  ? (row->group < group ? -1 : 1)
                                  : scopes_compare(row->name, name);
            if (!order && *name)
                m->of->rows[middle].calls += n.host->count;
            if (!order)
                break;
            if (order < 0)
                low = middle + 1;
            else
                high = middle;
        }
    }
}

static int scopes_by_total(const void *left, const void *right)
{
    const gnomon__device_scope *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Leaves out rows of waits alone. */
static void scopes_order(gnomon__device_scopes *s)
{
    size_t used = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].work)
            s->rows[used++] = s->rows[i];
    s->count = used;
    if (used)
        qsort(s->rows, used, sizeof *s->rows, scopes_by_total);
}

int gnomon__device_scopes_make(gnomon__device_scopes *s,
                               const gnomon__device_times *times,
                               const gnomon__groups *groups)
{
    *s = (gnomon__device_scopes){0};
    scopes_maker m = {.of = s, .times = times, .work = times->work};
    m.row = calloc(times->work->nodes + 1, sizeof *m.row);
    m.parent = calloc(times->work->nodes + 1, sizeof *m.parent);
    const bool ok = m.row && m.parent && scopes_make_rows(&m, groups);
    if (ok) {
        scopes_add_sums(&m);
        scopes_add_events(&m);
        if (groups->by != GNOMON__BY_THREAD)
            scopes_add_calls(&m, groups);
        scopes_order(s);
    }
    free(m.row);
    free(m.parent);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

void gnomon__device_scopes_free(gnomon__device_scopes *s)
{
    free(s->rows);
    *s = (gnomon__device_scopes){0};
}
