/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prepares a profile for tables of functions, and finds the actions that have a
 * table. Called once for each report; the tables then take no more memory. Ranges,
 * marks and the nodes below them are left out, and so are nodes with bad numbers.
 */
#include "print/calls.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "print/links.h"

/* ---- Regions --------------------------------------------------------------- */

static int calls_by_name(const void *left, const void *right)
{
    const gnomon__calls_region *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static int calls_by_source(const void *left, const void *right)
{
    const gnomon__calls_region *const *a = left, *const *b = right;
    int order = strcmp((*a)->file, (*b)->file);
    if (order)
        return order;
    if ((*a)->line != (*b)->line)
        return (*a)->line < (*b)->line ? -1 : 1;
    order = strcmp((*a)->name, (*b)->name);
    return order ? order
                 : ((*a)->group > (*b)->group) - ((*a)->group < (*b)->group);
}

/* Whether regions of this kind are on a thread's stack. */
static bool calls_has_row(uint32_t kind)
{
    switch (kind) {
    case GNOMON_KIND_SCOPE:
    case GNOMON_KIND_FUNCTION:
    case GNOMON_KIND_ACTION:
    case GNOMON_KIND_PYTHON:
    case GNOMON_KIND_API:
    case GNOMON_KIND_COLLECTIVE:
    case GNOMON_KIND_LINE:
        return true;
    default:
        return false;
    }
}

static void calls_read_region(gnomon__calls_region *r,
                              const gnomon_profile *profile, size_t number)
{
    gnomon_region_info info;
    (void)gnomon_profile_region(profile, number, &info);
    r->file = "~";
    r->is_action = info.kind == GNOMON_KIND_ACTION;
    r->has_row = calls_has_row(info.kind);
    r->name = info.name;
    if (!r->is_action && info.file && *info.file) {
        r->file = info.file;
        r->line = info.line;
    }
}

/* False: no memory. */
static bool calls_read_regions(gnomon__calls *c, const gnomon_profile *profile,
                               const gnomon__groups *groups)
{
    size_t count = gnomon_profile_count(profile, GNOMON_REGIONS);
    gnomon__calls_region **sorted = calloc(count + 1, sizeof *sorted);
    c->regions = calloc(count + 1, sizeof *c->regions);
    c->region_count = count;
    if (!sorted || !c->regions) {
        free(sorted);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &c->regions[i + 1];
        calls_read_region(sorted[i], profile, i + 1);
        if (groups && groups->of_region)
            sorted[i]->group = groups->of_region[i + 1];
    }
    qsort(sorted, count, sizeof *sorted, calls_by_source);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || calls_by_source(&sorted[i - 1], &sorted[i]) != 0)
            c->function_count++;
        sorted[i]->function = (uint32_t)c->function_count - 1;
    }
    qsort(sorted, count, sizeof *sorted, calls_by_name);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || calls_by_name(&sorted[i - 1], &sorted[i]) != 0)
            c->name_count++;
        sorted[i]->title = (uint32_t)c->name_count - 1;
    }
    free(sorted);
    c->actions = calloc(c->name_count + 1, sizeof *c->actions);
    c->functions = calloc(c->function_count + 1, sizeof *c->functions);
    return c->actions && c->functions;
}

/* ---- Nodes ----------------------------------------------------------------- */

static void calls_read_node(gnomon__calls *c, const gnomon_profile *profile,
                            uint32_t number)
{
    gnomon__calls_node *n = &c->nodes[number];
    gnomon_node_info info;
    (void)gnomon_profile_node(profile, number, &info);
    if (info.region == 0 || info.region > c->region_count ||
        info.parent >= number || (info.flags & GNOMON_NODE_RANGE))
        return;
    if (!c->regions[info.region].has_row)
        return;
    if (info.parent && !c->nodes[info.parent].region)
        return;
    n->region = info.region;
    n->parent = info.parent;
    if (info.host) {
        n->count = info.host->count;
        n->total_ns = info.host->total_ns;
        n->self_ns = info.host->self_ns;
    }
}

