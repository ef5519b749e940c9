/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock of marks, and the guard against ourselves: a signal handler that
 * marks on a thread of which something is half done. Any thread.
 *
 * Invariant: while a thread is guarded its word is odd, so that the hot path,
 * too, refuses; where it has no word yet, gnomon__busy says it. */
#include <pthread.h>

#include "mark/thread.h"
#include "platform/os.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How deep this thread is guarded and holds the lock; whose word turned odd. */
static __thread int busy GNOMON__TLS;
static __thread int held GNOMON__TLS;
static __thread gnomon__thread *guarded GNOMON__TLS;

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

/* A child that no handler was told of: whoever held the lock is not there. */
static __attribute__((noinline, cold)) void renew_lock(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    store_relaxed(&gnomon__os_own[GNOMON__OS_OWN_MARKS], 1);
}

void gnomon__lock(void)
{
    gnomon__guard();
    if (held++ == 0) {
        if (unlikely(!load_relaxed(
                &load_acquire(&gnomon__os_own)[GNOMON__OS_OWN_MARKS])))
            renew_lock();
        pthread_mutex_lock(&lock);
    }
}

void gnomon__unlock(void)
{
    if (--held == 0)
        pthread_mutex_unlock(&lock);
    gnomon__unguard();
}

/* A handler that forks may have interrupted this thread with the lock, and
 * nothing says on which side of taking it: then it is tried for a moment, and
 * the child makes do with what it finds. */
static __thread int over_fork GNOMON__TLS;
enum { FORK_NOT_TAKEN, FORK_TRIED, FORK_TAKEN };

void gnomon__lock_over_fork(void)
{
    if (!busy) {
        gnomon__lock();
        over_fork = FORK_TAKEN;
        return;
    }
    over_fork = FORK_NOT_TAKEN;
    for (int i = 0; i < 100 && !over_fork; i++) {
        if (!pthread_mutex_trylock(&lock))
            over_fork = FORK_TRIED;
        else
            gnomon__os_sleep_ns(100000);
    }
}

void gnomon__unlock_over_fork(int in_child)
{
    if (over_fork == FORK_TAKEN)
        gnomon__unlock();
    else if (over_fork == FORK_TRIED)
        pthread_mutex_unlock(&lock);
    else if (in_child)
        lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

int gnomon__busy(void)
{
    return busy || (gnomon__here.thread != &gnomon__nobody &&
                    (load_relaxed(&gnomon__here.thread->seq) & 1));
}
