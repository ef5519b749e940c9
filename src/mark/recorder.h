/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What remembers marks: one entry of a table for each kind. A bit of a mask is a
 * recorder, or a hook, which is told and keeps nothing here.
 *
 * The call tree is such an entry (record/tree_recorder.c). Marks that one tree alone wants,
 * or several, have ways of their own, which know it; everything else goes through
 * the functions here. A recorder without `begin` rides along: beside a tree it
 * costs one test at a begin, and its `end` at an end. */
#ifndef GNOMON_MARK_RECORDER_H
#define GNOMON_MARK_RECORDER_H

#include "mark/thread.h"

/* A scope, action or range that is over, or a mark. */
typedef struct gnomon__finished {
    uint64_t token;
    uint64_t begin, end; /* ticks */
    uint32_t key;
    uint32_t node; /* in the hot tree, where that saw it; 0: not known */
} gnomon__finished;

struct gnomon__slice_thread;

/* All but `step` and `collect` come on the marking thread, with its word odd. Any
 * may be NULL. */
typedef struct gnomon__recorder {
    const char *name;
    int is_tree; /* a call tree: gnomon__tree */
    /* Makes what it keeps for the thread, t->states[bit]; 0: no memory. And gives
     * it back. Under the lock; `drop` also of threads that are not the caller. */
    int (*adopt)(gnomon__thread *t, uint32_t bit, uint32_t generation);
    void (*drop)(gnomon__thread *t, uint32_t bit);
    /* The thread goes on in the other bank: what it recorded is to rest. Under the
     * lock, also of threads that are not the caller, but then not in a mark. */
    void (*cut)(gnomon__thread *t, uint32_t bit);
    /* The thread ends: what is open will not finish. How much that is. */
    uint64_t (*abandon)(gnomon__thread *t, uint32_t bit);
    /* `token` may carry flags. 0: it does not take this scope. `begun` tells when,
     * once all who want it took it. */
    int (*begin)(gnomon__thread *t, uint32_t bit, uint32_t key, uint64_t token);
    void (*begun)(gnomon__thread *t, uint32_t bit, uint64_t ticks);
    void (*end)(gnomon__thread *t, uint32_t bit, const gnomon__finished *f);
    void (*range)(gnomon__thread *t, uint32_t bit, const gnomon__finished *f,
                  uint32_t segment);
    void (*mark)(gnomon__thread *t, uint32_t bit, const gnomon__finished *f);
    void (*sample)(gnomon__thread *t, uint32_t bit, uint32_t key, double value);
    /* A step is over: on the thread that made it. */
    void (*step)(uint32_t bit, uint64_t number, uint64_t ticks);
    /* Takes what the thread recorded up to the last cut; or copies what it has
     * recorded since, while it goes on. For that of `generation` alone, any thread,
     * under the readers' lock. GNOMON_OK or GNOMON_ENOMEM. */
    int (*collect)(struct gnomon__slice_thread *out, gnomon__thread *t,
                   uint32_t bit, uint32_t generation, int is_live);
} gnomon__recorder;

/* What it keeps for a thread begins so. */
typedef struct gnomon__state {
    const gnomon__recorder *recorder;
} gnomon__state;

/* Whether the thread has end-only recorders that are still attached. */
static inline int gnomon__has_end_only(const gnomon__thread *t)
{
    return (t->end_only_bits & load_relaxed(&t->attached)) != 0;
}

/* Calls `end` of those of `bits` that are end-only recorders, by their own copy of what a
 * tree's node knew. */
void gnomon__end_only_end(gnomon__thread *t, const gnomon__finished *f,
                          uint32_t bits);

/* Of a bit in t->recorder_bits. */
static inline const gnomon__recorder *
gnomon__recorder_of(const gnomon__thread *t, uint32_t bit)
{
    return ((const gnomon__state *)gnomon__at(t, t->states[bit]))->recorder;
}

/* An execution is over for these of them. */
static inline void gnomon__recorders_end(gnomon__thread *t, uint32_t bits,
                                         const gnomon__finished *f)
{
    gnomon__each_bit(bit, bits) {
        gnomon__recorder_of(t, bit)->end(t, bit, f);
    }
}

#endif
