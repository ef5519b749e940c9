/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The state of a thread that marks: composed of what each part of the room
 * keeps.
 *
 * States are in the arena and are recycled, never freed: any thread may read
 * one at any time. Only its own thread writes it, except for the words
 * marked "control", which control calls write under the lock. */
#ifndef GNOMON_MARK_THREAD_H
#define GNOMON_MARK_THREAD_H

#include <stddef.h>

#include "gnomon.h"
#include "mark/action.h"
#include "mark/arena.h"
#include "mark/bits.h"
#include "mark/health.h"
#include "mark/hook.h"
#include "mark/lock.h"
#include "mark/node.h"
#include "mark/word.h"
#include "platform/atomic.h"

/* Whether the end of a thread will be noticed; the last: in this round of destructors. */
enum gnomon__watch { GNOMON__UNWATCHED, GNOMON__WATCHED, GNOMON__WATCHED_LAST };

typedef struct gnomon__thread {
    /* The hot line. */
    uint64_t seq; /* only grows; odd: inside gnomon */
    char *base;   /* of the arena, and of the bank: control and settling */
    char *ground; /* of the arena, whatever the bank */
    uint32_t open_bits; /* control clears: whose window is open */
    uint32_t fast; /* the one bit that the hot path serves: the hot tree's */
    uint32_t
        shut; /* control sets it to NEVER: the next mark takes the slow path */
    gnomon__cursor hot; /* of the tree of bit `hot_bit` */
    uint32_t in_hook;   /* odd: a callback may be running */
    uint32_t attached;  /* control clears: bits that frames may still stop */
    uint64_t ended; /* ticks: the last end that a tree saw; readers load it */
    /* The line of plain hooks, with the first of `hooks`. */
    uint32_t frame_room;  /* where frames may begin, at most */
    uint32_t frame_top;   /* offset of the next; UINT32_MAX: no stack yet */
    uint32_t frame_last;  /* offset of the newest; 0: none */
    uint32_t frame_bytes; /* of a frame, with a slot for each hook */
    uint64_t one_hook; /* control clears, to NEVER: the only one, if plain, no
                           * tree: as frames have it */
    uint32_t number;
    uint32_t zero;                    /* frames take both words at once */
    gnomon__hook hooks[GNOMON__BITS]; /* in the order of attaching */
    /* The rest. */
    int *error; /* the thread's errno, which callbacks may change */
    /* What the one end-only recorder keeps whose `ended` the end of a scope of the hot
     * tree calls: its bit, as a mask; and again where it is a tape. */
    struct gnomon__state *beside;
    uint32_t ender;
    uint32_t taped;
    uint32_t index;      /* the hot tree's hash of paths: where it lies, ... */
    uint32_t index_mask; /* ... and its size in bytes less 4 */
    uint32_t frames;     /* offset of the frame stack; 0: none yet */
    uint16_t bank;       /* 0 or 1: in which it records */
    uint16_t hot_bit;    /* GNOMON__BITS: none */
    uint32_t segment;    /* of which that is: see gnomon__segment */
    uint32_t epoch;      /* of the configuration it runs under */
    uint64_t segment_begin; /* ticks: the cut that began it */
    uint32_t recorder_bits; /* of `epoch`: the bits that are recorders ... */
    uint32_t tree_bits;     /* ... of these: trees ... */
    uint32_t end_only_bits; /* ... or end-only recorders */
    uint32_t
        tree_only;  /* control clears: bits of several trees, without frames */
    uint64_t stale; /* tokens below belong to an earlier configuration */
    uint64_t born;  /* the word at the state's making: its tokens are above */
    /* Control clears: bits that hook.c serves; with GNOMON__NEVER where there are trees
     * besides the hot one. */
    uint32_t plain;
    uint32_t all_hooks; /* control clears, to NEVER: all, if plain, no tree */
    uint32_t hook_bits;
    uint32_t time_bits; /* of the configuration: bits that need the clock */
    uint16_t hook_count;
    uint8_t alive;
    uint8_t is_torn;     /* cancelled inside a mark: never used again */
    uint32_t lives;      /* threads that had it, one after the other */
    uint32_t frame_size; /* bytes of the frame stack */
    uint32_t frame_dead; /* frames that are over below one that is not */
    gnomon__actions actions;
    struct {
        uint32_t block_count;
        uint32_t free_slots; /* list of free ones, this thread's own, ... */
        uint32_t given_back; /* ... and of those that any thread gave back */
        uint32_t blocks[64];
    } ranges; /* that it began */
    struct {
        uint32_t ends;        /* list, ... */
        uint32_t waiting;     /* ... how many, with those about to be, ... */
        uint32_t below_other; /* ... and how many below an "(other)" */
    } foreign;                /* any thread: ends of its scopes */
    uint16_t watched;         /* gnomon__watch */
    uint8_t was_shut;         /* to be read, and it has not settled since */
    uint8_t named;            /* `name` was given, not taken from the system */
    uint32_t leave_serial;    /* the last detach that it served */
    uint32_t short_bits;      /* recorders that found no memory: tried again */
    uint32_t tape_bits;       /* of recorder_bits: tapes */
    uint64_t step_seq;    /* tokens below were given out before its last step */
    uintptr_t step_frame; /* where on the stack that was made */
    int64_t os_id;
    uint64_t os_name[2]; /* 15 bytes and a NUL, as the system keeps it */
    const char *name;    /* never freed */
    struct gnomon__thread_timers *timers; /* on devices; NULL: none yet */
    uint32_t generations[GNOMON__BITS];   /* of whom each bit was adopted for */
    uint32_t states[GNOMON__BITS]; /* what a recorder keeps for the thread */
    gnomon__mark_counts health;
} gnomon__thread;

