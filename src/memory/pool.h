/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A pool's use and its peak: both calls are on the hot path of a program.
 *
 * A thread that frees keeps the bytes as its credit, from which it allocates without
 * touching these lines: a pool claims what is in use and all credit. As long as that is
 * no more than the peak, there is no new peak. Where it becomes more, credit is taken back
 * from all threads before it is compared, and for some frees nobody has any. */
#ifndef GNOMON_MEMORY_POOL_H
#define GNOMON_MEMORY_POOL_H

#include "platform/atomic.h"

#define LINE __attribute__((aligned(64)))

/* One thread's credit in one pool. */
typedef struct purse {
    LINE int64_t credit; /* bytes */
    struct purse *next;  /* another thread's */
    uint32_t pool;
} purse;

/* The lowest bits of a mode. The others are a number: of the time that credit was taken
 * back. */
enum { CREDIT, TAKEN_BACK, NO_CREDIT, STATE };

typedef struct pool {
    LINE int64_t claimed; /* bytes in use, and credit */
    int64_t peak;
    int64_t calm;         /* frees */
    LINE uint64_t number; /* of the peak, from 1 */
    purse *purses;
    uint32_t mode;
    uint32_t is_met; /* the recorder's */
} pool;

/* Forgets all, while nobody marks. */
void gnomon__pool_begin(pool *p);
/* The bytes in use, but for what is marked just now. O(threads). */
int64_t gnomon__pool_use(const pool *p);
/* The next stage's peak begins with what is in use. */
void gnomon__pool_next(pool *p);

/* What the two below do where the thread's credit does not: beyond the peak O(threads). */
void gnomon__pool_claim(pool *p, int64_t bytes);
void gnomon__pool_unclaim(pool *p, int64_t bytes);

/* So many bytes are in use now, or no more. `u`: the thread's own; NULL: it has none. */
static inline void take_use(pool *p, purse *u, int64_t bytes)
{
    int64_t credit = u ? load_relaxed(&u->credit) : 0;
    if (unlikely(credit < bytes ||
                 !cas_ordered(&u->credit, &credit, credit - bytes)))
        gnomon__pool_claim(p, bytes);
}

static inline void give_use(pool *p, purse *u, int64_t bytes)
{
    if (likely(u && (load_relaxed(&p->mode) & STATE) == CREDIT)) {
        (void)add_ordered(&u->credit, bytes);
        if (likely((load_ordered(&p->mode) & STATE) == CREDIT))
            return;
        bytes = swap_ordered(&u->credit, 0);
    }
    gnomon__pool_unclaim(p, bytes);
}

#endif
