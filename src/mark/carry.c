/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes that are open at a cut. A scope goes on in the other bank. When it
 * ends it counts in the segment in which it began, with its whole duration. Its
 * self time counts in each segment for the part that it was the innermost open
 * scope there.
 *
 * The sums of a bank are of its segment alone, as if each scope that was
 * open at the cut ended there and began again. So the end computes which
 * part of these sums belongs to the earlier segment: `inside` and `self`. */
#include "mark/segment.h"
#include "mark/position.h"
#include "platform/ticks.h"

static gnomon__carry *carry_at(const gnomon__thread *t, uint32_t at)
{
    return gnomon__at(t, at);
}

/* 0: no memory. */
static uint32_t take_carry(gnomon__thread *t, gnomon__tree *tree)
{
    uint32_t at = tree->carries;
    if (!at)
        return gnomon__tree_take(t, tree, (uint32_t)sizeof(gnomon__carry),
                                 GNOMON__FOR_SUMS);
    tree->carries = carry_at(t, at)->next;
    return at;
}

/* Takes it off the list of carries that are open. */
static void unlink_carry(gnomon__thread *t, gnomon__tree *tree, uint32_t its)
{
    uint32_t *at = &tree->carried;
    while (*at != its)
        at = &carry_at(t, *at)->next;
    *at = carry_at(t, its)->next;
}

static void hand_over(gnomon__thread *t, gnomon__tree *tree, uint32_t at)
{
    carry_at(t, at)->next = tree->ended[t->bank];
    store_release(&tree->ended[t->bank], at);
}

/* ---- An end ---------------------------------------------------------------- */

static uint64_t since_cut(const gnomon__thread *t, const gnomon__front *n,
                          uint64_t now)
{
    uint64_t from = n->begin > t->segment_begin ? n->begin : t->segment_begin;
    return now > from ? now - from : 0;
}

/* The time of this segment in which a finished child of `node` was open.
 * Since the cut, all children of `node` ran inside the execution that ends. */
static uint64_t in_children(const gnomon__thread *t, const gnomon__tree *tree,
                            uint32_t node)
{
    uint64_t sum = 0;
    for (uint32_t at = tree->touched[t->bank]; at;
         at = gnomon__part_at(t, at)->touched)
        if (gnomon__front_at(t, at)->parent == node)
            sum += gnomon__front_at(t, at)->total;
    for (uint32_t at = tree->ended[t->bank]; at; at = carry_at(t, at)->next)
        if (!carry_at(t, at)->is_range &&
            gnomon__front_at(t, carry_at(t, at)->node)->parent == node)
            sum += carry_at(t, at)->inside;
    return sum;
}

/* The time in which a scope begun inside `node` is still open above it on
 * the chain, without the time of children that are over. It starts at the
 * begin of the chain's next node, or, where that one is over, at the end of
 * the last of those that follow and are over. */
static uint64_t in_open_child(const gnomon__thread *t, uint32_t above,
                              uint32_t node, uint64_t now)
{
    uint64_t from = now;
    for (; above != node; above = gnomon__front_at(t, above)->parent) {
        const gnomon__front *n = gnomon__front_at(t, above);
        from = n->token || n->begin > from ? n->begin : from;
    }
    if (from < t->segment_begin)
        from = t->segment_begin;
    return now > from ? now - from : 0;
}

void gnomon__tree_move_carry(gnomon__thread *t, uint32_t from, uint32_t to)
{
    uint32_t carry = gnomon__node_at(t, from)->carry;
    if (!carry)
        return;
    store_relaxed(&gnomon__node_at(t, from)->carry, 0);
    store_relaxed(&carry_at(t, carry)->node, to);
    store_release(&gnomon__node_at(t, to)->carry, carry);
}

void gnomon__tree_close_carried(gnomon__thread *t, uint32_t bit, uint32_t node,
                                uint64_t now)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    gnomon__node *n = gnomon__node_at(t, node);
    gnomon__part *p = gnomon__part_at(t, node);
    const gnomon__front *line = gnomon__front_at(t, node);
    gnomon__carry *c = carry_at(t, n->carry);
    uint32_t its = n->carry;
    store_relaxed(&n->carry, 0); /* before it is in no list */
    fence_signal();
    unlink_carry(t, tree, its);
    if (now < line->begin) {
        gnomon__trouble(t, clock_back);
        now = line->begin;
    }
    c->ticks = now - line->begin;
    c->inside = since_cut(t, line, now);
    c->self = c->inside - in_children(t, tree, node) -
              in_open_child(t, gnomon__cursor_of(t, bit)->current, node, now) +
              (uint64_t)p->adjust;
    if ((int64_t)c->self < 0) /* ended before the cut, by another thread */
        c->self = 0;
    hand_over(t, tree, its);
}

int gnomon__tree_carry_range(gnomon__thread *t, gnomon__tree *tree,
                             uint32_t node, uint32_t segment, uint64_t ticks)
{
    uint32_t at = take_carry(t, tree);
    if (!at)
        return 0;
    *carry_at(t, at) = (gnomon__carry){
        .node = node, .segment = segment, .is_range = 1, .ticks = ticks};
    hand_over(t, tree, at);
    return 1;
}

