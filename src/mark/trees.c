/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks */
/* Scopes and actions that several call trees see, and no hook. The clock is read once
 * for all, and no frame is needed, as each node keeps who else saw its
 * begin. While windows of several trees are open there is no hot tree: each
 * tree uses its own cursor. */
#include "mark/frame.h"
#include "mark/hot.h"
#include "mark/observer.h"

/* The child of the cursor's node: by the guess, by the hash of paths, or by
 * the slow path. 0: the tree does not take it. */
static inline uint32_t child_of(gnomon__thread *t, gnomon__tree *tree,
                                uint32_t bit, uint32_t key)
{
    uint32_t node = tree->guess, parent = tree->cursor.current;
    if (likely(gnomon__front_at(t, node)->key == key))
        return node;
    node = gnomon__index_find(t->base, t->ground + tree->index,
                              4 * tree->index_count - 4, parent, key);
    if (unlikely(!node || tree->is_fresh))
        return gnomon__tree_child(t, bit, key);
    gnomon__front *last = gnomon__front_at(t, tree->cursor.last);
    uint32_t *followed = last->parent == parent
                             ? &last->next
                             : &gnomon__front_at(t, parent)->child;
    store_relaxed(followed, node);
    return node;
}

/* The innermost node of a tree. */
static inline gnomon__front *innermost(gnomon__thread *t,
                                       const gnomon__tree *tree)
{
    return gnomon__front_at(t, tree->cursor.current);
}

/* No tree has a node for it, so no end comes. */
static APART void lose_scope(gnomon__thread *t, uint32_t m, uint64_t now)
{
    gnomon__each_bit(bit, m & t->tree_bits)
        gnomon__tapes_lose(t, bit, now);
}

HOT gnomon_token gnomon__trees_begin(gnomon_region *region, uint32_t mask,
                                     uint64_t seq, gnomon__thread *t)
{
    gnomon__front *opened[GNOMON__BITS];
    uint32_t m = mask & load_relaxed(&t->open_bits), n = 0;
    uint32_t key = load_relaxed(&region->id);
    uint64_t token = seq + 1;
    /* As in by_name.c: GNOMON__SEEN_SLOW for an action. */
    m |= (uint32_t)((token & GNOMON__TOKEN_ACTION) >> 31);
    gnomon__each_bit(bit, m & t->tree_bits) {
        gnomon__tree *tree = gnomon__tree_of(t, bit);
        uint32_t node = child_of(t, tree, bit, key);
        if (unlikely(!node))
            continue;
        gnomon__front *line = gnomon__front_at(t, node);
        uint32_t slow = gnomon__seen_of(t, node);
        gnomon__node_open(gnomon__own_position(tree), node, line,
                          slow ? token | GNOMON__TOKEN_SLOW : token, m | slow);
        opened[n++] = line;
    }
    /* Makes the end of the innermost scope of the other trees slow: it must
     * look for frames. */
    for (uint32_t rest = t->tree_bits & ~m, bit;
         unlikely(gnomon__bit_next(&rest, &bit));)
        gnomon__frame_inside(innermost(t, gnomon__tree_of(t, bit)));
    uint64_t now = gnomon__ticks_counter();
    for (uint32_t i = 0; i < n; i++)
        store_relaxed(&opened[i]->begin, now);
    if (unlikely(!n))
        lose_scope(t, m, now);
    gnomon__turn_even(t);
    return n ? token : 0;
}

/* Counts what took longer or shorter than all before in the trees `slow`, which have closed
 * it. */
static APART void count_in_bounds(gnomon__thread *t, gnomon__tree *const *trees,
                                  uint32_t slow, uint64_t now)
{
    gnomon__each_bit(i, slow) {
        uint32_t node = trees[i]->cursor.last;
        gnomon__tree_count(t, trees[i], node,
                           now - gnomon__front_at(t, node)->begin);
    }
}

/* Calls `end` of the end-only recorders. */
static APART void end_in_recorders(gnomon__thread *t, uint32_t end_only,
                                   const gnomon__front *n, uint64_t token,
                                   uint64_t now)
{
    gnomon__finished f = {.token = token & ~GNOMON__TOKEN_FLAGS,
                          .begin = n->begin,
                          .end = now,
                          .key = n->key};
    gnomon__recorders_end(t, end_only, &f);
}

/* It is slow if it is not the innermost in all of its trees, or began while one of them
 * was the hot tree. */
HOT void gnomon__trees_end(gnomon_token token, gnomon__thread *t,
                           gnomon__action *a)
{
    gnomon__tree *trees[GNOMON__BITS];
    uint32_t seen = 0, found = 0, count = 0, slow = 0;
    gnomon__each_bit(bit, t->tree_bits) {
        gnomon__tree *tree = gnomon__tree_of(t, bit);
        const gnomon__front *n = innermost(t, tree);
        if (n->token != token)
            continue;
        trees[count++] = tree;
        found |= 1u << bit;
        seen = n->seen;
    }
    if (token & GNOMON__TOKEN_ACTION)
        seen &= ~GNOMON__SEEN_SLOW; /* whose token says if it is slow */
    if (unlikely(!found || (seen & ~t->end_only_bits) != found)) {
        gnomon__end_slowly(token, t, a);
        return;
    }
    if (a)
        a->token = 0;
    uint64_t now = gnomon__ticks_counter();
    store_relaxed(&t->ended, now);
    for (uint32_t i = 0; i < count; i++) {
        gnomon__cursor *c = &trees[i]->cursor;
        gnomon__front *n = innermost(t, trees[i]);
        gnomon__word_sum(gnomon__pending_cell(c, t->base), 1);
        gnomon__node_close(gnomon__own_position(trees[i]), c->current, n, 1);
        if (unlikely(!gnomon__hot_count(c, n, now - n->begin))) {
            store_relaxed(&c->pending, GNOMON__NO_CELL);
            slow |= 1u << i;
        }
    }
    if (unlikely(slow))
        count_in_bounds(t, trees, slow, now);
    uint32_t end_only = seen & t->end_only_bits & load_relaxed(&t->attached);
    if (unlikely(end_only))
        end_in_recorders(t, end_only,
                         gnomon__front_at(t, trees[0]->cursor.last), token,
                         now);
    gnomon__turn_even(t);
}
