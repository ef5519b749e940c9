/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Closing nodes off the hot path: ends out of order. On the owning thread, its
 * word odd.
 *
 * Invariant: the chain of parents from the cursor to the root holds every
 * open node of the tree. A closed node on the chain is an action, or a scope
 * ended alone, inside which something is still open. The node above it on
 * the chain takes the slow path at its end. */
#include "mark/frame.h"
#include "mark/observer.h"
#include "mark/position.h"

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

/* Closes a node that is not the innermost: it stays on the chain while what
 * began inside it is open. */
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

/* ---- A chain with many that are over ------------------------------------------- */

#define CHAIN_SCANNED 256u /* at most so many nodes of the chain are read */

/* The nodes of the chain from the innermost to the outermost that is over,
 * innermost first. 0: not more than `most` are over, or one is an "(other)",
 * which stands for unknown paths. */
static uint32_t nodes_to_move(gnomon__thread *t, uint32_t bit, uint32_t most,
                              int with_carried, uint32_t *node)
{
    uint32_t n = 0, last = 0, closed = 0;
    uint32_t at = gnomon__cursor_of(t, bit)->current;
    while (n < CHAIN_SCANNED && !is_root(t, at)) {
        const gnomon__front *line = gnomon__front_at(t, at);
        if (gnomon__node_at(t, at)->flags & GNOMON__NODE_OTHER)
            return 0;
        if (gnomon__node_at(t, at)->carry && !with_carried)
            break;
        node[n++] = at;
        if (!line->token) {
            last = n;
            closed++;
        }
        at = line->parent;
    }
    return closed > most ? last : 0;
}

/* The new path of each node in to[]; 0 for a node that is over. *innermost:
 * the new path of the last. Returns 0 without memory. */
static int find_paths(gnomon__thread *t, uint32_t bit, uint32_t count,
                      const uint32_t *from, uint32_t *to, uint32_t *innermost)
{
    *innermost = gnomon__front_at(t, from[count - 1])->parent;
    for (uint32_t i = count; i-- > 0;) {
        const gnomon__front *n = gnomon__front_at(t, from[i]);
        to[i] = 0;
        if (!n->token)
            continue;
        to[i] = gnomon__tree_path(t, bit, *innermost, n->key);
        if (!to[i])
            return 0;
        *innermost = to[i];
    }
    return 1;
}

/* Moves `ticks` from the self time of one path to that of another. */
static void give_time(gnomon__thread *t, gnomon__tree *tree, uint32_t from,
                      uint32_t to, uint64_t ticks)
{
    if (!is_root(t, from))
        gnomon__tree_cross(t, from, -(int64_t)ticks);
    if (!is_root(t, to)) {
        gnomon__tree_cross(t, to, (int64_t)ticks);
        gnomon__tree_touch(t, tree, to);
    }
}

/* Moves the time of an open execution to its new path: the total counts at
 * the new path, but what it and its children had until now stays at the old
 * one. */
static void move_time(gnomon__thread *t, uint32_t bit, uint32_t from,
                      uint32_t to, uint64_t now)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    const gnomon__front *a = gnomon__front_at(t, from);
    uint64_t since = gnomon__tree_ended_at(t, a),
             all = now > since ? now - since : 0;
    gnomon__tree_outlive(t, from, since + all);
    give_time(t, tree, to, from, all);
    give_time(t, tree, a->parent, gnomon__front_at(t, to)->parent, all);
}

/* Moves the open execution to its new path. That path is free: outer
 * executions are moved first. */
static void move_open(gnomon__thread *t, uint32_t from, uint32_t to)
{
    gnomon__front *a = gnomon__front_at(t, from), *b = gnomon__front_at(t, to);
    uint64_t token = a->token, begin = a->begin;
    uint32_t seen = a->seen;
    gnomon__front_clear(a);
    store_relaxed(&b->token, token);
    store_relaxed(&b->seen, seen);
    store_release(&b->begin, begin); /* after the token */
    gnomon__tree_move_carry(t, from, to);
}

/* The old path has self time without an execution. Nobody reads the bank at rest yet. */
static void leave_at_cut(const gnomon__thread *t, uint32_t node)
{
    gnomon__part *p = &gnomon__node_at(t, node)->part[!t->bank];
    store_relaxed(&p->flags, (uint16_t)(p->flags | GNOMON__PART_MOVED));
}

/* All times are moved before the first node, as they are computed from what
 * is open on the chain. */
void gnomon__tree_shorten(gnomon__thread *t, uint32_t bit, uint64_t now,
                          uint32_t most, int at_cut)
{
    uint32_t from[CHAIN_SCANNED], to[CHAIN_SCANNED], innermost;
    uint32_t count = nodes_to_move(t, bit, most, at_cut, from);
    if (!count || !find_paths(t, bit, count, from, to, &innermost))
        return; /* or there is no memory: it stays as deep as it is */
    for (uint32_t i = at_cut ? 0 : count; i-- > 0;)
        if (to[i])
            move_time(t, bit, from[i], to[i], now);
    for (uint32_t i = count; i-- > 0;) {
        if (to[i] && at_cut)
            leave_at_cut(t, from[i]);
        if (to[i])
            move_open(t, from[i], to[i]);
    }
    gnomon__cursor_set(t, bit, innermost);
}

