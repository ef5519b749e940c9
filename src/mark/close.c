/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Closing nodes off the hot path: ends out of order. On the owning thread, its
 * word odd.
 *
 * Invariant: the chain of parents from the cursor to the root holds every open
 * node of the tree; closed ones on it are actions, and scopes ended alone, that
 * went while something begun inside them was still open, and the node above such a
 * one takes the slow path. */
#include "mark/sink.h"
#include "mark/tree.h"

uint32_t gnomon__tree_find(gnomon__thread *t, uint32_t bit, uint64_t token)
{
    uint32_t node = gnomon__cursor_of(t, bit)->current;
    while (node) {
        const gnomon__front *n = gnomon__front_at(t, node);
        if (n->token && !((n->token ^ token) & ~GNOMON__TOKEN_FLAGS))
            return node;
        node = n->parent;
    }
    return 0;
}

static int is_root(const gnomon__thread *t, uint32_t node)
{
    return !gnomon__front_at(t, node)->parent;
}

/* When a closed node of the chain ended, as far as this segment goes. */
static uint64_t ended_at(const gnomon__thread *t, const gnomon__front *n)
{
    return n->begin > t->segment_begin ? n->begin : t->segment_begin;
}

static void cross(gnomon__thread *t, uint32_t node, int64_t ticks)
{
    gnomon__part *p = gnomon__part_at(t, node);
    store_relaxed(&p->flags, (uint16_t)(p->flags | GNOMON__PART_CROSSED));
    store_relaxed(&p->adjust, p->adjust + ticks);
}

/* `node` ends at `now`, later than parents that are closed already: their children
 * had more time than they. What of it lay past a parent's end belongs to the
 * next one up that was still open then. */
void gnomon__tree_outlive(gnomon__thread *t, uint32_t node, uint64_t now)
{
    uint32_t at = gnomon__front_at(t, node)->parent;
    const gnomon__front *p = gnomon__front_at(t, at);
    if (p->token || is_root(t, at))
        return;
    uint64_t covered = ended_at(t, p);
    cross(t, at, (int64_t)(now - covered));
    for (;;) {
        at = p->parent;
        p = gnomon__front_at(t, at);
        if (is_root(t, at))
            return;
        if (p->token) {
            cross(t, at, -(int64_t)(now - covered));
            return;
        }
        uint64_t end = ended_at(t, p);
        cross(t, at, end > covered ? -(int64_t)(end - covered) : 0);
        covered = end > covered ? end : covered;
    }
}

/* It stays on the chain while what began inside it is open. */
static void close_below(gnomon__thread *t, uint32_t bit, uint32_t node,
                        uint64_t now)
{
    store_release(&gnomon__front_at(t, node)->begin, now); /* after the token */
    uint32_t above = gnomon__cursor_of(t, bit)->current;
    while (gnomon__front_at(t, above)->parent != node)
        above = gnomon__front_at(t, above)->parent;
    gnomon__front *a = gnomon__front_at(t, above);
    if (a->token) {
        store_relaxed(&a->token, a->token | GNOMON__TOKEN_SLOW);
        store_relaxed(&a->seen, a->seen | GNOMON__SEEN_SLOW);
    }
}

void gnomon__tree_close(gnomon__thread *t, uint32_t bit, uint32_t node,
                        uint64_t now)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    gnomon__cursor *c = gnomon__cursor_of(t, bit);
    gnomon__front *n = gnomon__front_at(t, node);
    gnomon__tree_outlive(t, node, now);
    if (gnomon__node_at(t, node)->carry)
        gnomon__tree_close_carried(t, bit, node, now);
    else
        gnomon__tree_count(t, tree, node, now - n->begin);
    store_relaxed(&n->token, 0);
    store_relaxed(&n->seen, 0);
    if (node != c->current) {
        close_below(t, bit, node, now);
        return;
    }
    if (gnomon__node_at(t, node)->flags & GNOMON__NODE_OTHER)
        tree->over = 0;
    /* A segment's first begin is to be seen, by the slow way. */
    gnomon__guess(t, bit, tree->is_fresh ? 0 : n->next);
    c->last = node;
    uint32_t p = n->parent;
    while (!gnomon__front_at(t, p)->token && !is_root(t, p))
        p = gnomon__front_at(t, p)->parent;
    if (p != n->parent)
        gnomon__cursor_set(t, bit, p);
    else
        store_relaxed(&c->current, p);
}

uint32_t gnomon__trees_find(gnomon__thread *t, uint32_t *bits, uint64_t token)
{
    uint32_t found = 0;
    *bits = 0;
    for (uint32_t rest = load_relaxed(&t->attached) & t->tree_bits; rest;
         rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        uint32_t node = gnomon__tree_find(t, bit, token);
        if (!node)
            continue;
        *bits |= 1u << bit;
        found = found ? found : node;
    }
    return found;
}

/* The newest scope of a tree that is open and no action. 0: none. */
static uint64_t newest_scope(gnomon__thread *t, uint32_t bit)
{
    uint32_t node = gnomon__cursor_of(t, bit)->current;
    for (; !is_root(t, node); node = gnomon__front_at(t, node)->parent) {
        uint64_t token = gnomon__front_at(t, node)->token;
        if (token && !(token & GNOMON__TOKEN_ACTION))
            return token & ~GNOMON__TOKEN_FLAGS;
    }
    return 0;
}

/* One by one, the newest first, each in all trees that saw it: so that each is
 * counted as crossed once. */
void gnomon__trees_close_inner(gnomon__thread *t, uint64_t token, uint64_t now)
{
    uint32_t trees = load_relaxed(&t->attached) & t->tree_bits;
    token &= ~GNOMON__TOKEN_FLAGS;
    for (;;) {
        uint64_t newest = 0;
        for (uint32_t rest = trees; rest; rest &= rest - 1) {
            uint64_t its = newest_scope(t, (uint32_t)__builtin_ctz(rest));
            newest = its > newest ? its : newest;
        }
        if (newest <= token)
            return;
        for (uint32_t rest = trees; rest; rest &= rest - 1) {
            uint32_t bit = (uint32_t)__builtin_ctz(rest);
            uint32_t node = gnomon__tree_find(t, bit, newest);
            if (node)
                gnomon__tree_close(t, bit, node, now);
        }
        gnomon__trouble(t, crossed);
    }
}
