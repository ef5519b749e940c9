/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread's position in a tree, and the one function each that opens and
 * closes a node there. All paths that do so are made of these two, with
 * constants.
 *
 * A position is the tree's cursor and its guess of what begins next. The hot
 * tree's cursor is in the thread's state, with a copy of `current` and the guess
 * in the thread-local words. */
#ifndef GNOMON_MARK_POSITION_H
#define GNOMON_MARK_POSITION_H

#include "mark/tls.h"
#include "mark/tree.h"

/* As gnomon__front_at, without a load from the thread's state. Where a control call
 * has cut the thread meanwhile, what is read is not used, as the hot path is shut. */
static inline gnomon__front *gnomon__front_by(const gnomon__near *tls,
                                              uint32_t offset)
{
    return (gnomon__front *)(void *)(tls->base + offset);
}

typedef struct gnomon__position {
    gnomon__cursor *cursor;
    uint32_t *guess;   /* of a tree that is not hot */
    gnomon__near *tls; /* of the hot tree */
    int is_hot;        /* which of both; a constant where the caller knows it */
} gnomon__position;

static inline ALWAYS gnomon__position gnomon__hot_position(gnomon__near *tls,
                                                           gnomon__thread *t)
{
    return (gnomon__position){&t->hot, NULL, tls, 1};
}

/* For a tree that is not hot. */
static inline ALWAYS gnomon__position gnomon__own_position(gnomon__tree *tree)
{
    return (gnomon__position){&tree->cursor, &tree->guess, NULL, 0};
}

static inline gnomon__cursor *gnomon__cursor_of(gnomon__thread *t, uint32_t bit)
{
    return bit == t->hot_bit ? &t->hot : &gnomon__tree_of(t, bit)->cursor;
}

/* Of any tree. The thread-local words cannot be reached from another thread;
 * they need not be, as their thread settles before it marks. */
static inline ALWAYS gnomon__position gnomon__position_of(gnomon__thread *t,
                                                          gnomon__tree *tree,
                                                          uint32_t bit)
{
    gnomon__position p = gnomon__own_position(tree);
    if (bit == t->hot_bit) {
        p.cursor = &t->hot;
        p.tls = gnomon__tls_now();
        p.is_hot = p.tls->thread == t;
    }
    return p;
}

static inline ALWAYS void gnomon__guess(gnomon__position p, uint32_t node)
{
    if (p.is_hot)
        p.tls->guess = node;
    else
        *p.guess = node;
}

/* The cursor's node is `current` from now on. Readers read that and no other field of the
 * cursor. */
static inline ALWAYS void gnomon__move(gnomon__position p, uint32_t current,
                                       uint32_t guess)
{
    store_relaxed(&p.cursor->current, current);
    if (p.is_hot)
        p.tls->open = current;
    gnomon__guess(p, guess);
}

static inline void gnomon__cursor_set(gnomon__thread *t, uint32_t bit,
                                      uint32_t current)
{
    gnomon__position p = gnomon__position_of(t, gnomon__tree_of(t, bit), bit);
    gnomon__move(p, current, 0);
    p.cursor->last = 0;
}

/* No execution is open on the line any more. */
static inline ALWAYS void gnomon__front_clear(gnomon__front *n)
{
    store_relaxed(&n->token, 0);
    store_relaxed(&n->seen, 0);
}

/* Opens `node`, whose line is `n`, below the cursor's. The caller stores
 * `begin` after this, so that the clock is read last. */
static inline ALWAYS void gnomon__node_open(gnomon__position p, uint32_t node,
                                            gnomon__front *n, uint64_t token,
                                            uint32_t seen)
{
    store_relaxed(&n->token, token);
    store_relaxed(&n->seen, seen);
    gnomon__move(p, node, n->child);
}

/* Closes the cursor's node, which the caller has counted. `is_seen`: others
 * may have seen it too. */
static inline ALWAYS void gnomon__node_close(gnomon__position p, uint32_t node,
                                             gnomon__front *n,
                                             const int is_seen)
{
    if (is_seen)
        gnomon__front_clear(n);
    else
        store_relaxed(&n->token, 0);
    if (p.is_hot) {
        uint64_t after = n->after;
        uint32_t parent;
        memcpy(&parent, &after, sizeof parent);
        store_relaxed(&p.cursor->current, parent);
        p.tls->open_and_guess = after;
    } else {
        gnomon__move(p, n->parent, n->next);
    }
    p.cursor->last = node;
}

#endif