/* ---- Ends ------------------------------------------------------------------------ */

/* After a scope ended alone, or an action, frames that began inside it may still be open:
 * then the end of `around` must look for them. */
static void keep_inner_frames(const gnomon__thread *t, gnomon__front *around)
{
    uint64_t token = around->token & ~GNOMON__TOKEN_FLAGS;
    if (gnomon__frame_at(t, t->frame_last)->seen.token > token)
        gnomon__frame_inside(around);
}

void gnomon__tree_close(gnomon__thread *t, uint32_t bit, uint32_t node,
                        uint64_t now)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    gnomon__front *n = gnomon__front_at(t, node);
    gnomon__thread_ended(t, now);
    gnomon__tree_outlive(t, node, now);
    tree->over = node;
    tree->over_segment = gnomon__tree_segment(t, node);
    tree->over_token = n->token & ~GNOMON__TOKEN_FLAGS;
    if (gnomon__node_at(t, node)->carry)
        gnomon__tree_close_carried(t, bit, node, now);
    else
        gnomon__tree_count(t, tree, node, now - n->begin);
    gnomon__position p = gnomon__position_of(t, tree, bit);
    if (node != p.cursor->current) {
        gnomon__front_clear(n);
        close_below(t, bit, node, now);
        gnomon__tree_shorten(t, bit, now, GNOMON__MOST_CLOSED, 0);
        return;
    }
    gnomon__node_close(p, node, n, 1);
    if (gnomon__node_at(t, node)->flags & GNOMON__NODE_OTHER)
        tree->other_depth = 0;
    if (tree->is_fresh) /* a segment's first begin takes the slow way */
        gnomon__guess(p, 0);
    uint32_t up = n->parent;
    while (!gnomon__front_at(t, up)->token && !is_root(t, up))
        up = gnomon__front_at(t, up)->parent;
    if (up != n->parent)
        gnomon__cursor_set(t, bit, up);
    keep_inner_frames(t, gnomon__front_at(t, up));
}

uint32_t gnomon__trees_find(gnomon__thread *t, uint32_t *bits, uint64_t token)
{
    uint32_t found = 0;
    *bits = 0;
    gnomon__each_bit(bit, load_relaxed(&t->attached) & t->tree_bits) {
        uint32_t node = gnomon__tree_find(t, bit, token);
        if (!node)
            continue;
        *bits |= 1u << bit;
        found = found ? found : node;
    }
    return found;
}

/* Closes the node of `token` in those of the trees `bits` that have it open, and
 * calls the end-only recorders that saw it. With `keeps_inner`, tokens of scopes
 * inside an "(other)" that ends stay valid. */
static void close_in_each(gnomon__thread *t, uint32_t bits, uint64_t token,
                          uint64_t now, int keeps_inner)
{
    gnomon__finished f = {.token = token & ~GNOMON__TOKEN_FLAGS, .end = now};
    uint32_t seen = 0;
    gnomon__each_bit(bit, bits) {
        gnomon__tree *tree = gnomon__tree_of(t, bit);
        uint32_t node = gnomon__tree_find(t, bit, token),
                 depth = tree->other_depth;
        if (!node)
            continue;
        f.begin = gnomon__front_at(t, node)->begin;
        f.key = gnomon__front_at(t, node)->key;
        f.node = node;
        seen |= gnomon__front_at(t, node)->seen;
        gnomon__tree_close(t, bit, node, now);
        if (keeps_inner &&
            (gnomon__node_at(t, node)->flags & GNOMON__NODE_OTHER))
            tree->other_depth_valid = depth;
    }
    gnomon__recorders_end(
        t, seen & t->end_only_bits & load_relaxed(&t->attached), &f);
}

void gnomon__close_in_trees(gnomon__thread *t, uint64_t token, uint64_t now)
{
    close_in_each(t, load_relaxed(&t->attached) & t->tree_bits, token, now, 1);
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

/* The newest scope first, each in all trees that saw it, so that each is
 * counted as crossed once. */
void gnomon__trees_close_inner(gnomon__thread *t, uint64_t token, uint64_t now)
{
    uint32_t trees = load_relaxed(&t->attached) & t->tree_bits;
    token &= ~GNOMON__TOKEN_FLAGS;
    for (;;) {
        uint64_t newest = 0;
        gnomon__each_bit(bit, trees) {
            uint64_t its = newest_scope(t, bit);
            newest = its > newest ? its : newest;
        }
        if (newest <= token)
            return;
        close_in_each(t, trees, newest, now, 0);
        gnomon__trouble(t, crossed);
    }
}
