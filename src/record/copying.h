/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the two halves of a copy share: rows.c, which bank is read and when it is of
 * one moment; rows_copy.c, which nodes there are and what they hold. */
#ifndef GNOMON_RECORD_COPYING_H
#define GNOMON_RECORD_COPYING_H

#include "record/rows.h"

typedef struct gnomon__copying {
    gnomon__rows *out;
    const gnomon__thread *t;
    const gnomon__tree *tree;
    uint32_t bit;
    uint32_t bank;
    uint32_t pending; /* cell that is not counted yet, as an offset; 0: none */
    int is_live;
} gnomon__copying;

/* The word when nothing is being written: even, or inside a callback, of which
 * there may be several while it is odd. 0: busy. */
static inline uint64_t gnomon__quiet_word(const gnomon__thread *t)
{
    uint64_t seq = load_acquire(&t->seq);
    uint64_t hook = load_acquire(&t->in_hook);
    if ((seq & 1) && !(hook & 1))
        return 0;
    return (seq + 2) ^ (hook << GNOMON__TOKEN_SHIFT); /* never 0 */
}

static inline int gnomon__is_still(const gnomon__thread *t, uint64_t word)
{
    fence_acquire();
    return word && gnomon__quiet_word(t) == word;
}

static inline gnomon__node *gnomon__copied_node(const gnomon__copying *c,
                                                uint32_t at)
{
    return gnomon__node_at(c->t, at);
}

/* All rows of the bank, but for links; node by node of one moment where `tries` is
 * not 0, each so many times at most. 0: no memory. */
int gnomon__copy_rows(gnomon__copying *c, int tries);
int gnomon__copy_links(gnomon__copying *c);

#endif
