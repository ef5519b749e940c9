/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks */
/* Scopes and actions that plain hooks see, alone or with the hot tree. A plain hook
 * wants no times. Nearly all the cost is the frame and the calls. What is
 * needed after a call must be kept in saved registers, so as much as
 * possible is done before it. All other cases go through slow_begin.c,
 * slow_end.c and frame.c, which use the same frames. */
#include "mark/one_hook.h"

/* No fence: where the system has no membarrier, `plain` is 0. The value is
 * new each time, as it is the mark's token. */
static inline void raise_flag(gnomon__thread *t, uint64_t odd)
{
    store_release(&t->in_hook, (uint32_t)odd);
    fence_signal();
}

/* Later writes of the mark to trees come after a fence. */
static inline void lower_flag(gnomon__thread *t)
{
    store_relaxed(&t->in_hook, 0);
}

/* ---- Begin ---------------------------------------------------------------------- */

/* Of a begin from `seq`, which has GNOMON__TOKEN_ACTION for an action's. */
static inline ALWAYS gnomon__frame *push(gnomon__thread *t, uint64_t seq,
                                         const gnomon_region *region)
{
    uint64_t token = seq + 1;
    return gnomon__hook_push(t, token & ~GNOMON__TOKEN_ACTION, region,
                             token & GNOMON__TOKEN_ACTION ? GNOMON_FRAME_ACTION
                                                          : 0);
}

/* What the node of the hot tree notes: an action's as in by_name.c. */
static inline uint32_t seen_of(const gnomon__frame *frame)
{
    return frame->mask |
           (frame->seen.flags & GNOMON_FRAME_ACTION ? GNOMON__SEEN_SLOW : 0);
}

/* The hot tree sees it too, but its guess was wrong, or a cut came during
 * the callbacks. */
static __attribute__((cold, noinline)) gnomon_token
begin_unguessed(gnomon__thread *t, uint64_t seq, gnomon__frame *frame)
{
    gnomon__thread_keep_up(t);
    uint32_t key = gnomon__key_of(frame->seen.region);
    uint32_t node = gnomon__tree_child(t, t->hot_bit, key);
    if (unlikely(!node)) {
        frame->mask &= ~(1u << t->hot_bit);
        return gnomon__even_again(t, seq);
    }
    return gnomon__hot_begin(gnomon__tls_now(), t, seq, node,
                             gnomon__front_at(t, node), GNOMON__TOKEN_SLOW,
                             seen_of(frame) | gnomon__seen_of(t, node));
}

/* Nothing is called, so that no registers are saved. */
static APART gnomon_token begin_guessed(gnomon__thread *t, uint64_t seq,
                                        gnomon__frame *frame)
{
    gnomon__near *tls = gnomon__tls_near();
    if (unlikely(!tls || load_relaxed(&t->shut)))
        return begin_unguessed(t, seq, frame);
    uint32_t node = tls->guess; /* never an "(other)" */
    gnomon__front *n = gnomon__front_by(tls, node);
    if (unlikely(n->key != load_relaxed(&frame->seen.region->id)))
        return begin_unguessed(t, seq, frame);
    return gnomon__hot_begin(tls, t, seq, node, n, GNOMON__TOKEN_SLOW,
                             seen_of(frame));
}

/* Calls start of all hooks that there are, at least one. */
static inline ALWAYS void start_all(gnomon__thread *t, gnomon__frame *frame)
{
    const gnomon__hook *h = t->hooks, *end = h + t->hook_count;
    int kept = *t->error;
    do {
        uint64_t *slot = frame->slots + h->rank;
        *slot = 0;
        h->start(h->self, &frame->seen, slot);
    } while (++h != end);
    *t->error = kept;
}

/* Several trees see an action, or it is slow. A function of its own, as begin_other(). */
static APART gnomon_token begin_slowly(gnomon_region *region, uint32_t mask,
                                       uint64_t seq, gnomon__thread *t)
{
    return gnomon__is_tree_only(t, mask & load_relaxed(&t->open_bits))
               ? gnomon__trees_begin(region, mask, seq, t)
               : gnomon__slow_begin(region, mask, seq, t);
}

