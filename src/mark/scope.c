/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hot path: begin and end of a scope that one call tree alone wants, by the
 * processor's counter, along a predicted path. Everything else is a tail call,
 * so that these functions save no registers.
 *
 * The word turns odd before anything is looked at, or a signal handler that
 * marks could move the prediction between the look and the use. About 30
 * instructions to begin, two lines of code, and 45 to end, three lines and the
 * return. Data: the region's line and gnomon__here's, then, all three at once,
 * the thread's, the node's and one of a histogram.
 *
 * The hook path is the fall-through: it has no clock read to hide a taken jump. */
#include "mark/hot.h"

/* Surer than likely(), so that the jump to _far lies behind the hot lines. */
#define KNOWN(here) __builtin_expect_with_probability((here) != NULL, 1, 0.9999)

static inline ALWAYS gnomon_token begin_here(gnomon__near *here,
                                             gnomon_region *region,
                                             uint32_t mask, uint64_t one)
{
    gnomon__thread *t = here->thread;
    if (unlikely(t->seq & 1))
        return gnomon__refused_begin(region, mask);
    uint64_t seq = gnomon__turn_odd(t, one);
    if (likely((mask & load_relaxed(&t->gate)) != load_relaxed(&t->fast)))
        return gnomon__hook_begin(region, mask, seq, t);
    uint32_t node = here->guess;
    gnomon__front *n = gnomon__front_here(here, node);
    if (unlikely(n->key != load_relaxed(&region->id)))
        return gnomon__other_path(region, mask, seq, t, here, 0);
    return gnomon__hot_begin(here, t, seq, node, n, 0, 0);
}

static APART gnomon_token begin_far(gnomon_region *region, uint32_t mask)
{
    return begin_here(gnomon__here_far(), region, mask, 1);
}

HOT gnomon_token gnomon_begin_slow(gnomon_region *region, uint32_t mask)
{
    uint64_t one = gnomon__one();
    gnomon__near *here = gnomon__here_near();
    return KNOWN(here) ? begin_here(here, region, mask, one)
                       : begin_far(region, mask);
}

static inline ALWAYS void end_here(gnomon__near *here, gnomon_token token,
                                   uint64_t one)
{
    gnomon__thread *t = here->thread;
    if (unlikely(t->seq & 1)) {
        gnomon__refused_end(token);
        return;
    }
    uint64_t seq = gnomon__turn_odd(t, one);
    uint32_t node = load_loose(&t->hot.current);
    gnomon__front *n = gnomon__front_now(t, node);
    if (likely(load_loose(&n->token) != token)) {
        gnomon__hook_end(token, seq, t);
        return;
    }
    if (unlikely(load_loose(&n->seen) | load_relaxed(&t->shut))) {
        gnomon__seen_end(token, seq, t);
        return;
    }
    gnomon__hot_end(here, t, seq, node, n);
}

static APART void end_far(gnomon_token token)
{
    end_here(gnomon__here_far(), token, 1);
}

HOT void gnomon_end_slow(gnomon_token token)
{
    uint64_t one = gnomon__one();
    gnomon__near *here = gnomon__here_near();
    if (KNOWN(here))
        end_here(here, token, one);
    else
        end_far(token);
}

/* By name: the thread's table leads from the pointer to the action, checked by
 * content, since a buffer's text may change. */
static inline gnomon__action *action_of(const gnomon__thread *t,
                                        const char *name)
{
    const gnomon__slot *s = t->slots + gnomon__slot_of(name);
    if (likely(s->pointer == name && strcmp(s->text, name) == 0))
        return gnomon__at(t, s->action);
    return NULL;
}

static inline ALWAYS void start_here(gnomon__near *here, const char *name,
                                     uint64_t one)
{
    gnomon__thread *t = here->thread;
    if (unlikely(t->seq & 1)) {
        gnomon__refused_start(name);
        return;
    }
    uint64_t seq = gnomon__turn_odd(t, one);
    gnomon__action *a = action_of(t, name);
    if (unlikely(!a || a->token)) {
        gnomon__slow_start(t, seq, name);
        return;
    }
    uint32_t mask = load_relaxed(&a->region->mask);
    uint32_t node = here->guess;
    gnomon__front *n = gnomon__front_here(here, node);
    if (unlikely((mask & load_relaxed(&t->gate)) != load_relaxed(&t->fast) ||
                 n->key != load_relaxed(&a->region->id))) {
        gnomon__slow_start(t, seq, name);
        return;
    }
    a->token = (seq + 1) | GNOMON__TOKEN_ACTION;
    gnomon__hot_begin(here, t, seq, node, n, GNOMON__TOKEN_ACTION,
                      GNOMON__SEEN_SLOW);
}

static APART void start_far(const char *name)
{
    start_here(gnomon__here_far(), name, 1);
}

HOT void gnomon_start_slow(const char *name)
{
    uint64_t one = gnomon__one();
    gnomon__near *here = gnomon__here_near();
    if (KNOWN(here))
        start_here(here, name, one);
    else
        start_far(name);
}

static inline ALWAYS void stop_here(gnomon__near *here, const char *name,
                                    uint64_t one)
{
    gnomon__thread *t = here->thread;
    if (unlikely(t->seq & 1)) {
        gnomon__refused_stop(name);
        return;
    }
    uint64_t seq = gnomon__turn_odd(t, one);
    gnomon__action *a = action_of(t, name);
    uint32_t node = load_loose(&t->hot.current);
    gnomon__front *n = gnomon__front_now(t, node);
    /* An action's flag lets no other path in: only a start by name set it. */
    if (unlikely(!a || !a->token || load_loose(&n->token) != a->token ||
                 load_relaxed(&t->shut))) {
        gnomon__slow_stop(t, seq, name);
        return;
    }
    a->token = 0;
    store_relaxed(&n->seen, 0);
    gnomon__hot_end(here, t, seq, node, n);
}

static APART void stop_far(const char *name)
{
    stop_here(gnomon__here_far(), name, 1);
}

HOT void gnomon_stop_slow(const char *name)
{
    uint64_t one = gnomon__one();
    gnomon__near *here = gnomon__here_near();
    if (KNOWN(here))
        stop_here(here, name, one);
    else
        stop_far(name);
}
