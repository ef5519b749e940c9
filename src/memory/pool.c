/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a pool claims, and that threads give their credit back. */
#include "memory/pool.h"

#include <stddef.h>

#define CALM_FREES 64 /* of each thread, until there is credit again */

static void new_peak(pool *p, int64_t use)
{
    int64_t peak = load_relaxed(&p->peak);
    while (use > peak && !cas_acq_rel(&p->peak, &peak, use))
        ;
    if (use > peak)
        (void)add_relaxed(&p->number, 1);
}

/* Whether all that is claimed is in use, as nobody has credit but whose free is under way:
 * who takes credit back does so under a number that is in the mode. */
static inline int is_exact(uint32_t mode)
{
    return (mode & STATE) == NO_CREDIT;
}

static uint32_t begin_taking(pool *p)
{
    uint32_t mode = load_ordered(&p->mode), next;
    while ((mode & STATE) != TAKEN_BACK) {
        next = (mode & ~(uint32_t)STATE) + STATE + 1 + TAKEN_BACK;
        if (cas_ordered(&p->mode, &mode, next))
            return next;
    }
    return mode;
}

/* A purse's bytes leave the claim before they leave the purse: so what others find claimed
 * meanwhile is never too much. */
static void empty_purses(pool *p)
{
    int64_t calm = 0;
    for (purse *u = load_acquire(&p->purses); u; u = u->next) {
        int64_t credit = load_ordered(&u->credit);
        calm += CALM_FREES;
        while (credit) {
            const int64_t taken = credit;
            (void)sub_ordered(&p->claimed, taken);
            if (cas_ordered(&u->credit, &credit, 0))
                break;
            (void)add_ordered(&p->claimed, taken);
        }
    }
    store_relaxed(&p->calm, calm);
}

/* Takes all credit back. Returns what is then in use. */
static int64_t use_of(pool *p)
{
    for (;;) {
        uint32_t taking = begin_taking(p);
        const uint32_t done = (taking & ~(uint32_t)STATE) + NO_CREDIT;
        empty_purses(p);
        const int64_t use = load_ordered(&p->claimed);
        if (cas_ordered(&p->mode, &taking, done) || taking == done)
            return use;
    }
}

void gnomon__pool_claim(pool *p, int64_t bytes)
{
    const uint32_t mode = load_ordered(&p->mode);
    int64_t use = add_ordered(&p->claimed, bytes) + bytes;
    if (likely(use <= load_ordered(&p->peak)))
        return;
    if (!is_exact(mode) || load_ordered(&p->mode) != mode)
        use = use_of(p);
    new_peak(p, use);
}

void gnomon__pool_begin(pool *p)
{
    store_relaxed(&p->claimed, 0);
    store_relaxed(&p->peak, 0);
    store_relaxed(&p->calm, 0);
    store_relaxed(&p->number, 0);
    store_relaxed(&p->mode, CREDIT);
    store_release(&p->purses, NULL);
}

int64_t gnomon__pool_use(const pool *p)
{
    int64_t use = load_relaxed(&p->claimed);
    for (purse *u = load_acquire(&p->purses); u; u = u->next)
        use -= load_relaxed(&u->credit);
    return use;
}

void gnomon__pool_next(pool *p)
{
    store_ordered(&p->peak, use_of(p));
    (void)add_relaxed(&p->number, 1);
    new_peak(p, load_ordered(&p->claimed)); /* what came meanwhile */
}

void gnomon__pool_unclaim(pool *p, int64_t bytes)
{
    (void)sub_ordered(&p->claimed, bytes);
    const int64_t calm = load_relaxed(&p->calm) - 1;
    uint32_t mode = load_relaxed(&p->mode);
    store_relaxed(&p->calm, calm);
    if (calm < 0 && is_exact(mode))
        (void)cas_ordered(&p->mode, &mode, mode - NO_CREDIT + CREDIT);
}
