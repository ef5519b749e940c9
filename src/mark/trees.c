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
    if (token & GNOMON__TOKEN_ACTION) /* as in by_name.c */
        m |= GNOMON__SEEN_SLOW;
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

/* The bits that saw the begin of the innermost scope, by the first tree that
 * did. 0: its end takes the slow path. */
static inline uint32_t seen_by(gnomon__thread *t, uint64_t token)
{
    uint32_t seen = 0;
    for (uint32_t rest = t->tree_bits, bit;
         !seen && gnomon__bit_next(&rest, &bit);) {
        const gnomon__front *n = innermost(t, gnomon__tree_of(t, bit));
        seen = n->token == token ? n->seen : 0;
    }
    if (token & GNOMON__TOKEN_ACTION)
        seen &= ~GNOMON__SEEN_SLOW; /* whose token says if it is slow */
    /* 0 also for GNOMON__SEEN_SLOW and for bits that were detached */
    return seen & ~(t->tree_bits | t->end_only_bits) ? 0 : seen;
}

static inline void close_innermost(gnomon__thread *t, gnomon__tree *tree,
                                   gnomon__front *n, uint64_t now)
{
    uint32_t node = tree->cursor.current;
    gnomon__tree_add(t, tree, node, now - n->begin);
    gnomon__node_close(gnomon__own_position(tree), node, n, 1);
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

/* Ends a scope, or the action `a`. 0: it is slow, as it is not the innermost in all of its
 * trees, or began while one of them was the hot tree. */
static inline ALWAYS int end_innermost(gnomon__thread *t, uint64_t token,
                                       gnomon__action *a)
{
    gnomon__tree *trees[GNOMON__BITS];
    uint32_t seen = seen_by(t, token), count = 0;
    gnomon__each_bit(bit, seen & t->tree_bits) {
        gnomon__tree *tree = gnomon__tree_of(t, bit);
        trees[count++] = tree;
        seen = innermost(t, tree)->token == token ? seen : 0;
    }
    if (unlikely(!seen || !count))
        return 0;
    if (a)
        a->token = 0;
    uint64_t now = gnomon__ticks_counter();
    store_relaxed(&t->ended, now);
    const gnomon__front *first = innermost(t, trees[0]);
    for (uint32_t i = 0; i < count; i++)
        close_innermost(t, trees[i], innermost(t, trees[i]), now);
    uint32_t end_only = seen & t->end_only_bits & load_relaxed(&t->attached);
    if (unlikely(end_only))
        end_in_recorders(t, end_only, first, token, now);
    gnomon__turn_even(t);
    return 1;
}

HOT void gnomon__trees_end(gnomon_token token, gnomon__thread *t)
{
    if (unlikely(!end_innermost(t, token, NULL)))
        gnomon__slow_end(token, t);
}

HOT void gnomon__trees_stop(gnomon__thread *t, gnomon__action *a)
{
    if (unlikely(!end_innermost(t, a->token, a)))
        gnomon__slow_stop_of(t, a);
}