/* Hooks together with the hot tree, or some of the hooks. */
gnomon_token gnomon__hooks_begin(gnomon_region *region, uint32_t mask,
                                 uint64_t seq, gnomon__thread *t)
{
    uint32_t m = mask & load_relaxed(&t->open_bits) & gnomon__os_own_mask();
    if (unlikely((m & ~load_relaxed(&t->plain)) || !m ||
                 t->frame_top > t->frame_room))
        return begin_slowly(region, mask, seq, t);
    gnomon__frame *frame = push(t, seq, region);
    uint32_t tree = m & t->tree_bits;
    frame->begin = 0;
    if (!tree) /* before the flag says that trees are at rest */
        gnomon__trees_inside(t, t->tree_bits);
    raise_flag(t, seq + 1);
    uint32_t hooks = (m ^ tree) & load_relaxed(&t->open_bits);
    frame->mask = hooks | tree;
    frame->hooks = hooks;
    if (likely(hooks == t->hook_bits && hooks)) /* a shut may have come */
        start_all(t, frame);
    else
        gnomon__hooks_start(t, &frame->seen, hooks, frame->slots);
    lower_flag(t);
    if (!tree)
        return gnomon__even_again(t, seq);
    fence_release();
    return begin_guessed(t, seq, frame);
}

/* Several, all that there are. */
static APART gnomon_token begin_all(gnomon_region *region, uint32_t all,
                                    uint64_t seq, gnomon__thread *t)
{
    gnomon__frame *frame = gnomon__hook_push(t, seq + 1, region, 0);
    frame->begin = 0;
    frame->mask = all;
    frame->hooks = all;
    start_all(t, frame);
    return gnomon__even_again(t, seq);
}

/* For several trees: scopes that they alone see, or with hooks as well. It chooses
 * in a function of its own: with two tail calls in a function with saved registers,
 * clang 14 makes unwind tables that are wrong for two instructions
 * (tests/unwind_tables). */
static APART gnomon_token begin_other(gnomon_region *region, uint32_t mask,
                                      uint64_t seq, gnomon__thread *t)
{
    if (load_relaxed(&t->tree_only) &&
        gnomon__is_tree_only(t, mask & load_relaxed(&t->open_bits)))
        return gnomon__trees_begin(region, mask, seq, t);
    if (!(mask & load_relaxed(&t->open_bits))) /* no window is open */
        return gnomon__slow_begin(region, mask, seq, t);
    return gnomon__hooks_begin(region, mask, seq, t);
}

/* A child that was made without the fork handlers calls no hook of its parent's: it takes
 * the slow ways, here and at the end, where gnomon__hooks_enter says so.
 *
 * The only hook, and no tree. Whoever detaches the hook waits until this
 * word is even, so its open bit is not tested again, and without a tree no
 * reader needs in_hook. frame_room makes one test of "the stack is full" and
 * "there is no stack". */
HOT gnomon_token gnomon__hook_begin(gnomon_region *region, uint32_t mask,
                                    uint64_t seq, gnomon__thread *t)
{
    uint32_t m = mask & load_relaxed(&t->open_bits) & gnomon__os_own_mask();
    uint64_t one = load_relaxed(&t->one_hook);
    if (unlikely(m != (uint32_t)one || t->frame_top > t->frame_room)) {
        if (m == load_relaxed(&t->all_hooks) && t->frame_top <= t->frame_room)
            return begin_all(region, m, seq, t);
        return begin_other(region, mask, seq, t);
    }
    gnomon__one_start(t, seq + 1, region, one, 0);
    return gnomon__even_again(t, seq);
}

/* ---- End ------------------------------------------------------------------------ */

/* Whether the end of an action is slow, as its node always says: it was open at a cut, its
 * parent is over, or it stands for paths past a limit. */
static inline int is_slow_action(const gnomon__thread *t, uint32_t node,
                                 const gnomon__front *n)
{
    const gnomon__node *its = gnomon__node_at(t, node);
    const gnomon__front *above = gnomon__front_at(t, n->parent);
    return its->carry || (its->flags & GNOMON__NODE_OTHER) ||
           (!above->token && above->parent);
}

/* Ends the innermost scope of the hot tree if it is this one, which notes `seen`, and has
 * no other reason for a slow end. Else returns 0. */
static inline int end_tree(gnomon__thread *t, uint64_t token, uint32_t seen)
{
    gnomon__near *tls = gnomon__tls_now();
    uint32_t node = t->hot.current;
    gnomon__front *n = gnomon__front_at(t, node);
    if (unlikely(n->token != (token | GNOMON__TOKEN_SLOW) || n->seen != seen))
        return 0;
    if (seen & GNOMON__SEEN_SLOW && unlikely(is_slow_action(t, node, n)))
        return 0;
    gnomon__hot_close(tls, t, node, n, gnomon__ticks_counter(), 1);
    return 1;
}

/* The same of stop. */
static inline ALWAYS void stop_all(gnomon__thread *t, gnomon__frame *frame)
{
    const gnomon__hook *h = t->hooks + t->hook_count;
    int kept = *t->error;
    do {
        h--;
        h->stop(h->self, &frame->seen, frame->slots + h->rank);
    } while (h != t->hooks);
    *t->error = kept;
}

/* Whether the innermost scope of the hot tree, which may have no frame, began after this
 * one. */
