/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Observers are recorders and hooks, each with a bit in all masks: which
 * regions they want, and whether their schedule's window is open. Control calls
 * change them; marks only read.
 *
 * A region's mask = the bits that want it and are armed. Rewriting masks
 * takes time in proportion to the regions, so the windows of a schedule open
 * and close by one word in each thread's state, exactly at the step. Masks
 * are rewritten when the next window is far away. */
#ifndef GNOMON_MARK_OBSERVER_H
#define GNOMON_MARK_OBSERVER_H

#include "gnomon/tool.h"
#include "mark/thread.h"

struct gnomon_profiler;
struct gnomon__recorder;

typedef struct gnomon__observer {
    uint32_t generation; /* of this use of the bit; 0: it is free */
    uint32_t epoch;      /* of the configuration that attached it */
    const struct gnomon__recorder *recorder; /* NULL: it is a hook */
    const struct gnomon_profiler *hook;
    void *self;
} gnomon__observer;

GNOMON__DATA gnomon__observer gnomon__observers[GNOMON__BITS];
/* The bit of the tree that memory is recorded in, as a mask; 0: nobody records it. */
GNOMON__DATA uint32_t gnomon__memory_bits;
GNOMON__DATA uint32_t gnomon__attached_bits;
GNOMON__DATA uint32_t gnomon__armed_bits;
GNOMON__DATA uint32_t gnomon__open_bits;      /* also read without the lock */
GNOMON__DATA uint32_t gnomon__observer_epoch; /* 0: nothing has started */
GNOMON__DATA uint32_t
    gnomon__observer_offs; /* how often nobody was left attached */
GNOMON__DATA uint32_t gnomon__needs_fence; /* no membarrier here */
/* 1: nothing is attached: regions wait, and no mark makes a system call.
 * Pairs with the fence in gnomon__region_waits. */
GNOMON__DATA uint32_t gnomon__observer_is_idle;

/* GNOMON_MASK_UNSEEN while the run starts, else 0: it is in the active words and in all
 * masks that are written then, so that the marks of other threads ask for the start,
 * and wait. Under the lock. */
GNOMON__DATA uint32_t gnomon__start_mask;

/* Takes a free bit, attached, neither armed nor open: of a recorder, or of a hook.
 * GNOMON_EFULL. Both are kept, not copied. */
int gnomon__observer_attach(const struct gnomon__recorder *recorder,
                            const struct gnomon_profiler *hook, void *self,
                            uint32_t *bit);

/* Frees the bit once no callback of it can run; a hook first gets the stop
 * of what it saw begin. GNOMON_EBUSY after a second; it may then be called
 * again. */
int gnomon__observer_detach(uint32_t bit);

/* The hook sees no more begins, and gets the stop of what it saw begin. It
 * stays attached. GNOMON_EBUSY as above. */
int gnomon__observer_finish(uint32_t bit);

/* The steps of the two above. _shut: no scope begins for the bit.
 * _stop_callbacks: no callback of it is called. _free: others may take the
 * bit. Each takes the lock. */
void gnomon__observer_shut(uint32_t bit);
void gnomon__observer_stop_callbacks(uint32_t bit);
void gnomon__observer_free(uint32_t bit);

/* Bits that are being detached, for which no scope begins; under the lock. A
 * thread that finds the serial changed at its next mark stops its open
 * scopes for these hooks. */
GNOMON__DATA uint32_t gnomon__leaving_bits;
GNOMON__DATA uint32_t gnomon__leave_serial;

/* Asks the filter again which regions the bit wants. O(regions). */
void gnomon__observer_filter(uint32_t bit);

/* Sets which bits are armed, for regions that are registered from now on. */
void gnomon__observer_arm(uint32_t bits);

/* Rewrites all masks to what is armed. O(regions), a part at a time: threads
 * that register one in between do not wait for all. */
void gnomon__observer_rewrite(void);

/* Opens and closes windows: of the bits `which`, those in `open` are open.
 * O(threads): a thread whose hot tree may change settles at its next mark. */
void gnomon__observer_open(uint32_t which, uint32_t open);

/* The open bits of `mask` whose recorders have no memory for this thread. */
static inline uint32_t gnomon__who_lacks(const gnomon__thread *t, uint32_t mask)
{
    uint32_t lacking = t->short_bits & mask;
    return unlikely(lacking) ? lacking & load_relaxed(&gnomon__open_bits) : 0;
}

/* The bits of `mask` that take a mark of this thread. Counted as lost where
 * a recorder has no memory for the thread; the hot path is then off, so
 * every mark comes here. */
static inline uint32_t gnomon__who_takes(gnomon__thread *t, uint32_t mask)
{
    if (gnomon__who_lacks(t, mask))
        gnomon__trouble(t, lost_scopes);
    return mask & load_relaxed(&t->open_bits);
}

/* The active word of another copy of the library follows ours from now on. GNOMON_EFULL.
 * Takes the lock. */
int gnomon__observer_add_active_word(uint32_t *active_word);
/* Writes the active words of all copies. Under the lock. */
void gnomon__observer_write_active_words(uint32_t bits);
/* Turns off those words that only ask for a first mark. Any thread: what an attach writes
 * meanwhile stays. */
void gnomon__observer_disarm(void);

/* First of all: marks can be taken from then on. Idempotent. */
void gnomon__observer_start(void);
/* What $GNOMON names is attached: marks of other threads waited for that, so that none is
 * lost. From then on they are off where nothing is attached. Idempotent. */
void gnomon__observer_started(void);

/* A barrier: marks that begin after it see what this thread wrote before it,
 * and this thread sees what marks wrote that began before it. In control
 * calls, not under the lock of marks. */
void gnomon__observer_barrier(void);
/* Waits until every thread was seen outside marks since the barrier, and outside callbacks
 * too, unless these do not matter. 0: one took a second. Not under the lock of marks, so
 * no mark waits for this. */
int gnomon__observer_marks_over(int with_callbacks);

/* In a forked child, under the lock: no bit is taken and no region wanted.
 * With `starts` the next mark reads $GNOMON again; else all marks are off. */
void gnomon__observers_forget(int starts);

/* Takes `bits` from the masks of all frames and open ranges of the thread. */
void gnomon__frames_forget(gnomon__thread *t, uint32_t bits);

#endif
