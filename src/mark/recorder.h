/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recorders keep what marks say: a table of functions for each kind. A bit of a
 * mask is a recorder, or a hook, which is called and keeps nothing here.
 *
 * The call tree is such a table (mark/tree_marks.c). Scopes that only
 * trees take have functions of their own, which know the tree. All recorders but trees
 * are end-only: with a tree one costs one test at a begin, and its `end` at an end. */
#ifndef GNOMON_MARK_RECORDER_H
#define GNOMON_MARK_RECORDER_H

#include "mark/thread.h"

/* A scope, action or range that is over, or a mark. */
typedef struct gnomon__finished {
    uint64_t token;
    uint64_t begin, end; /* ticks */
    uint32_t key;
    union {
        uint32_t node; /* in the hot tree, where that saw it; 0: not known */
        /* Of a range: the ranges around it, an offset: of the word that says how many.
         * Their keys are in the words below it, the innermost nearest. 0: none. */
        uint32_t around;
    };
} gnomon__finished;

/* A step that is over. */
typedef struct gnomon__stepped {
    uint64_t number;
    uint64_t begin, end; /* ticks */
    uint32_t open;       /* bits whose windows were open in it */
} gnomon__stepped;

struct gnomon__snapshot_builder;
struct gnomon__step_record;
struct gnomon__totals;

/* The first member of what a recorder keeps for a view. */
typedef struct gnomon__kept {
    uint32_t bit, generation;
} gnomon__kept;

/* Those before `step` come on the marking thread, with its word odd. Any may be
 * NULL. */
typedef struct gnomon__recorder {
    const char *name;
    int is_tree; /* a call tree: gnomon__tree */
    int is_tape; /* a tape: gnomon__tape */
    /* `adopt` makes what the recorder keeps for the thread, t->states[bit];
     * 0: no memory. `drop` frees it. Under the lock; `drop` also for other
     * threads than the caller. */
    int (*adopt)(gnomon__thread *t, uint32_t bit, uint32_t generation);
    void (*drop)(gnomon__thread *t, uint32_t bit);
    /* The thread goes on in the other bank, and what it recorded is to rest.
     * Under the lock; also for other threads than the caller, which are then
     * outside marks. */
    void (*cut)(gnomon__thread *t, uint32_t bit);
    void (*end)(gnomon__thread *t, uint32_t bit, const gnomon__finished *f);
    /* The same of an end-only recorder, whose state is t->beside, for a scope that only
     * the hot tree saw as well, and that took as long as most: its line, which is
     * closed, and how long. It is called last, and turns the word even. */
    void (*ended)(gnomon__thread *t, const gnomon__front *n, uint64_t ticks);
    void (*range)(gnomon__thread *t, uint32_t bit, const gnomon__finished *f,
                  uint32_t segment);
    void (*mark)(gnomon__thread *t, uint32_t bit, const gnomon__finished *f);
    void (*sample)(gnomon__thread *t, uint32_t bit, uint32_t key, double value);
    /* A step is over: on the thread that made it. */
    void (*step)(gnomon__thread *t, uint32_t bit, const gnomon__stepped *done);
    /* The bit of gnomon_wants that asks for it (record/recorders.h). */
    uint32_t wants;

    /* Of one that has no bit of its own: it takes that of the view's tree, or, where that
     * is NULL, gives it back. GNOMON_OK, or an error and a text. */
    int (*join)(gnomon__kept *kept, const gnomon__kept *tree);

    /* ---- What it keeps for a view in the open stage ---- */
    /* Its size, with gnomon__kept. The view has it on the heap, zeroed. */
    uint32_t kept_bytes;
    /* A step is over; the moments of `done` are in ticks. NULL: what came since
     * the last step is of no step that counts. This and the next are called
     * under the lock of steps. */
    void (*count_step)(gnomon__kept *kept,
                       const struct gnomon__step_record *done);
    /* Adds it to its sums in `to`, which are of a stage that lasts from `begin`
     * to `now` in ticks. 0: no memory, and some is missing. */
    int (*read)(const gnomon__kept *kept, struct gnomon__totals *to,
                uint64_t begin, uint64_t now);
    /* The stage is over; or the view goes, and no step reaches it any more. */
    void (*empty)(gnomon__kept *kept);

    /* ---- Its sums of a stage, or of all stages of a name ---- */
    /* gnomon__totals.sums. Under the readers' lock. `add_sums` makes *to where
     * it is NULL. It and `put_sums`, which puts them into a profile, return 0
     * when there is no memory. Work of devices has no put_sums: it needs the paths
     * of all stages at once (record/activity_nodes.c). */
    int (*add_sums)(void **to, const void *sums);
    void (*free_sums)(void *sums);
    int (*put_sums)(struct gnomon__snapshot_builder *b, uint32_t stage,
                    const void *sums);
} gnomon__recorder;

/* The first member of what a recorder keeps for a thread. */
typedef struct gnomon__state {
    const gnomon__recorder *recorder;
} gnomon__state;

/* For a bit in t->recorder_bits. */
static inline const gnomon__recorder *
gnomon__recorder_of(const gnomon__thread *t, uint32_t bit)
{
    return ((const gnomon__state *)gnomon__at(t, t->states[bit]))->recorder;
}

/* Calls `end` of the end-only recorders in `bits`, once trees have closed it. */
static inline void gnomon__recorders_end(gnomon__thread *t, uint32_t bits,
                                         const gnomon__finished *f)
{
    gnomon__each_bit(bit, bits) {
        gnomon__recorder_of(t, bit)->end(t, bit, f);
    }
}

#endif
