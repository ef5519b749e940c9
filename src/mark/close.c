/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counting executions and closing nodes off the hot path: new bounds of a node,
 * a wider window of its histogram, ends out of order. On the owning thread, its
 * word odd.
 *
 * Invariant: the chain of parents from the cursor to the root holds every open
 * node of the tree; closed ones on it are actions, and scopes ended alone, that
 * went while something begun inside them was still open, and the node above such a
 * one carries GNOMON__TOKEN_RARE. */
#include "mark/sink.h"
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

/* Makes the window hold octaves low .. high beside those it has; 0: no memory.
 * `low` is never above the window's: the shortest only falls. Windows double,
 * so that all that were outgrown are no larger than the last. */
static int widen(gnomon__thread *t, uint32_t bit, gnomon__node *n, uint32_t low,
                 uint32_t high)
{
    if (n->window && n->low + n->room - 1 > high)
        high = n->low + n->room - 1;
    uint32_t need = high - low + 1, room = 1;
    if (n->window && need == n->room)
        return 1;
    while (room < need)
        room *= 2;
    if (room > GNOMON__OCTAVES - low)
        room = GNOMON__OCTAVES - low;
    uint32_t window = gnomon__tree_take(t, bit, room * GNOMON__OCTAVE_BYTES, 1);
    if (!window)
        return 0;
    gnomon__count_next(&gnomon__here, t,
                       GNOMON__NO_CELL); /* it may lie in the old window */
    if (n->window) {
        const uint64_t *from = gnomon__at(t, n->window);
        uint64_t *to = gnomon__at(t, window);
        to += (size_t)(n->low - low) * GNOMON__CELLS;
        for (uint32_t i = 0; i < n->room * GNOMON__CELLS; i++)
            store_relaxed(&to[i], from[i]);
    }
    store_relaxed(&n->low, low);
    store_relaxed(&n->room, room);
    store_release(&n->window, window);
    store_relaxed(&n->cells, window - low * GNOMON__OCTAVE_BYTES);
    return 1;
}

static void count(const gnomon__thread *t, const gnomon__node *n,
                  uint64_t ticks)
{
    uint64_t *cell = gnomon__at(t, gnomon__cell_at(n, ticks));
    store_relaxed(cell, *cell + 1);
}

/* The first execution is `once` and the total alone: many paths are gone once,
 * and need no window. The second makes one for both. */
void gnomon__tree_count(gnomon__thread *t, uint32_t bit, gnomon__node *n,
                        uint64_t ticks)
{
    if ((int64_t)ticks < 0)
        ticks = 0; /* counters of two processors may be a little apart */
    if (!n->first) {
        store_relaxed(&n->total, ticks);
        store_relaxed(&n->once, ticks);
        store_relaxed(&n->first, add_relaxed(&first_order, 1) + 1);
        return;
    }
    /* Also where it cannot be counted: its children's time is in there. */
    store_relaxed(&n->total, n->total + ticks);
    int second = !n->window;
    uint64_t min = second ? n->once : n->min;
    uint64_t max = second ? n->once : n->min + n->spread;
    min = ticks < min ? ticks : min;
    max = ticks > max ? ticks : max;
    if (!widen(t, bit, n, gnomon__cell_of_ticks(min) >> 4,
               gnomon__cell_of_ticks(max) >> 4)) {
        gnomon__trouble(t, lost_scopes);
        return;
    }
    if (second)
        count(t, n, n->once);
    count(t, n, ticks);
    store_relaxed(&n->min, min);
    store_relaxed(&n->spread, max - min);
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
        store_release(&n->begin, now); /* after the token: readers */
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
    gnomon__guess(t, c, n->next);
    c->last = node;
    uint32_t p = n->parent;
    for (gnomon__node *q = gnomon__node_at(t, p);
         !q->token && !(q->flags & GNOMON__NODE_ROOT);
         q = gnomon__node_at(t, p))
        p = q->parent;
    if (p != n->parent)
        gnomon__cursor_set(t, c, p);
    else
        store_relaxed(&c->current, p);
}

uint32_t gnomon__tree_find_any(gnomon__thread *t, uint32_t *bit, uint64_t token)
{
    uint32_t node = 0;
    *bit = t->hot_bit;
    if (t->hot_bit < GNOMON__BITS)
        node = gnomon__tree_find(t, t->hot_bit, token);
    uint32_t rest = load_relaxed(&t->attached) & t->tree_bits;
    for (; !node && rest; rest &= rest - 1) {
        *bit = (uint32_t)__builtin_ctz(rest);
        node = gnomon__tree_find(t, *bit, token);
    }
    return node;
}

static void tree_close_inner(gnomon__thread *t, uint32_t bit, uint64_t token,
                             uint64_t now)
{
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
                gnomon__trouble(t, crossed);
            }
        }
        node = parent;
    }
}

void gnomon__trees_close_inner(gnomon__thread *t, uint64_t token, uint64_t now)
{
    uint32_t rest = load_relaxed(&t->attached) & t->tree_bits;
    for (; rest; rest &= rest - 1)
        tree_close_inner(t, (uint32_t)__builtin_ctz(rest), token, now);
}
