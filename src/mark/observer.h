/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Observers: recorders and hooks. Each has a bit of all masks. Which regions they want,
 * and whether their window is open. Control calls change them; marks only read.
 *
 * A region's mask = the bits that want it and are armed. Rewriting masks takes
 * time in proportion to the regions, so windows of a schedule open and close by
 * a word in each thread's state instead, exact at the step; masks follow
 * when the next window is far. */
#ifndef GNOMON_MARK_OBSERVER_H
#define GNOMON_MARK_OBSERVER_H

#include "gnomon/profiler.h"
#include "mark/thread.h"

struct gnomon__recorder;

typedef struct gnomon__observer {
    uint32_t is_taken;
    uint32_t generation; /* of this use of the bit; never 0 in use */
    uint32_t epoch;      /* of the configuration that attached it */
    uint32_t times;      /* a hook that wants begin_ns and end_ns */
    const struct gnomon__recorder *recorder; /* NULL: it is a hook */
    void (*start)(void *, const gnomon_frame *, uint64_t *); /* the hook's */
    void (*stop)(void *, const gnomon_frame *, uint64_t *);
    const gnomon_profiler *hook;
    void *self;
} gnomon__observer;

extern gnomon__observer gnomon__observers[GNOMON__BITS];
/* Bits by what they are; under the lock: marks go by their thread's copies. */
extern uint32_t gnomon__recorder_bits;
extern uint32_t gnomon__tree_bits;
extern uint32_t gnomon__end_only_bits;
extern uint32_t gnomon__time_bits; /* which need the clock */
extern uint32_t gnomon__attached_bits;
extern uint32_t gnomon__armed_bits;
extern uint32_t gnomon__open_bits;      /* also read without the lock */
extern uint32_t gnomon__observer_epoch; /* 0: nothing has started */
extern uint32_t gnomon__observer_offs;  /* how often nobody was left attached */
extern uint32_t gnomon__needs_fence;    /* no membarrier here */
/* Nobody is attached: regions wait, and no mark asks the system for anything.
 * Partner: the fence in gnomon__region_waits. */
extern uint32_t gnomon__observer_is_idle;

/* Takes a free bit, attached, neither armed nor open: of a recorder, or of a hook.
 * GNOMON_EFULL. Both are kept, not copied. */
int gnomon__observer_attach(const struct gnomon__recorder *recorder,
                            const gnomon_profiler *hook, void *self,
                            uint32_t *bit);

/* Gives the bit back once no callback of it can run any more; a hook gets the stop
 * of what it saw begin. GNOMON_EBUSY after a second, then it may be called
 * again. */
int gnomon__observer_detach(uint32_t bit);

/* A hook sees no more scopes begin, and gets the stop of those that it saw: it
 * stays attached. As above. */
int gnomon__observer_finish(uint32_t bit);

/* What the two above are made of: no scope begins for it any more; no callback of
 * it does; others may take the bit. Each takes the lock. */
void gnomon__observer_shut(uint32_t bit);
void gnomon__observer_stop_callbacks(uint32_t bit);
void gnomon__observer_free(uint32_t bit);

/* Bits for which no scope begins any more; under the lock. Threads tell those hooks
 * of what is open there at their next mark, when they find the serial changed. */
extern uint32_t gnomon__leaving_bits;
extern uint32_t gnomon__leave_serial;

/* Asks the filter anew which regions the bit wants. O(regions). */
void gnomon__observer_filter(uint32_t bit);

/* Sets which bits are armed, for regions that come from now on. */
void gnomon__observer_arm(uint32_t bits);

/* Rewrites all masks to what is armed. O(regions), a part at a time: threads
 * that register one in between do not wait for all. */
void gnomon__observer_rewrite(void);

/* Opens and closes windows: `open` of the bits `which`. O(threads): a thread for
 * which other trees are open now settles at its next mark. */
void gnomon__observer_open(uint32_t which, uint32_t open);

/* Who of `mask` takes a mark of this thread. One for a recorder that found no memory
 * here is counted as lost: such a thread has no short ways. */
static inline uint32_t gnomon__who_takes(gnomon__thread *t, uint32_t mask)
{
    uint32_t lacking = t->short_bits & mask;
    if (unlikely(lacking) && (lacking & load_relaxed(&gnomon__open_bits)))
        gnomon__trouble(t, lost_scopes);
    return mask & load_relaxed(&t->open_bits);
}

/* The active mask of another copy of the library follows ours from now on. GNOMON_EFULL.
 * Takes the lock. */
int gnomon__observer_add_active_mask(uint32_t *active_mask);
/* Writes the active masks of all copies. Under the lock. */
void gnomon__observer_write_active_masks(uint32_t bits);

/* Before anything else here: from then on marks can be taken. Idempotent. */
void gnomon__observer_start(void);

/* What this thread wrote before is seen by marks that begin after it, and what marks
 * wrote that began before it is seen here. In control calls, under no lock. */
void gnomon__observer_barrier(void);

/* In a forked child, under the lock: no bit is taken and no region wanted. With
 * `starts` the next mark asks again whether anybody wants it; else all are off. */
void gnomon__observers_forget(int starts);

/* Takes `bits` from the masks of all frames and open ranges of the thread. */
void gnomon__frames_forget(gnomon__thread *t, uint32_t bits);

#endif
