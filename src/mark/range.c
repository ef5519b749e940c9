/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranges: begun on one thread, ended on any. The beginner's pool holds the open
 * ones; whoever swaps the slot's token away has ended it, and counts it in its
 * own tree, so that trees keep one writer each.
 *
 * A range's number: the beginner's thread, the slot, and how often the slot was
 * used, so that an old number meets a different token. */
#include "mark/frame.h"
#include "mark/region.h"
#include "mark/tree.h"
#include "mark/upcall.h"
#include "platform/owner.h"

#define BLOCK_SLOTS 128u
#define MAX_BLOCKS 64u
#define MAX_HOOKS 10u

#define THREAD_SHIFT 44
#define SLOT_SHIFT 31
#define SLOT_MASK (BLOCK_SLOTS * MAX_BLOCKS - 1)
#define USE_MASK ((1ull << SLOT_SHIFT) - 1)
#define TAKEN 1u /* in place of the token, while who ends it reads it */

typedef struct range {
    uint64_t token; /* 0: free */
    uint64_t begin;
    gnomon_region *region;
    uint32_t mask;
    uint32_t hooks;
    uint32_t epoch; /* of the configuration that saw it begin */
    uint32_t key;
    uint32_t use;
    uint32_t reserved;
    uint64_t slots[MAX_HOOKS];
} range;

_Static_assert(sizeof(range) == 128, "a chunk holds BLOCK_SLOTS of them");

static range *range_at(const gnomon__thread *t, uint32_t slot)
{
    uint32_t block = load_acquire(&t->range_blocks[slot / BLOCK_SLOTS]);
    return block ? (range *)gnomon__at(t, block) + slot % BLOCK_SLOTS : NULL;
}

/* A free slot, near where the last one was; SLOT_MASK + 1: none. */
static uint32_t free_slot(gnomon__thread *t)
{
    uint32_t rooms = t->range_count * BLOCK_SLOTS;
    for (uint32_t i = 0; i < rooms; i++) {
        uint32_t slot = (t->range_hint + i) % rooms;
        if (!load_acquire(&range_at(t, slot)->token)) {
            t->range_hint = slot + 1;
            return slot;
        }
    }
    if (t->range_count == MAX_BLOCKS)
        return SLOT_MASK + 1;
    uint32_t block =
        gnomon__chunk_take(BLOCK_SLOTS * (uint32_t)sizeof(range), 0);
    if (!block)
        return SLOT_MASK + 1;
    store_release(&t->range_blocks[t->range_count++], block);
    t->range_hint = rooms + 1;
    return rooms;
}

static uint64_t range_begin_entered(gnomon__thread *t, gnomon_region *region,
                                    uint32_t m)
{
    uint32_t slot = free_slot(t);
    if (slot > SLOT_MASK) {
        gnomon__trouble(t, lost_ranges);
        return 0;
    }
    range *r = range_at(t, slot);
    if (++r->use == 1)
        r->use += gnomon__forks << 24; /* no number of the parent's */
    uint64_t token = (uint64_t)(t->number + 1) << THREAD_SHIFT |
                     (uint64_t)slot << SLOT_SHIFT | (r->use & USE_MASK);
    r->region = region;
    r->mask = m & t->tree_bits;
    r->hooks = 0;
    r->epoch = t->epoch;
    r->key = load_relaxed(&region->id) | load_relaxed(&t->stage_key);
    uint32_t hooks = m & ~t->tree_bits;
    for (uint32_t i = 0, rest = hooks; rest; rest &= rest - 1)
        if (i++ >= MAX_HOOKS) {
            gnomon__trouble(t, lost_frames);
            hooks &= ~(rest & -rest);
        }
    if (hooks) {
        gnomon_frame f;
        gnomon__frame_describe(t, &f, region, token, GNOMON_FRAME_RANGE);
        r->hooks = gnomon__hooks_enter(t, &t->gate, hooks);
        gnomon__hooks_start(t, &f, r->hooks, r->slots);
        gnomon__hooks_leave(t);
        r->mask |= r->hooks;
    }
    r->begin = gnomon__ticks();
    if (r->mask & t->tree_bits)
        gnomon__stage_mark(GNOMON__KEY_STAGE(r->key), r->begin);
    store_release(&r->token, token); /* partner: the swap in end */
    return token;
}

uint64_t gnomon_range_begin_slow(gnomon_region *region, uint32_t mask)
{
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return 0;
    }
    mask = gnomon_touch_slow(region, mask);
    GNOMON__FORWARD(range_begin(region, mask));
    gnomon__thread *t = mask ? gnomon__enter() : NULL;
    if (!t)
        return 0;
    uint32_t m = mask & load_relaxed(&t->gate);
    uint64_t token = m ? range_begin_entered(t, region, m) : 0;
    gnomon__leave(t);
    return token;
}

/* Bits that were attached anew since the range began are other profilers. */
static uint32_t still_attached(const gnomon__thread *t, const range *r)
{
    uint32_t mask = r->mask & load_relaxed(&t->attached);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        if ((int32_t)(load_relaxed(&gnomon__sinks[bit].epoch) - r->epoch) > 0)
            mask &= ~(1u << bit);
    }
    return mask;
}

static void range_end_entered(gnomon__thread *t, uint64_t token)
{
    uint64_t number = (token >> THREAD_SHIFT) - 1;
    uint32_t slot = (uint32_t)(token >> SLOT_SHIFT) & SLOT_MASK;
    range *r = NULL;
    if (number < load_acquire(&gnomon__thread_total))
        r = range_at(load_acquire(&gnomon__threads[number]), slot);
    /* The slot is ours from the swap until it is given back. */
    uint64_t now = gnomon__ticks(), seen = token;
    if (!r || load_relaxed(&r->token) != token ||
        !cas_acq_rel(&r->token, &seen, TAKEN)) {
        gnomon__trouble(t, unmatched);
        return;
    }
    uint32_t mask = still_attached(t, r);
    uint32_t trees = mask & t->tree_bits;
    for (; trees; trees &= trees - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(trees);
        uint32_t node = gnomon__tree_range(t, bit, r->key);
        if (node)
            gnomon__tree_count(t, bit, gnomon__node_at(t, node),
                               now - r->begin);
    }
    if (mask & r->hooks) {
        gnomon_frame f;
        gnomon__frame_describe(t, &f, r->region, token, GNOMON_FRAME_RANGE);
        f.begin_ns = gnomon__frame_ns(r->begin);
        f.end_ns = gnomon__frame_ns(now);
        uint32_t live = gnomon__hooks_enter(t, &t->attached, mask);
        gnomon__hooks_stop(t, &f, r->hooks, live, r->slots);
        gnomon__hooks_leave(t);
    }
    store_release(&r->token, 0); /* partner: free_slot */
}

void gnomon_range_end_slow(uint64_t token)
{
    GNOMON__FORWARD_VOID(range_end(token));
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return;
    }
    if (!load_acquire(&gnomon__thread_total)) {
        gnomon__trouble(&gnomon__nobody, unmatched); /* nobody ever began one */
        return;
    }
    gnomon__thread *t = gnomon__enter();
    if (t) {
        range_end_entered(t, token);
        gnomon__leave(t);
    }
}
