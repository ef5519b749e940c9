/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Begin and end off the hot path: first touches, mispredicted paths, hooks and
 * several trees, ends out of order, bad tokens. "odd" entries find the word odd
 * and may refuse; "rare" ones own it. */
#include "mark/frame.h"
#include "mark/hot.h"
#include "mark/region.h"
#include "mark/upcall.h"
#include "platform/owner.h"

/* The region's mask once it is registered and the run has started; 0: off.
 * Never called with the word odd by ourselves. */
uint32_t gnomon_touch_slow(gnomon_region *region, uint32_t mask)
{
    if (!(mask & GNOMON_MASK_UNSEEN))
        return mask;
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return 0;
    }
    if (!gnomon__upcall_start()) {
        gnomon__trouble(&gnomon__nobody, reentered);
        return 0;
    }
    GNOMON__FORWARD(touch(region, mask));
    return gnomon__region_enter(region);
}

/* For the hot tree alone. */
static gnomon_token begin_hot(gnomon__thread *t, const gnomon_region *region,
                              uint64_t token)
{
    uint32_t key = load_relaxed(&region->id) | load_relaxed(&t->stage_key);
    uint32_t node = gnomon__tree_child(t, t->hot_bit, key);
    if (!node) {
        gnomon__tree *tree = &t->trees[t->hot_bit];
        tree->loose = tree->over ? tree->loose : 0;
        return (uint64_t)t->number << GNOMON__TOKEN_SHIFT | ++tree->over |
               GNOMON__TOKEN_OVER;
    }
    gnomon__tree_open(t, &t->hot, node, token);
    store_relaxed(&gnomon__node_at(t, node)->begin, gnomon__ticks());
    return token;
}

/* On an entered thread: begins for whoever of `mask` is open; leaves. */
static gnomon_token begin_entered(gnomon__thread *t, gnomon_region *region,
                                  uint32_t mask)
{
    uint32_t m = mask & load_relaxed(&t->gate);
    uint64_t token = load_relaxed(&t->seq);
    if (!m)
        token = 0;
    else if (m == load_relaxed(&t->fast))
        token = begin_hot(t, region, token);
    else if (!gnomon__frame_begin(t, region, m, token, 0))
        token = m >> t->hot_bit & 1 ? begin_hot(t, region, token) : 0;
    gnomon__leave(t);
    return token;
}

gnomon_token gnomon__odd_begin(gnomon_region *region, uint32_t mask)
{
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return 0;
    }
    mask = gnomon_touch_slow(region, mask);
    if (!mask)
        return 0;
    GNOMON__FORWARD(begin(region, mask));
    gnomon__thread *t = gnomon__enter();
    return t ? begin_entered(t, region, mask) : 0;
}

gnomon_token gnomon__rare_begin(gnomon_region *region, uint32_t mask,
                                uint64_t seq, gnomon__thread *t)
{
    int settled = t->epoch == load_relaxed(&gnomon__sink_epoch);
    if (unlikely((mask & GNOMON_MASK_UNSEEN) || !settled)) {
        store_release(&t->seq, seq); /* out again: what follows may call up */
        mask = gnomon_touch_slow(region, mask);
        t = mask ? gnomon__enter() : NULL;
        if (!t)
            return 0;
    }
    return begin_entered(t, region, mask);
}

/* ---- Ends --------------------------------------------------------------------- */

/* A scope under an "(other)" node: only its depth is known, and only how many are
 * open. After one has ended alone, deeper tokens than that come, rightly. */
static void end_over(gnomon__thread *t, uint64_t token, enum gnomon__end how)
{
    uint32_t depth = (uint32_t)token, known = 0;
    gnomon__tree *tree =
        t->hot_bit < GNOMON__BITS ? &t->trees[t->hot_bit] : NULL;
    if (tree)
        known = tree->over > tree->loose ? tree->over : tree->loose;
    if (!depth || depth > known) {
        gnomon__trouble(t, unmatched);
        return;
    }
    if (how == GNOMON__END_ALONE)
        tree->loose = known;
    else
        for (; tree->over > depth; tree->over--)
            gnomon__trouble(t, crossed);
    tree->over -= tree->over > 0;
}

/* Of the hot tree alone. */
static void close_alone(gnomon__thread *t, uint32_t bit, uint32_t node)
{
    gnomon__tree *tree = &t->trees[bit];
    uint32_t over = tree->over;
    int is_other = gnomon__node_at(t, node)->flags & GNOMON__NODE_OTHER;
    gnomon__tree_close(t, bit, node, gnomon__ticks());
    if (is_other)
        tree->loose = over;
}

static void end_entered(gnomon__thread *t, gnomon_token token,
                        enum gnomon__end how)
{
    if ((token & ~GNOMON__TOKEN_FLAGS) >> GNOMON__TOKEN_SHIFT != t->number) {
        gnomon__trouble(t, foreign);
        return;
    }
    if ((token & GNOMON__TOKEN_FLAGS) == GNOMON__TOKEN_OVER) {
        end_over(t, token, how);
        return;
    }
    if (token & GNOMON__TOKEN_FLAGS) {
        gnomon__trouble(t, unmatched);
        return;
    }
    if (t->frame_last && gnomon__frame_end(t, token, how))
        return;
    uint32_t bit, node = gnomon__tree_find_any(t, &bit, token);
    if (!node || (gnomon__node_at(t, node)->token & GNOMON__TOKEN_ACTION)) {
        if (token >= t->stale)
            gnomon__trouble(t, unmatched);
        return;
    }
    if (how == GNOMON__END_ALONE) {
        close_alone(t, bit, node);
        return;
    }
    gnomon__frames_end_inner(t, token);
    uint64_t now = gnomon__ticks();
    gnomon__trees_close_inner(t, token, now);
    gnomon__tree_close(t, bit, node, now);
}

void gnomon__end_entered(gnomon__thread *t, gnomon_token token)
{
    end_entered(t, token, GNOMON__END_SCOPE);
}

void gnomon_end_alone_slow(gnomon_token token)
{
    const gnomon_host *to = load_acquire(&gnomon__owner);
    if (to && to->struct_size > offsetof(gnomon_host, end_alone)) {
        to->end_alone(token);
        return;
    }
    if (to || (gnomon__here.thread->seq & 1)) {
        gnomon_end_slow(token); /* hands it on, or tells what is wrong */
        return;
    }
    gnomon__thread *t = gnomon__enter(); /* even, so it is let in */
    end_entered(t, token, GNOMON__END_ALONE);
    gnomon__leave(t);
}

void gnomon__odd_end(gnomon_token token)
{
    GNOMON__FORWARD_VOID(end(token));
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return;
    }
    /* A thread that never began anything; its first mark is this. */
    (void)token;
    gnomon__trouble(&gnomon__nobody, foreign);
}

void gnomon__rare_end(gnomon_token token, uint64_t seq, gnomon__thread *t)
{
    (void)seq;
    gnomon__thread_settle(t);
    gnomon__end_entered(t, token);
    gnomon__leave(t);
}

void gnomon__rare_close(gnomon__thread *t, uint64_t seq, uint64_t ticks)
{
    uint32_t node = t->hot.current;
    gnomon__node *n = gnomon__node_at(t, node);
    gnomon__tree_count(t, t->hot_bit, n, ticks);
    if (n->flags & GNOMON__NODE_OTHER)
        t->trees[t->hot_bit].over = 0;
    store_relaxed(&n->token, 0);
    store_relaxed(&t->hot.current, n->parent);
    gnomon__here.guess = n->next;
    t->hot.last = node;
    store_release(&t->seq, seq + 2);
}
