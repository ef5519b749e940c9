/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Timers of scopes on streams. The thread that marks the scopes and the thread
 * that reads their events share them.
 *
 * Each thread that marks such scopes has a fixed number of timers. A timer is a pair
 * of events. The marking thread takes one from a free list, records its events in
 * the stream, and sends it to the reader by a queue. When the device has passed the
 * events, the reader sends it back by a second queue. Each queue has one writer and
 * one reader, so neither waits. Where no timer is free, the scope's device time is
 * lost, which is counted.
 *
 * Timers belong to the thread's state: recycled with it, never freed. The reader
 * finds them by a list of all threads'. */
#ifndef GNOMON_DEVICE_TIMERS_H
#define GNOMON_DEVICE_TIMERS_H

#include "device/clocks.h"
#include "mark/thread.h"
#include "record/activities.h"

#define GNOMON__TIMERS 1024u /* of a thread: a device may lag so far */
#define GNOMON__TIMER_MESSAGES ((size_t)4 * GNOMON__TIMERS)
#define GNOMON__TIMER_POOLS 16u /* contexts of a thread */

/* The bits of the views that want device times, as a mask; 0: nobody. */
extern uint32_t gnomon__timer_bits;

typedef struct gnomon__timer {
    /* The marking thread's, until it is sent to the reader. */
    gnomon__device_place on;
    void *begin, *end; /* events of that context; NULL: not made */
    void *stream;
    uint64_t token;                        /* of the scope; 0: free */
    uint32_t node[GNOMON__ACTIVITY_VIEWS]; /* in each view's tree; 0: none */
    gnomon__device_path path[GNOMON__ACTIVITY_VIEWS]; /* of that node */
    uint32_t
        outer[GNOMON__ACTIVITY_VIEWS]; /* number of the innermost timer around
                                            it, in that stream, of that view */
    uint32_t next; /* number: in the free list, or of the timer around it */
    uint32_t state;
    /* The reader's. */
    uint64_t inner_ns[GNOMON__ACTIVITY_VIEWS]; /* time of the timers inside */
    double begin_ns;                           /* by the device clock */
    uint32_t begin_read; /* that clock's number; 0: not read */
    uint32_t later;      /* number of the next one in the reader's list */
    /* The marking thread's again, last because few are wanted as events. */
    uint64_t begin_ticks; /* of the scope on the host */
    uint32_t events;      /* by view, as a mask: which want it */
    uint32_t has_number;  /* the stream's, in records of work, is known: */
    uint32_t number;
    uint32_t reserved;
} gnomon__timer;

enum gnomon__timer_state {
    GNOMON__TIMER_FREE = 0,
    GNOMON__TIMER_OPEN = 1,
    GNOMON__TIMER_CLOSED = 2 /* taken but not open, or the reader's */
};

/* What the queue tells the reader about a timer. */
enum gnomon__timer_message {
    GNOMON__TIMER_BEGUN = 0,
    GNOMON__TIMER_ENDED = 1,
    GNOMON__TIMER_DROPPED = 2, /* will never be read */
    GNOMON__TIMER_EMPTIED = 3  /* free: the reader destroys its events */
};

/* Free timers whose events are of one context. Number n is timer[n - 1]; 0: none. */
typedef struct gnomon__timer_pool {
    gnomon__device_place on; /* device NULL: free */
    uint32_t first;          /* list */
    uint32_t used;           /* timers of the context that are not free */
} gnomon__timer_pool;

typedef struct gnomon__thread_timers {
    struct gnomon__thread_timers *next; /* the list of all, newest first */
    /* The marking thread's. */
    gnomon__timer_pool pools[GNOMON__TIMER_POOLS];
    uint32_t blank; /* list of free timers without events */
    uint32_t made;  /* how many were ever taken */
    uint32_t top;   /* the innermost open timer */
    uint32_t reserved;
    /* Queues: `out` to the reader, `back` from it. Positions only grow; each has one
     * writer. */
    uint64_t out_head;                    /* the marking thread's */
    uint64_t out_tail;                    /* the reader's */
    uint64_t back_head;                   /* the reader's */
    uint64_t back_tail;                   /* the marking thread's */
    uint32_t out[GNOMON__TIMER_MESSAGES]; /* number << 2 | message */
    uint32_t back[GNOMON__TIMERS];
    /* The reader's lists: timers that have begun, the newest first; and those that
     * have ended, in the order of ends, so that inner ones come before outer ones. */
    uint32_t begun;
    uint32_t first, last;
    uint32_t reserved2;
    gnomon__timer timer[GNOMON__TIMERS];
} gnomon__thread_timers;

extern gnomon__thread_timers *gnomon__all_timers; /* only ever grows */

/* ---- The reader ---------------------------------------------------------- */

/* Whether the reader's thread sleeps, as it found nothing to read. */
extern uint32_t gnomon__reader_sleeps;
/* Wakes it if it does. Waits for nothing. */
void gnomon__reader_wake(void);

/* A training step is over: the reader sets a new anchor on each device clock. Any
 * thread. Costs one load where no device is timed. */
void gnomon__timers_step(void);

/* Reads the events that the device has passed, and polls up to `patience_ns` for the
 * rest. With `gives_up`, what is left then is counted as late and never read. Inside
 * control calls. */
void gnomon__timers_read(uint64_t patience_ns, int gives_up);

/* A view wants device times from now on, or no longer. The first view starts the
 * reader's thread, the last one ends it. Inside control calls. GNOMON_EFULL: see
 * gnomon__activities_watch, which it calls; after _unwatch gnomon__activities_unwatch is
 * due. */
int gnomon__timers_watch(uint32_t bit, uint32_t generation);
void gnomon__timers_unwatch(uint32_t generation);

/* Registers an atexit handler that reads the last times and sets
 * gnomon__timers_closed: no device is called after it. Called at the first scope on a
 * stream, when CUDA has registered its own handler, so that this one runs first. */
void gnomon__timers_read_at_exit(void);
extern uint32_t gnomon__timers_closed;

/* gnomon_stream_name with a length. */
void gnomon__stream_name_n(const gnomon_device *device, void *stream,
                           const char *name, size_t length);

#endif
