/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entry and exit of every control call, the start of the run, and the first mark of the
 * process. One control call runs at a time; a callback that makes one gets GNOMON_EBUSY
 * instead of waiting for itself.
 *
 * Inside a control call pthread_cancel does not act on the thread. So every wait in
 * it, of ours, libc's or a profiler's, returns and releases its locks. */
#include <errno.h>
#include <stdlib.h>

#include "mark/observer.h"
#include "mark/upcall.h"
#include "platform/error.h"
#include "platform/os_wait.h"
#include "platform/process.h"
#include "platform/tls.h"
#include "run/host.h"
#include "run/run.h"

static gnomon__os_lock control_lock = GNOMON__OS_LOCK;
static __thread int in_control GNOMON__TLS;
static __thread int host_cancel GNOMON__TLS; /* as it was outside */

/* The start: $GNOMON, or what stands for it, is read and attached, by the first control
 * call or the first mark. Other threads' marks wait for its end, so that none is lost.
 *
 *     NEW -> RUNS -> OVER, and back to NEW in a child that becomes a run of its own
 *     NEW, RUNS -> STUCK -> RUNS or OVER
 *
 * RUNS and OVER are set under the lock of control calls. A mark waits for MARK_WAITS_NS
 * and sets STUCK: the start may wait for this thread, as where a profiler starts threads
 * that mark, and joins them. That mark and later ones are refused, and counted, until
 * the start is over or the lock is free. Whoever gets the lock before OVER makes the
 * start: in a child RUNS may be of a thread that the child does not have. */
enum { START_NEW, START_RUNS, START_STUCK, START_OVER };
static uint32_t start_state GNOMON__OF_PROCESS;
#define MARK_WAITS_NS 1000000000ull

/* Counts what waiters wait for: the lock is given back, the start is over, or a library
 * may be loaded under the lock. They sleep while it stays the same; the limit of a sleep
 * is for what nobody tells them of. */
static uint32_t turn;
static uint32_t waiters GNOMON__OF_PROCESS;
#define SLEEP_NS 250000000ull
#define MOST_SLEEPS 10000 /* should the clock stand still */

/* While a thread loads a library under the control lock, a waiter may be a module's
 * constructor, which runs under the loader's lock: both would wait for ever. So a
 * waiter gives up after this time; later ones give up at once until the lock is
 * free. */
#define STUCK_AFTER_NS 1000000000ull
static uint32_t is_stuck GNOMON__OF_PROCESS;

static void wait_for_turn(uint32_t seen, uint64_t *pause)
{
    add_relaxed(&waiters, 1);
    fence_full(); /* pairs with next_turn: it sees the waiter, or this its turn */
    gnomon__os_wait(&turn, seen, SLEEP_NS, pause);
    sub_relaxed(&waiters, 1);
}

static void next_turn(void)
{
    add_release(&turn, 1);
    fence_full();
    if (load_relaxed(&waiters))
        gnomon__os_wake(&turn);
}

/* Before the lock is taken for the first time: a child that is forked meanwhile, in
 * whatever way, must not wait for it. The variable is read again under the lock. */
static void watch_forks(void)
{
    gnomon__os_own_page();
    const char *spec =
        load_relaxed(&start_state) == START_OVER ? NULL : getenv("GNOMON");
    if (spec && *spec)
        gnomon__fork_watch();
}

/* From then on the waiters' time counts. */
void gnomon__control_loads(int by)
{
    gnomon__os_loading(by);
    if (by > 0)
        next_turn();
}

static int take_lock(void)
{
    uint64_t since = 0, pause = 0;
    for (;;) {
        uint32_t seen = load_acquire(&turn);
        if (gnomon__os_lock_try(&control_lock))
            break;
        uint64_t now = gnomon__os_monotonic_ns();
        if (!gnomon__os_is_loading() || !since)
            since = now;
        if (gnomon__os_is_loading() &&
            (load_relaxed(&is_stuck) || now - since > STUCK_AFTER_NS)) {
            store_relaxed(&is_stuck, 1);
            return 0;
        }
        wait_for_turn(seen, &pause);
    }
    store_relaxed(&is_stuck, 0);
    return 1;
}

static void give_lock(void)
{
    gnomon__os_lock_give(&control_lock);
    next_turn();
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
    if (gnomon__os_lock_try(&control_lock))
        return 1;
    come_out();
    return 0;
}

void gnomon__control_leave(void)
{
    give_lock();
    come_out();
}

int gnomon__control_is_inside(void)
{
    return in_control;
}

void gnomon__control_start(void)
{
    if (load_relaxed(&start_state) == START_OVER)
        return;
    store_relaxed(&start_state, START_RUNS);
    gnomon__os_atomic_word(&gnomon_enabled);
    gnomon__observer_start();
}

void gnomon__control_started(void)
{
    if (load_relaxed(&start_state) == START_OVER)
        return;
    gnomon__observer_started();
    store_release(&start_state, START_OVER);
    next_turn();
}

/* With the lock. */
static void start(void)
{
    gnomon__control_start();
    gnomon__run_from_environment(NULL);
    gnomon__control_started();
    give_lock();
}

/* Sets STUCK unless the start is over. */
static void give_up_start(void)
{
    uint32_t state = load_relaxed(&start_state);
    while (state != START_OVER &&
           !cas_acq_rel(&start_state, &state, START_STUCK))
        continue;
    next_turn();
}

/* Inside: makes the start, or waits for it. 0: the mark is refused. */
static int start_or_wait(void)
{
    uint64_t since = gnomon__os_monotonic_ns(), pause = 0;
    for (int sleeps = 0;; sleeps++) {
        uint32_t seen = load_acquire(&turn);
        uint32_t state = load_acquire(&start_state);
        if (state == START_OVER || gnomon__fork_is_off())
            return 1;
        if (gnomon__os_lock_try(&control_lock)) {
            start();
            return 1;
        }
        if (state == START_STUCK)
            return 0;
        if (sleeps > MOST_SLEEPS ||
            gnomon__os_monotonic_ns() - since > MARK_WAITS_NS)
            give_up_start();
        else
            wait_for_turn(seen, &pause);
    }
}

int gnomon__upcall_start(void)
{
    uint32_t state = load_acquire(&start_state);
    if (state == START_OVER || in_control)
        return 1;
    if (gnomon__fork_is_off()) {
        gnomon__fork_note_mark();
        return 1;
    }
    gnomon__os_atomic_word(&gnomon_enabled);
    if (state == START_NEW && gnomon__copy_rests())
        return 1;
    if (gnomon__os_in_handler(0))
        return 0;
    int kept = errno, is_done = 1;
    go_in(gnomon__os_cancel_off());
    if (gnomon__copy_owns()) {
        watch_forks();
        is_done = start_or_wait();
    } else {
        store_relaxed(&start_state, START_OVER); /* the owner has its own */
    }
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
