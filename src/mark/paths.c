/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks */
/* Begins and ends that are almost as frequent as the hot path: a path that
 * was not guessed, as where names repeat inside a parent, and scopes that
 * end-only recorders see with the hot tree. */
#include "mark/hot.h"
#include "mark/observer.h"
#include "mark/tape.h"

/* The child `node` begins, and is the next guess at this position. */
static inline ALWAYS gnomon_token follow_path(gnomon__near *tls,
                                              gnomon__thread *t, uint64_t seq,
                                              uint32_t node, gnomon__front *n,
                                              uint32_t others)
{
    uint32_t parent = t->hot.current;
    gnomon__front *last = gnomon__front_by(tls, t->hot.last);
    uint32_t *followed = last->parent == parent
                             ? &last->next
                             : &gnomon__front_by(tls, parent)->child;
    store_relaxed(followed, node);
    return gnomon__hot_begin(tls, t, seq, node, n, 0, others);
}

/* Where the hash has another path first. A function of its own, so that the
 * test before it saves no registers. */
static APART gnomon_token farther_path(gnomon_region *region, uint32_t mask,
                                       uint64_t seq, gnomon__thread *t,
                                       gnomon__near *tls, uint32_t others)
{
    char *base = tls->base;
    uint32_t node =
        gnomon__index_find(base, base + t->index, t->index_mask, t->hot.current,
                           load_relaxed(&region->id));
    if (unlikely(!node))
        return gnomon__slow_begin(region, mask, seq, t);
    return follow_path(tls, t, seq, node, gnomon__front_by(tls, node), others);
}

/* Looks in the hash of paths. New paths, and all else, take the slow path. */
HOT gnomon_token gnomon__other_path(gnomon_region *region, uint32_t mask,
                                    uint64_t seq, gnomon__thread *t,
                                    gnomon__near *tls, uint32_t others)
{
    uint32_t at = gnomon__index_of(load_relaxed(&t->hot.current),
                                   load_relaxed(&region->id), t->index_mask);
    const void *entry = tls->base + t->index + at;
    uint32_t node = *(const uint32_t *)entry;
    gnomon__front *n = gnomon__front_by(tls, node);
    if (unlikely(n->key != load_relaxed(&region->id) ||
                 n->parent != load_relaxed(&t->hot.current)))
        return farther_path(region, mask, seq, t, tls, others);
    return follow_path(tls, t, seq, node, n, others);
}

/* ---- Ends that the hot tree shares with end-only recorders ------------------------ */

/* They are called once the tree has closed the node. */
static APART void shared_slow(gnomon__thread *t, uint64_t ticks,
                              uint32_t end_only, uint64_t token)
{
    uint32_t node = t->hot.last;
    const gnomon__front *n = gnomon__front_at(t, node);
    if (!gnomon__hot_count(&t->hot, gnomon__front_at(t, node), ticks))
        gnomon__hot_count_slowly(t, node, ticks);
    gnomon__finished f = {token, n->begin, n->begin + ticks, n->key, {node}};
    gnomon__recorders_end(t, end_only & load_relaxed(&t->attached), &f);
    gnomon__turn_even(t);
}

/* Several recorders, or one without `ended`, or hooks or further trees. No scope has an
 * action's token; one that was made up finds GNOMON__SEEN_SLOW in `seen`. An action that is
 * the innermost of its only tree ends as a scope does. While the thread is shut, it may be
 * being cut. */
static APART void shared_by_others(gnomon__thread *t, gnomon__front *n,
                                   gnomon__near *tls, uint32_t seen,
                                   gnomon_token token)
{
    int is_action =
        !(seen & GNOMON__SEEN_SLOW) && (token & GNOMON__TOKEN_ACTION);
    if (is_action)
        token ^= GNOMON__TOKEN_ACTION;
    if (unlikely(seen & ~t->end_only_bits)) {
        if (is_action)
            gnomon__slow_stop_token(t, token);
        else
            gnomon__slow_end(token, t);
        return;
    }
    store_relaxed(&n->token, token);
    store_relaxed(&n->seen, seen);
    shared_slow(t, gnomon__hot_ticks(tls, t, tls->base, tls->open, n), seen,
                token);
}

HOT void gnomon__shared_end(gnomon__thread *t, gnomon__front *n,
                            gnomon__near *tls, uint32_t seen,
                            gnomon_token token)
{
    if (unlikely(seen != t->ender)) {
        shared_by_others(t, n, tls, seen, token);
        return;
    }
    uint64_t d = gnomon__hot_ticks(tls, t, tls->base, tls->open, n);
    if (unlikely(!gnomon__hot_count(&t->hot, n, d)))
        shared_slow(t, d, seen, token);
    else
        t->beside->recorder->ended(t, n, d);
}

void gnomon__taped_count(gnomon__thread *t, uint64_t ticks)
{
    gnomon__hot_count_slowly(t, t->hot.last, ticks);
    gnomon__tape_ended(t, gnomon__front_at(t, t->hot.last), ticks);
}

void gnomon__slow_count(gnomon__thread *t, uint64_t ticks)
{
    gnomon__hot_count_slowly(t, t->hot.last, ticks);
    gnomon__turn_even(t);
}
