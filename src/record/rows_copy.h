/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A copy of a thread's tree while it is made, shared by two files. rows.c chooses the
 * bank and checks that the copy is of one moment; rows_copy.c finds the nodes and
 * copies what they hold. */
#ifndef GNOMON_RECORD_ROWS_COPY_H
#define GNOMON_RECORD_ROWS_COPY_H

#include "record/rows.h"

/* A scope that is open, or was at the cut. */
typedef struct gnomon__rows_open {
    uint32_t node;
    uint32_t segment; /* in which it began */
    uint64_t begin;   /* ticks */
    uint64_t token;   /* 0: closed, but something begun inside it is open */
} gnomon__rows_open;

typedef struct gnomon__rows_copier {
    gnomon__rows *out;
    const gnomon__thread *t;
    const gnomon__tree *tree;
    uint32_t bit;
    uint32_t bank;
    uint32_t pending; /* offset of a cell that is counted later; 0: none */
    int is_live;
    int is_apart;  /* each node may be of another moment */
    uint64_t word; /* else the sequence word of all */
    /* While the rows are chosen: the nodes, each with its number in the upper half, ... */
    uint64_t *noted;
    size_t noted_count, noted_room;
    /* ... what is open, innermost first, ... */
    gnomon__rows_open *open;
    size_t open_count, open_room;
    uint32_t ended; /* ... and the list of what began earlier and ended */
} gnomon__rows_copier;

/* A value of the sequence word while the thread writes nothing: the word is even, or
 * the thread is inside a callback. Each callback gives another value. 0: busy. */
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

static inline gnomon__node *gnomon__copied_node(const gnomon__rows_copier *c,
                                                uint32_t at)
{
    return gnomon__node_at(c->t, at);
}

/* All rows of the bank, without links. A copy of a bank in use ends early where it is not
 * of one moment, or with `is_apart` is of several. 0: no memory. */
int gnomon__copy_rows(gnomon__rows_copier *c);
int gnomon__copy_links(gnomon__rows_copier *c);

#endif
