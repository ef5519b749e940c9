/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing a call tree: the few instructions of the hot path, inline, and the slow
 * ones, which find or make nodes and repair the chain.
 *
 * All of it runs on the owning thread with the sequence word odd. */
#ifndef GNOMON_MARK_TREE_H
#define GNOMON_MARK_TREE_H

#include <string.h>

#include "mark/recorder.h"
#include "platform/clock.h"

#define ALWAYS __attribute__((always_inline))

#define GNOMON__MAX_DEPTH 1024
#ifdef GNOMON_TESTING
/* The same where paths are made, and how many a tree may have. */
extern uint32_t gnomon__test_depth, gnomon__test_paths;
#endif

static inline gnomon__node *gnomon__node_at(const gnomon__thread *t,
                                            uint32_t offset)
{
    return (gnomon__node *)gnomon__at(t, offset);
}

/* A node's line of the bank in which the thread records. */
static inline gnomon__front *gnomon__front_at(const gnomon__thread *t,
                                              uint32_t offset)
{
    return (gnomon__front *)(void *)(t->base + offset);
}

static inline gnomon__part *gnomon__part_at(const gnomon__thread *t,
                                            uint32_t offset)
{
    return &gnomon__node_at(t, offset)->part[t->bank];
}

/* One link of gnomon_link_in, in the tree's memory. */
typedef struct gnomon__edge {
    uint32_t from; /* node of any thread; 0: free */
    uint32_t to;
    uint32_t kind;
    uint32_t reserved;
    uint64_t count[2]; /* by bank */
} gnomon__edge;

typedef struct gnomon__sums_of_samples {
    uint64_t count; /* of values that are numbers */
    uint64_t nans;
    double last, min, max, sum;
} gnomon__sums_of_samples;

/* Its samples by steps, in each bank: once the first step is over in which there were any,
 * `room` bins of the arena, each of 1 << shift steps. */
typedef struct gnomon__counter {
    uint32_t next;
    uint32_t key;
    uint32_t bins
        [2]; /* 0: all samples are of the first step, or `shift` says: no memory */
    gnomon__sums_of_samples bank[2];
    uint16_t room[2], shift[2];
} gnomon__counter;

#define GNOMON__NO_BINS 63u /* shift */

/* An execution that a cut found open, or that ends in a later segment than it
 * began in: it counts in the segment of its begin (carry.c). */
typedef struct gnomon__carry {
    uint32_t next; /* in whichever list */
    uint32_t node;
    uint32_t segment; /* in which it began */
    uint32_t is_range;
    uint64_t ticks;   /* of all of it, once it ended */
    uint64_t inside;  /* of these: in the segment in which it ended */
    uint64_t self;    /* of these: as the innermost open scope */
    uint64_t is_left; /* it did not finish: only its self time counts */
    uint64_t more[2];
} gnomon__carry;

/* One thread's tree for one bit: in the first of its chunks. */
typedef struct gnomon__tree {
    gnomon__state state;
    gnomon__cursor cursor; /* of the hot tree: thread->hot */
    uint32_t guess;        /* of the hot tree: the thread-local one */
    uint32_t index;        /* hash of (parent, key) to nodes ... */
    uint32_t index_count;  /* ... and its size, a power of two */
    uint32_t nodes;        /* in the hash */
    uint32_t generation;   /* of the observer it was made for; 0: given back */
    uint32_t root;
    uint32_t ranges; /* parent of the nodes of ranges */
    uint32_t newest; /* list of all nodes */
    uint32_t made;   /* how many there are */
    uint32_t chunks; /* list of the chunks it owns, with its first one */
    uint32_t free;   /* the rest of the newest chunk */
    uint32_t free_end;
    uint32_t next_bytes; /* of the next chunk */
    uint32_t spare;      /* the rest of what "(other)" nodes alone lie in */
    uint32_t spare_end;
    uint32_t other_depth; /* scopes open below an "(other)" node */
    uint32_t
        other_depth_valid; /* highest depth of such that may still be ended */
    uint32_t is_fresh;     /* nothing was marked in this segment yet */
    uint32_t touched[2];   /* by bank: list of nodes with finished executions */
    uint32_t segment[2];   /* of which the bank holds what was recorded */
    uint64_t since[2];     /* ticks: the cuts that began and ended it */
    uint64_t until[2];
    uint32_t carried;        /* list: open since an earlier segment */
    uint32_t ended[2];       /* by bank: lists of such that ended in it */
    uint32_t carries;        /* list of free ones */
    uint32_t returned;       /* control: list of ones that were read */
    uint32_t open_at_cut[2]; /* by bank at rest: the innermost node; 0: none */
    uint32_t links;          /* hash of gnomon__edge */
    uint32_t link_count;
    uint32_t link_room;
    uint32_t link_old_count;
    uint32_t link_old[12]; /* outgrown: a reader may be in them */
    uint32_t counters;     /* list of gnomon__counter */
    uint32_t counter_count;
    uint32_t over;         /* the node closed last off the hot path ... */
    uint32_t over_segment; /* ... its execution, and in which that began */
    uint64_t over_token;
} gnomon__tree;

