/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bodies that scopes and actions share on the hot path, and the names of
 * the slow halves. Included by what is hot: scope.c, by_name.c, hook.c, paths.c, trees.c. */
#ifndef GNOMON_MARK_HOT_H
#define GNOMON_MARK_HOT_H

#include <string.h>

#include "mark/observer.h"
#include "mark/position.h"
#include "mark/tape.h"
#include "platform/ticks.h"

#define HOT __attribute__((hot, aligned(64)))
#define APART __attribute__((noinline))
/* `x` is computed before the code that follows, also before a clock read. */
#define KEEP_HERE(x) __asm__ volatile("" : "+r"(x))

/* The word was odd: the thread has no state, has ended, or is inside gnomon. */
gnomon_token gnomon__refused_begin(gnomon_region *region, uint32_t mask);
void gnomon__refused_end(gnomon_token token);
/* The word has been turned odd, by a begin from `seq`; these turn it even. */
gnomon_token gnomon__slow_begin(gnomon_region *region, uint32_t mask,
                                uint64_t seq, gnomon__thread *t);
void gnomon__slow_end(gnomon_token token, gnomon__thread *t);
void gnomon__slow_start(gnomon__thread *t, const char *name);
void gnomon__slow_stop(gnomon__thread *t, const char *name);
/* The general way to end, for what the quick ways of hook.c and trees.c refuse: stops the
 * action `a`; where that is NULL, ends the scope of `token`. */
void gnomon__end_slowly(gnomon_token token, gnomon__thread *t,
                        gnomon__action *a);
/* Of an action with this token, which is forgotten already. */
void gnomon__slow_stop_token(gnomon__thread *t, uint64_t token);
/* The start of an action, from gnomon__slow_begin: its token has
 * GNOMON__TOKEN_ACTION already, as `seq` had. */
void gnomon__slow_start_of(gnomon__thread *t, gnomon_region *region);
/* The action of a name to which the thread's table does not lead. NULL: it is for the
 * slow path, as there is no memory or the name is past a limit. */
gnomon__action *gnomon__action_find(gnomon__thread *t, const char *name);
/* A begin for the hot tree and the end-only recorders `others`, where the
 * guess was wrong (paths.c). Passing what begin has loaded avoids saving
 * registers. */
gnomon_token gnomon__other_path(gnomon_region *region, uint32_t mask,
                                uint64_t seq, gnomon__thread *t,
                                gnomon__near *tls, uint32_t others);
/* An end of the innermost scope of the hot tree, on line `n`, that the bits `seen` may
 * have seen too; or of an action, whose token has GNOMON__TOKEN_ACTION (paths.c). */
void gnomon__shared_end(gnomon__thread *t, gnomon__front *n, gnomon__near *tls,
                        uint32_t seen, gnomon_token token);
/* Scopes that plain hooks alone see (hook.c); all others are passed on. */
gnomon_token gnomon__hook_begin(gnomon_region *region, uint32_t mask,
                                uint64_t seq, gnomon__thread *t);
void gnomon__hook_end(gnomon_token token, gnomon__thread *t);
/* Begins of scopes and actions, and stops of actions, that more than the only hook sees;
 * `seq` as for gnomon__slow_begin. */
gnomon_token gnomon__hooks_begin(gnomon_region *region, uint32_t mask,
                                 uint64_t seq, gnomon__thread *t);
void gnomon__hooks_stop_action(gnomon__thread *t, gnomon__action *a);
/* Scopes and actions that several trees see, and no hook (trees.c); `seq` as for
 * gnomon__slow_begin. `a`: the action that ends, NULL for a scope. */
gnomon_token gnomon__trees_begin(gnomon_region *region, uint32_t mask,
                                 uint64_t seq, gnomon__thread *t);
void gnomon__trees_end(gnomon_token token, gnomon__thread *t,
                       gnomon__action *a);
/* The rest of a hot end that changes the minimum or maximum of the node, which is closed
 * and was the last one to end; the same of a taped end. */
void gnomon__slow_count(gnomon__thread *t, uint64_t ticks);
void gnomon__taped_count(gnomon__thread *t, uint64_t ticks);

/* Load the constant first: a load as the first instruction costs 4 ns on Zen 5
 * where marks are called through a pointer, as a shared library's are. */
static inline ALWAYS uint64_t gnomon__one(void)
{
    uint64_t one = 1;
#ifdef __x86_64__
    __asm__ volatile("movl $1, %k0" : "=r"(one) : : "memory");
#endif
    return one;
}

/* The word is odd while the thread's data changes: a signal handler that
 * marks meanwhile is refused, and a reader tries again. Pairs with readers'
 * acquire loads of seq. Returns the even value, read by the same instruction
 * that changes it: else a handler in between could make this thread give out
 * its tokens again. */
static inline ALWAYS uint64_t gnomon__turn_odd(gnomon__thread *t, uint64_t one)
{
    uint64_t seq = gnomon__word_next(&t->seq, one);
    fence_acq_rel(); /* acquire: what was written before a region's mask */
    return seq;
}

