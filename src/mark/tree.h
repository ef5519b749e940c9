/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing a call tree: the few instructions of the hot path, inline, and the
 * rare ones, which find or make nodes and mend the chain.
 *
 * All of it runs on the owning thread with the sequence word odd. */
#ifndef GNOMON_MARK_TREE_H
#define GNOMON_MARK_TREE_H

#include "mark/thread.h"
#include "platform/clock.h"

#define GNOMON__MAX_DEPTH 1024

/* One link of gnomon_link_in, and one counter, in the tree's memory. */
typedef struct gnomon__edge {
    uint32_t from; /* node of any thread; 0: free */
    uint32_t to;
    uint32_t kind;
    uint32_t reserved;
    uint64_t count;
    uint64_t padding; /* tables are powers of two */
} gnomon__edge;

typedef struct gnomon__counter {
    uint32_t next;
    uint32_t key;
    uint64_t count;
    double last, min, max, sum;
} gnomon__counter;

/* The stage's first mark is kept when a tree sees a stage for the first time:
 * ticks by ordinal. Any thread. */
void gnomon__stage_mark(uint32_t ordinal, uint64_t ticks);
int gnomon__stage_first(uint32_t ordinal, uint64_t *ticks); /* 0: none */
void gnomon__stage_forget(void);                            /* a new run */

/* Makes a tree's root. 0: no memory. Under the lock. */
int gnomon__tree_make(gnomon__thread *t, uint32_t bit, uint32_t generation);
/* Gives its memory back. Under the lock. */
void gnomon__tree_drop(gnomon__thread *t, uint32_t bit);

/* The child `key` of the cursor's node, found or made, or its "(other)"; 0:
 * there is none (a scope below "(other)", or no memory), counted. */
uint32_t gnomon__tree_child(gnomon__thread *t, uint32_t bit, uint32_t key);

/* The node of ranges of `key`; 0: no memory, counted. */
uint32_t gnomon__tree_range(gnomon__thread *t, uint32_t bit, uint32_t key);

/* Adds one finished execution of `ticks` to a node. */
void gnomon__tree_count(gnomon__thread *t, uint32_t bit, gnomon__node *n,
                        uint64_t ticks);

/* Zeroed memory from the tree's chunks; `bytes` a multiple of 128, at most 8
 * KiB; aligned to 128.
 * `spare` as in gnomon__chunk_take. 0: none. */
uint32_t gnomon__tree_take(gnomon__thread *t, uint32_t bit, uint32_t bytes,
                           int spare);

/* Which cell holds a duration: octave and index in one number, as
 * gnomon_cell_of, without a branch. */
static inline uint32_t gnomon__cell_of_ticks(uint64_t ticks)
{
    uint32_t e = 59u - (uint32_t)__builtin_clzll(ticks | 16);
    return 16u * e + (uint32_t)(ticks >> e);
}

/* Counts what is pending, and makes the cell at this offset the next to be. */
static inline void gnomon__count_next(gnomon__near *here, gnomon__thread *t,
                                      uint32_t cell)
{
    void *pending = here->base + here->pending;
    uint64_t *count = pending;
    store_relaxed(count, load_relaxed(count) + 1);
    here->pending = cell;
    store_relaxed(&t->pending, cell);
}

/* The cell of an execution of `ticks` in the window, which holds it. */
static inline uint32_t gnomon__cell_at(const gnomon__node *n, uint64_t ticks)
{
    return n->cells + 8 * gnomon__cell_of_ticks(ticks);
}

/* Predictions are made for the hot tree alone. */
static inline void gnomon__guess(const gnomon__thread *t,
                                 const gnomon__cursor *c, uint32_t node)
{
    if (c == &t->hot)
        gnomon__here.guess = node;
}

/* Readers look at `current` of the hot tree's cursor, and at no other field. */
static inline void gnomon__cursor_set(gnomon__thread *t, gnomon__cursor *c,
                                      uint32_t current)
{
    store_relaxed(&c->current, current);
    c->last = 0;
    gnomon__guess(t, c, 0);
}

/* Opens `node`, the cursor's child. `token` may carry flags. */
static inline void gnomon__tree_open(gnomon__thread *t, gnomon__cursor *c,
                                     uint32_t node, uint64_t token)
{
    gnomon__node *n = gnomon__node_at(t, node);
    store_relaxed(&n->token, token);
    store_relaxed(&c->current, node);
    gnomon__guess(t, c, n->child);
}

/* Closes a node of the chain that is open, wherever it stands on it. The time
 * that children which outlive it spend outside goes to whom it belongs. */
void gnomon__tree_close(gnomon__thread *t, uint32_t bit, uint32_t node,
                        uint64_t now);

/* The open node of this token (flags aside) on the chain; 0: none. */
uint32_t gnomon__tree_find(gnomon__thread *t, uint32_t bit, uint64_t token);

/* The same for an execution that has no frame, so that one tree alone saw it:
 * the one that was hot at its begin. */
uint32_t gnomon__tree_find_any(gnomon__thread *t, uint32_t *bit,
                               uint64_t token);

/* Closes all scopes without frames begun after `token`, in whichever tree, but
 * not actions; counts them as crossed. */
void gnomon__trees_close_inner(gnomon__thread *t, uint64_t token, uint64_t now);

#endif
