/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread's sequence word and its counts, which one instruction adds to, so
 * that nothing is lost where a signal handler on the same thread adds too. */
#ifndef GNOMON_MARK_WORD_H
#define GNOMON_MARK_WORD_H

#include <stdint.h>

#include "platform/atomic.h"

/* Adds to a word of this thread. A load and a store would lose what a signal
 * handler adds in between. */
static inline void gnomon__word_add(uint64_t *word, uint64_t n)
{
#if defined(__x86_64__) && !defined(GNOMON__TSAN)
    __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(n) : "cc", "memory");
#else
    add_relaxed(word, n);
#endif
}

/* Adds to a word that readers may read meanwhile, and only this thread writes, while
 * its sequence word is odd. One instruction instead of three. */
static inline void gnomon__word_sum(uint64_t *word, uint64_t n)
{
#if defined(__x86_64__) && !defined(GNOMON__TSAN)
    __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(n) : "cc");
#else
    store_relaxed(word, load_relaxed(word) + n);
#endif
}

/* Adds `step` and returns the old value, in one instruction without a lock
 * prefix, so that the next use depends on one load and not on a store and a
 * load. */
static inline uint64_t gnomon__word_next(uint64_t *word, uint64_t step)
{
#if defined(__x86_64__) && !defined(GNOMON__TSAN)
    __asm__ volatile("xaddq %1, %0"
                     : "+m"(*word), "+r"(step)
                     :
                     : "cc", "memory");
    return step;
#else
    return add_relaxed(word, step);
#endif
}

#endif
