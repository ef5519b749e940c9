/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counting executions and closing nodes off the hot path: the first of a node,
 * new octaves of its histogram, ends out of order. On the owning thread, its
 * word odd.
 *
 * Invariant: the chain of parents from the cursor to the root holds every open
 * node of the tree; closed ones on it are actions that stopped while something
 * begun inside them was still open, and the node above such a one carries
 * GNOMON__TOKEN_RARE. */
#include "mark/tree.h"

/* Order of first ends among all nodes of the process. */
static uint64_t first_order;

uint32_t gnomon__tree_find(gnomon__thread *t, uint32_t bit, uint64_t token)
{
    uint32_t node = gnomon__cursor_of(t, bit)->current;
    while (node) {
        const gnomon__node *n = gnomon__node_at(t, node);
        if (n->token && !((n->token ^ token) & ~GNOMON__TOKEN_FLAGS))
            return node;
        node = n->parent;
    }
    return 0;
}

/* Where the node keeps the cells of `octave`; NULL: no room for a table. */
static uint32_t *octave_slot(gnomon__thread *t, uint32_t bit, gnomon__node *n,
                             uint32_t octave)
{
    for (int i = 0; i < GNOMON__OCTAVES; i++)
        if (!n->octave[i] || (n->octave[i] & 127) == octave)
            return &n->octave[i];
    if (!n->more) {
        uint32_t at = gnomon__tree_take(t, bit, 256, 1);
        if (!at)
            return NULL;
        store_release(&n->more, at);
    }
    return (uint32_t *)gnomon__at(t, n->more) + octave;
}

/* Makes the octave of a cell the node's current one. 0: no memory. */
static int switch_octave(gnomon__thread *t, uint32_t bit, gnomon__node *n,
                         uint32_t octave)
{
    uint32_t *slot = octave_slot(t, bit, n, octave);
    if (!slot)
        return 0;
    if (!*slot) {
        uint32_t at = gnomon__tree_take(t, bit, sizeof(gnomon__cells), 1);
        if (!at)
            return 0;
        store_release(slot, at | octave);
    }
    store_relaxed(&n->cells, *slot);
    return 1;
}

void gnomon__tree_count(gnomon__thread *t, uint32_t bit, gnomon__node *n,
                        uint64_t ticks)
{
    if ((int64_t)ticks < 0)
        ticks = 0; /* counters of two processors may be a little apart */
    uint32_t cell = gnomon__cell_of_ticks(ticks);
    if ((n->cells & 127) != cell >> 4 && !switch_octave(t, bit, n, cell >> 4)) {
        gnomon__trouble(t, lost_scopes);
        return;
    }
    gnomon__cells *block = gnomon__at(t, n->cells & ~127u);
    bump_relaxed(&block->count[cell & 15], 1);
    bump_relaxed(&n->total, ticks);
    if (!n->first) {
        store_relaxed(&n->min, ticks);
        store_relaxed(&n->first, add_relaxed(&first_order, 1) + 1);
    } else if (ticks < n->min) {
        store_relaxed(&n->spread, n->spread + (n->min - ticks));
        store_relaxed(&n->min, ticks);
    } else if (ticks - n->min > n->spread) {
        store_relaxed(&n->spread, ticks - n->min);
    }
}

/* `n` ends at `now`, later than parents that are closed already: their children
 * had more time than they. What of it lay past a parent's end belongs to the
 * next one up that was still open then. */
static void outlive(gnomon__thread *t, const gnomon__node *n, uint64_t now)
{
    gnomon__node *p = gnomon__node_at(t, n->parent);
    if (p->token || (p->flags & GNOMON__NODE_ROOT))
        return;
    uint64_t covered = p->begin;
    store_relaxed(&p->adjust, p->adjust + (int64_t)(now - covered));
    store_relaxed(&p->flags, p->flags | GNOMON__NODE_CROSSED);
    for (;;) {
        p = gnomon__node_at(t, p->parent);
        if (p->flags & GNOMON__NODE_ROOT)
            return;
        store_relaxed(&p->flags, p->flags | GNOMON__NODE_CROSSED);
        if (p->token) {
            store_relaxed(&p->adjust, p->adjust - (int64_t)(now - covered));
            return;
        }
        if (p->begin > covered) {
            store_relaxed(&p->adjust,
                          p->adjust - (int64_t)(p->begin - covered));
            covered = p->begin;
        }
    }
}

void gnomon__tree_close(gnomon__thread *t, uint32_t bit, uint32_t node,
                        uint64_t now)
{
    gnomon__cursor *c = gnomon__cursor_of(t, bit);
    gnomon__node *n = gnomon__node_at(t, node);
    outlive(t, n, now);
    gnomon__tree_count(t, bit, n, now - n->begin);
    store_relaxed(&n->token, 0);
    if (node != c->current) {
        store_relaxed(&n->begin, now);
        uint32_t above = c->current;
        while (gnomon__node_at(t, above)->parent != node)
            above = gnomon__node_at(t, above)->parent;
        gnomon__node *a = gnomon__node_at(t, above);
        if (a->token)
            store_relaxed(&a->token, a->token | GNOMON__TOKEN_RARE);
        return;
    }
    if (n->flags & GNOMON__NODE_OTHER)
        t->trees[bit].over = 0;
    c->key = n->next_key;
    c->node = n->next;
    c->last = node;
    uint32_t p = n->parent;
    for (gnomon__node *q = gnomon__node_at(t, p);
         !q->token && !(q->flags & GNOMON__NODE_ROOT);
         q = gnomon__node_at(t, p))
        p = q->parent;
    if (p != n->parent)
        *c = (gnomon__cursor){0, 0, 0, 0};
    store_relaxed(&c->current, p);
}

uint32_t gnomon__tree_close_inner(gnomon__thread *t, uint32_t bit,
                                  uint64_t token, uint64_t now)
{
    uint32_t closed = 0;
    uint64_t count = token & ~GNOMON__TOKEN_FLAGS;
    gnomon__cursor *c = gnomon__cursor_of(t, bit);
    uint32_t node = c->current;
    while (node) {
        const gnomon__node *n = gnomon__node_at(t, node);
        uint32_t parent = n->parent;
        if (n->flags & GNOMON__NODE_ROOT)
            break;
        if (n->token) {
            if ((n->token & ~GNOMON__TOKEN_FLAGS) <= count)
                break;
            if (!(n->token & GNOMON__TOKEN_ACTION)) {
                gnomon__tree_close(t, bit, node, now);
                closed++;
            }
        }
        node = parent;
    }
    return closed;
}
