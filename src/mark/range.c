/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranges: begun on one thread, ended on any. Open ones are in slots of the
 * beginner's pool. Whoever swaps a slot's token away has ended the range and
 * counts it in its own tree, so that each tree has one writer.
 *
 * A range's token: a bit that no scope's token has, the beginner's number,
 * the slot, and how often the slot was used, so that an old token does not
 * match a new range. */
#include "mark/frame.h"
#include "mark/hot.h"
#include "mark/region.h"
#include "mark/segment.h"
#include "platform/owner.h"

#define BLOCK_SLOTS 128u
#define MAX_BLOCKS 64u
#define MAX_HOOKS 10u

#define RANGE_BIT (1ull << 60)
#define THREAD_SHIFT 44
#define SLOT_SHIFT 31
#define SLOT_MASK (BLOCK_SLOTS * MAX_BLOCKS - 1)
#define USE_MASK ((1ull << SLOT_SHIFT) - 1)
#define TAKEN 1u /* the token while the range is being ended */

#define AROUND_WORDS (2 * MAX_HOOKS)
#define NESTED (1u << GNOMON__BITS) /* in `hooks`: it began in another range */

typedef struct open_range {
    uint64_t token; /* 0: free */
    uint64_t begin;
    gnomon_region *region;
    uint32_t mask;
    uint32_t hooks;
    uint64_t name; /* the last token of the slot */
    uint32_t segment;
    union {
        uint32_t epoch; /* of the configuration that saw it begin */
        uint32_t next;  /* of the free ones: an offset */
    };
    union {
        uint64_t slots[MAX_HOOKS];
        /* Behind the slots of its hooks: the last word says how many ranges are around
         * it. Their keys are in the words below it, the innermost nearest. */
        uint32_t around[AROUND_WORDS];
    };
} open_range;

_Static_assert(sizeof(open_range) == 128, "a chunk holds BLOCK_SLOTS of them");

_Static_assert((uint64_t)GNOMON__MAX_THREADS << THREAD_SHIFT <= RANGE_BIT,
               "the number of a thread ends below the bit");

static inline ALWAYS open_range *range_at(const gnomon__thread *t,
                                          uint32_t slot)
{
    uint32_t block = load_acquire(&t->ranges.blocks[slot / BLOCK_SLOTS]);
    return block ? (open_range *)gnomon__at(t, block) + slot % BLOCK_SLOTS
                 : NULL;
}

/* 0: no memory. */
static APART uint32_t more_slots(gnomon__thread *t)
{
    if (t->ranges.block_count == MAX_BLOCKS)
        return 0;
    uint32_t block = gnomon__chunk_take(
        BLOCK_SLOTS * (uint32_t)sizeof(open_range), GNOMON__FOR_PATHS);
    if (!block)
        return 0;
    open_range *r = gnomon__at(t, block);
    uint64_t slot = (uint64_t)t->ranges.block_count * BLOCK_SLOTS;
    for (uint32_t i = 0; i < BLOCK_SLOTS; i++) {
        r[i].name =
            RANGE_BIT | (uint64_t)t->number << THREAD_SHIFT |
            (slot + i) << SLOT_SHIFT |
            ((uint64_t)gnomon__forks << 24 & USE_MASK); /* not the parent's */
        r[i].next = i + 1 < BLOCK_SLOTS
                        ? block + (i + 1) * (uint32_t)sizeof(open_range)
                        : 0;
    }
    store_release(&t->ranges.blocks[t->ranges.block_count++], block);
    return block;
}

/* First the beginner's own list, then all that others gave back, at once:
 * only the beginner takes from either list. NULL: no memory. */
static inline ALWAYS open_range *take_slot(gnomon__thread *t)
{
    uint32_t at = t->ranges.free_slots;
    if (unlikely(!at))
        at = swap_acq_rel(&t->ranges.given_back, 0); /* with give_slot */
    if (unlikely(!at))
        at = more_slots(t);
    if (unlikely(!at))
        return NULL;
    open_range *r = gnomon__at(t, at);
    t->ranges.free_slots = r->next;
    return r;
}