/* The caller of work on another thread is the scope that submitted it. */
static bool calls_read_links(gnomon__calls *c, const gnomon_profile *profile)
{
    uint32_t *parents;
    if (gnomon_profile_count(profile, GNOMON_LINKS) == 0)
        return true;
    if (gnomon__linked_parents(&parents, NULL, NULL, profile))
        return false;
    for (size_t i = 1; i <= c->node_count; i++)
        if (c->nodes[i].region && c->nodes[parents[i]].region)
            c->nodes[i].parent = parents[i];
    free(parents);
    return true;
}

/* Open scopes count as one call each, with their time so far. */
static void calls_read_opens(gnomon__calls *c, const gnomon_profile *profile)
{
    size_t count = gnomon_profile_count(profile, GNOMON_OPENS);
    gnomon_run_info run;
    if (count == 0 || gnomon_profile_run(profile, 1, &run) != GNOMON_OK)
        return;
    for (size_t i = 1; i <= count; i++) {
        gnomon_open_info open;
        gnomon_node_info info;
        if (gnomon_profile_open(profile, i, &open) != GNOMON_OK ||
            open.node > c->node_count || !c->nodes[open.node].region ||
            gnomon_profile_node(profile, open.node, &info) != GNOMON_OK ||
            !info.host) /* its stage is not in the profile */
            continue;
        c->nodes[open.node].count++;
        if (run.now_ns > open.begin_ns)
            c->nodes[open.node].total_ns += run.now_ns - open.begin_ns;
    }
}

static uint32_t calls_track_group(const gnomon_profile *profile,
                                  const gnomon__groups *groups, size_t node)
{
    gnomon_node_info info;
    if (!groups || !groups->of_track)
        return 0;
    (void)gnomon_profile_node(profile, node, &info);
    return groups->of_track[info.track];
}

/* Node 0 is the root of all in the group that is chosen. */
static bool calls_read_nodes(gnomon__calls *c, const gnomon_profile *profile,
                             const gnomon__groups *groups)
{
    size_t count = gnomon_profile_count(profile, GNOMON_NODES);
    c->nodes = calloc(count + 1, sizeof *c->nodes);
    c->roots = calloc(groups ? groups->count + 1 : 1, sizeof *c->roots);
    if (!c->nodes || !c->roots)
        return false;
    c->node_count = count;
    for (size_t i = 1; i <= count; i++)
        calls_read_node(c, profile, (uint32_t)i);
    if (!calls_read_links(c, profile))
        return false;
    calls_read_opens(c, profile);
    for (size_t i = count; i > 0; i--) { /* backwards: siblings are in order */
        gnomon__calls_node *n = &c->nodes[i];
        if (!n->region)
            continue;
        uint32_t *first =
            n->parent ? &c->nodes[n->parent].child
                      : &c->roots[calls_track_group(profile, groups, i)];
        n->next = *first;
        *first = (uint32_t)i;
    }
    return true;
}

typedef struct calls_pair {
    uint64_t rows; /* the caller's in the high half, the callee's in the low */
    uint32_t node;
    uint32_t reserved;
} calls_pair;

static int calls_by_rows(const void *left, const void *right)
{
    const calls_pair *a = left, *b = right;
    return (a->rows > b->rows) - (a->rows < b->rows);
}

static bool calls_number_edges(gnomon__calls *c)
{
    calls_pair *pairs = calloc(c->node_count + 1, sizeof *pairs);
    size_t count = 0, most;
    if (!pairs)
        return false;
    for (size_t i = 1; i <= c->node_count; i++) {
        const gnomon__calls_node *n = &c->nodes[i];
        if (!n->region || !n->parent)
            continue;
        uint64_t caller = c->regions[c->nodes[n->parent].region].function;
        pairs[count].rows = caller << 32 | c->regions[n->region].function;
        pairs[count++].node = (uint32_t)i;
    }
    qsort(pairs, count, sizeof *pairs, calls_by_rows);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || pairs[i].rows != pairs[i - 1].rows)
            c->edge_count++;
        c->nodes[pairs[i].node].edge = (uint32_t)c->edge_count - 1;
    }
    free(pairs);
    most = c->edge_count + c->function_count + 1;
    c->edges = calloc(most, sizeof *c->edges);
    c->unsorted_callers = calloc(most, sizeof *c->unsorted_callers);
    c->table.callers = calloc(most, sizeof *c->table.callers);
    c->table.rows = calloc(c->function_count + 2, sizeof *c->table.rows);
    return c->edges && c->unsorted_callers && c->table.callers && c->table.rows;
}