static inline ALWAYS int is_around_hot(const gnomon__thread *t,
                                       const gnomon__frame *frame)
{
    const gnomon__front *inner = gnomon__front_at(t, t->hot.current);
    return (inner->token & ~GNOMON__TOKEN_FLAGS) > frame->seen.token;
}

/* Together with the hot tree. `a`: the action, or NULL. */
static APART void end_more(gnomon_token token, gnomon__thread *t,
                           gnomon__frame *frame, gnomon__action *a)
{
    /* While the hot path is shut no bit is plain, so a frame that is being
     * taken away, or a tree that is being cut, is not used here. */
    uint32_t mask = load_relaxed(&frame->mask);
    if (unlikely(mask & ~load_relaxed(&t->plain)) ||
        frame->seen.flags != (a ? GNOMON_FRAME_ACTION : 0u) ||
        is_around_hot(t, frame) ||
        ((mask & t->tree_bits) && !end_tree(t, token, seen_of(frame)))) {
        gnomon__end_slowly(token, t, a);
        return;
    }
    if (a)
        a->token = 0;
    t->frame_top = t->frame_last;
    t->frame_last = frame->below;
    raise_flag(t, load_relaxed(&t->seq));
    uint32_t live = mask & load_relaxed(&t->attached);
    uint32_t hooks = frame->hooks;
    if (likely(hooks == t->hook_bits && hooks && !(hooks & ~live)))
        stop_all(t, frame);
    else
        gnomon__hooks_stop(t, &frame->seen, hooks, live, frame->slots);
    lower_flag(t);
    gnomon__turn_even(t);
}

/* As end_more(), where other trees than the hot one may have a scope inside. */
static APART void end_among(gnomon_token token, gnomon__thread *t,
                            gnomon__frame *frame)
{
    uint64_t newest = 0;
    gnomon__each_bit(bit, t->tree_bits) {
        uint32_t node = gnomon__cursor_of(t, bit)->current;
        uint64_t its = gnomon__front_at(t, node)->token & ~GNOMON__TOKEN_FLAGS;
        newest = its > newest ? its : newest;
    }
    if (newest > token)
        gnomon__slow_end(token, t);
    else
        end_more(token, t, frame, NULL);
}

/* Several, all that there are. */
static APART void end_all(gnomon__frame *frame, gnomon__thread *t)
{
    t->frame_top = t->frame_last;
    t->frame_last = frame->below;
    stop_all(t, frame);
    gnomon__turn_even(t);
}

/* The end of a scope, or of the action `a`, whose frame is not on top. A function of its
 * own, as begin_other(). */
static APART void end_other(gnomon_token token, gnomon__thread *t,
                            gnomon__action *a)
{
    if (load_relaxed(&t->tree_only))
        gnomon__trees_end(token, t, a);
    else
        gnomon__end_slowly(token, t, a);
}

HOT void gnomon__hook_end(gnomon_token token, gnomon__thread *t)
{
    uint32_t last = load_loose(&t->frame_last);
    gnomon__frame *frame = gnomon__frame_at(t, last);
    if (unlikely(load_loose(&frame->seen.token) != token)) {
        end_other(token, t, NULL);
        return;
    }
    if (gnomon__os_runs_in_copy()) {
        gnomon__slow_end(token, t);
        return;
    }
    if (unlikely(!gnomon__hook_saw(frame, load_relaxed(&t->one_hook), 0))) {
        uint32_t all = load_relaxed(&t->all_hooks);
        if (gnomon__hook_saw(frame, gnomon__frame_pair(all, all), 0))
            end_all(frame, t);
        else if (load_relaxed(&t->plain) & GNOMON__NEVER)
            end_among(token, t, frame);
        else
            end_more(token, t, frame, NULL);
        return;
    }
    gnomon__one_stop(t, frame, last);
}

/* Loads the token, so that the test before it needs no further register. */
static APART void stop_other(gnomon__thread *t, gnomon__action *a)
{
    end_other(a->token, t, a);
}

void gnomon__hooks_stop_action(gnomon__thread *t, gnomon__action *a)
{
    gnomon__frame *frame = gnomon__frame_at(t, t->frame_last);
    uint32_t all = load_relaxed(&t->all_hooks);
    if (unlikely(frame->seen.token != (a->token & ~GNOMON__TOKEN_FLAGS) ||
                 t->frame_dead || gnomon__os_runs_in_copy())) {
        stop_other(t, a);
    } else if (gnomon__hook_saw(frame, gnomon__frame_pair(all, all),
                                GNOMON_FRAME_ACTION)) {
        a->token = 0;
        end_all(frame, t);
    } else {
        end_more(a->token, t, frame, a);
    }
}
