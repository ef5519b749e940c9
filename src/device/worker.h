/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread of gnomon for calls that may hang: those of a driver, and of CUPTI. It makes
 * these calls in rounds, and a thread that asks for a round waits for a limited time, so
 * only gnomon's thread can hang. If it cannot be started, control calls make the rounds.
 * All is called in control calls, if not said otherwise. */
#ifndef GNOMON_DEVICE_WORKER_H
#define GNOMON_DEVICE_WORKER_H

#include "platform/os_wait.h"

/* Why a round is made, as bits: these, and from GNOMON__WORKER_OWN on the worker's own. */
enum gnomon__worker_why {
    GNOMON__WORKER_ASKED = 1, /* somebody waits for it */
    GNOMON__WORKER_DUE = 2,   /* nobody had one made for each_ns */
    GNOMON__WORKER_ENDS = 4,  /* it is the last one */
    GNOMON__WORKER_OWN = 8
};

/* What a forked child begins anew. */
typedef struct gnomon__worker_state {
    /* Under the lock. */
    uint32_t wake, answer; /* turns */
    uint32_t why;          /* of the next round */
    int is_awaited;        /* who asked has not gone away */
    int ends, is_over;
    uint64_t asked, answered; /* rounds */
    /* Of control calls. */
    enum { WORKER_NONE, WORKER_RUNS, WORKER_LEFT } state;
    gnomon__os_thread thread;
} gnomon__worker_state;

typedef struct gnomon__worker {
    const char *name;         /* of the thread */
    const char *reads;        /* what is read later if there is none */
    const char *silence;      /* the line where a round does not return */
    const uint64_t *progress; /* while it grows, nothing hangs. Atomic */
    /* Without the lock, which is held over no call that may hang. */
    void (*round)(uint32_t why);
    uint64_t each_ns; /* one is due after so long, */
    /* unless this has slept, without the lock, until `rouse`; or NULL. Under the lock. */
    int (*sleep)(void);
    void (*rouse)(void); /* wakes it where it waits for another word; or NULL */
    gnomon__worker_state *now;
    gnomon__os_lock lock;
    int has_no_thread, is_silent; /* a line was logged. Of control calls */
} gnomon__worker;

void gnomon__worker_start(gnomon__worker *w);

/* Has it make a round. Any thread. */
void gnomon__worker_wake(gnomon__worker *w, uint32_t why);

/* Waits for a round that begins after the call. 0: it hangs. */
int gnomon__worker_ask(gnomon__worker *w, uint32_t why);

/* After a last round. 0: it hangs; then it is left as it is, and used again by the next
 * start. */
int gnomon__worker_stop(gnomon__worker *w);

#endif
