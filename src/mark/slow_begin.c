/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Begins off the hot path: first touches, new paths, hooks and several trees.
 * "refused" entries find the word odd and may refuse; "slow" ones own it. */
#include "mark/region.h"
#include "mark/slow_open.h"
#include "platform/owner.h"

static APART uint32_t touch_unseen(gnomon_region *region, uint32_t mask)
{
    if (gnomon__is_refused())
        return 0;
    GNOMON__FORWARD(touch(region, mask));
    return gnomon__region_enter(region);
}

/* The region's mask once it is registered and the run has started; 0: off.
 * Never called while this thread's word is odd. */
uint32_t gnomon_touch_slow(gnomon_region *region, uint32_t mask)
{
    fence_acquire(); /* what was written before the mask that was read */
    return mask & GNOMON_MASK_UNSEEN ? touch_unseen(region, mask) : mask;
}

/* The token of a scope below an "(other)" is its depth there, as it is only
 * counted, and which tree that is. */
static uint64_t below_other_token(gnomon__thread *t)
{
    gnomon__tree *tree = gnomon__tree_of(t, t->hot_bit);
    tree->other_depth_valid = tree->other_depth ? tree->other_depth_valid : 0;
    return (uint64_t)t->number << GNOMON__TOKEN_SHIFT |
           gnomon__token_tree(t, t->hot_bit) | ++tree->other_depth |
           GNOMON__TOKEN_BELOW_OTHER;
}

/* On an entered thread: begins for whoever of `mask` is open; leaves. */
static gnomon_token begin_entered(gnomon__thread *t, gnomon_region *region,
                                  uint32_t mask)
{
    uint32_t m = gnomon__who_takes(t, mask);
    uint64_t token = load_relaxed(&t->seq);
    if (gnomon__is_tree_only(t, m))
        return gnomon__trees_begin(region, mask, token - 1, t);
    int is_taken = gnomon__slow_open(t, region, m, token, 0);
    if (is_taken <= 0)
        token = is_taken ? below_other_token(t) : 0;
    gnomon__leave(t);
    return token;
}

gnomon_token gnomon__refused_begin(gnomon_region *region, uint32_t mask)
{
    if (gnomon__is_reentered())
        return 0;
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
    if (unlikely(seq & GNOMON__TOKEN_ACTION)) {
        gnomon__slow_start_of(t, region);
        return 0;
    }
    if (unlikely((mask & GNOMON_MASK_UNSEEN) || load_relaxed(&t->shut))) {
        store_release(&t->seq, seq); /* leaves: this may call the run */
        mask = gnomon_touch_slow(region, mask);
        t = mask ? gnomon__enter() : NULL;
        if (!t)
            return 0;
    }
    return begin_entered(t, region, mask);
}