/* The thread's tree of a bit that is one. */
static inline gnomon__tree *gnomon__tree_of(const gnomon__thread *t,
                                            uint32_t bit)
{
    const uint32_t *states = t->states;
    return gnomon__at(t, load_relaxed(states + (size_t)bit));
}

/* ---- Memory: tree_memory.c ------------------------------------------------ */

#define GNOMON__FIRST_INDEX 64u /* entries of a new tree's hash of paths */

/* Makes an empty tree in its first chunk, 0: no memory; and frees all of its
 * chunks. */
uint32_t gnomon__tree_make(gnomon__thread *t);
void gnomon__tree_give(gnomon__thread *t, const gnomon__tree *tree);

/* Zeroed memory from the tree's chunks; `bytes` a multiple of 64, at most 8 KiB;
 * aligned to 64. 0: none. */
uint32_t gnomon__tree_take(gnomon__thread *t, gnomon__tree *tree,
                           uint32_t bytes, enum gnomon__need need);

/* ---- Shape: tree.c -------------------------------------------------------- */

int gnomon__tree_adopt(gnomon__thread *t, uint32_t bit, uint32_t generation);
void gnomon__tree_drop(gnomon__thread *t, uint32_t bit);

/* The child `key` of the cursor's node, found or made, or its "(other)"; 0:
 * there is none (a scope below "(other)", or no memory), counted, but not on tapes. */
uint32_t gnomon__tree_child(gnomon__thread *t, uint32_t bit, uint32_t key);

/* The child `key` of `parent`, found or made; 0: no memory. */
uint32_t gnomon__tree_path(gnomon__thread *t, uint32_t bit, uint32_t parent,
                           uint32_t key);

/* The hot path uses the hash of paths of the tree that is hot now. */
void gnomon__index_use(gnomon__thread *t);

/* The node of a range, or their "(other)"; 0: no memory. */
uint32_t gnomon__tree_range(gnomon__thread *t, uint32_t bit,
                            const gnomon__finished *f);
/* The same; counts what has no path of its own. */
uint32_t gnomon__tree_range_counted(gnomon__thread *t, uint32_t bit,
                                    const gnomon__finished *f);

/* ---- Counting and closing: count.c, close.c ------------------------------ */

/* Counts the pending cells of all trees. */
void gnomon__count_pending(gnomon__thread *t);

/* Puts the node into the bank's list of touched nodes, so that readers find
 * it though no execution of it ended. */
void gnomon__tree_touch(gnomon__thread *t, gnomon__tree *tree, uint32_t node);
/* Adds one finished execution of `ticks` to a node. */
void gnomon__tree_count(gnomon__thread *t, gnomon__tree *tree, uint32_t node,
                        uint64_t ticks);

/* Closes an open node anywhere on the chain. Time of children after their
 * parent's end goes to the self time that it belongs to. */
void gnomon__tree_close(gnomon__thread *t, uint32_t bit, uint32_t node,
                        uint64_t now);

/* Removes nodes that are over from the chain, if they are more than `most`:
 * open executions move to the paths that are left, as of `now`. Executions
 * open since an earlier segment move only at a cut, in the new bank. Self time
 * up to then stays at the old path. */
void gnomon__tree_shorten(gnomon__thread *t, uint32_t bit, uint64_t now,
                          uint32_t most, int at_cut);
/* So many closed nodes may stay on a chain whose scopes all ended on the
 * thread itself. */
