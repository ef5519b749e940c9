/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks */
/* The hot path: begin and end of a scope that one call tree wants, alone or with a
 * tape or other recorders of ends, by the processor's counter, along a predicted
 * path. All else is a tail call, so that these functions save no registers.
 *
 * The word turns odd before anything is read: else a signal handler that marks
 * could change the prediction between its read and its use. About 33
 * instructions to begin, in two lines of code, and 44 to end, in three lines
 * and the return; with a tape 60 to end. Data: first the region's line and the
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

/* More certain than likely(), so that the jump to mark_far is placed behind
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
    if (likely(others & tls->slow_bits))
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
    uint32_t node = tls->open;
    gnomon__front *n = (void *)(base + node);
    if (likely(load_loose(&n->token) != token)) {
        gnomon__hook_end(token, t);
        return;
    }
    /* One word says whether the thread is shut and who else saw the scope: no bit of
     * a mask is GNOMON__NEVER. */
    uint32_t seen = load_loose(&n->seen) | load_relaxed(&t->shut);
    if (likely(!seen))
        gnomon__hot_end(tls, t, base, node, n);
    else if (likely(seen == t->taped))
        gnomon__taped_end(tls, t, base, node, n);
    else
        gnomon__shared_end(token, t);
}

/* By name: the thread's table leads from the pointer to the action, checked by
 * content, since a buffer's text may change. */
static inline gnomon__action *action_of(const gnomon__thread *t,
                                        const char *name)
{
    const gnomon__slot *s = t->actions.slots + gnomon__slot_of(name);
    if (likely(s->pointer == name && strcmp(s->text, name) == 0))
        return gnomon__at(t, s->action);
    return NULL;
}

static inline ALWAYS void start_action(gnomon__near *tls, gnomon__thread *t,
                                       uint64_t seq, const char *name)
{
    gnomon__action *a = action_of(t, name);
    if (unlikely(!a || a->token)) {
        gnomon__slow_start(t, name);
        return;
    }
    uint32_t mask = load_relaxed(&a->region->mask);
    uint32_t node = tls->guess;
    gnomon__front *n = gnomon__front_by(tls, node);
    if (unlikely((mask & load_relaxed(&t->open_bits)) !=
                     load_relaxed(&t->fast) ||
                 n->key != load_relaxed(&a->region->id))) {
        gnomon__slow_start(t, name);
        return;
    }
    a->token = (seq + 1) | GNOMON__TOKEN_ACTION;
    gnomon__hot_begin(tls, t, seq, node, n, GNOMON__TOKEN_ACTION,
                      GNOMON__SEEN_SLOW);
}

static inline ALWAYS void stop_action(gnomon__near *tls, gnomon__thread *t,
                                      const char *name)
{
    gnomon__action *a = action_of(t, name);
    uint32_t node = tls->open;
    gnomon__front *n = gnomon__front_by(tls, node);
    /* No scope's token equals an action's, as only a start by name sets the
     * flag. */
    if (unlikely(!a || !a->token || load_loose(&n->token) != a->token ||
                 load_relaxed(&t->shut))) {
        gnomon__slow_stop(t, name);
        return;
    }
    a->token = 0;
    store_relaxed(&n->seen, 0);
    gnomon__hot_end(tls, t, tls->base, node, n);
}

/* ---- Entries: one body, four constants -------------------------------------------- */

enum mark { BEGIN, END, START, STOP };

typedef struct marked {
    union {
        gnomon_region *region; /* BEGIN */
        gnomon_token token;    /* END */
        const char *name;      /* START, STOP */
    };
    uint32_t mask; /* BEGIN */
} marked;

/* The word was odd: the thread is unknown, over, or inside gnomon already. */
static inline ALWAYS gnomon_token refuse(const enum mark mark, marked m)
{
    if (mark == BEGIN)
        return gnomon__refused_begin(m.region, m.mask);
    if (mark == END)
        gnomon__refused_end(m.token);
    else if (mark == START)
        gnomon_start_n_slow(m.name, GNOMON_TO_NUL);
    else
        gnomon_stop_n_slow(m.name, GNOMON_TO_NUL);
    return 0;
}

static inline ALWAYS gnomon_token mark_by(gnomon__near *tls,
                                          const enum mark mark, marked m,
                                          uint64_t one)
{
    gnomon__thread *t = tls->thread;
    if (unlikely(t->seq & 1))
        return refuse(mark, m);
    if (mark == BEGIN)
        return begin_scope(tls, t, gnomon__turn_odd(t, one), m.region, m.mask);
    if (mark == START) {
        start_action(tls, t, gnomon__turn_odd(t, one), m.name);
        return 0;
    }
    gnomon__turn_odd_only(t, one);
    if (mark == END)
        end_scope(tls, t, m.token);
    else
        stop_action(tls, t, m.name);
    return 0;
}

/* Where the thread-local words have no known distance: see tls.h. */
static APART gnomon_token mark_far(marked m, enum mark mark)
{
    return mark_by(gnomon__tls_far(), mark, m, 1);
}

static inline ALWAYS gnomon_token mark_now(const enum mark mark, marked m)
{
    uint64_t one = gnomon__one();
    gnomon__near *tls = gnomon__tls_near();
    return KNOWN(tls) ? mark_by(tls, mark, m, one) : mark_far(m, mark);
}

HOT gnomon_token gnomon_begin_slow(gnomon_region *region, uint32_t mask)
{
    return mark_now(BEGIN, (marked){.region = region, .mask = mask});
}

HOT void gnomon_end_slow(gnomon_token token)
{
    mark_now(END, (marked){.token = token});
}

HOT void gnomon_start_slow(const char *name)
{
    mark_now(START, (marked){.name = name});
}

HOT void gnomon_stop_slow(const char *name)
{
    mark_now(STOP, (marked){.name = name});
}
