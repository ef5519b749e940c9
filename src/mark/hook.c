/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes that plain hooks see, alone or beside the hot tree: hooks that want no
 * times. The cost is that of the frame they are shown and of the calls, so all
 * that can be is done before the calls: what must outlive them takes registers
 * to save. Everything unusual goes the long way, by rare.c and frame.c, which
 * know the same frames. */
#include "mark/frame.h"
#include "mark/hot.h"

/* No fence here: where the system has no membarrier, `plain` is 0. */
static inline void raise_flag(gnomon__thread *t, uint64_t seq)
{
    store_relaxed(&t->in_hook, (uint32_t)seq + 1);
    fence_signal();
}

static inline uint64_t even_again(gnomon__thread *t, uint64_t seq)
{
    store_release(&t->seq, seq + 2);
    return seq + 1;
}

/* ---- Calls ---------------------------------------------------------------------- */

/* Which slot belongs to a bit: how many of `hooks` lie below it. */
static uint32_t slot_of(uint32_t hooks, uint32_t bit)
{
    uint32_t n = 0;
    for (hooks &= bit - 1; hooks; hooks &= hooks - 1)
        n++;
    return n;
}

HOT void gnomon__hooks_start(const gnomon__thread *t, const gnomon_frame *f,
                             uint32_t live, uint64_t *slots)
{
    int all = live == t->hook_bits;
    for (uint32_t i = 0; i < t->hook_count; i++) {
        const gnomon__hook *h = &t->hooks[i];
        if (unlikely(!(live & h->bit)))
            continue;
        uint64_t *slot =
            slots + (likely(all) ? h->rank : slot_of(live, h->bit));
        *slot = 0;
        h->start(h->self, f, slot);
    }
}

HOT void gnomon__hooks_stop(const gnomon__thread *t, const gnomon_frame *f,
                            uint32_t hooks, uint32_t live, uint64_t *slots)
{
    int all = hooks == t->hook_bits;
    for (uint32_t i = t->hook_count; i-- > 0;) {
        const gnomon__hook *h = &t->hooks[i];
        if (live & hooks & h->bit)
            h->stop(h->self, f,
                    slots + (all ? h->rank : slot_of(hooks, h->bit)));
    }
}

/* ---- Begin ---------------------------------------------------------------------- */

/* The hot tree saw it too. */
static __attribute__((noinline)) gnomon_token
begin_tree(gnomon__thread *t, uint64_t seq, gnomon__frame *frame)
{
    uint32_t key =
        load_relaxed(&frame->seen.region->id) | load_relaxed(&t->stage_key);
    uint32_t node = t->hot.guess;
    gnomon__node *n = gnomon__node_at(t, node);
    if (unlikely(n->key != key)) {
        node = gnomon__tree_child(t, t->hot_bit, key);
        n = gnomon__node_at(t, node);
    }
    if (unlikely(!node)) {
        frame->mask &= ~(1u << t->hot_bit);
        return even_again(t, seq);
    }
    return gnomon__hot_begin(t, seq, node, n, GNOMON__TOKEN_RARE);
}

/* Several hooks, or the hot tree and hooks. The flag is up. */
static __attribute__((noinline)) gnomon_token
begin_more(gnomon__thread *t, uint64_t seq, gnomon__frame *frame, uint32_t m)
{
    uint32_t live = m & load_relaxed(&t->gate);
    frame->mask = live;
    frame->hooks = live & ~t->tree_bits;
    if (!(live & t->tree_bits))
        gnomon__frame_inside_hot(t);
    gnomon__hooks_start(t, &frame->seen, frame->hooks, frame->slots);
    gnomon__hooks_leave(t);
    if (live & t->tree_bits)
        return begin_tree(t, seq, frame);
    return even_again(t, seq);
}

/* The gate is read again with the flag up: a hook that was told to leave is
 * either seen to be gone, or waits for the flag. */
