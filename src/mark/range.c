/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Ranges: begun on one thread, ended on any. Open ones are in slots of the
 * beginner's pool. Whoever swaps a slot's token away has ended the range and
 * counts it in its own tree, so that each tree has one writer.
 *
 * A range's token: a bit that no scope's token has, the beginner's number,
 * the slot, and how often the slot was used, so that an old token does not
 * match a new range. */
#include "mark/frame.h"
#include "mark/region.h"
#include "mark/segment.h"
#include "mark/tls.h"
#include "mark/tree.h"
#include "platform/owner.h"
#include "platform/ticks.h"

#define BLOCK_SLOTS 128u
#define MAX_BLOCKS 64u
#define MAX_HOOKS 10u

#define RANGE_BIT (1ull << 60)
#define THREAD_SHIFT 44
#define SLOT_SHIFT 31
#define SLOT_MASK (BLOCK_SLOTS * MAX_BLOCKS - 1)
#define USE_MASK ((1ull << SLOT_SHIFT) - 1)
#define NO_SLOT UINT32_MAX
#define TAKEN 1u /* the token while the range is being ended */

typedef struct open_range {
    uint64_t token; /* 0: free */
    uint64_t begin;
    gnomon_region *region;
    uint32_t mask;
    uint32_t hooks;
    uint32_t epoch; /* of the configuration that saw it begin */
    uint32_t segment;
    uint32_t use;
    uint32_t next; /* of the free ones: slot + 1 */
    uint64_t slots[MAX_HOOKS];
} open_range;

_Static_assert(sizeof(open_range) == 128, "a chunk holds BLOCK_SLOTS of them");

_Static_assert((uint64_t)GNOMON__MAX_THREADS << THREAD_SHIFT <= RANGE_BIT,
               "the number of a thread ends below the bit");

static open_range *range_at(const gnomon__thread *t, uint32_t slot)
{
    uint32_t block = load_acquire(&t->ranges.blocks[slot / BLOCK_SLOTS]);
    return block ? (open_range *)gnomon__at(t, block) + slot % BLOCK_SLOTS
                 : NULL;
}

/* First the beginner's own list, then all that others gave back, at once:
 * only the beginner takes from either list. */
static uint32_t take_slot(gnomon__thread *t)
{
    if (!t->ranges.free_slots)
        t->ranges.free_slots =
            swap_acq_rel(&t->ranges.given_back, 0); /* with give_slot */
    uint32_t slot = t->ranges.free_slots - 1;
    if (t->ranges.free_slots) {
        t->ranges.free_slots = range_at(t, slot)->next;
        return slot;
    }
    if (t->ranges.block_count == MAX_BLOCKS)
        return NO_SLOT;
    uint32_t block = gnomon__chunk_take(
        BLOCK_SLOTS * (uint32_t)sizeof(open_range), GNOMON__FOR_PATHS);
    if (!block)
        return NO_SLOT;
    slot = t->ranges.block_count * BLOCK_SLOTS;
    store_release(&t->ranges.blocks[t->ranges.block_count++], block);
    for (uint32_t i = slot + 1; i < slot + BLOCK_SLOTS; i++)
        range_at(t, i)->next = i + 1 < slot + BLOCK_SLOTS ? i + 2 : 0;
    t->ranges.free_slots = slot + 2;
    return slot;
}

/* Gives the slot back to the beginner `t`. Any thread. */
static void give_slot(gnomon__thread *t, open_range *r, uint32_t slot)
{
    uint32_t first = load_relaxed(&t->ranges.given_back);
    store_relaxed(&r->token, 0);
    do
        r->next = first;
    while (!cas_acq_rel(&t->ranges.given_back, &first, slot + 1));
}

void gnomon__ranges_open(void (*each)(uint32_t segment))
{
    gnomon__each_thread(t) {
        for (uint32_t slot = 0; slot < BLOCK_SLOTS * MAX_BLOCKS; slot++) {
            const open_range *r = range_at(t, slot);
            if (!r)
                break;
            if (load_acquire(&r->token))
                each(load_relaxed(&r->segment));
        }
    }
}

