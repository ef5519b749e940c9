/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes cProfile's rows from the nodes of a profile. Called by profilers that print
 * or write such a table.
 *
 * A node's ancestors are the stack of its calls. A call is primitive if its row is not
 * on that stack already, so the walk counts how often each row and edge is on its way
 * down. An action cannot be open inside itself: a path that shows this comes from
 * actions that crossed, and each start is primitive. Sums are unsigned and only added
 * to, so none is negative. Ranges, marks and the nodes below them are left out, and so
 * are nodes with bad numbers.
 *
 * Invariant between tables: the walk's counts are 0. A slot is of a table if it has that
 * table's number, so a table costs only its own nodes.
 */
#include "print/functions.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "print/links.h"
#include "print/order.h"
#include "print/rows.h"

/* Numbers from 1 as in the profile; 0 is none. */
typedef struct calls_node {
    uint32_t parent;
    uint32_t child; /* the first */
    uint32_t next;  /* sibling */
    uint32_t region;
    uint32_t edge;      /* from the parent's row to this one's */
    uint32_t next_root; /* of its action */
    uint32_t place;     /* among those that are copied */
    bool is_split;      /* several nodes have a share of it ... */
    bool holds_split;   /* ... or of one below it */
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns;
} calls_node;

typedef struct calls_region {
    const char *file;
    const char *name;
    uint32_t line;
    uint32_t function; /* number of its row: some regions share one */
    uint32_t title;    /* number of its name */
    uint32_t open;     /* how often it is on the walk's way down */
    uint32_t group;    /* of regions; 0: there are none */
    bool is_action;
    bool has_row;
} calls_region;

/* One action, by name. */
typedef struct calls_action {
    const char *name;
    uint32_t first_root; /* in the order of the walk */
    uint32_t last_root;
    uint32_t start; /* its lowest node: tables are in this order */
    uint32_t open;
} calls_action;

/* State of a row or an edge during a walk. */
typedef struct calls_slot {
    uint32_t open;
    uint32_t at; /* its index in `table` */
    size_t table;
} calls_slot;

struct gnomon__calls {
    calls_node *nodes;
    calls_region *regions;
    calls_action *actions;
    calls_slot
        *slots; /* of rows and edges, then of edges from outside to rows */
    uint32_t
        *roots; /* by group of tracks: the first outermost node, its siblings
                        follow */
    size_t region_count, node_count;
    size_t name_count; /* numbers of rows and names of regions, ... */
    size_t slot_count; /* ... and then of edges between rows */
    size_t node_room, listed_count;
    uint32_t *listed;    /* nodes that are copied */
    size_t action_count; /* of the group at hand */
    size_t table_number; /* how many were made */
    bool has_root;       /* the first row calls the outermost ones */
    gnomon__functions table;
};

/* ---- Numbers --------------------------------------------------------------- */

#define CALLS_KEY_LIST(X) \
    X(CALLS_FILE, "", "", TEXT, SHOWN, KEY) \
    X(CALLS_NAME, "", "", TEXT, SHOWN, KEY) \
    X(CALLS_LINE, "", "", ID, SHOWN, KEY) \
    X(CALLS_GROUP, "", "", ID, SHOWN, KEY)
GNOMON__COLUMNS(calls_keys, CALLS_KEYS, CALLS_KEY_LIST);

static const gnomon__report calls_numbers = {.columns = calls_keys,
                                             .column_count = CALLS_KEYS};

/* What is equal in all of these has one number, from 0. Rows have a file, names no group
 * that there can be, edges the numbers of two rows. */
static uint32_t calls_number(gnomon__report_rows *of, const char *file,
                             const char *name, uint64_t line, uint64_t group)
{
    gnomon__cell *cells = gnomon__report_row_of(of, 0);
    gnomon__cell_text(&cells[CALLS_FILE], file);
    gnomon__cell_text(&cells[CALLS_NAME], name);
    gnomon__cell_count(&cells[CALLS_LINE], line);
    gnomon__cell_count(&cells[CALLS_GROUP], group);
    return gnomon__report_put(of) - 1;
}

/* A profile's calls while they are read. */
typedef struct calls_reader {
    gnomon__calls *c;
    const gnomon_profile *profile;
    const gnomon__groups *groups; /* or NULL */
    gnomon__report_rows numbers;
} calls_reader;

