/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The lock of marks, and the guard: it refuses the marks of a signal handler
 * that interrupts this thread while something is half done. Any thread.
 *
 * Invariant: while a thread is guarded its word is odd, so that the hot path
 * refuses too; a thread without a state is refused by gnomon__busy. No
 * asynchronous pthread_cancel acts on a guarded thread, which it could end
 * between any two instructions; and a guarded thread calls no cancellation
 * point, where a deferred one would. */
#include "mark/lock.h"

#include "mark/thread.h"
#include "mark/tls.h"
#include "platform/os_wait.h"

static gnomon__os_lock lock = GNOMON__OS_LOCK;

enum { FORK_NONE, FORK_NOT_TAKEN, FORK_TRIED, FORK_TAKEN };

static inline __attribute__((always_inline)) void guard(gnomon__near *tls)
{
    int is_first = !tls->busy;
    int cancel = is_first ? gnomon__os_async_off() : 0;
    tls->busy++; /* first, or a handler's first mark could give it a word unseen */
    fence_signal();
    if (is_first) /* a handler in between restored it */
        tls->cancel = cancel;
    gnomon__thread *t = tls->thread;
    if (t != &gnomon__no_thread && !(load_relaxed(&t->seq) & 1)) {
        gnomon__word_add(&t->seq, 1);
        tls->guarded = t;
    }
    fence_release(); /* the odd word before what is written now */
}

static inline __attribute__((always_inline)) void unguard(gnomon__near *tls)
{
    fence_signal();
    gnomon__thread *t = tls->guarded;
    if (tls->busy == 1 && t) {
        tls->guarded = NULL;
        gnomon__leave(t);
    }
    fence_signal();
    int cancel = tls->cancel;
    if (--tls->busy == 0)
        gnomon__os_async_back(cancel);
}

void gnomon__guard(void)
{
    guard(gnomon__tls_now());
}

void gnomon__unguard(void)
{
    unguard(gnomon__tls_now());
}

void gnomon__lock(void)
{
    gnomon__near *tls = gnomon__tls_now();
    guard(tls);
    if (tls->held++ == 0)
        gnomon__os_lock_take(&lock);
}

void gnomon__unlock(void)
{
    gnomon__near *tls = gnomon__tls_now();
    if (--tls->held == 0)
        gnomon__os_lock_give(&lock);
    unguard(tls);
}

/* A signal handler that forks may have interrupted this thread while it took
 * or held the lock, and which of both is unknown. The lock is then tried for
 * some 10 ms; without it the child uses what state it finds. */
void gnomon__lock_over_fork(void)
{
    gnomon__near *tls = gnomon__tls_now();
    uint64_t pause = 0;
    if (tls->over_fork != FORK_NONE)
        return;
    if (!tls->busy) {
        gnomon__lock();
        tls->over_fork = FORK_TAKEN;
        return;
    }
    tls->over_fork = FORK_NOT_TAKEN;
    for (int i = 0; i < 7 && tls->over_fork == FORK_NOT_TAKEN; i++) {
        if (gnomon__os_lock_try(&lock))
            tls->over_fork = FORK_TRIED;
        else
            gnomon__os_pause(&pause, UINT64_MAX);
    }
}

int gnomon__unlock_over_fork(void)
{
    gnomon__near *tls = gnomon__tls_now();
    uint32_t how = tls->over_fork;
    tls->over_fork = FORK_NONE;
    if (how == FORK_TAKEN)
        gnomon__unlock();
    else if (how == FORK_TRIED)
        gnomon__os_lock_give(&lock);
    return how != FORK_NONE;
}

int gnomon__busy(void)
{
    gnomon__near *tls = gnomon__tls_now();
    return tls->busy || (tls->thread != &gnomon__no_thread &&
                         (load_relaxed(&tls->thread->seq) & 1));
}
