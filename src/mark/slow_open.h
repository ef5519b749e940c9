/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The begin of a scope or an action off the hot path: one body, inlined in slow_begin.c
 * and action.c. */
#ifndef GNOMON_MARK_SLOW_OPEN_H
#define GNOMON_MARK_SLOW_OPEN_H

#include "mark/frame.h"
#include "mark/hot.h"

/* Begins a scope, or by `flags` an action, for the bits `m`: in the hot tree
 * alone, or with a frame. `token` is without flags. Returns 0 if nothing
 * took it, -1 if it is below an "(other)" or there is no memory. */
static inline ALWAYS int gnomon__slow_open(gnomon__thread *t,
                                           gnomon_region *region, uint32_t m,
                                           uint64_t token, const uint32_t flags)
{
    uint32_t fast = load_relaxed(&t->fast);
    if (!m)
        return 0;
    if (fast == GNOMON__NEVER) /* or the thread was shut amid this mark */
        fast = gnomon__thread_fast(t);
    uint32_t others = m ^ fast;
    if (others & ~t->end_only_bits)
        return gnomon__frame_begin(t, region, m, token, flags);
    uint32_t node = gnomon__tree_child(t, t->hot_bit, gnomon__key_of(region));
    if (!node) { /* its end finds neither a node nor a frame */
        gnomon__tapes_lose(t, t->hot_bit, gnomon__ticks());
        return -1;
    }
    gnomon__front *n = gnomon__front_at(t, node);
    uint32_t slow = gnomon__seen_of(t, node);
    others |= slow;
    if (flags & GNOMON_FRAME_ACTION) {
        /* With another token than the action's its stop takes the slow path. */
        token |= GNOMON__TOKEN_ACTION | (slow ? GNOMON__TOKEN_SLOW : 0);
        others |= GNOMON__SEEN_SLOW;
    }
    gnomon__node_open(gnomon__hot_position(gnomon__tls_now(), t), node, n,
                      token, others);
    store_relaxed(&n->begin, gnomon__ticks());
    return 1;
}

#endif