uint32_t gnomon__tree_segment(const gnomon__thread *t, uint32_t node)
{
    uint32_t carry = gnomon__node_at(t, node)->carry;
    return carry ? carry_at(t, carry)->segment : t->segment;
}

/* ---- A cut ------------------------------------------------------------------ */

/* An execution that is open for the first time at a cut. */
static uint32_t begin_carry(gnomon__thread *t, gnomon__tree *tree,
                            uint32_t node)
{
    uint32_t at = take_carry(t, tree);
    if (!at)
        return 0;
    *carry_at(t, at) = (gnomon__carry){
        .next = tree->carried, .node = node, .segment = tree->segment[t->bank]};
    return tree->carried = at;
}

void gnomon__tree_forget_open(const gnomon__thread *t, gnomon__tree *tree,
                              uint32_t bank)
{
    fence_release(); /* the change of banks before it loses what was open */
    for (uint32_t at = tree->open_at_cut[bank]; at;) {
        gnomon__front *line = &gnomon__node_at(t, at)->front[bank];
        gnomon__front_clear(line);
        at = line->parent;
    }
    tree->open_at_cut[bank] = 0;
}

/* Copies the lines of the chain to the other bank; those of the bank that comes to rest
 * stay, with the segment in `seen`. Open scopes take the slow path from now on. Without
 * memory for its carry, an open scope begins again at the cut, counted, and its path is
 * inexact. */
static void move_chain(gnomon__thread *t, gnomon__tree *tree, uint32_t current)
{
    tree->open_at_cut[t->bank] = current;
    for (uint32_t at = current; at != tree->root;) {
        gnomon__node *node = gnomon__node_at(t, at);
        gnomon__front *from = &node->front[t->bank];
        gnomon__front *to = &node->front[!t->bank];
        uint64_t token = from->token, begin = from->begin;
        if (token && !node->carry)
            store_release(&node->carry, begin_carry(t, tree, at));
        if (token && !node->carry) {
            gnomon__tree_touch(t, tree, at);
            gnomon__tree_cross(t, at, 0);
            gnomon__trouble(t, late_lost);
            begin = gnomon__segment_begin;
        }
        store_relaxed(&to->begin, begin);
        store_relaxed(&to->token, token ? token | GNOMON__TOKEN_SLOW : 0);
        store_relaxed(&to->seen, token ? from->seen | GNOMON__SEEN_SLOW : 0);
        store_relaxed(&from->seen, gnomon__tree_segment(t, at));
        at = from->parent;
    }
}

void gnomon__tree_cut(gnomon__thread *t, uint32_t bit)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    gnomon__cursor *c = gnomon__cursor_of(t, bit);
    gnomon__tree_forget_open(t, tree, !t->bank);
    move_chain(t, tree, c->current);
    tree->until[t->bank] = gnomon__segment_begin;
    tree->segment[!t->bank] = gnomon__segment;
    tree->since[!t->bank] = gnomon__segment_begin;
    while (tree->returned) {
        uint32_t at = tree->returned;
        tree->returned = carry_at(t, at)->next;
        carry_at(t, at)->next = tree->carries;
        tree->carries = at;
    }
    tree->is_fresh = 1;
    c->last = 0;
    tree->guess = 0;
}

/* ---- A thread's end -------------------------------------------------------------- */

/* Ends the carry of an open scope at `now`. Without memory for a carry the
 * scope is left out. Of one that began in this segment the self time is in the sums of
 * its path: earlier executions of the path had children too. */
static void leave_open(gnomon__thread *t, gnomon__tree *tree, uint32_t node,
                       uint64_t now)
{
    gnomon__node *n = gnomon__node_at(t, node);
    gnomon__front *line = gnomon__front_at(t, node);
    uint32_t at = n->carry ? n->carry : begin_carry(t, tree, node);
    uint64_t inside = since_cut(t, line, now);
    uint64_t self = n->carry ? inside - in_children(t, tree, node) +
                                   (uint64_t)gnomon__part_at(t, node)->adjust
                             : 0;
    store_relaxed(&n->carry, 0);
    gnomon__front_clear(line);
    if (!at)
        return;
    gnomon__carry *c = carry_at(t, at);
    unlink_carry(t, tree, at);
    c->is_left = 1;
    c->inside = inside;
    c->self = (int64_t)self < 0 ? 0 : self; /* their children count in it too */
    hand_over(t, tree, at);
}

/* Acts as if each ended now, innermost first. */
uint64_t gnomon__tree_abandon(gnomon__thread *t, uint32_t bit)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    uint64_t open = 0, now = gnomon__ticks();
    for (uint32_t at = gnomon__cursor_of(t, bit)->current; at != tree->root;
         at = gnomon__front_at(t, at)->parent) {
        if (!gnomon__front_at(t, at)->token)
            continue;
        open++;
        gnomon__thread_ended(t, now);
        gnomon__tree_outlive(t, at, now);
        gnomon__tree_cross(t, at, 0);
        leave_open(t, tree, at, now);
    }
    gnomon__cursor_set(t, bit, tree->root);
    tree->other_depth = 0;
    return open;
}
