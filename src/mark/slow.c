/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Begin and end off the hot path: first touches, new paths, hooks and several
 * trees, ends out of order, bad tokens. "refused" entries find the word odd and
 * may refuse; "slow" ones own it. */
#include "mark/foreign.h"
#include "mark/frame.h"
#include "mark/hot.h"
#include "mark/region.h"
#include "mark/upcall.h"
#include "platform/owner.h"

/* The region's mask once it is registered and the run has started; 0: off.
 * Never called with the word odd by ourselves. */
uint32_t gnomon_touch_slow(gnomon_region *region, uint32_t mask)
{
    fence_acquire(); /* what was written before the mask that was read */
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

/* Of one tree alone. The token of a scope that is only counted says how deep below
 * an "(other)" it is. */
static gnomon_token begin_in_tree(gnomon__thread *t, uint32_t bit, uint32_t key,
                                  uint64_t token, uint32_t beside)
{
    uint32_t node = gnomon__tree_child(t, bit, key);
    if (!node) {
        gnomon__tree *tree = gnomon__tree_of(t, bit);
        tree->loose = tree->over ? tree->loose : 0;
        return (uint64_t)t->number << GNOMON__TOKEN_SHIFT | ++tree->over |
               GNOMON__TOKEN_OVER;
    }
    gnomon__tree_open(t, bit, node, token, beside | gnomon__seen_of(t, node));
    store_relaxed(&gnomon__front_at(t, node)->begin, gnomon__ticks());
    return token;
}

/* On an entered thread: begins for whoever of `mask` is open; leaves. */
static gnomon_token begin_entered(gnomon__thread *t, gnomon_region *region,
                                  uint32_t mask)
{
    uint32_t m = gnomon__who_takes(t, mask);
    uint32_t beside = m ^ load_relaxed(&t->fast);
    uint64_t token = load_relaxed(&t->seq);
    if (gnomon__is_light(t, m))
        return gnomon__trees_begin(region, mask, token - 1, t);
    if (m && !(beside & t->main_bits))
        token =
            begin_in_tree(t, t->hot_bit, gnomon__key_of(region), token, beside);
    else if (!m || !gnomon__frame_begin(t, region, m, token, 0))
        token = 0;
    gnomon__leave(t);
    return token;
}

gnomon_token gnomon__refused_begin(gnomon_region *region, uint32_t mask)
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

gnomon_token gnomon__slow_begin(gnomon_region *region, uint32_t mask,
                                uint64_t seq, gnomon__thread *t)
{
    if (unlikely((mask & GNOMON_MASK_UNSEEN) || load_relaxed(&t->shut))) {
        store_release(&t->seq, seq); /* out again: what follows may call up */
        mask = gnomon_touch_slow(region, mask);
        t = mask ? gnomon__enter() : NULL;
        if (!t)
            return 0;
    }
    return begin_entered(t, region, mask);
}

/* ---- Ends --------------------------------------------------------------------- */

/* A scope below an "(other)" node: only its depth is known, and only how many are
 * open. After an out-of-order end, larger depths are still valid. */
static void end_over(gnomon__thread *t, uint64_t token, enum gnomon__end how)
{
    uint32_t depth = (uint32_t)token, known = 0;
    gnomon__tree *tree =
        t->hot_bit < GNOMON__BITS ? gnomon__tree_of(t, t->hot_bit) : NULL;
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

void gnomon__riders_end(gnomon__thread *t, const gnomon__finished *f,
                        uint32_t riders)
{
    riders &= t->rider_bits & load_relaxed(&t->attached);
    for (; riders; riders &= riders - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(riders);
        gnomon__recorder_of(t, bit)->end(t, bit, f);
    }
}

void gnomon__close_in_trees(gnomon__thread *t, uint64_t token, uint64_t now)
{
    gnomon__finished f = {.token = token & ~GNOMON__TOKEN_FLAGS, .end = now};
    uint32_t seen = 0;
    for (uint32_t rest = load_relaxed(&t->attached) & t->tree_bits; rest;
         rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        gnomon__tree *tree = gnomon__tree_of(t, bit);
        uint32_t node = gnomon__tree_find(t, bit, token), over = tree->over;
        if (!node)
            continue;
        f.begin = gnomon__front_at(t, node)->begin;
        f.key = gnomon__front_at(t, node)->key;
        f.node = node;
        seen |= gnomon__front_at(t, node)->seen;
        gnomon__tree_close(t, bit, node, now);
        if (gnomon__node_at(t, node)->flags & GNOMON__NODE_OTHER)
            tree->loose = over;
    }
    gnomon__riders_end(t, &f, seen);
}

/* Another thread's, or nobody's; one that is made up may look like an own one. Words
 * may run on past the number of the next thread. */
static int is_own(const gnomon__thread *t, uint64_t token)
{
    token &= ~GNOMON__TOKEN_FLAGS;
    return token >> GNOMON__TOKEN_SHIFT == t->number ||
           token - t->born <= load_relaxed(&t->seq) - t->born;
}

static void end_entered(gnomon__thread *t, gnomon_token token,
                        enum gnomon__end how)
{
    if (!is_own(t, token)) {
        if (!gnomon__foreign_end(token))
            gnomon__trouble(t, foreign);
        return;
    }
    if ((token & GNOMON__TOKEN_FLAGS) == GNOMON__TOKEN_OVER) {
        end_over(t, token, how);
        return;
    }
    if (token & GNOMON__TOKEN_FLAGS) { /* made up: none is given out with any */
        gnomon__trouble(t, unmatched);
        return;
    }
    if (t->frame_last && gnomon__frame_end(t, token, how))
        return;
    uint32_t bits, node = gnomon__trees_find(t, &bits, token);
    if (!node || (gnomon__front_at(t, node)->token & GNOMON__TOKEN_ACTION)) {
        if (token >= t->stale)
            gnomon__trouble(t, unmatched);
        return;
    }
    if (how == GNOMON__END_SCOPE)
        gnomon__frames_end_inner(t, token);
    uint64_t now = gnomon__ticks();
    if (how == GNOMON__END_SCOPE)
        gnomon__trees_close_inner(t, token, now);
    gnomon__close_in_trees(t, token, now);
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
    gnomon__thread *t = gnomon__enter();
    if (!t) /* a handler came between, and this is a child it forked */
        return;
    end_entered(t, token, GNOMON__END_ALONE);
    gnomon__leave(t);
}

void gnomon__refused_end(gnomon_token token)
{
    GNOMON__FORWARD_VOID(end(token));
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return;
    }
    /* A thread that never began anything; its first mark is this. */
    if (!gnomon__foreign_end(token))
        gnomon__trouble(&gnomon__nobody, foreign);
}

void gnomon__slow_end(gnomon_token token, uint64_t seq, gnomon__thread *t)
{
    (void)seq;
    gnomon__thread_settle(t);
    gnomon__end_entered(t, token);
    gnomon__leave(t);
}
