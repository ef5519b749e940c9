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

/* Histogram cells: 16 to an octave of ticks, cell(ticks) as gnomon_cell_of with
 * ticks for ns; octave cell >> 4. A node's window holds all octaves from that of
 * its minimum to that of its maximum, so that one test, within both, also says
 * that the cell is there. */
#define GNOMON__CELLS 16
#define GNOMON__OCTAVES 61
#define GNOMON__OCTAVE_BYTES 128u /* 64-bit counts never overflow */

typedef struct gnomon__node {
    /* The line that begin and end touch. */
    uint64_t token;  /* 0: closed */
    uint64_t begin;  /* ticks; of a closed node on the chain: its end */
    uint64_t total;  /* ticks of finished executions */
    uint64_t min;    /* ticks; GNOMON__NO_MIN before the second execution */
    uint64_t spread; /* max - min: one unsigned compare tests both bounds */
    uint32_t parent; /* the root's is 0 */
    uint32_t cells;  /* where cell 0 would be; modulo 2^32 */
    uint32_t key;
    uint32_t next;  /* prediction: the sibling that followed last time */
    uint32_t child; /* prediction: the child that came first last time */
    uint32_t unused;
    /* The line that the rare paths touch. */
    uint32_t older; /* list of all nodes of the tree, newest first */
    uint32_t other; /* its "(other)" child */
    uint32_t flags;
    uint32_t op;    /* what it computes; 0: none */
    uint64_t first; /* order of the first end among all nodes; 0: none */
    int64_t adjust; /* ticks to add to self: children that outlived parents */
    uint32_t depth;
    uint32_t window; /* of the cells; 0: none before the second execution */
    uint32_t low;    /* the window's first octave ... */
    uint32_t room;   /* ... and how many it has */
    uint64_t once;   /* ticks of the first execution */
    uint32_t reserved[2];
} gnomon__node;

/* With a spread of 0 every duration is outside, also one of a clock that went
 * back by a tick: that is all ones. */
#define GNOMON__NO_MIN (1ull << 63)

#define GNOMON__NODE_OTHER 1u   /* stands for paths past a limit */
#define GNOMON__NODE_CROSSED 2u /* a child outlived it */
#define GNOMON__NODE_RANGES 4u  /* holds ranges; not on any chain */
#define GNOMON__NODE_ROOT 8u

_Static_assert(sizeof(gnomon__node) == 128, "a node is two lines");

#endif
