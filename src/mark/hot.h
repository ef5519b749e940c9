/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bodies that scopes and actions share on the hot path, and the names of
 * the rare halves (rare.c, action.c). Included by scope.c and action.c only. */
#ifndef GNOMON_MARK_HOT_H
#define GNOMON_MARK_HOT_H

#include <string.h>

#include "mark/tree.h"

#define HOT __attribute__((hot, aligned(64)))

/* The word was odd: the thread is unknown, over, or inside gnomon already. */
gnomon_token gnomon__odd_begin(gnomon_region *region, uint32_t mask);
void gnomon__odd_end(gnomon_token token);
void gnomon__odd_start(const char *name);
void gnomon__odd_stop(const char *name);
/* The word has been turned odd, from `seq`; these turn it even. */
gnomon_token gnomon__rare_begin(gnomon__thread *t, uint64_t seq,
                                gnomon_region *region, uint32_t mask);
void gnomon__rare_end(gnomon__thread *t, uint64_t seq, gnomon_token token);
void gnomon__rare_start(gnomon__thread *t, uint64_t seq, const char *name);
void gnomon__rare_stop(gnomon__thread *t, uint64_t seq, const char *name);
/* The rest of a hot end whose histogram cell or bounds must change first. */
void gnomon__rare_close(gnomon__thread *t, uint64_t seq, uint64_t ticks);

/* The word is odd while the thread's data changes: a signal handler that marks
 * meanwhile is refused, a reader tries again. Partner: the acquire loads of
 * readers. */
static inline __attribute__((always_inline)) void
gnomon__turn_odd(gnomon__thread *t, uint64_t seq)
{
    store_relaxed(&t->seq, seq + 1);
    fence_signal();
    fence_release();
}

static inline uint32_t gnomon__slot_of(const char *name)
{
    uintptr_t p = (uintptr_t)name;
    return (uint32_t)((p ^ (p >> 9)) >> 1) & (GNOMON__SLOTS - 1);
}

/* The predicted child begins. The clock is read last, so that misses of what is
 * written here fall outside the scope. */
static inline __attribute__((always_inline)) uint64_t
gnomon__hot_begin(gnomon__thread *t, uint64_t seq, uint64_t flags)
{
    uint32_t node = t->hot.node;
    gnomon__node *n = gnomon__node_at(t, node);
    store_relaxed(&n->token, (seq + 1) | flags);
    store_relaxed(&t->hot.current, node);
    t->hot.key = n->child_key;
    t->hot.node = n->child;
    store_relaxed(&n->begin, gnomon__ticks_counter());
    store_release(&t->seq, seq + 2);
    return seq + 1;
}

/* The innermost scope, whose parent is open, ends. One test stands for "a new
 * minimum", "a new maximum", "the first" and "the clock went back". */
static inline __attribute__((always_inline)) void
gnomon__hot_end(gnomon__thread *t, uint64_t seq, uint32_t node, gnomon__node *n)
{
    uint64_t now = gnomon__ticks_counter();
    uint64_t d = now - load_relaxed(&n->begin);
    uint32_t cell = gnomon__cell_of_ticks(d);
    uint32_t cells = load_relaxed(&n->cells);
    if (unlikely((d - load_relaxed(&n->min) > load_relaxed(&n->spread)) |
                 ((cell >> 4) != (cells & 127)))) {
        gnomon__rare_close(t, seq, d);
        return;
    }
    gnomon__cells *block = (gnomon__cells *)(void *)(t->base + (cells & ~127u));
    bump_relaxed(&block->count[cell & 15], 1);
    bump_relaxed(&n->total, d);
    store_relaxed(&n->token, 0);
    store_relaxed(&t->hot.current, load_relaxed(&n->parent));
    t->hot.key = n->next_key;
    t->hot.node = n->next;
    t->hot.last = node;
    store_release(&t->seq, seq + 2);
}

#endif