HOT gnomon_token gnomon__hook_begin(gnomon__thread *t, uint64_t seq,
                                    gnomon_region *region, uint32_t mask)
{
    uint32_t m = mask & load_relaxed(&t->gate);
    uint32_t top = t->frame_top;
    /* A full stack of frames, and none yet, are one test: frame_room. */
    if (unlikely((m & ~load_relaxed(&t->plain)) || !m || top > t->frame_room))
        return gnomon__rare_begin(t, seq, region, mask);
    gnomon__frame *frame = gnomon__frame_at(t, top + 1);
    gnomon__frame_describe(t, &frame->seen, region, seq + 1, 0);
    frame->begin = 0;
    frame->below = t->frame_last;
    t->frame_last = top + 1;
    t->frame_top = top + t->frame_words;
    raise_flag(t, seq);
    uint32_t only = load_relaxed(&t->only_hook);
    if (unlikely(m != only || !(load_relaxed(&t->gate) & only)))
        return begin_more(t, seq, frame, m);
    const gnomon__hook *h = t->hooks;
    frame->mask = only;
    frame->hooks = only;
    frame->slots[0] = 0;
    h->start(h->self, &frame->seen, frame->slots);
    gnomon__hooks_leave(t);
    return even_again(t, seq);
}

/* ---- End ------------------------------------------------------------------------ */

/* Ends the innermost scope of the hot tree, if it is this one and the scope
 * around it is open: else 0. */
static inline int end_tree(gnomon__thread *t, uint64_t token)
{
    uint32_t node = t->hot.current;
    gnomon__node *n = gnomon__node_at(t, node);
    const gnomon__node *p = gnomon__node_at(t, n->parent);
    if (unlikely(n->token != (token | GNOMON__TOKEN_RARE) ||
                 !(p->token || (p->flags & GNOMON__NODE_ROOT)) ||
                 (n->flags & GNOMON__NODE_OTHER)))
        return 0;
    uint64_t d = gnomon__ticks_counter() - n->begin;
    if (unlikely(d - n->min > n->spread)) {
        gnomon__tree_count(t, t->hot_bit, n, d);
    } else {
        gnomon__count_cell(t, n, d);
        store_relaxed(&n->total, n->total + d);
    }
    store_relaxed(&n->token, 0);
    store_relaxed(&t->hot.current, n->parent);
    t->hot.guess = n->next;
    t->hot.last = node;
    return 1;
}

/* Beside the hot tree: whose inner scopes may have no frame. */
static __attribute__((noinline)) void end_more(gnomon__thread *t, uint64_t seq,
                                               gnomon__frame *frame)
{
    uint64_t token = frame->seen.token;
    const gnomon__node *inner = gnomon__node_at(t, t->hot.current);
    if (frame->seen.flags || (frame->mask & ~load_relaxed(&t->plain)) ||
        (inner->token & ~GNOMON__TOKEN_FLAGS) > token ||
        ((frame->mask & t->tree_bits) && !end_tree(t, token))) {
        gnomon__rare_end(t, seq, token);
        return;
    }
    t->frame_top = t->frame_last - 1;
    t->frame_last = frame->below;
    raise_flag(t, seq);
    uint32_t live = frame->mask & load_relaxed(&t->attached);
    gnomon__hooks_stop(t, &frame->seen, frame->hooks, live, frame->slots);
    gnomon__hooks_leave(t);
    even_again(t, seq);
}

HOT void gnomon__hook_end(gnomon__thread *t, uint64_t seq, uint64_t token)
{
    uint32_t word = t->frame_last;
    gnomon__frame *frame = gnomon__frame_at(t, word);
    if (unlikely(!word || frame->seen.token != token)) {
        gnomon__rare_end(t, seq, token);
        return;
    }
    if (unlikely(frame->hooks != load_relaxed(&t->only_hook) ||
                 frame->seen.flags)) {
        end_more(t, seq, frame);
        return;
    }
    t->frame_last = frame->below;
    t->frame_top = word - 1;
    raise_flag(t, seq);
    const gnomon__hook *h = t->hooks;
    if (likely(frame->mask & load_relaxed(&t->attached)))
        h->stop(h->self, &frame->seen, frame->slots);
    gnomon__hooks_leave(t);
    even_again(t, seq);
}
