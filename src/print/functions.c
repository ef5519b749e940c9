/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes cProfile's rows from the nodes of a profile. Called by profilers that print
 * or write such a table.
 *
 * A node's ancestors are the stack of its calls. A call is primitive if its row is not
 * on that stack already, so the walk counts how often each row and edge is on its way
 * down. An action cannot be open inside itself: a path that shows this comes from
 * actions that crossed, and each start is primitive. Sums are unsigned and only added
 * to, so none is negative.
 *
 * Invariant between tables: the walk's counts are 0 and all slots are empty, so a
 * table costs only its own nodes.
 */
#include "print/calls.h"

#include <string.h>

#define CALLS_OUTSIDE UINT32_MAX /* the caller of a root: no row */

static gnomon__function *calls_row(gnomon__calls *c,
                                   const gnomon__calls_region *r)
{
    gnomon__calls_slot *slot = &c->functions[r->function];
    if (!slot->at) {
        gnomon__function *row = &c->table.rows[c->table.row_count++];
        memset(row, 0, sizeof *row);
        row->file = r->file;
        row->line = r->line;
        row->name = r->name;
        row->group = r->group;
        slot->at = (uint32_t)c->table.row_count;
    }
    return &c->table.rows[slot->at - 1];
}

/* The edge of a node. That of an outermost one comes from outside. */
static uint32_t calls_edge(const gnomon__calls *c, uint32_t at, bool top)
{
    const gnomon__calls_node *n = &c->nodes[at];
    return top ? (uint32_t)c->edge_count + c->regions[n->region].function
               : n->edge;
}

static void calls_enter(gnomon__calls *c, uint32_t at, bool top)
{
    const gnomon__calls_node *n = &c->nodes[at];
    gnomon__calls_region *r = &c->regions[n->region];
    gnomon__function *row = calls_row(c, r);
    gnomon__calls_slot *function = &c->functions[r->function];
    gnomon__calls_slot *edge = &c->edges[calls_edge(c, at, top)];
    bool primitive = function->open == (r->is_action ? r->open : 0);
    if (!edge->at) {
        uint32_t above = c->nodes[n->parent].region;
        gnomon__caller *made = &c->unsorted_callers[c->table.caller_count++];
        memset(made, 0, sizeof *made);
        made->callee = function->at - 1;
        made->caller = top ? CALLS_OUTSIDE
                           : c->functions[c->regions[above].function].at - 1;
        edge->at = (uint32_t)c->table.caller_count;
        row->caller_count++;
    }
    gnomon__caller *caller = &c->unsorted_callers[edge->at - 1];
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
    gnomon__calls_region *r = &c->regions[c->nodes[at].region];
    c->functions[r->function].open--;
    c->edges[calls_edge(c, at, top)].open--;
    r->open--;
}

/* Empties the slots of a node's row and edge: a second walk visits the same nodes. */
static void calls_clear_slot(gnomon__calls *c, uint32_t at, bool top)
{
    c->functions[c->regions[c->nodes[at].region].function].at = 0;
    c->edges[calls_edge(c, at, top)].at = 0;
}

static void calls_do_nothing(gnomon__calls *c, uint32_t at, bool top)
{
    (void)c, (void)at, (void)top;
}

/* Groups the edges by their callees, in the order in which they were found. Edges from
 * outside get the root as caller, or are dropped without a root. */
static void calls_sort_edges(gnomon__calls *c, gnomon__function *root)
{
    gnomon__functions *t = &c->table;
    size_t edge_count = t->caller_count;
    for (size_t i = 0; i < edge_count; i++) {
        gnomon__caller *e = &c->unsorted_callers[i];
        if (e->caller != CALLS_OUTSIDE)
            continue;
        if (root) {
            e->caller = 0;
            root->ct_ns += e->ct_ns;
        } else {
            t->rows[e->callee].caller_count--;
        }
    }
    t->caller_count = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        t->rows[i].first_caller = t->caller_count;
        t->caller_count += t->rows[i].caller_count;
        t->rows[i].caller_count = 0;
    }
    for (size_t i = 0; i < edge_count; i++) {
        gnomon__function *row = &t->rows[c->unsorted_callers[i].callee];
        if (c->unsorted_callers[i].caller != CALLS_OUTSIDE)
            t->callers[row->first_caller + row->caller_count++] =
                c->unsorted_callers[i];
    }
}

const gnomon__functions *gnomon__calls_table(gnomon__calls *c, size_t which,
                                             const char *root)
{
    bool all = which == GNOMON__CALLS_ALL;
    uint32_t first = all ? c->nodes[0].child : c->actions[which].first_root;
    gnomon__function *top = root ? &c->table.rows[0] : NULL;
    c->table.row_count = 0;
    c->table.caller_count = 0;
    if (top) {
        memset(top, 0, sizeof *top);
        top->file = "~";
        top->name = root;
        top->nc = top->cc = 1;
        c->table.row_count = 1;
    }
    for (uint32_t at = first; at;
         at = all ? c->nodes[at].next : c->nodes[at].next_root)
        gnomon__calls_walk(c, at, calls_enter, calls_leave);
    for (uint32_t at = first; at;
         at = all ? c->nodes[at].next : c->nodes[at].next_root)
        gnomon__calls_walk(c, at, calls_clear_slot, calls_do_nothing);
    calls_sort_edges(c, top);
    return &c->table;
}

size_t gnomon__calls_count(const gnomon__calls *c)
{
    return c->action_count;
}

const char *gnomon__calls_name(const gnomon__calls *c, size_t which)
{
    return c->actions[which].name;
}

size_t gnomon__calls_most_rows(const gnomon__calls *c)
{
    return c->function_count + 1;
}

size_t gnomon__calls_most_callers(const gnomon__calls *c)
{
    return c->edge_count + c->function_count;
}
