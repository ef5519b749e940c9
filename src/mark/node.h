/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread's call tree as it lies in the arena: nodes and histogram cells named
 * by offsets, so that the same bytes work in a mapped file.
 *
 * An open scope lives in its node: a node is one path, and a path can be open
 * only once on its thread. The stack is the chain of parents from the cursor up
 * to the root. Only the owning thread writes; readers copy under the thread's
 * sequence word, so every field is accessed atomically, relaxed. */
#ifndef GNOMON_MARK_NODE_H
#define GNOMON_MARK_NODE_H

#include <stdint.h>

/* A region's id and the stage's ordinal in one word: what tells siblings apart.
 * 0 is no key. */
#define GNOMON__REGION_BITS 20
#define GNOMON__STAGE_BITS 12
#define GNOMON__MAX_REGIONS (1u << GNOMON__REGION_BITS)
#define GNOMON__MAX_STAGES ((1u << GNOMON__STAGE_BITS) - 1)
#define GNOMON__KEY_REGION(key) ((key) & (GNOMON__MAX_REGIONS - 1))
#define GNOMON__KEY_STAGE(key) ((key) >> GNOMON__REGION_BITS)

/* A token is the odd value that its thread's sequence word had in begin: the
 * thread's number in bits 44..60, the count below. It is never 0, unique on its
 * thread, and serves as the execution's 64-bit id. In a node it may carry: */
#define GNOMON__TOKEN_RARE (1ull << 63)   /* its end must take the rare path */
#define GNOMON__TOKEN_ACTION (1ull << 62) /* started by name */
#define GNOMON__TOKEN_OVER (1ull << 61)   /* only given out: under "(other)" */
#define GNOMON__TOKEN_FLAGS (7ull << 61)
#define GNOMON__TOKEN_SHIFT 44
#define GNOMON__MAX_THREADS (1u << 16)

/* Cells of one octave: the block that holds durations d of ticks with
 * cell(d) >> 4 == octave, as gnomon_cell_of with ticks for ns. */
#define GNOMON__CELLS 16
#define GNOMON__NO_OCTAVE 63u
#define GNOMON__OCTAVES 5 /* few nodes need more */

typedef struct gnomon__cells {
    uint64_t count[GNOMON__CELLS];
} gnomon__cells;

typedef struct gnomon__node {
    /* The line that begin and end touch. */
    uint64_t token;    /* 0: closed */
    uint64_t begin;    /* ticks; of a closed node on the chain: its end */
    uint64_t total;    /* ticks of finished executions */
    uint64_t min;      /* ticks; all ones before the first */
    uint64_t spread;   /* max - min: one unsigned compare tests both bounds */
    uint32_t parent;   /* the root's is 0 */
    uint32_t cells;    /* offset of the octave's block | octave; 128-aligned */
    uint32_t next_key; /* prediction: the sibling that followed last time */
    uint32_t next;
    uint32_t child_key; /* prediction: the child that came first last time */
    uint32_t child;
    /* The line that the rare paths touch. */
    uint32_t key;
    uint32_t older; /* list of all nodes of the tree, newest first */
    uint32_t other; /* its "(other)" child */
    uint32_t flags;
    uint64_t first; /* order of the first end among all nodes; 0: none */
    int64_t adjust; /* ticks to add to self: children that outlived parents */
    uint32_t op;    /* what it computes; 0: none */
    uint32_t depth;
    uint32_t octave[GNOMON__OCTAVES]; /* offset | octave, 0: none; and when */
    uint32_t more;                    /* these are used up, a table by octave */
} gnomon__node;

#define GNOMON__NODE_OTHER 1u   /* stands for paths past a limit */
#define GNOMON__NODE_CROSSED 2u /* a child outlived it */
#define GNOMON__NODE_RANGES 4u  /* holds ranges; not on any chain */
#define GNOMON__NODE_ROOT 8u

_Static_assert(sizeof(gnomon__node) == 128, "a node is two lines");
_Static_assert(sizeof(gnomon__cells) == 128, "a block is two lines");

#endif