_Static_assert(offsetof(gnomon__thread, frame_room) == 64, "the hot line");
_Static_assert(sizeof(gnomon__thread) <= 2048, "what any thread costs");

GNOMON__DATA gnomon__thread gnomon__no_thread;

/* The name of any thread; its system's is copied to `room`, as another thread of
 * that name may take its state over. */
const char *gnomon__thread_name_of(const gnomon__thread *t, char room[16]);

/* All states ever made, by number; the count only grows. */
GNOMON__DATA gnomon__thread *gnomon__threads[GNOMON__MAX_THREADS];
GNOMON__DATA uint32_t gnomon__thread_total;

/* NULL: there are not so many. */
static inline gnomon__thread *gnomon__thread_numbered(uint64_t number)
{
    return number < load_acquire(&gnomon__thread_total)
               ? load_acquire(&gnomon__threads[number])
               : NULL;
}

/* For each state, with those that come meanwhile. */
#define gnomon__each_thread(t) \
    for (gnomon__thread *t = gnomon__thread_numbered(0); t; \
         t = gnomon__thread_numbered(t->number + 1))

/* The last end of an execution that a tree recorded, on any thread, in ticks; 0:
 * none. */
uint64_t gnomon__last_end(void);

/* An end off the hot path, which may be one that another thread told of. */
static inline void gnomon__thread_ended(gnomon__thread *t, uint64_t now)
{
    if (now > t->ended)
        store_relaxed(&t->ended, now);
}

/* Shuts the hot path: the next mark of `t` takes the slow path, which
 * settles. Under the lock. */
static inline void gnomon__thread_shut(gnomon__thread *t)
{
    store_relaxed(&t->fast, GNOMON__NEVER);
    store_relaxed(&t->tree_only, 0);
    store_relaxed(&t->plain, 0);
    store_relaxed(&t->all_hooks, GNOMON__NEVER);
    store_relaxed(&t->one_hook, GNOMON__NEVER);
    store_release(&t->shut, GNOMON__NEVER);
}

static inline void *gnomon__at(const gnomon__thread *t, uint32_t offset)
{
    return t->ground + offset;
}

/* Gives the calling thread a state; errno is kept. NULL: refused and counted
 * (inside gnomon, the thread has ended, no memory). `name`: prefer the state
 * of an ended thread of that name. */
gnomon__thread *gnomon__thread_enter(const char *name);

/* The calling thread, entered, leaves its state to the next one of its name. Under
 * the lock. */
void gnomon__thread_give_up(gnomon__thread *t);
/* The name of the shared state of ended threads, once there are very many. */
GNOMON__DATA const char gnomon__ended_threads[];

/* In a forked child, under the lock, after gnomon__observers_forget: no thread is
 * known and nothing is recorded; what the parent had is not touched any more. */
void gnomon__threads_forget(void);
GNOMON__DATA uint32_t gnomon__forks; /* how many lie above this process */

/* Settles: takes what control calls have changed: the configuration, the
 * segment, the windows. On the owner, its word odd. The first is one load
 * where nothing changed, and takes the lock where something did; the second
 * is called under it. */
void gnomon__thread_settle_slow(gnomon__thread *t);
static inline void gnomon__thread_settle(gnomon__thread *t)
{
    if (unlikely(load_relaxed(&t->shut)))
        gnomon__thread_settle_slow(t);
}
void gnomon__thread_take_changes(gnomon__thread *t);

/* `fast` as it is while the thread is not shut. */
uint32_t gnomon__thread_fast(const gnomon__thread *t);

/* After callbacks, in the middle of a mark: takes a cut that came meanwhile, and
 * leaves the rest to the next mark. */
void gnomon__thread_keep_up_slow(gnomon__thread *t);
static inline void gnomon__thread_keep_up(gnomon__thread *t)
{
    if (unlikely(load_relaxed(&t->shut)))
        gnomon__thread_keep_up_slow(t);
}

/* Goes on in the other bank, unless it is there already. Under the lock, on the
 * owner, or while it is outside marks: cut.c. */
void gnomon__thread_cut(gnomon__thread *t);

/* Maps the arena, `budget` bytes of address space, at the first attachment.
 * GNOMON_OK also if it is there already. Under no lock. */
int gnomon__marks_map(uint64_t budget);

/* From now on `at_end` is called with the state of each watched thread that ends. Under
 * the lock. */
void gnomon__threads_watch(void (*at_end)(void *state));
/* Watches this one, the caller's. Under the lock. */
void gnomon__thread_watch(gnomon__thread *t);
/* In the destructor of the key: it comes again in the next round. 0: it does not. */
int gnomon__thread_watch_again(gnomon__thread *t);

/* Like gnomon__is_reentered (tls.h), and also true if a signal handler makes a
 * mark before the run has started. */
int gnomon__is_refused(void);

/* Entry and exit of everything but the hot path: the sequence word turns odd.
 * Returns NULL if the mark must be refused (counted). */
gnomon__thread *gnomon__enter(void);
static inline void gnomon__leave(gnomon__thread *t)
{
    store_release(&t->seq, load_relaxed(&t->seq) + 1);
}

#endif
