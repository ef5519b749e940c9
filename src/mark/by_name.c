/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks */
/* The hot path of actions, which are scopes whose token their name remembers. The
 * thread's table leads from the pointer to the action, checked by content, since a
 * buffer's text may change. From there on a start is a scope's begin (scope.c), and a
 * stop its end: of the hot tree, alone or with recorders of ends, or of the only hook.
 * With other hooks too: hook.c. All else: action.c. */
#include "mark/one_hook.h"

/* NULL: the slow path. */
static inline ALWAYS gnomon__action *action_of(gnomon__thread *t,
                                               const char *name)
{
    const gnomon__slot *s = t->actions.slots + gnomon__slot_of(name);
    if (unlikely(s->pointer != name || strcmp(s->text, name) != 0))
        return gnomon__action_find(t, name);
    gnomon__action *a = gnomon__at(t, s->action);
    if (!a)
        __builtin_unreachable();
    return a;
}

/* A start that not only the hot tree and recorders of ends see. */
static inline ALWAYS void start_hooked(gnomon__thread *t, gnomon__action *a,
                                       uint32_t mask)
{
    gnomon_region *region = a->region;
    uint64_t token = load_relaxed(&t->seq);
    uint32_t m = mask & load_relaxed(&t->open_bits) & gnomon__os_own_mask();
    uint64_t one = load_relaxed(&t->one_hook);
    gnomon__action_open(a, token | GNOMON__TOKEN_ACTION);
    if (unlikely(m != (uint32_t)one || t->frame_top > t->frame_room)) {
        gnomon__hooks_begin(region, mask, (token | GNOMON__TOKEN_ACTION) - 1,
                            t);
        return;
    }
    gnomon__one_start(t, token, region, one, GNOMON_FRAME_ACTION);
    gnomon__turn_even(t);
}

/* In its node the token has GNOMON__TOKEN_ACTION, so that no scope's end finds it. */
static inline ALWAYS void start_action(gnomon__thread *t, const char *name)
{
    gnomon__action *a = action_of(t, name);
    if (unlikely(!a || a->token)) {
        gnomon__slow_start(t, name);
        return;
    }
    gnomon__near *tls = gnomon__tls_now();
    gnomon_region *region = a->region;
    uint32_t mask = load_relaxed(&region->mask);
    uint32_t others =
        (mask & load_relaxed(&t->open_bits)) ^ load_loose(&t->fast);
    if (unlikely(gnomon__tls_is_slow(tls, others))) {
        start_hooked(t, a, mask);
        return;
    }
    uint64_t token = load_relaxed(&t->seq) | GNOMON__TOKEN_ACTION;
    uint32_t node = tls->guess;
    gnomon__front *n = gnomon__front_by(tls, node);
    gnomon__action_open(a, token);
    others |= GNOMON__SEEN_SLOW; /* gnomon_end with a token that was made up */
    if (unlikely(n->key != load_relaxed(&region->id)))
        gnomon__other_path(region, mask, token - 1, t, tls, others);
    else
        gnomon__hot_begin(tls, t, token - 1, node, n, 0, others);
}

/* A stop that is not of the hot tree's innermost node. It is slow also where frames below
 * its own are over: they are removed with it. */
static inline ALWAYS void stop_hooked(gnomon__thread *t, gnomon__action *a)
{
    uint32_t last = load_loose(&t->frame_last);
    gnomon__frame *frame = gnomon__frame_at(t, last);
    if (unlikely(load_loose(&frame->seen.token) !=
                     (a->token & ~GNOMON__TOKEN_FLAGS) ||
                 t->frame_dead || gnomon__os_runs_in_copy() ||
                 !gnomon__hook_saw(frame, load_relaxed(&t->one_hook),
                                   GNOMON_FRAME_ACTION))) {
        gnomon__hooks_stop_action(t, a);
        return;
    }
    a->token = 0;
    gnomon__one_stop(t, frame, last);
}

static inline ALWAYS void stop_action(gnomon__thread *t, const char *name)
{
    gnomon__action *a = action_of(t, name);
    if (unlikely(!a || !a->token || load_relaxed(&t->shut))) {
        gnomon__slow_stop(t, name);
        return;
    }
    gnomon__near *tls = gnomon__tls_now();
    char *base = tls->base;
    uint32_t node = tls->open;
    gnomon__front *n = (void *)(base + node);
    uint64_t token = a->token;
    if (unlikely(load_loose(&n->token) != token)) {
        stop_hooked(t, a);
        return;
    }
    a->token = 0;
    uint32_t seen = load_loose(&n->seen) ^ GNOMON__SEEN_SLOW;
    if (likely(!seen))
        gnomon__hot_end(tls, t, base, node, n);
    else
        gnomon__shared_end(t, n, tls, seen, token);
}

/* These save registers anyway, so they ask for the distance where it is not known. */
HOT void gnomon_start_slow(const char *name)
{
    gnomon__thread *t = gnomon__tls_now()->thread;
    if (unlikely(t->seq & 1)) {
        gnomon_start_n_slow(name, GNOMON_TO_NUL);
        return;
    }
    gnomon__turn_odd_only(t, 1);
    start_action(t, name);
}

HOT void gnomon_stop_slow(const char *name)
{
    gnomon__thread *t = gnomon__tls_now()->thread;
    if (unlikely(t->seq & 1)) {
        gnomon_stop_n_slow(name, GNOMON_TO_NUL);
        return;
    }
    gnomon__turn_odd_only(t, 1);
    stop_action(t, name);
}