#define GNOMON__MOST_CLOSED 16u

/* Moves only that time, before `node` is closed. */
void gnomon__tree_outlive(gnomon__thread *t, uint32_t node, uint64_t now);
/* Its self time changes by `ticks`, as a child outlived it. */
void gnomon__tree_cross(gnomon__thread *t, uint32_t node, int64_t ticks);
/* When a closed node of the chain ended, as far as this segment goes. */
uint64_t gnomon__tree_ended_at(const gnomon__thread *t, const gnomon__front *n);

/* The open node of this token (flags aside) on the chain; 0: none. */
uint32_t gnomon__tree_find(gnomon__thread *t, uint32_t bit, uint64_t token);

/* The same for an execution that has no frame, in whichever trees. The lowest
 * bit's; *bits: all that saw it. */
uint32_t gnomon__trees_find(gnomon__thread *t, uint32_t *bits, uint64_t token);

/* Closes the execution of `token`, which has no frame, in all trees that saw it. */
void gnomon__close_in_trees(gnomon__thread *t, uint64_t token, uint64_t now);

/* The thread ends: closes what is open, as unfinished. Returns how many. */
uint64_t gnomon__tree_abandon(gnomon__thread *t, uint32_t bit);

/* Closes all scopes without frames begun after `token`, in whichever tree, but
 * not actions; counts them as crossed. */
void gnomon__trees_close_inner(gnomon__thread *t, uint64_t token, uint64_t now);

/* ---- The recorder of call trees: tree_marks.c ------------------------------ */

GNOMON__DATA const gnomon__recorder gnomon__tree_recorder;
/* `token` may have flags. 0: the tree does not take this scope. _begun gives the time. */
int gnomon__tree_begin(gnomon__thread *t, uint32_t bit, uint32_t key,
                       uint64_t token);
void gnomon__tree_begun(gnomon__thread *t, uint32_t bit, uint64_t ticks);
void gnomon__tree_end(gnomon__thread *t, uint32_t bit,
                      const gnomon__finished *f);

/* ---- Samples by steps: counter_bins.c -------------------------------------- */

/* Counts a sample of a step of the stage, but of the first one: as long as there is no
 * other, the sums have what its bin would. */
void gnomon__bins_count(gnomon__thread *t, gnomon__counter *c, uint64_t step,
                        double value);
/* The bank has no bins any more: by its reader under the readers' lock, or its thread. */
void gnomon__bins_give(const gnomon__thread *t, gnomon__counter *c,
                       uint32_t bank);

/* ---- Over a cut: carry.c ------------------------------------------------- */

/* Open executions go on in the other bank, which is empty. Under the lock. */
void gnomon__tree_cut(gnomon__thread *t, uint32_t bit);

/* Clears what is open in the bank at rest: its reader, or before it is used again. */
void gnomon__tree_forget_open(const gnomon__thread *t, gnomon__tree *tree,
                              uint32_t bank);

/* An execution ends that began in an earlier segment: counted there. */
void gnomon__tree_close_carried(gnomon__thread *t, uint32_t bit, uint32_t node,
                                uint64_t now);

/* The execution that is open on `from` is that of `to` from now on. */
void gnomon__tree_move_carry(gnomon__thread *t, uint32_t from, uint32_t to);

/* In which segment the execution began that is open on `node`. */
uint32_t gnomon__tree_segment(const gnomon__thread *t, uint32_t node);

/* A range of `ticks` ended that began in segment `segment`. 0: no memory. */
int gnomon__tree_carry_range(gnomon__thread *t, gnomon__tree *tree,
                             uint32_t node, uint32_t segment, uint64_t ticks);

/* ---- The hot path -------------------------------------------------------- */

/* Which cell holds a duration: octave and index in one number, as
 * gnomon_cell_of, without a branch. */
static inline uint32_t gnomon__cell_of_ticks(uint64_t ticks)
{
    uint32_t e = 59u - (uint32_t)__builtin_clzll(ticks | 16);
    return 16u * e + (uint32_t)(ticks >> e);
}

/* The same for durations within the bounds of a node, which are exact as a double: its
 * exponent and the first four bits behind it are octave and index. */