/* ---- Regions --------------------------------------------------------------- */

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

static void calls_read_region(calls_reader *of, size_t number)
{
    calls_region *r = &of->c->regions[number];
    gnomon_region_info info;
    (void)gnomon_profile_region(of->profile, number, &info);
    r->file = "~";
    r->is_action = info.kind == GNOMON_KIND_ACTION;
    r->has_row = calls_has_row(info.kind);
    r->name = info.name;
    if (!r->is_action && info.file && *info.file) {
        r->file = info.file;
        r->line = info.line;
    }
    if (of->groups && of->groups->of_region)
        r->group = of->groups->of_region[number];
    r->function =
        calls_number(&of->numbers, r->file, r->name, r->line, r->group);
    r->title = calls_number(&of->numbers, "", r->name, 0, UINT64_MAX);
}

/* False: no memory. */
static bool calls_read_regions(calls_reader *of)
{
    gnomon__calls *c = of->c;
    c->region_count = gnomon_profile_count(of->profile, GNOMON_REGIONS);
    c->regions = calloc(c->region_count + 1, sizeof *c->regions);
    for (size_t i = 1; c->regions && i <= c->region_count; i++)
        calls_read_region(of, i);
    c->name_count = of->numbers.table.row_count;
    c->actions = calloc(c->name_count + 1, sizeof *c->actions);
    return c->regions && c->actions && !of->numbers.code;
}

/* ---- The walk ----------------------------------------------------------------- */

/* Calls `enter` and `leave` (NULL: nothing) for `root` and all below it, parents first. Not
 * recursive, so any depth is safe. */