/* The hooks that see the range: no more than a slot has room for. */
static uint32_t few_hooks(gnomon__thread *t, uint32_t hooks)
{
    uint32_t n = 0;
    for (uint32_t rest = hooks; rest; rest &= rest - 1)
        if (n++ >= MAX_HOOKS) {
            gnomon__trouble(t, lost_frames);
            hooks &= ~(rest & -rest);
        }
    return hooks;
}

/* A recorder without memory for the thread has counted the range already. */
static void count_lost_range(gnomon__thread *t, uint32_t mask)
{
    if (t->ranges.block_count == MAX_BLOCKS)
        gnomon__trouble(t, lost_ranges);
    else if (!gnomon__who_lacks(t, mask))
        gnomon__trouble(t, lost_scopes);
}

static uint64_t range_begin_entered(gnomon__thread *t, gnomon_region *region,
                                    uint32_t mask, uint32_t m)
{
    uint32_t slot = take_slot(t);
    if (slot == NO_SLOT) {
        count_lost_range(t, mask);
        return 0;
    }
    open_range *r = range_at(t, slot);
    if (++r->use == 1)
        r->use += gnomon__forks << 24; /* no token of the parent's */
    uint64_t token = RANGE_BIT | (uint64_t)t->number << THREAD_SHIFT |
                     (uint64_t)slot << SLOT_SHIFT | (r->use & USE_MASK);
    store_relaxed(&r->region, region);
    store_relaxed(&r->mask, m & t->recorder_bits);
    store_relaxed(&r->hooks, 0);
    r->epoch = t->epoch;
    uint32_t hooks = few_hooks(t, m & ~t->recorder_bits);
    if (hooks) {
        gnomon_frame f;
        gnomon__frame_describe(t, &f, region, token, GNOMON_FRAME_RANGE);
        store_relaxed(&r->hooks, gnomon__hooks_enter(t, &t->open_bits, hooks));
        gnomon__hooks_start(t, &f, r->hooks, r->slots);
        gnomon__hooks_leave(t);
        gnomon__thread_keep_up(t);
        store_relaxed(&r->mask, load_relaxed(&r->mask) | r->hooks);
    }
    store_relaxed(&r->segment, t->segment);
    store_relaxed(&r->begin, gnomon__ticks());
    if (load_relaxed(&r->mask) & t->recorder_bits)
        gnomon__segment_mark(r->segment, r->begin);
    store_release(&r->token, token); /* pairs with the swap in end */
    return token;
}

uint64_t gnomon_range_begin_slow(gnomon_region *region, uint32_t mask)
{
    if (gnomon__is_reentered())
        return 0;
    mask = gnomon_touch_slow(region, mask);
    GNOMON__FORWARD(range_begin(region, mask));
    gnomon__thread *t = mask ? gnomon__enter() : NULL;
    if (!t)
        return 0;
    uint32_t m = gnomon__who_takes(t, mask);
    uint64_t token = m ? range_begin_entered(t, region, mask, m) : 0;
    gnomon__leave(t);
    return token;
}

/* The range's end may run the hook's stop meanwhile, which writes to its slot as it
 * likes. Then the end has cleared the bit, and what was read here is not used. */
static __attribute__((noinline, no_sanitize("thread"))) uint64_t
slot_before_claim(const uint64_t *slot)
{
    return *(const volatile uint64_t *)slot;
}