/* The same where nobody needs the value, which takes fewer instructions. */
static inline ALWAYS void gnomon__turn_odd_only(gnomon__thread *t, uint64_t one)
{
    gnomon__word_add(&t->seq, one);
    fence_acq_rel();
}

static inline ALWAYS void gnomon__turn_even(gnomon__thread *t)
{
#if defined(__x86_64__) && !defined(GNOMON__TSAN)
    gnomon__word_add(&t->seq, 1); /* a release: its stores keep their order */
#else
    store_release(&t->seq, load_relaxed(&t->seq) + 1);
#endif
}

/* The action is open from now on, with this token. */
static inline void gnomon__action_open(gnomon__action *a, uint64_t token)
{
    a->token = token;
    a->offs = load_relaxed(&gnomon__observer_offs);
}

/* Whether only trees, and end-only recorders with them, see a scope. */
static inline int gnomon__is_tree_only(const gnomon__thread *t, uint32_t m)
{
    return (m & t->tree_bits) && !(m & ~load_relaxed(&t->tree_only));
}

/* A child of the cursor's node begins. The clock is read last, so that misses of
 * what is written here fall outside the scope. */
static inline ALWAYS uint64_t gnomon__hot_begin(gnomon__near *tls,
                                                gnomon__thread *t, uint64_t seq,
                                                uint32_t node, gnomon__front *n,
                                                uint64_t flags, uint32_t seen)
{
    uint64_t token = seq + 1;
    /* Only the token is kept across the clock read, which uses registers:
     * `seq` then stays in the register where the slow functions expect it. */
    __asm__("" : "+r"(token));
    gnomon__node_open(gnomon__hot_position(tls, t), node, n, token | flags,
                      seen);
    store_relaxed(&n->begin, gnomon__ticks_counter());
    gnomon__turn_even(t);
    return token;
}

/* The same as gnomon__count_slowly, of the hot tree. */
static inline void gnomon__hot_count_slowly(gnomon__thread *t, uint32_t node,
                                            uint64_t d)
{
    gnomon__count_slowly(t, gnomon__tree_of(t, t->hot_bit), &t->hot, node, d);
}

/* The innermost node, whose parent is open, closes at `now`. */
static inline ALWAYS void gnomon__hot_close(gnomon__near *tls,
                                            gnomon__thread *t, uint32_t node,
                                            gnomon__front *n, uint64_t now,
                                            const int is_seen)
{
    uint64_t d = now - n->begin;
    gnomon__word_sum(gnomon__pending_cell(&t->hot, t->base), 1);
    store_relaxed(&t->ended, now);
    if (unlikely(!gnomon__hot_count(&t->hot, n, d)))
        gnomon__hot_count_slowly(t, node, d);
    gnomon__node_close(gnomon__hot_position(tls, t), node, n, is_seen);
}

/* Closes the innermost node, reads the clock, and counts the pending cell, whose place is
 * known before: scope.c says why. Returns for how many ticks the node was open. Its `seen`
 * stays: nobody reads it in a closed node. */
static inline ALWAYS uint64_t gnomon__hot_ticks(gnomon__near *tls,
                                                gnomon__thread *t, char *base,
                                                uint32_t node, gnomon__front *n)
{
    gnomon__node_close(gnomon__hot_position(tls, t), node, n, 0);
    uint64_t *pending = gnomon__pending_cell(&t->hot, base);
    KEEP_HERE(pending);
    uint64_t now = gnomon__ticks_counter();
    gnomon__word_sum(pending, 1);
    store_relaxed(&t->ended, now);
    return now - n->begin;
}

/* The innermost scope ends, which only the hot tree saw. Calls come last, so that no
 * register is saved. */
static inline ALWAYS void gnomon__hot_end(gnomon__near *tls, gnomon__thread *t,
                                          char *base, uint32_t node,
                                          gnomon__front *n)
{
    uint64_t d = gnomon__hot_ticks(tls, t, base, node, n);
    if (unlikely(!gnomon__hot_count(&t->hot, n, d))) {
        gnomon__slow_count(t, d);
        return;
    }
    gnomon__turn_even(t);
}

/* The same where the tape beside the tree saw it, and nothing else. */
static inline ALWAYS void gnomon__taped_end(gnomon__near *tls,
                                            gnomon__thread *t, char *base,
                                            uint32_t node, gnomon__front *n)
{
    uint64_t d = gnomon__hot_ticks(tls, t, base, node, n);
    if (unlikely(!gnomon__hot_count(&t->hot, n, d))) {
        gnomon__taped_count(t, d);
        return;
    }
    gnomon__tape *tape = (gnomon__tape *)t->beside;
    if (unlikely(!gnomon__tape_has_room(tape))) {
        gnomon__tape_ended(t, n, d);
        return;
    }
    gnomon__tape_write(tape, load_relaxed(&n->begin), d,
                       node | GNOMON__TAPE_SCOPE);
    gnomon__turn_even(t);
}

/* Computes the return value after the callbacks: before them it would need
 * one more saved register. */
static inline uint64_t gnomon__even_again(gnomon__thread *t, uint64_t seq)
{
    __asm__ volatile("" : "+r"(seq));
    gnomon__turn_even(t); /* `seq` may say that it is of an action */
    return seq + 1;
}

#endif
