/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread's call tree in the arena. Nodes and histogram cells are named by
 * offsets, so that the same bytes work in a mapped file.
 *
 * A node is one path and is there as long as its tree. What the thread recorded
 * on it since its last cut is in one of two banks. A cut makes the thread go on
 * in the other bank; the resting one is read and cleared (cut.c). Each bank has
 * its own line for begin and end, with parent and key too, so that the thread's
 * base address selects the bank and the hot path does not test it.
 *
 * An open scope is kept in its node, as a path can be open only once on its
 * thread. The stack is the chain of parents from the cursor to the root.
 * Only the owning thread writes. Readers copy under the thread's sequence
 * word, so every field is accessed atomically, relaxed. */
#ifndef GNOMON_MARK_NODE_H
#define GNOMON_MARK_NODE_H

#include <stdint.h>

/* A node's key differs from its siblings' keys: it is a region's id. 0 is no
 * key. Keys from GNOMON__MAX_REGIONS on are not used. */
#define GNOMON__MAX_REGIONS (1u << 20)
#define GNOMON__KEY_REGION(key) (key)

/* A token is the odd value that its thread's sequence word had in begin. The word
 * starts at the thread's number << GNOMON__TOKEN_SHIFT and only grows, so a token
 * is never 0, unique on its thread, and serves as the execution's 64-bit id. In a
 * node it may carry: */
#define GNOMON__TOKEN_SLOW (1ull << 63)        /* its end takes the slow path */
#define GNOMON__TOKEN_ACTION (1ull << 62)      /* started by name */
#define GNOMON__TOKEN_BELOW_OTHER (1ull << 61) /* below an "(other)" */
#define GNOMON__TOKEN_FLAGS (7ull << 61)
#define GNOMON__TOKEN_SHIFT 44
#define GNOMON__MAX_THREADS (1u << 16)

/* Histogram cells: 16 for an octave of ticks. cell(ticks) is gnomon_cell_of
 * with ticks for ns; the octave is cell >> 4. A bank's histogram holds all
 * octaves from that of its minimum to that of its maximum, so a duration
 * within both bounds always has a cell. */
#define GNOMON__CELLS 16
#define GNOMON__OCTAVES 61
#define GNOMON__OCTAVE_BYTES 128u /* 64-bit counts never overflow */

/* What begin and end touch. */
typedef struct gnomon__front {
    uint64_t token;  /* 0: closed */
    uint64_t begin;  /* ticks; of a closed node on the chain: its end */
    uint64_t total;  /* ticks of finished executions */
    uint64_t min;    /* ticks; GNOMON__NO_MIN: the hot path counts none */
    uint64_t spread; /* max - min: one unsigned compare tests both bounds */
    union {          /* one word: what its end makes of the thread's */
        struct {
            uint32_t parent; /* the root's is 0 */
            uint32_t next; /* prediction: the sibling that followed last time */
        };
        uint64_t after;
    };
    uint32_t cells; /* where cell 0 would be, from the base; modulo 2^32 */
    uint32_t key;
    uint32_t child; /* prediction: the child that came first last time */
    uint32_t seen;  /* of an open one: bits that saw it beside this tree; with
                     * GNOMON__SEEN_SLOW its end takes the slow path. In the bank at
                     * rest, of one open at the cut: the segment in which it began */
} gnomon__front;

#define GNOMON__SEEN_SLOW 0x80000000u /* no bit of a mask */

/* The bounds within which the hot path counts an execution: those of the node, from its
 * second execution on, and of what gnomon__cell_of_usual and a record of a tape take. */
#define GNOMON__USUAL_MIN 16u
#define GNOMON__USUAL_MAX UINT32_MAX

/* GNOMON__NO_MIN with a spread of 0 puts every duration outside the bounds,
 * also a negative one, which wraps to a large value. */
#define GNOMON__NO_MIN (1ull << 63)

/* The rest of a bank. */
typedef struct gnomon__part {
    uint64_t first;       /* order of the first end among all nodes; 0: none */
    int64_t adjust;       /* ticks to add to self: children outlived parents */
    uint64_t least, most; /* ticks, also while there is no histogram */
    union {               /* one word: the offset and its size */
        struct {
            uint32_t histogram; /* cells; 0: none before the second execution */
            uint8_t low;        /* the histogram's first octave ... */
            uint8_t room;       /* ... and how many it has */
            uint16_t flags;     /* GNOMON__PART_* */
        };
        uint64_t histogram_word;
    };
    uint32_t touched; /* next of the nodes with finished executions */
    uint32_t no_cell; /* executions without a cell: there was no memory */
} gnomon__part;

#define GNOMON__PART_CROSSED 1u /* a child outlived it */
#define GNOMON__PART_CLOCK 2u   /* the clock stepped back during an execution */
#define GNOMON__PART_ONCE 4u    /* one execution, in no cell: total alone */
#define GNOMON__PART_TOUCHED 8u /* listed, though nothing ended */
#define GNOMON__PART_MOVED 16u  /* what is open left it at the cut */

typedef struct gnomon__node {
    gnomon__front front[2]; /* by bank */
    gnomon__part part[2];
    uint32_t older;  /* list of all nodes of the tree, newest first */
    uint32_t other;  /* its "(other)" child */
    uint16_t flags;  /* GNOMON__NODE_* */
    uint16_t thread; /* whose: its number */
    uint32_t depth;  /* the root's is 0 */
    uint32_t number; /* 1, 2, ... in the order of making: parents first */
    uint32_t carry;  /* gnomon__carry of one open at a cut */
    /* For readers, under their lock: the last copy that visited it, and its
     * row there. */
    uint32_t visit, row;
} gnomon__node;

#define GNOMON__NODE_OTHER 1u  /* stands for paths past a limit */
#define GNOMON__NODE_RANGES 2u /* holds ranges; not on any chain */
#define GNOMON__NODE_ROOT 4u
#define GNOMON__NODE_PARENT 8u /* memory for its "(other)" is kept */

/* A thread's cursor in a tree. */
typedef struct gnomon__cursor {
    uint32_t current; /* the innermost open scope's node, or the root */
    uint32_t last;    /* the node that ended last: whose `next` it was */
    /* The histogram cell of the execution that ended last, as an offset from the thread's
     * `base`; or GNOMON__NO_CELL. It is counted when the next one ends: a store whose
     * address is computed from one clock read delays the next clock read, by 7 ns of a
     * pair's 19 on one processor. Readers load it. */
    uint32_t pending;
} gnomon__cursor;

_Static_assert(sizeof(gnomon__front) == 64, "a line of the cache");
_Static_assert(sizeof(gnomon__node) == 256, "and all of a node four");

#endif
