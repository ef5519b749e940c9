/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ends off the hot path: with hooks, out of order, of another thread, with a bad
 * token. "refused" entries find the word odd and may refuse; "slow" ones own it. */
#include "mark/foreign.h"
#include "mark/frame.h"
#include "mark/hot.h"
#include "platform/owner.h"

/* Ends a scope below an "(other)" node: only its depth is known, and how
 * many are open. After an out-of-order end, larger depths are still valid. The tree need
 * not be the hot one any more; once it is gone there is nothing to end. */
static void end_below_other(gnomon__thread *t, uint64_t token,
                            enum gnomon__end how)
{
    uint32_t depth = (uint32_t)token, bit = GNOMON__TOKEN_BIT(token);
    if (!(t->tree_bits >> bit & 1) ||
        (token ^ gnomon__token_tree(t, bit)) >> 32 & 0xfffu) {
        if (!(token & GNOMON__TOKEN_HAS_BIT))
            gnomon__trouble(t, unmatched);
        return;
    }
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    uint32_t known = tree->other_depth > tree->other_depth_valid
                         ? tree->other_depth
                         : tree->other_depth_valid;
    if (!depth || depth > known) {
        gnomon__trouble(t, unmatched);
        return;
    }
    if (how == GNOMON__END_ALONE)
        tree->other_depth_valid = known;
    else
        for (; tree->other_depth > depth; tree->other_depth--)
            gnomon__trouble(t, crossed);
    tree->other_depth -= tree->other_depth > 0;
}

/* Whether this thread gave out the token; a made-up one may look so. A word
 * may run on past the number of the next thread. */
static int is_own(const gnomon__thread *t, uint64_t token)
{
    token &= ~GNOMON__TOKEN_FLAGS;
    return token >> GNOMON__TOKEN_SHIFT == t->number ||
           token - t->born <= load_relaxed(&t->seq) - t->born;
}

static void end_entered(gnomon__thread *t, gnomon_token token,
                        enum gnomon__end how)
{
    if (!is_own(t, token)) {
        if (!gnomon__foreign_end(token))
            gnomon__trouble(t, foreign);
        return;
    }
    if ((token & GNOMON__TOKEN_FLAGS) == GNOMON__TOKEN_BELOW_OTHER) {
        end_below_other(t, token, how);
        return;
    }
    if (token & GNOMON__TOKEN_FLAGS) { /* made up: none has these flags */
        gnomon__trouble(t, unmatched);
        return;
    }
    if (t->frame_last && gnomon__frame_end(t, token, how))
        return;
    uint32_t bits, node = gnomon__trees_find(t, &bits, token);
    if (!node || (gnomon__front_at(t, node)->token & GNOMON__TOKEN_ACTION)) {
        if (token >= t->stale)
            gnomon__trouble(t, unmatched);
        return;
    }
    if (how == GNOMON__END_SCOPE)
        gnomon__frames_end_inner(t, token);
    uint64_t now = gnomon__ticks();
    if (how == GNOMON__END_SCOPE)
        gnomon__trees_close_inner(t, token, now);
    gnomon__close_in_trees(t, token, now);
}

void gnomon__end_entered(gnomon__thread *t, gnomon_token token)
{
    end_entered(t, token, GNOMON__END_SCOPE);
}

void gnomon_end_alone_slow(gnomon_token token)
{
    GNOMON__FORWARD_VOID(end_alone(token));
    if (gnomon__tls_now()->thread->seq & 1) {
        gnomon__refused_end(token); /* counts what is wrong */
        return;
    }
    gnomon__thread *t = gnomon__enter();
    if (!t) /* a handler came between, and this is a child it forked */
        return;
    end_entered(t, token, GNOMON__END_ALONE);
    gnomon__leave(t);
}

void gnomon__refused_end(gnomon_token token)
{
    GNOMON__FORWARD_VOID(end(token));
    if (gnomon__is_reentered())
        return;
    /* This thread has no state: its first mark is this end. */
    if (!gnomon__foreign_end(token))
        gnomon__trouble(&gnomon__no_thread, foreign);
}

void gnomon__slow_end(gnomon_token token, gnomon__thread *t)
{
    gnomon__thread_settle(t);
    gnomon__end_entered(t, token);
    gnomon__leave(t);
}