/* ---- Actions ---------------------------------------------------------------- */

void gnomon__calls_walk(gnomon__calls *c, uint32_t root,
                        void (*enter)(gnomon__calls *c, uint32_t at, bool top),
                        void (*leave)(gnomon__calls *c, uint32_t at, bool top))
{
    uint32_t at = root;
    for (;;) {
        enter(c, at, at == root);
        if (c->nodes[at].child) {
            at = c->nodes[at].child;
            continue;
        }
        for (;;) {
            leave(c, at, at == root);
            if (at == root)
                return;
            if (c->nodes[at].next)
                break;
            at = c->nodes[at].parent;
        }
        at = c->nodes[at].next;
    }
}

/* The action that begins here; NULL: none does. */
static gnomon__calls_action *calls_action_at(const gnomon__calls *c,
                                             uint32_t at)
{
    const gnomon__calls_node *n = &c->nodes[at];
    const gnomon__calls_region *r = &c->regions[n->region];
    return !n->parent || r->is_action ? &c->actions[r->title] : NULL;
}

/* An action inside another of the same name is in the outer one's table. */
static void calls_enter_action(gnomon__calls *c, uint32_t at, bool top)
{
    gnomon__calls_action *a = calls_action_at(c, at);
    (void)top;
    if (!a || a->open++)
        return;
    a->name = c->regions[c->nodes[at].region].name;
    if (a->last_root)
        c->nodes[a->last_root].next_root = at;
    else
        a->first_root = at;
    a->last_root = at;
    if (!a->start || at < a->start)
        a->start = at;
}

static void calls_leave_action(gnomon__calls *c, uint32_t at, bool top)
{
    gnomon__calls_action *a = calls_action_at(c, at);
    (void)top;
    if (a)
        a->open--;
}

static int calls_by_start(const void *left, const void *right)
{
    const gnomon__calls_action *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Keeps of c->actions, which has an entry for each name, those that have a table. */
void gnomon__calls_choose(gnomon__calls *c, uint32_t group)
{
    size_t used = 0;
    c->nodes[0].child = c->roots[group];
    memset(c->actions, 0, c->name_count * sizeof *c->actions);
    for (uint32_t at = c->nodes[0].child; at; at = c->nodes[at].next)
        gnomon__calls_walk(c, at, calls_enter_action, calls_leave_action);
    for (size_t i = 0; i < c->name_count; i++)
        if (c->actions[i].first_root)
            c->actions[used++] = c->actions[i];
    c->action_count = used;
    qsort(c->actions, used, sizeof *c->actions, calls_by_start);
}

int gnomon__calls_make_by(gnomon__calls **out, const gnomon_profile *profile,
                          const gnomon__groups *groups)
{
    gnomon__calls *c = *out = calloc(1, sizeof *c);
    if (!c)
        return GNOMON_ENOMEM;
    if (!calls_read_regions(c, profile, groups) ||
        !calls_read_nodes(c, profile, groups) || !calls_number_edges(c)) {
        gnomon__calls_free(c);
        *out = NULL;
        return GNOMON_ENOMEM;
    }
    gnomon__calls_choose(c, 0);
    return GNOMON_OK;
}

int gnomon__calls_make(gnomon__calls **out, const gnomon_profile *profile)
{
    return gnomon__calls_make_by(out, profile, NULL);
}

void gnomon__calls_free(gnomon__calls *c)
{
    if (!c)
        return;
    free(c->nodes);
    free(c->roots);
    free(c->regions);
    free(c->actions);
    free(c->functions);
    free(c->edges);
    free(c->unsorted_callers);
    free(c->table.rows);
    free(c->table.callers);
    free(c);
}
