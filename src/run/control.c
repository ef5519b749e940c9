/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entry and exit of every control call, and the first mark of the process. One
 * control call runs at a time; a callback that makes one gets GNOMON_EBUSY instead
 * of waiting for itself.
 *
 * Inside a control call pthread_cancel does not act on the thread. So every wait in
 * it, of ours, libc's or a profiler's, returns and releases its locks. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "mark/observer.h"
#include "mark/upcall.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/tls.h"
#include "run/host.h"
#include "run/run.h"

static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int in_control GNOMON__TLS;
static __thread int host_cancel GNOMON__TLS; /* as it was outside */
static uint32_t has_started;                 /* $GNOMON was read */

/* While a thread loads a library under the control lock, a waiter may be a module's
 * constructor, which runs under the loader's lock: both would wait for ever. So a
 * waiter gives up after this time; later ones give up at once until the lock is
 * free. */
#define STUCK_AFTER_NS 1000000000ull
#define PAUSE_NS 100000u
static uint32_t is_stuck;

/* Where something will be attached. The variable is read again under the lock. */
static void watch_forks(void)
{
    const char *spec = load_relaxed(&has_started) ? NULL : getenv("GNOMON");
    if (spec && *spec)
        gnomon__fork_watch();
}

static int take_lock(void)
{
    uint64_t since = 0;
    while (pthread_mutex_trylock(&control_lock)) {
        uint64_t now = gnomon__os_monotonic_ns();
        if (!gnomon__os_is_loading() || !since)
            since = now;
        else if (load_relaxed(&is_stuck) || now - since > STUCK_AFTER_NS) {
            store_relaxed(&is_stuck, 1);
            return 0;
        }
        gnomon__os_sleep_ns(PAUSE_NS);
    }
    store_relaxed(&is_stuck, 0);
    return 1;
}

int gnomon__control_check(void)
{
    gnomon__fail_clear();
    if (gnomon__busy())
        return gnomon__fail(GNOMON_EBUSY,
                            "called inside a callback: call it from outside");
    if (gnomon__fork_is_off())
        return gnomon__fail(GNOMON_ESTATE,
                            "this process was forked from one that records; it "
                            "is off until it calls gnomon_setup");
    if (!gnomon__copy_owns())
        return gnomon__fail(GNOMON_ESTATE,
                            "another generation of gnomon owns this process: "
                            "this copy, %s, is off",
                            GNOMON_VERSION);
    return GNOMON_OK;
}

/* in_control is set first: then a mark in a signal handler does not wait for this
 * thread's own lock. A handler that ran before is done with both words. */
static void go_in(int cancel)
{
    in_control = 1;
    fence_signal();
    host_cancel = cancel;
}

static void come_out(void)
{
    int cancel = host_cancel;
    fence_signal();
    in_control = 0;
    gnomon__os_cancel_back(cancel);
}

/* With cancellation off; `cancel` is the state before. */
static int enter(int cancel)
{
    int code = gnomon__control_check();
    if (code)
        return code;
    go_in(cancel);
    watch_forks();
    if (take_lock())
        return GNOMON_OK;
    in_control = 0;
    return gnomon__fail(
        GNOMON_EBUSY, "another thread loads a library for gnomon, and may wait "
                      "for the loader: call it outside of a constructor");
}

int gnomon__control_enter(void)
{
    gnomon__fail_clear();
    if (in_control)
        return gnomon__fail(GNOMON_EBUSY,
                            "called inside a callback: call it from outside");
    int cancel = gnomon__os_cancel_off(), code = enter(cancel);
    if (code)
        gnomon__os_cancel_back(cancel);
    return code;
}

int gnomon__control_try(void)
{
    go_in(gnomon__os_cancel_off());
    if (!pthread_mutex_trylock(&control_lock))
        return 1;
    come_out();
    return 0;
}

void gnomon__control_leave(void)
{
    pthread_mutex_unlock(&control_lock);
    come_out();
}

int gnomon__control_is_inside(void)
{
    return in_control;
}

void gnomon__control_start(void)
{
    if (load_relaxed(&has_started))
        return;
    gnomon__os_atomic_word(&gnomon_enabled);
    gnomon__observer_start();
    gnomon__observer_started();
    store_release(&has_started, 1);
}

/* Inside. 0: the lock was not free, try again later. */
static int start(void)
{
    if (!gnomon__copy_owns()) {
        store_release(&has_started, 1);
        return 1;
    }
    watch_forks();
    if (!take_lock())
        return 0;
    if (!has_started) {
        gnomon__observer_start();
        gnomon__run_from_environment(NULL);
        gnomon__observer_started();
        store_release(&has_started, 1);
    }
    pthread_mutex_unlock(&control_lock);
    return 1;
}

int gnomon__upcall_start(void)
{
    if (load_acquire(&has_started) || in_control || gnomon__fork_is_off())
        return 1;
    gnomon__os_atomic_word(&gnomon_enabled);
    if (gnomon__copy_rests())
        return 1;
    if (gnomon__os_in_handler(0))
        return 0;
    int kept = errno;
    go_in(gnomon__os_cancel_off());
    int is_done = start();
    come_out();
    errno = kept;
    return is_done;
}

int gnomon__upcall_exit_enter(void)
{
    return gnomon__control_enter() == GNOMON_OK;
}

void gnomon__upcall_exit_leave(void)
{
    gnomon__control_leave();
}

void gnomon__control_forget(void)
{
    store_relaxed(&has_started, 0);
    if (!in_control) /* held by a thread that the child does not have */
        control_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