static void calls_walk(gnomon__calls *c, uint32_t root,
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
            if (leave)
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

/* ---- Nodes ----------------------------------------------------------------- */

static void calls_read_node(const calls_reader *of, uint32_t number)
{
    gnomon__calls *c = of->c;
    calls_node *n = &c->nodes[number];
    gnomon_node_info info;
    (void)gnomon_profile_node(of->profile, number, &info);
    if (info.region == 0 || info.region > c->region_count ||
        info.parent >= number || (info.flags & GNOMON_NODE_RANGE) ||
        !c->regions[info.region].has_row ||
        (info.parent && !c->nodes[info.parent].region))
        return;
    n->region = info.region;
    n->parent = info.parent;
    if (info.host) {
        n->count = info.host->count;
        n->total_ns = info.host->total_ns;
        n->self_ns = info.host->self_ns;
    }
}

/* Open scopes count as one call each, with their time so far. */
static void calls_read_opens(const calls_reader *of)
{
    gnomon__calls *c = of->c;
    gnomon_run_info run;
    gnomon_open_info open;
    gnomon_node_info info;
    if (gnomon_profile_run(of->profile, 1, &run) != GNOMON_OK)
        return;
    for (size_t i = 1; !gnomon_profile_open(of->profile, i, &open); i++) {
        if (open.node > c->node_count || !c->nodes[open.node].region ||
            gnomon_profile_node(of->profile, open.node, &info) != GNOMON_OK ||
            !info.host) /* its stage is not in the profile */
            continue;
        c->nodes[open.node].count++;
        if (run.now_ns > open.begin_ns)
            c->nodes[open.node].total_ns += run.now_ns - open.begin_ns;
    }
}

static uint32_t calls_track_group(const calls_reader *of, size_t node)
{
    gnomon_node_info info;
    if (!of->groups || !of->groups->of_track)
        return 0;
    (void)gnomon_profile_node(of->profile, node, &info);
    return of->groups->of_track[info.track];
}

/* Node 0 is the root of all in the group that is chosen. Backwards, so that siblings are in
 * order. */
static bool calls_link_nodes(calls_reader *of)
{
    gnomon__calls *c = of->c;
    memset(c->roots, 0,
           (of->groups ? of->groups->count + 1 : 1) * sizeof *c->roots);
    for (size_t i = c->node_count; i > 0; i--)
        c->nodes[i].child = 0;
    for (size_t i = c->node_count; i > 0; i--) {
        calls_node *n = &c->nodes[i];
        if (!n->region)
            continue;
        uint32_t *first = n->parent ? &c->nodes[n->parent].child
                                    : &c->roots[calls_track_group(of, i)];
        n->next = *first;
        *first = (uint32_t)i;
        if (n->parent)
            n->edge =
                calls_number(&of->numbers, "", "",
                             c->regions[c->nodes[n->parent].region].function,
                             c->regions[n->region].function);
    }
    c->slot_count = of->numbers.table.row_count;
    return !of->numbers.code;
}

/* ---- Work on other threads ------------------------------------------------------ */

/* A share of numbers, in parts of `of`. Those that follow one another add up exactly. */
typedef struct calls_share {
    uint64_t from, to, of;
} calls_share;

static uint64_t calls_up_to(uint64_t value, uint64_t part, uint64_t of)
{
    const double parts = (double)value * (double)part / (double)of;
    return part == of || parts >= (double)value ? value : (uint64_t)parts;
}

static void calls_take_share(calls_node *n, const calls_share *s)
{
    uint64_t *const numbers[] = {&n->count, &n->total_ns, &n->self_ns};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = calls_up_to(*numbers[i], s->to, s->of) -
                      calls_up_to(*numbers[i], s->from, s->of);
}

static void calls_list(gnomon__calls *c, uint32_t at, bool top)
{
    (void)top;
    c->nodes[at].place = (uint32_t)c->listed_count;
    c->listed[c->listed_count++] = at;
}

/* Puts a share of what is listed below a node. */
static bool calls_copy(gnomon__calls *c, uint32_t below,
                       const calls_share *share)
{
    const size_t first = c->node_count + 1;
    if (!gnomon__table_grow(&c->nodes, &c->node_room, first + c->listed_count,
                            sizeof *c->nodes))
        return false;
    calls_node *nodes = c->nodes;
    for (size_t i = 0; i < c->listed_count; i++) {
        calls_node *n = &nodes[first + i];
        *n = nodes[c->listed[i]];
        n->parent = i ? (uint32_t)first + nodes[n->parent].place : below;
        calls_take_share(n, share);
    }
    c->node_count += c->listed_count;
    return true;
}

/* Whether a share of the node can be below that one. */
static bool calls_can_share(const gnomon__calls *c, uint32_t node, uint32_t at)
{
    bool can = c->nodes[at].region && !c->nodes[node].holds_split;
    for (; can && at; at = c->nodes[at].parent)
        can = at != node && !c->nodes[at].is_split;
    return can;
}

/* Puts below each node that submitted work its share of it, and of all inside, by how
 * often it did; so that there is no end of copies, not where a part of this was split
 * already, and no more than `most` nodes: then all of it stays below the largest. */
static bool calls_split(gnomon__calls *c, const gnomon__submission *by,
                        size_t count, size_t most)
{
    const uint32_t node = by->to, largest = c->nodes[node].parent;
    calls_share share = {0}, own = {0};
    for (size_t i = 0; i < count; i++, share.of += by[i - 1].count)
        if (!calls_can_share(c, node, by[i].from))
            return true;
    c->listed_count = 0;
    calls_walk(c, node, calls_list, NULL);
    if (count < 2 || !share.of ||
        c->listed_count > (most - c->node_count) / count)
        return true;
    for (size_t i = 0; i < count; i++) {
        share.from = share.to;
        share.to += by[i].count;
        if (by[i].from == largest)
            own = share;
        else if (!calls_copy(c, by[i].from, &share))
            return false;
        for (uint32_t at = by[i].from; at; at = c->nodes[at].parent)
            c->nodes[at].holds_split = true;
    }
    c->nodes[node].is_split = true;
    for (size_t i = 0; i < c->listed_count; i++)
        calls_take_share(&c->nodes[c->listed[i]], &own);
    return true;
}

/* The caller of work on another thread is the scope that submitted it. */
static bool calls_read_links(calls_reader *of)
{
    gnomon__calls *c = of->c;
    const size_t nodes = c->node_count;
    size_t count;
    if (gnomon_profile_count(of->profile, GNOMON_LINKS) == 0)
        return true;
    gnomon__linked *linked = gnomon__linked_parents(NULL, of->profile);
    for (size_t i = 1; linked && i <= nodes; i++)
        if (c->nodes[i].region && c->nodes[linked[i].parent].region)
            c->nodes[i].parent = linked[i].parent;
    gnomon__submission *by = gnomon__submissions(&count, of->profile);
    c->listed = calloc(nodes + 1, sizeof *c->listed);
    bool ok = linked && by && c->listed && calls_link_nodes(of);
    for (size_t i = 0, k; ok && i < count; i = k) {
        for (k = i + 1; k < count && by[k].to == by[i].to;)
            k++;
        if (linked[by[i].to].is_linked && c->nodes[by[i].to].region)
            ok = calls_split(c, &by[i], k - i, 8 * nodes);
    }
    free(by);
    free(linked);
    return ok;
}

static bool calls_read_nodes(calls_reader *of)
{
    gnomon__calls *c = of->c;
    const size_t count = gnomon_profile_count(of->profile, GNOMON_NODES);
    c->nodes = calloc(count + 1, sizeof *c->nodes);
    c->roots = calloc(of->groups ? of->groups->count + 1 : 1, sizeof *c->roots);
    if (!c->nodes || !c->roots)
        return false;
    c->node_count = count;
    c->node_room = count + 1;
    for (size_t i = 1; i <= count; i++)
        calls_read_node(of, (uint32_t)i);
    calls_read_opens(of);
    return calls_read_links(of) && calls_link_nodes(of);
}

static bool calls_take(gnomon__calls *c)
{
    size_t most = c->slot_count + c->name_count + 1;
    c->slots = calloc(most, sizeof *c->slots);
    c->table.callers = calloc(most, sizeof *c->table.callers);
    c->table.rows = calloc(c->name_count + 2, sizeof *c->table.rows);
    return c->slots && c->table.callers && c->table.rows;
}

int gnomon__calls_make(gnomon__calls **out, const gnomon_profile *profile,
                       const gnomon__groups *groups)
{
    gnomon__calls *c = *out = calloc(1, sizeof *c);
    calls_reader r = {.c = c, .profile = profile, .groups = groups};
    bool ok =
        c && !gnomon__report_begin(&r.numbers, &calls_numbers, NULL, NULL);
    ok = ok && calls_read_regions(&r) && calls_read_nodes(&r) && calls_take(c);
    gnomon__report_free(&r.numbers);
    if (!ok) {
        gnomon__calls_free(c);
        *out = NULL;
        return GNOMON_ENOMEM;
    }
    gnomon__calls_choose(c, 0);
    return GNOMON_OK;
}

void gnomon__calls_free(gnomon__calls *c)
{
    if (!c)
        return;
    free(c->nodes);
    free(c->roots);
    free(c->listed);
    free(c->regions);
    free(c->actions);
    free(c->slots);
    free(c->table.rows);
    free(c->table.callers);
    free(c);
}

/* ---- Actions ---------------------------------------------------------------- */

/* The action that begins here; NULL: none does. */
static calls_action *calls_action_at(const gnomon__calls *c, uint32_t at)
{
    const calls_node *n = &c->nodes[at];
    const calls_region *r = &c->regions[n->region];
    return !n->parent || r->is_action ? &c->actions[r->title] : NULL;
}

/* An action inside another of the same name is in the outer one's table. */
static void calls_enter_action(gnomon__calls *c, uint32_t at, bool top)
{
    calls_action *a = calls_action_at(c, at);
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
    calls_action *a = calls_action_at(c, at);
    (void)top;
    if (a)
        a->open--;
}

GNOMON__ORDER(calls_by_start, calls_action, UP(start))

/* Keeps of c->actions, which has an entry for each name, those that have a table. */
void gnomon__calls_choose(gnomon__calls *c, uint32_t group)
{
    size_t used = 0;
    c->nodes[0].child = c->roots[group];
    memset(c->actions, 0, c->name_count * sizeof *c->actions);
    for (uint32_t at = c->nodes[0].child; at; at = c->nodes[at].next)
        calls_walk(c, at, calls_enter_action, calls_leave_action);
    for (size_t i = 0; i < c->name_count; i++)
        if (c->actions[i].first_root)
            c->actions[used++] = c->actions[i];
    c->action_count = used;
    GNOMON__SORT(c->actions, used, calls_by_start);
}

size_t gnomon__calls_count(const gnomon__calls *c)
{
    return c->action_count;
}

const char *gnomon__calls_name(const gnomon__calls *c, size_t which)
{
    return c->actions[which].name;
}

/* ---- A table -------------------------------------------------------------------- */

/* Whether it is new in the table at hand, in which `at` is its index. */
static bool calls_is_new(const gnomon__calls *c, calls_slot *slot, size_t at)
{
    if (slot->table == c->table_number)
        return false;
    slot->table = c->table_number;
    slot->at = (uint32_t)at;
    return true;
}

static gnomon__function *calls_row(gnomon__calls *c, const calls_region *r)
{
    calls_slot *slot = &c->slots[r->function];
    if (calls_is_new(c, slot, c->table.row_count))
        c->table.rows[c->table.row_count++] =
            (gnomon__function){.file = r->file,
                               .line = r->line,
                               .name = r->name,
                               .group = r->group};
    return &c->table.rows[slot->at];
}

/* The edge that leads to a node. For an outermost node it comes from outside. */
static calls_slot *calls_edge(const gnomon__calls *c, uint32_t at, bool top)
{
    const calls_node *n = &c->nodes[at];
    return &c->slots[top ? (uint32_t)c->slot_count +
                               c->regions[n->region].function
                         : n->edge];
}

static gnomon__caller *calls_caller(gnomon__calls *c, const calls_node *n,
                                    calls_slot *edge, bool top)
{
    const calls_region *above = &c->regions[c->nodes[n->parent].region];
    const size_t number = c->table.caller_count;
    if (calls_is_new(c, edge, number))
        c->table.callers[c->table.caller_count++] = (gnomon__caller){
            .number = number,
            .callee = c->slots[c->regions[n->region].function].at,
            .caller = top ? 0 : c->slots[above->function].at};
    return &c->table.callers[edge->at];
}

static void calls_enter(gnomon__calls *c, uint32_t at, bool top)
{
    const calls_node *n = &c->nodes[at];
    calls_region *r = &c->regions[n->region];
    gnomon__function *row = calls_row(c, r);
    calls_slot *function = &c->slots[r->function];
    calls_slot *edge = calls_edge(c, at, top);
    const bool primitive = function->open == (r->is_action ? r->open : 0);
    gnomon__caller none = {.nc = 0};
    gnomon__caller *caller =
        top && !c->has_root ? &none : calls_caller(c, n, edge, top);
    row->nc += n->count;
    row->tt_ns += n->self_ns;
    caller->nc += n->count;
    caller->tt_ns += n->self_ns;
    if (primitive) {
        row->cc += n->count;
        row->ct_ns += n->total_ns;
    }
    if (primitive || !edge->open) {
        caller->cc += n->count;
        caller->ct_ns += n->total_ns;
    }
    function->open++;
    edge->open++;
    r->open++;
}

static void calls_leave(gnomon__calls *c, uint32_t at, bool top)
{
    calls_region *r = &c->regions[c->nodes[at].region];
    c->slots[r->function].open--;
    calls_edge(c, at, top)->open--;
    r->open--;
}

GNOMON__ORDER(calls_by_callee, gnomon__caller, UP(callee), UP(number))

/* Groups the edges by their callees, in the order in which they were found. */
static void calls_sort_edges(gnomon__functions *t, gnomon__function *root)
{
    size_t k = 0;
    GNOMON__SORT(t->callers, t->caller_count, calls_by_callee);
    for (size_t i = 0; i < t->row_count; i++) {
        gnomon__function *row = &t->rows[i];
        row->first_caller = k;
        for (; k < t->caller_count && t->callers[k].callee == i; k++)
            if (root && !t->callers[k].caller)
                root->ct_ns += t->callers[k].ct_ns;
        row->caller_count = (uint32_t)(k - row->first_caller);
    }
}

const gnomon__functions *gnomon__calls_table(gnomon__calls *c, size_t which,
                                             const char *root)
{
    const bool all = which == GNOMON__CALLS_ALL;
    gnomon__function *top = root ? &c->table.rows[0] : NULL;
    c->table_number++;
    c->has_root = root != NULL;
    c->table.row_count = c->has_root;
    c->table.caller_count = 0;
    if (root)
        *top = (gnomon__function){.file = "~", .name = root, .nc = 1, .cc = 1};
    for (uint32_t at = all ? c->nodes[0].child : c->actions[which].first_root;
         at; at = all ? c->nodes[at].next : c->nodes[at].next_root)
        calls_walk(c, at, calls_enter, calls_leave);
    calls_sort_edges(&c->table, top);
    return &c->table;
}
