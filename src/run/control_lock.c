/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock of control calls, which run one at a time. It lies below forks, which ask
 * whether the forking thread is inside.
 *
 * Inside a control call pthread_cancel does not act on the thread. So every wait in
 * it, of ours, libc's or a profiler's, returns and releases its locks. */
#include "platform/os_wait.h"
#include "platform/process.h"
#include "platform/tls.h"
#include "run/run.h"

static gnomon__os_lock control_lock = GNOMON__OS_LOCK;
static __thread int in_control GNOMON__TLS;
static __thread int host_cancel GNOMON__TLS; /* as it was outside */

/* Counts what waiters wait for: the lock is given back, the start is over, or a library
 * may be loaded under the lock. They sleep while it stays the same; the limit of a sleep
 * is for what nobody tells them of. */
static uint32_t turn;
static uint32_t waiters GNOMON__OF_PROCESS;
#define SLEEP_NS 250000000ull

/* While a thread loads a library under the control lock, a waiter may be a module's
 * constructor, which runs under the loader's lock: both would wait for ever. So a
 * waiter gives up after this time; later ones give up at once until the lock is
 * free. */
#define STUCK_AFTER_NS 1000000000ull
static uint32_t is_stuck GNOMON__OF_PROCESS;

void gnomon__turn_wait(uint32_t seen, uint64_t *pause)
{
    add_relaxed(&waiters, 1);
    fence_full(); /* pairs with _turn_next: it sees the waiter, or this its turn */
    gnomon__os_wait(&turn, seen, SLEEP_NS, pause);
    sub_relaxed(&waiters, 1);
}

void gnomon__turn_next(void)
{
    add_release(&turn, 1);
    fence_full();
    if (load_relaxed(&waiters))
        gnomon__os_wake(&turn);
}

/* From then on the waiters' time counts. */
void gnomon__control_loads(int by)
{
    gnomon__os_loading(by);
    if (by > 0)
        gnomon__turn_next();
}

uint32_t gnomon__turn(void)
{
    return load_acquire(&turn);
}

int gnomon__control_take_now(void)
{
    return gnomon__os_lock_try(&control_lock);
}

int gnomon__control_take(void)
{
    uint64_t since = 0, pause = 0;
    for (;;) {
        uint32_t seen = load_acquire(&turn);
        if (gnomon__control_take_now())
            break;
        uint64_t now = gnomon__os_monotonic_ns();
        if (!gnomon__os_is_loading() || !since)
            since = now;
        if (gnomon__os_is_loading() &&
            (load_relaxed(&is_stuck) || now - since > STUCK_AFTER_NS)) {
            store_relaxed(&is_stuck, 1);
            return 0;
        }
        gnomon__turn_wait(seen, &pause);
    }
    store_relaxed(&is_stuck, 0);
    return 1;
}

/* in_control is set first: then a mark in a signal handler does not wait for this
 * thread's own lock. A handler that ran before is done with both words. */
void gnomon__control_go_in(int cancel)
{
    in_control = 1;
    fence_signal();
    host_cancel = cancel;
}

void gnomon__control_come_out(void)
{
    int cancel = host_cancel;
    fence_signal();
    in_control = 0;
    gnomon__os_cancel_back(cancel);
}

int gnomon__control_try(void)
{
    gnomon__control_go_in(gnomon__os_cancel_off());
    if (gnomon__control_take_now())
        return 1;
    gnomon__control_come_out();
    return 0;
}

void gnomon__control_leave(void)
{
    gnomon__os_lock_give(&control_lock);
    gnomon__turn_next();
    gnomon__control_come_out();
}

int gnomon__control_is_inside(void)
{
    return in_control;
}
