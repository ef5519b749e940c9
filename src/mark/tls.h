/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread-local words. One pointer leads to the calling thread's state; before the
 * first mark and after the thread's end it leads to a static dummy whose sequence
 * word is odd, so that "unregistered", "busy" and "dead" are one test.
 *
 * What includes this header is compiled once more for gnomon::executable, which
 * reaches these words in a shorter way. */
#ifndef GNOMON_MARK_TLS_H
#define GNOMON_MARK_TLS_H

#include <stddef.h>
#include <stdint.h>

#include "mark/thread.h"
#include "platform/atomic.h"
#include "platform/tls.h"

/* What the hot path reads before the thread's state: so the cold lines that a
 * pair needs are loaded all at once, not one after the other. No other thread
 * reads it; its first half changes only while the word is odd. */
typedef struct gnomon__tls {
    gnomon__thread *thread; /* the calling thread's state, or the dummy */
    char *base;             /* as the thread's */
    union {                 /* one word */
        struct {
            /* The cursor's node of the hot tree, as in the thread's state. An end looks
             * for its token there: by way of the state, its clock read would wait for
             * two more loads. */
            uint32_t open;
            uint32_t guess; /* its node that will likely begin next; or 0 */
        };
        uint64_t open_and_guess;
    };
    /* Bits whose begin, beside the hot tree's, is more than a note in its
     * node: all but those of end-only recorders. */
    uint32_t slow_bits;
    /* lock.c: */
    gnomon__thread *guarded; /* whose word turned odd */
    uint32_t busy;           /* how deep this thread is guarded, */
    uint32_t held;           /* and holds the lock of marks */
    uint32_t over_fork;
    int cancel; /* as it was before it was guarded */
} gnomon__tls;

extern __thread gnomon__tls gnomon__own GNOMON__TLS
    __attribute__((aligned(32))); /* its first half in one line */
/* The calling thread's words. If the loader placed them at one distance from
 * every thread's pointer, that distance is known from the first mark on, and
 * gnomon__tls_near is one load, as initial-exec would be. Else it returns
 * NULL, and gnomon__tls_far asks as the compiler does (platform/tls.h). */
typedef gnomon__tls GNOMON__NEAR gnomon__near;
#ifdef GNOMON_TLS_NEAR
extern uintptr_t gnomon__own_distance /* 0: not asked yet, or there is none */
    __attribute__((visibility("hidden"))); /* one load */
gnomon__near *gnomon__tls_far(void);
static inline gnomon__near *gnomon__tls_near(void)
{
    return (gnomon__near *)load_relaxed(&gnomon__own_distance);
}
#else
static inline gnomon__near *gnomon__tls_far(void)
{
    return &gnomon__own;
}
#define gnomon__tls_near gnomon__tls_far
#endif

/* Whether one of `bits` is in slow_bits: by one instruction, where the compiler would
 * copy the bits first. */
static inline int gnomon__tls_is_slow(const gnomon__near *tls, uint32_t bits)
{
#if defined(__x86_64__) && !defined(__clang__)
    int is_slow;
    __asm__("testl %2, %1"
            : "=@ccnz"(is_slow)
            : "m"(tls->slow_bits), "r"(bits));
    return is_slow;
#else
    return (bits & tls->slow_bits) != 0;
#endif
}

static inline gnomon__near *gnomon__tls_now(void)
{
    gnomon__near *tls = gnomon__tls_near();
    return likely(tls != NULL) ? tls : gnomon__tls_far();
}

/* The calling thread is `t` from now on. */
static inline void gnomon__tls_set(gnomon__thread *t)
{
    gnomon__near *tls = gnomon__tls_now();
    tls->base = t->base;
    tls->guess = 0;
    tls->slow_bits = ~t->end_only_bits;
    tls->open = t->hot.current;
    fence_signal();
    tls->thread = t;
}

/* Whether a mark is refused, and counted: a signal handler makes it and
 * interrupted gnomon on this thread, so it cannot take the lock. */
static inline int gnomon__is_reentered(void)
{
    if (likely(!gnomon__busy()))
        return 0;
    gnomon__trouble(gnomon__tls_now()->thread, reentered);
    return 1;
}

#endif
