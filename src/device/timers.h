/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes on streams, between the thread that marks them and the one that reads
 * their events.
 *
 * Each thread that marks such scopes has a lane: a fixed number of timers, which
 * are pairs of events. A timer goes round: the marking thread takes it from a
 * free list, puts its events into the stream, and hands it on by a queue; the
 * reader hands it back by another once the device has come past. Both queues
 * have one writer and one reader, so nobody waits: where no timer is free the
 * scope's device time is lost, and counted.
 *
 * A lane belongs to its thread's state: recycled with it, never freed. The
 * reader knows all by their list. */
#ifndef GNOMON_DEVICE_TIMERS_H
#define GNOMON_DEVICE_TIMERS_H

#include "gnomon/device.h"
#include "mark/thread.h"
#include "record/device_stats.h"

#define GNOMON__TIMERS 1024u /* of a thread: a device may lag so far */
#define GNOMON__TIMER_MESSAGES ((size_t)4 * GNOMON__TIMERS)
#define GNOMON__TIMER_VIEWS 4u
#define GNOMON__TIMER_POOLS 16u /* contexts of a thread */

/* The views that want device times: their tree's bit and its generation. */
typedef struct gnomon__timer_view {
    uint32_t generation; /* 0: free */
    uint32_t bit;
} gnomon__timer_view;
extern gnomon__timer_view gnomon__timer_views[GNOMON__TIMER_VIEWS];
extern uint32_t gnomon__timer_bits; /* their bits, as a mask; 0: nobody */

typedef struct gnomon__timer {
    /* The marking thread's, until it is handed on. */
    const gnomon_device *device;
    gnomon_device_context place;
    void *begin, *end; /* events of that place; NULL: not made yet */
    void *stream;
    uint64_t token;                     /* of the scope; 0: free */
    uint32_t node[GNOMON__TIMER_VIEWS]; /* which the views saw; 0: not */
    gnomon__device_path path[GNOMON__TIMER_VIEWS]; /* and what it is of */
    uint32_t outer[GNOMON__TIMER_VIEWS]; /* number of the innermost timer around
                                            it, in that stream, of that view */
    uint32_t next; /* number: in the free list, or of the timer around it */
    uint32_t state;
    /* The reader's. */
    uint64_t inner_ns[GNOMON__TIMER_VIEWS]; /* of those inside */
    double begin_ns;     /* by the place's clock, once it was read */
    uint32_t begin_read; /* that clock's number; 0: it was not */
    uint32_t later;      /* number: in the reader's list */
} gnomon__timer;

enum gnomon__timer_state {
    GNOMON__TIMER_FREE = 0,
    GNOMON__TIMER_OPEN = 1,
    GNOMON__TIMER_CLOSED = 2 /* not yet, or on its way to the reader */
};

/* What the queue to the reader says of a timer. */
enum gnomon__timer_message {
    GNOMON__TIMER_BEGUN = 0,
    GNOMON__TIMER_ENDED = 1,
    GNOMON__TIMER_DROPPED = 2, /* will never be read */
    GNOMON__TIMER_EMPTIED = 3  /* likewise; its events are to be destroyed */
};

/* Timers of one place. Number n is timer[n - 1]; 0 is none. */
typedef struct gnomon__timer_pool {
    const gnomon_device *device; /* NULL: free */
    gnomon_device_context place;
    uint32_t first; /* list */
} gnomon__timer_pool;

typedef struct gnomon__thread_timers {
    struct gnomon__thread_timers *next; /* the list of all, newest first */
    /* The marking thread's. */
    gnomon__timer_pool pools[GNOMON__TIMER_POOLS];
    uint32_t blank; /* list of timers without events */
    uint32_t made;  /* how many were ever taken */
    uint32_t top;   /* the innermost open timer */
    uint32_t reserved;
    /* Queues; positions only grow. */
    uint64_t out_head;                    /* the marking thread's */
    uint64_t out_tail;                    /* the reader's */
    uint64_t back_head;                   /* the reader's */
    uint64_t back_tail;                   /* the marking thread's */
    uint32_t out[GNOMON__TIMER_MESSAGES]; /* number << 2 | word */
    uint32_t back[GNOMON__TIMERS];
    /* The reader's: those that have begun only, the newest first; and those that
     * have ended, in that order, so that inner ones come before outer ones. */
    uint32_t begun;
    uint32_t first, last;
    uint32_t reserved2;
    gnomon__timer timer[GNOMON__TIMERS];
} gnomon__thread_timers;

extern gnomon__thread_timers *gnomon__all_timers; /* only ever grows */

/* ---- thread_timers.c: the marking thread, with its sequence word odd ----- */

static inline gnomon__timer *gnomon__timer_at(gnomon__thread_timers *timers,
                                              uint32_t number)
{
    return &timers->timer[number - 1];
}

/* To the reader. */
void gnomon__timer_send(gnomon__thread_timers *timers, uint32_t number,
                        uint32_t word);

/* A free timer, best one with events of this place. 0: there is none. */
uint32_t gnomon__timer_take(gnomon__thread_timers *timers,
                            const gnomon_device *device,
                            const gnomon_device_context *place);

/* It is free again. */
void gnomon__timer_put_back(gnomon__thread_timers *timers, uint32_t number);

/* ---- clocks.c ------------------------------------------------------------ */

/* A training step is over: the clocks of devices are soon set anew. Any thread;
 * one load where nobody times them. */
void gnomon__timers_step(void);

/* ---- watch.c ------------------------------------------------------------- */

/* Reads what is over and waits up to `patience_ns` for the rest, polling. With
 * `gives_up` what is not over then is counted as late, and never read. Inside
 * control calls. */
void gnomon__timers_read(uint64_t patience_ns, int gives_up);

/* A view wants device times from now on, or no more. The first starts the
 * reader's thread, the last ends it. Inside control calls. GNOMON_EFULL: four do
 * already. */
int gnomon__timers_watch(uint32_t bit, uint32_t generation);
void gnomon__timers_unwatch(uint32_t generation);

/* The process ends, and CUDA with it: what is over is read, and no device is
 * called from then on, which _closed says. Asked for at the first scope on a stream, when CUDA is
 * there: so it comes before CUDA's own end. */
void gnomon__timers_read_at_exit(void);
extern uint32_t gnomon__timers_closed;

/* In a forked child: no timers, no thread, no event is touched any more. */
void gnomon__timers_forget(void);

#endif
