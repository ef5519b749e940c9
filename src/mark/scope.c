/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks */
/* The hot path: begin and end of a scope that one call tree wants, alone or with a
 * tape or other recorders of ends, by the processor's counter, along a predicted
 * path. All else is a tail call, so that these functions save no registers.
 *
 * The word turns odd before anything is read: else a signal handler that marks
 * could change the prediction between its read and its use. About 32
 * instructions to begin, in two lines of code, and 42 to end, in three lines
 * and the return; with a tape 54 to end. Data: first the region's line and the
 * thread-local one; then, all three at once, the thread's, the node's and one of a
 * histogram.
 *
 * Reading the clock takes longest. It waits for all loads before it, and on some
 * processors until the address of each store before it is known. So an end first does all
 * that needs no time, while those loads are under way, and little after. It counts the
 * pending cell after: the address of that store is known late, and before the read it
 * costs 2 ns of a pair's 25 on Zen 3.
 *
 * The hook path is the fall-through: it has no clock read to hide a taken
 * jump. */
#include "mark/hot.h"

/* More certain than likely(), so that the jump to the far half is placed behind
 * the hot lines. */
#define KNOWN(tls) __builtin_expect_with_probability((tls) != NULL, 1, 0.9999)

/* ---- With the word odd ---------------------------------------------------------- */

static inline ALWAYS gnomon_token begin_scope(gnomon__near *tls,
                                              gnomon__thread *t, uint64_t seq,
                                              gnomon_region *region,
                                              uint32_t mask)
{
    uint32_t others =
        (mask & load_relaxed(&t->open_bits)) ^ load_loose(&t->fast);
    if (likely(gnomon__tls_is_slow(tls, others)))
        return gnomon__hook_begin(region, mask, seq, t);
    uint32_t node = tls->guess;
    gnomon__front *n = gnomon__front_by(tls, node);
    if (unlikely(n->key != load_relaxed(&region->id)))
        return gnomon__other_path(region, mask, seq, t, tls, others);
    return gnomon__hot_begin(tls, t, seq, node, n, 0, others);
}

static inline ALWAYS void end_scope(gnomon__near *tls, gnomon__thread *t,
                                    gnomon_token token)
{
    char *base = tls->base;
    uint64_t node = tls->open;
    KEEP_HERE(node); /* apart from its line's address, which is one sum then */
    gnomon__front *n = (void *)(base + node);
    if (likely(load_loose(&n->token) != token)) {
        gnomon__hook_end(token, t);
        return;
    }
    /* One word says whether the thread is shut and who else saw the scope: no bit of
     * a mask is GNOMON__NEVER. */
    uint32_t seen = load_loose(&n->seen) | load_relaxed(&t->shut);
    if (likely(!seen))
        gnomon__hot_end(tls, t, base, (uint32_t)node, n);
    else if (likely(seen == t->taped))
        gnomon__taped_end(tls, t, base, (uint32_t)node, n);
    else
        gnomon__shared_end(t, n, tls, seen, token);
}

/* ---- Entries ---------------------------------------------------------------------- */

/* Refused where the word is odd: the thread is unknown, over, or inside gnomon already. */
static inline ALWAYS gnomon_token begin_by(gnomon__near *tls,
                                           gnomon_region *region, uint32_t mask,
                                           uint64_t one)
{
    gnomon__thread *t = tls->thread;
    if (unlikely(t->seq & 1))
        return gnomon__refused_begin(region, mask);
    return begin_scope(tls, t, gnomon__turn_odd(t, one), region, mask);
}

static inline ALWAYS void end_by(gnomon__near *tls, gnomon_token token,
                                 uint64_t one)
{
    gnomon__thread *t = tls->thread;
    if (unlikely(t->seq & 1)) {
        gnomon__refused_end(token);
        return;
    }
    gnomon__turn_odd_only(t, one);
    end_scope(tls, t, token);
}

/* Used if the thread-local words have no known distance: see tls.h. */
static APART gnomon_token begin_far(gnomon_region *region, uint32_t mask)
{
    return begin_by(gnomon__tls_far(), region, mask, 1);
}

static APART void end_far(gnomon_token token)
{
    end_by(gnomon__tls_far(), token, 1);
}

HOT gnomon_token gnomon_begin_slow(gnomon_region *region, uint32_t mask)
{
    uint64_t one = gnomon__one();
    gnomon__near *tls = gnomon__tls_near();
    return KNOWN(tls) ? begin_by(tls, region, mask, one)
                      : begin_far(region, mask);
}

HOT void gnomon_end_slow(gnomon_token token)
{
    uint64_t one = gnomon__one();
    gnomon__near *tls = gnomon__tls_near();
    if (KNOWN(tls))
        end_by(tls, token, one);
    else
        end_far(token);
}