/* Gives the slot of another thread back to it, its beginner. */
static APART void give_slot(gnomon__thread *beginner, open_range *r)
{
    uint32_t first = load_relaxed(&beginner->ranges.given_back);
    uint32_t at = (uint32_t)((char *)r - beginner->ground);
    do
        store_relaxed(&r->next, first);
    while (!cas_acq_rel(&beginner->ranges.given_back, &first, at));
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

/* Those of `mask` that saw the range begin: bits attached again since then are other
 * profilers. */
static APART uint32_t still_the_same(const open_range *r, uint32_t mask)
{
    gnomon__each_bit(bit, mask) {
        if ((int32_t)(load_relaxed(&gnomon__observers[bit].epoch) -
                      load_relaxed(&r->epoch)) > 0)
            mask &= ~(1u << bit);
    }
    return mask;
}

/* Of a slot that is used again meanwhile it is the next range that is lost, once. A bit that
 * was attached again since the range began is another profiler's. */
void gnomon__ranges_lose(uint32_t bit, uint64_t from, uint64_t until,
                         uint32_t threads, gnomon__range_lost *lose, void *to)
{
    for (uint32_t i = 0; i < threads; i++) {
        open_range *r;
        for (uint32_t slot = 0; slot < BLOCK_SLOTS * MAX_BLOCKS &&
                                (r = range_at(gnomon__threads[i], slot));
             slot++) {
            const uint64_t token = load_acquire(&r->token),
                           begin = load_relaxed(&r->begin);
            const uint32_t segment = load_relaxed(&r->segment),
                           mask = still_the_same(r, 1u << bit);
            fence_acquire();
            if (token > TAKEN && load_relaxed(&r->token) == token &&
                begin >= from && begin < until && mask &&
                and_acq_rel(&r->mask, ~mask) & mask)
                lose(to, i, begin, segment);
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
static APART void count_lost_range(gnomon__thread *t, uint32_t mask)
{
    if (t->ranges.block_count == MAX_BLOCKS)
        gnomon__trouble(t, lost_ranges);
    else if (!gnomon__who_lacks(t, mask))
        gnomon__trouble(t, lost_scopes);
}

static APART void call_starts(gnomon__thread *t, open_range *r, uint32_t hooks,
                              uint64_t token)
{
    gnomon_frame f;
    gnomon__frame_describe(t, &f, r->region, token, GNOMON_FRAME_RANGE);
    hooks = gnomon__hooks_enter(t, &t->open_bits, few_hooks(t, hooks));
    store_relaxed(&r->hooks, hooks);
    gnomon__hooks_start(t, &f, hooks, r->slots);
    gnomon__hooks_leave(t);
    gnomon__thread_keep_up(t);
    (void)or_acq_rel(&r->mask, hooks); /* a reader may take bits */
}

/* The clock is the counter wherever there is a hot tree. */
static inline ALWAYS uint64_t now_of(const gnomon__thread *t)
{
    return likely(load_relaxed(&t->fast) != GNOMON__NEVER)
               ? gnomon__ticks_counter()
               : gnomon__ticks();
}

static inline ALWAYS uint64_t range_begin_entered(gnomon__thread *t,
                                                  gnomon_region *region,
                                                  uint32_t mask, uint32_t m)
{
    open_range *r = take_slot(t);
    if (unlikely(!r)) {
        count_lost_range(t, mask);
        return 0;
    }
    uint64_t token = (r->name & ~USE_MASK) | ((r->name + 1) & USE_MASK);
    uint32_t recorders = m & t->recorder_bits;
    r->name = token;
    store_relaxed(&r->region, region);
    store_relaxed(&r->mask, recorders);
    store_relaxed(&r->hooks, 0);
    store_relaxed(&r->epoch, t->epoch);
    if (unlikely(m != recorders))
        call_starts(t, r, m ^ recorders, token);
    store_relaxed(&r->segment, t->segment);
    store_relaxed(&r->begin, now_of(t));
    if (likely(recorders))
        gnomon__segment_mark(r->segment, r->begin);
    store_release(&r->token, token); /* pairs with the swap in end */
    return token;
}

static uint64_t begin_known(gnomon__thread *t, gnomon_region *region,
                            uint32_t mask)
{
    uint32_t m = gnomon__who_takes(t, mask);
    uint64_t token = m ? range_begin_entered(t, region, mask, m) : 0;
    gnomon__turn_even(t);
    return token;
}

/* The first of a region or thread, or made inside gnomon. */
static APART uint64_t begin_unknown(gnomon_region *region, uint32_t mask)
{
    if (gnomon__is_reentered())
        return 0;
    mask = gnomon_touch_slow(region, mask);
    GNOMON__FORWARD(range_begin(region, mask));
    gnomon__thread *t = mask ? gnomon__enter() : NULL;
    return t ? begin_known(t, region, mask) : 0;
}

static inline ALWAYS void enter_known(gnomon__thread *t)
{
    gnomon__turn_odd_only(t, 1);
    if (unlikely(load_relaxed(&t->shut)))
        gnomon__thread_settle_slow(t);
}

uint64_t gnomon_range_begin_slow(gnomon_region *region, uint32_t mask)
{
    gnomon__thread *t = gnomon__tls_now()->thread;
    if (unlikely((mask & GNOMON_MASK_UNSEEN) || (t->seq & 1)))
        return begin_unknown(region, mask);
    enter_known(t);
    return begin_known(t, region, mask);
}

/* ---- A range in another one ------------------------------------------------- */

/* A word of the list of a range that may end meanwhile: then it is not used. */
static __attribute__((noinline, no_sanitize("thread"))) uint32_t
word_of_path(const open_range *r, uint32_t i)
{
    return *(const volatile uint32_t *)&r->around[AROUND_WORDS - 1 - i];
}

/* The slot of a range that any thread began; NULL: there is none. */
static open_range *range_slot(uint64_t token)
{
    const gnomon__thread *beginner =
        gnomon__thread_numbered((token ^ RANGE_BIT) >> THREAD_SHIFT);
    return beginner
               ? range_at(beginner, (uint32_t)(token >> SLOT_SHIFT) & SLOT_MASK)
               : NULL;
}

/* Gives `r`, which nobody can end yet, the path of the range `around`, if that is open.
 * Of a path that does not fit the outer ranges are kept. */
static void nest(open_range *r, uint64_t around)
{
    open_range *outer = range_slot(around);
    if (!outer || load_acquire(&outer->token) != around)
        return;
    uint32_t hooks = load_relaxed(&r->hooks), room = AROUND_WORDS - 1;
    gnomon__each_bit(bit, hooks) {
        room = room > 2 ? room - 2 : 0;
    }
    uint32_t above =
        load_relaxed(&outer->hooks) & NESTED ? word_of_path(outer, 0) : 0;
    if (above >= AROUND_WORDS)
        return; /* it has ended meanwhile */
    uint32_t count = above < room ? above + 1 : room;
    uint32_t *last = &r->around[AROUND_WORDS - 1];
    for (uint32_t i = 1; i <= count; i++) {
        uint32_t from = i + above - count; /* 0: its own */
        store_relaxed(last - i,
                      from ? word_of_path(outer, from)
                           : gnomon__key_of(load_relaxed(&outer->region)));
    }
    fence_acquire(); /* the words are read before the token is again */
    if (!count || load_relaxed(&outer->token) != around)
        return;
    store_relaxed(last, count);
    store_relaxed(&r->hooks, hooks | NESTED);
}

uint64_t gnomon_range_begin_in_slow(gnomon_region *region, uint32_t mask,
                                    uint64_t around)
{
    GNOMON__FORWARD(range_begin_in(region, mask, around));
    uint64_t token = gnomon_range_begin_slow(region, mask);
    open_range *r = token && around ? range_slot(token) : NULL;
    if (r)
        nest(r, around);
    return token;
}

/* ---- Ends --------------------------------------------------------------------- */

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

/* There are none where the thread has the configuration that the range began under. */
static inline ALWAYS uint32_t who_saw(const gnomon__thread *t,
                                      const open_range *r, uint32_t mask)
{
    mask &= load_relaxed(&r->mask);
    return likely(r->epoch == t->epoch) ? mask : still_the_same(r, mask);
}

/* Its list, as an offset; 0: it is in no other range. */
static uint32_t around_at(const gnomon__thread *t, const open_range *r)
{
    const uint32_t *last = &r->around[AROUND_WORDS - 1];
    return r->hooks & NESTED ? (uint32_t)((const char *)last - t->ground) : 0;
}

/* Tapes get it from whoever clears their bits first. */
static APART void tell_recorders(gnomon__thread *t, open_range *r,
                                 uint32_t recorders, uint64_t token,
                                 uint64_t now)
{
    const uint32_t tapes = recorders & t->tape_bits;
    if (tapes)
        recorders &= ~tapes | and_acq_rel(&r->mask, ~tapes);
    const gnomon__finished f = {.token = token,
                                .begin = r->begin,
                                .end = now,
                                .key = gnomon__key_of(r->region),
                                .around = around_at(t, r)};
    gnomon__each_bit(bit, recorders) {
        const gnomon__recorder *recorder = gnomon__recorder_of(t, bit);
        if (recorder->range)
            recorder->range(t, bit, &f, r->segment);
    }
}

/* The hot tree alone saw it, in this segment and in no other range. 0: there is no path
 * for it yet. */
static inline ALWAYS int count_in_hot_tree(gnomon__thread *t,
                                           const open_range *r, uint64_t ticks)
{
    gnomon__tree *tree = gnomon__tree_of(t, t->hot_bit);
    uint32_t node = gnomon__index_find(t->base, t->ground + tree->index,
                                       4 * tree->index_count - 4, tree->ranges,
                                       gnomon__key_of(r->region));
    if (unlikely(!node))
        return 0;
    gnomon__tree_add(t, tree, &t->hot, node, ticks);
    return 1;
}

/* A hook that is being detached gets the stop from whoever clears its bit first. */
static APART void call_stops(gnomon__thread *t, open_range *r, uint32_t mask,
                             uint64_t token, uint64_t now)
{
    const uint32_t hooks = r->hooks & ~NESTED;
    mask &= and_acq_rel(&r->mask, ~hooks);
    if (!(mask & hooks))
        return;
    gnomon_frame frame;
    gnomon__frame_describe(t, &frame, r->region, token, GNOMON_FRAME_RANGE);
    frame.begin_ns = gnomon__clock_ns(r->begin);
    frame.end_ns = gnomon__clock_ns(now);
    uint32_t live = gnomon__hooks_enter(t, &t->attached, mask);
    gnomon__hooks_stop(t, &frame, hooks, live, r->slots);
    gnomon__hooks_leave(t);
}

static inline ALWAYS void range_end_entered(gnomon__thread *t, uint64_t token)
{
    uint64_t number = (token ^ RANGE_BIT) >> THREAD_SHIFT;
    uint32_t slot = (uint32_t)(token >> SLOT_SHIFT) & SLOT_MASK;
    int is_own = number == t->number;
    gnomon__thread *beginner = is_own ? t : gnomon__thread_numbered(number);
    open_range *r = beginner ? range_at(beginner, slot) : NULL;
    /* The slot is this thread's from the swap until it is given back. */
    uint64_t seen = token;
    if (unlikely(!r || load_acquire(&r->token) != token)) {
        gnomon__trouble(t, unmatched);
        return;
    }
    if (!is_own)
        gnomon__ticks_wait(); /* the begin was read before the token was sent */
    uint64_t now = now_of(t);
    if (unlikely(!cas_acq_rel(&r->token, &seen, TAKEN))) {
        gnomon__trouble(t, unmatched);
        return;
    }
    uint32_t mask = who_saw(t, r, load_relaxed(&t->attached));
    if (unlikely(t->short_bits) && who_saw(t, r, t->short_bits))
        gnomon__trouble(t, lost_scopes);
    uint32_t recorders = mask & t->recorder_bits;
    if (likely(recorders))
        gnomon__thread_ended(t, now);
    if (unlikely(r->hooks || recorders != load_relaxed(&t->fast) ||
                 r->segment != t->segment ||
                 !count_in_hot_tree(t, r, now - r->begin))) {
        tell_recorders(t, r, recorders, token, now);
        if (mask & r->hooks)
            call_stops(t, r, mask, token, now);
    }
    store_relaxed(&r->token, 0);
    if (unlikely(!is_own)) {
        give_slot(beginner, r);
        return;
    }
    store_relaxed(&r->next, t->ranges.free_slots);
    t->ranges.free_slots = (uint32_t)((char *)r - t->ground);
}

static void end_known(gnomon__thread *t, uint64_t token)
{
    range_end_entered(t, token);
    gnomon__turn_even(t);
}

/* This thread has no state yet, or is inside gnomon. */
static APART void end_unknown(uint64_t token)
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
    if (t)
        end_known(t, token);
}

void gnomon_range_end_slow(uint64_t token)
{
    gnomon__thread *t = gnomon__tls_now()->thread;
    if (unlikely(t->seq & 1)) {
        end_unknown(token);
        return;
    }
    enter_known(t);
    end_known(t, token);
}