static inline uint32_t gnomon__cell_of_usual(uint64_t ticks)
{
#ifdef __x86_64__
    double value = (double)(int64_t)ticks;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint32_t)(bits >> 48) - 16u * (1023u + 3u);
#else
    return gnomon__cell_of_ticks(ticks);
#endif
}

/* The pending cell. Once it is counted another becomes pending before the mark is over. */
static inline uint64_t *gnomon__pending_cell(const gnomon__cursor *c,
                                             char *base)
{
    return (uint64_t *)(void *)(base + c->pending);
}

/* The offset of the histogram cell of `ticks`, which is within the bounds of the node. */
static inline uint32_t gnomon__cell_at(const gnomon__front *n, uint64_t ticks)
{
    return n->cells + 8 * gnomon__cell_of_usual(ticks);
}

/* Counts an execution of `d` ticks, once the pending cell is counted. 0: its bounds must
 * change first. One test covers "a new minimum", "a new maximum", "the first two", "no
 * such cell", "an unusual length" and "the clock went back". */
static inline ALWAYS int gnomon__hot_count(gnomon__cursor *c, gnomon__front *n,
                                           uint64_t d)
{
    if (unlikely(d - n->min > n->spread))
        return 0;
    store_relaxed(&c->pending, gnomon__cell_at(n, d));
    gnomon__word_sum(&n->total, d);
    return 1;
}

/* Counts what gnomon__hot_count refused: the node's bounds change first. */
static inline void gnomon__count_slowly(gnomon__thread *t, gnomon__tree *tree,
                                        gnomon__cursor *c, uint32_t node,
                                        uint64_t d)
{
    store_relaxed(&c->pending, GNOMON__NO_CELL);
    gnomon__tree_count(t, tree, node, d);
}

/* Adds a finished execution to a node of a tree, whose cursor is `c`. */
static inline ALWAYS void gnomon__tree_add(gnomon__thread *t,
                                           gnomon__tree *tree,
                                           gnomon__cursor *c, uint32_t node,
                                           uint64_t ticks)
{
    gnomon__front *n = gnomon__front_at(t, node);
    gnomon__word_sum(gnomon__pending_cell(c, t->base), 1);
    if (unlikely(!gnomon__hot_count(c, n, ticks)))
        gnomon__count_slowly(t, tree, c, node, ticks);
}

/* Where the search in the hash of paths begins, in bytes. With this factor,
 * consecutive keys below one parent do not collide, nor does one key below
 * consecutive parents, in tables of 64 to 16384 entries that are a quarter
 * full. */
static inline uint32_t gnomon__index_of(uint32_t parent, uint32_t key,
                                        uint32_t mask)
{
    return ((parent + key) * 0x4fa1eca5u >> 8) & mask;
}

/* The node of (parent, key) by that hash, at `index`; 0: there is none. `base` is
 * the bank's. Where no tree is hot the mask is 0, and what lies at `index` means
 * nothing. */
static inline uint32_t gnomon__index_find(char *base, const char *index,
                                          uint32_t mask, uint32_t parent,
                                          uint32_t key)
{
    uint32_t first = gnomon__index_of(parent, key, mask), at = first;
    for (;;) {
        const void *entry = index + at;
        uint32_t node = *(const uint32_t *)entry;
        const gnomon__front *n = (const void *)(base + node);
        if (likely(n->key == key && n->parent == parent))
            return node;
        at = (at + 4) & mask;
        if (!node || at == first)
            return 0;
    }
}

/* Of a token below an "(other)", above its depth: the tree's bit, the lower bits of its
 * generation, and a bit that few made-up tokens have. */
#define GNOMON__TOKEN_BIT(token) ((uint32_t)((token) >> 32) & 31u)
#define GNOMON__TOKEN_HAS_BIT (1ull << 43)
static inline uint64_t gnomon__token_tree(const gnomon__thread *t, uint32_t bit)
{
    return GNOMON__TOKEN_HAS_BIT |
           (uint64_t)((t->generations[bit] & 63u) << 5 | bit) << 32;
}

/* Below an "(other)" scopes are only counted, so its own end is slow. */
static inline uint32_t gnomon__seen_of(const gnomon__thread *t, uint32_t node)
{
    return gnomon__node_at(t, node)->flags & GNOMON__NODE_OTHER
               ? GNOMON__SEEN_SLOW
               : 0;
}

#endif