uint32_t gnomon__ranges_take(gnomon__thread *t, uint32_t bit,
                             gnomon__unfinished *out, uint32_t room,
                             uint32_t *from)
{
    uint32_t n = 0, one = 1u << bit;
    for (; *from < BLOCK_SLOTS * MAX_BLOCKS && n < room; ++*from) {
        open_range *r = range_at(t, *from);
        uint64_t token = r ? load_acquire(&r->token) : 0;
        if (!r)
            break;
        if (token <= TAKEN || !(load_relaxed(&r->hooks) & one))
            continue;
        uint32_t slot = gnomon__hook_slot(load_relaxed(&r->hooks), one);
        gnomon__unfinished *u = &out[n];
        gnomon__frame_describe(t, &u->frame, load_relaxed(&r->region), token,
                               GNOMON_FRAME_RANGE);
        u->slot = slot_before_claim(&r->slots[slot % MAX_HOOKS]);
        u->begin = load_relaxed(&r->begin);
        /* No range begins with this bit any more, so a bit that is still set
         * is of the range that was read. */
        n += and_acq_rel(&r->mask, ~one) & one ? 1 : 0;
    }
    return n;
}

/* Those of `mask` that saw the range begin: bits attached again since then are other
 * profilers. */
static uint32_t still_the_same(const open_range *r, uint32_t mask)
{
    mask &= load_relaxed(&r->mask);
    gnomon__each_bit(bit, mask) {
        if ((int32_t)(load_relaxed(&gnomon__observers[bit].epoch) - r->epoch) >
            0)
            mask &= ~(1u << bit);
    }
    return mask;
}

static void range_end_entered(gnomon__thread *t, uint64_t token)
{
    uint64_t number = (token ^ RANGE_BIT) >> THREAD_SHIFT;
    uint32_t slot = (uint32_t)(token >> SLOT_SHIFT) & SLOT_MASK;
    gnomon__thread *beginner = gnomon__thread_numbered(number);
    open_range *r = beginner ? range_at(beginner, slot) : NULL;
    /* The slot is this thread's from the swap until it is given back. */
    uint64_t seen = token;
    if (!r || load_acquire(&r->token) != token) {
        gnomon__trouble(t, unmatched);
        return;
    }
    if (beginner != t)
        gnomon__ticks_wait(); /* the begin was read before the token was sent */
    uint64_t now = gnomon__ticks();
    if (!cas_acq_rel(&r->token, &seen, TAKEN)) {
        gnomon__trouble(t, unmatched);
        return;
    }
    uint32_t mask = still_the_same(r, load_relaxed(&t->attached));
    if (unlikely(t->short_bits) && still_the_same(r, t->short_bits))
        gnomon__trouble(t, lost_scopes);
    const gnomon__finished f = {.token = token,
                                .begin = r->begin,
                                .end = now,
                                .key = gnomon__key_of(r->region)};
    gnomon__each_bit(bit, mask & t->recorder_bits) {
        const gnomon__recorder *recorder = gnomon__recorder_of(t, bit);
        if (recorder->range)
            recorder->range(t, bit, &f, r->segment);
    }
    /* A hook that is being detached gets the stop from whoever clears its
     * bit first. */
    if (mask & r->hooks)
        mask &= and_acq_rel(&r->mask, ~r->hooks);
    if (mask & r->hooks) {
        gnomon_frame frame;
        gnomon__frame_describe(t, &frame, r->region, token, GNOMON_FRAME_RANGE);
        frame.begin_ns = gnomon__clock_ns(r->begin);
        frame.end_ns = gnomon__clock_ns(now);
        uint32_t live = gnomon__hooks_enter(t, &t->attached, mask);
        gnomon__hooks_stop(t, &frame, r->hooks, live, r->slots);
        gnomon__hooks_leave(t);
    }
    give_slot(beginner, r, slot);
}

void gnomon_range_end_slow(uint64_t token)
{
    GNOMON__FORWARD_VOID(range_end(token));
    if (gnomon__is_reentered())
        return;
    if (!load_acquire(&gnomon__thread_total)) {
        gnomon__trouble(&gnomon__no_thread,
                        unmatched); /* nobody ever began one */
        return;
    }
    gnomon__thread *t = gnomon__enter();
    if (t) {
        range_end_entered(t, token);
        gnomon__leave(t);
    }
}
