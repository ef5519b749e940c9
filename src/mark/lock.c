/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock of marks, and the guard against ourselves: a signal handler that
 * marks on a thread of which something is half done. Any thread.
 *
 * Invariant: while a thread is guarded its word is odd, so that the hot path,
 * too, refuses; where it has no word yet, gnomon__busy says it. */
#include <pthread.h>

#include "mark/thread.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How deep this thread is guarded and holds the lock; whose word turned odd. */
static __thread int busy __attribute__((tls_model("initial-exec")));
static __thread int held __attribute__((tls_model("initial-exec")));
static __thread gnomon__thread *guarded
    __attribute__((tls_model("initial-exec")));

void gnomon__guard(void)
{
    busy++; /* first, or a handler's first mark could give it a word unseen */
    fence_signal();
    gnomon__thread *t = gnomon__here.thread;
    if (t != &gnomon__nobody && !(load_relaxed(&t->seq) & 1)) {
        gnomon__word_add(&t->seq, 1);
        guarded = t;
    }
    fence_signal();
}

void gnomon__unguard(void)
{
    fence_signal();
    gnomon__thread *t = guarded;
    if (busy == 1 && t) {
        guarded = NULL;
        gnomon__leave(t);
    }
    fence_signal();
    busy--;
}

void gnomon__lock(void)
{
    gnomon__guard();
    if (held++ == 0)
        pthread_mutex_lock(&lock);
}

void gnomon__unlock(void)
{
    if (--held == 0)
        pthread_mutex_unlock(&lock);
    gnomon__unguard();
}

int gnomon__busy(void)
{
    return busy || (gnomon__here.thread != &gnomon__nobody &&
                    (load_relaxed(&gnomon__here.thread->seq) & 1));
}
