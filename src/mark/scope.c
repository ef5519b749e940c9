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
 * Hooks stand where no jump is taken to them: the tree's one hides behind the
 * clock reads. */
#include "mark/hot.h"

#define HERE __attribute__((always_inline))
#define FAR __attribute__((noinline))
/* Surer than likely(), so that the jump to _far lies behind the hot lines. */
#define KNOWN(here) __builtin_expect_with_probability((here) != NULL, 1, 0.9999)

static inline HERE gnomon_token begin_here(gnomon__near *here,
                                           gnomon_region *region, uint32_t mask,
                                           uint64_t step)
{
    gnomon__thread *t = here->thread;
    if (unlikely(t->seq & 1))
        return gnomon__odd_begin(region, mask);
    uint64_t seq = gnomon__turn_odd(t, step);
    if (likely((mask & load_relaxed(&t->gate)) != load_relaxed(&t->fast)))
        return gnomon__hook_begin(region, mask, seq, t);
    uint32_t key = load_relaxed(&region->id) | load_relaxed(&t->stage_key);
    uint32_t node = here->guess;
    gnomon__node *n = gnomon__node_here(here, node);
    if (unlikely(n->key != key))
        return gnomon__rare_begin(region, mask, seq, t);
    return gnomon__hot_begin(here, t, seq, node, n, 0);
}

static FAR gnomon_token begin_far(gnomon_region *region, uint32_t mask)
{
    return begin_here(gnomon__here_far(), region, mask, 1);
}

HOT gnomon_token gnomon_begin_slow(gnomon_region *region, uint32_t mask)
{
    uint64_t step = gnomon__step();
    gnomon__near *here = gnomon__here_near();
    return KNOWN(here) ? begin_here(here, region, mask, step)
                       : begin_far(region, mask);
}

static inline HERE void end_here(gnomon__near *here, gnomon_token token,
                                 uint64_t step)
{
    gnomon__thread *t = here->thread;
    if (unlikely(t->seq & 1)) {
        gnomon__odd_end(token);
        return;
    }
    uint64_t seq = gnomon__turn_odd(t, step);
    uint32_t node = t->hot.current;
    gnomon__node *n = gnomon__node_at(t, node);
    if (likely(n->token != token)) {
        gnomon__hook_end(token, seq, t);
        return;
    }
    if (unlikely(token & GNOMON__TOKEN_FLAGS)) { /* made up: none has any */
        gnomon__rare_end(token, seq, t);
        return;
    }
    gnomon__hot_end(here, t, seq, node, n);
}

static FAR void end_far(gnomon_token token)
{
    end_here(gnomon__here_far(), token, 1);
}

HOT void gnomon_end_slow(gnomon_token token)
{
    uint64_t step = gnomon__step();
    gnomon__near *here = gnomon__here_near();
    if (KNOWN(here))
        end_here(here, token, step);
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

static inline HERE void start_here(gnomon__near *here, const char *name,
                                   uint64_t step)
{
    gnomon__thread *t = here->thread;
    if (unlikely(t->seq & 1)) {
        gnomon__odd_start(name);
        return;
    }
    uint64_t seq = gnomon__turn_odd(t, step);
    gnomon__action *a = action_of(t, name);
    if (unlikely(!a || a->token)) {
        gnomon__rare_start(t, seq, name);
        return;
    }
    uint32_t mask = load_relaxed(&a->region->mask);
    uint32_t key = load_relaxed(&a->region->id) | load_relaxed(&t->stage_key);
    uint32_t node = here->guess;
    gnomon__node *n = gnomon__node_here(here, node);
    if (unlikely((mask & load_relaxed(&t->gate)) != load_relaxed(&t->fast) ||
                 n->key != key)) {
        gnomon__rare_start(t, seq, name);
        return;
    }
    a->token = (seq + 1) | GNOMON__TOKEN_ACTION;
    gnomon__hot_begin(here, t, seq, node, n, GNOMON__TOKEN_ACTION);
}

static FAR void start_far(const char *name)
{
    start_here(gnomon__here_far(), name, 1);
}

HOT void gnomon_start_slow(const char *name)
{
    uint64_t step = gnomon__step();
    gnomon__near *here = gnomon__here_near();
    if (KNOWN(here))
        start_here(here, name, step);
    else
        start_far(name);
}

static inline HERE void stop_here(gnomon__near *here, const char *name,
                                  uint64_t step)
{
    gnomon__thread *t = here->thread;
    if (unlikely(t->seq & 1)) {
        gnomon__odd_stop(name);
        return;
    }
    uint64_t seq = gnomon__turn_odd(t, step);
    gnomon__action *a = action_of(t, name);
    uint32_t node = t->hot.current;
    gnomon__node *n = gnomon__node_at(t, node);
    if (unlikely(!a || !a->token || n->token != a->token)) {
        gnomon__rare_stop(t, seq, name);
        return;
    }
    a->token = 0;
    gnomon__hot_end(here, t, seq, node, n);
}

static FAR void stop_far(const char *name)
{
    stop_here(gnomon__here_far(), name, 1);
}

HOT void gnomon_stop_slow(const char *name)
{
    uint64_t step = gnomon__step();
    gnomon__near *here = gnomon__here_near();
    if (KNOWN(here))
        stop_here(here, name, step);
    else
        stop_far(name);
}
