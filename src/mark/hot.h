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
gnomon_token gnomon__rare_begin(gnomon_region *region, uint32_t mask,
                                uint64_t seq, gnomon__thread *t);
void gnomon__rare_end(gnomon_token token, uint64_t seq, gnomon__thread *t);
/* Scopes that hooks alone see, none of which wants times (hook.c); all others
 * they hand on to the two above. */
gnomon_token gnomon__hook_begin(gnomon_region *region, uint32_t mask,
                                uint64_t seq, gnomon__thread *t);
void gnomon__hook_end(gnomon_token token, uint64_t seq, gnomon__thread *t);
void gnomon__rare_start(gnomon__thread *t, uint64_t seq, const char *name);
void gnomon__rare_stop(gnomon__thread *t, uint64_t seq, const char *name);
/* The rest of a hot end whose bounds must change first. */
void gnomon__rare_close(gnomon__thread *t, uint64_t seq, uint64_t ticks);

/* The step of the word, 1, made by a mark's first instruction, and it costs none:
 * the word's addition needs it. Marks are called through a pointer where gnomon is
 * a shared library; with a load as the very first instruction there a scope of one
 * hook took 11.6 ns on Zen 5, so it takes 7.9. */
static inline __attribute__((always_inline)) uint64_t gnomon__step(void)
{
    uint64_t step = 1;
#ifdef __x86_64__
    __asm__ volatile("movl $1, %k0" : "=r"(step) : : "memory");
#endif
    return step;
}

/* The word is odd while the thread's data changes: a signal handler that marks
 * meanwhile is refused, a reader tries again. Partner: the acquire loads of
 * readers. Returns the even value, by the one instruction that changes it, or a
 * handler that came between would have its tokens given out again. */
static inline __attribute__((always_inline)) uint64_t
gnomon__turn_odd(gnomon__thread *t, uint64_t step)
{
    uint64_t seq = gnomon__word_next(&t->seq, step);
    fence_release();
    return seq;
}

static inline uint32_t gnomon__slot_of(const char *name)
{
    uintptr_t p = (uintptr_t)name;
    return (uint32_t)((p ^ (p >> 9)) >> 1) & (GNOMON__SLOTS - 1);
}

/* The predicted child begins. The clock is read last, so that misses of what is
 * written here fall outside the scope. */
static inline __attribute__((always_inline)) uint64_t
gnomon__hot_begin(gnomon__near *here, gnomon__thread *t, uint64_t seq,
                  uint32_t node, gnomon__node *n, uint64_t flags)
{
    uint64_t token = seq + 1;
    /* Nothing but the token lives across the clock read, which takes registers:
     * `seq` then lies where the rare halves want it. */
    __asm__("" : "+r"(token));
    store_relaxed(&n->token, token | flags);
    store_relaxed(&t->hot.current, node);
    here->guess = n->child;
    store_relaxed(&n->begin, gnomon__ticks_counter());
    store_release(&t->seq, token + 1);
    return token;
}

/* The innermost scope, whose parent is open, ends. One test stands for "a new
 * minimum", "a new maximum", "the first two", "no such cell yet" and "the clock
 * went back". */
static inline __attribute__((always_inline)) void
gnomon__hot_end(gnomon__near *here, gnomon__thread *t, uint64_t seq,
                uint32_t node, gnomon__node *n)
{
    uint64_t now = gnomon__ticks_counter();
    uint64_t d = now - n->begin;
    if (unlikely(d - n->min > n->spread)) {
        gnomon__rare_close(t, seq, d);
        return;
    }
    gnomon__count_next(here, t, gnomon__cell_at(n, d));
    store_relaxed(&n->total, n->total + d);
    store_relaxed(&n->token, 0);
    store_relaxed(&t->hot.current, n->parent);
    here->guess = n->next;
    t->hot.last = node;
    store_release(&t->seq, seq + 2);
}

#endif
