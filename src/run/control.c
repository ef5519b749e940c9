/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entry of every control call, and who starts the run. A callback that makes a control
 * call gets GNOMON_EBUSY instead of waiting for itself. */
#include <stdlib.h>

#include "mark/observer.h"
#include "mark/upcall.h"
#include "platform/error.h"
#include "platform/process.h"
#include "run/host.h"
#include "run/run.h"

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
#define MOST_SLEEPS 10000 /* should the clock stand still */

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

int gnomon__control_enter(void)
{
    gnomon__fail_clear();
    if (gnomon__control_is_inside())
        return gnomon__fail(GNOMON_EBUSY,
                            "called inside a callback: call it from outside");
    int cancel = gnomon__os_cancel_off(), code = gnomon__control_check();
    if (code) {
        gnomon__os_cancel_back(cancel);
        return code;
    }
    gnomon__control_go_in(cancel);
    watch_forks();
    if (gnomon__control_take())
        return GNOMON_OK;
    gnomon__control_come_out();
    return gnomon__fail(
        GNOMON_EBUSY, "another thread loads a library for gnomon, and may wait "
                      "for the loader: call it outside of a constructor");
}

int gnomon__control_start(void)
{
    if (load_relaxed(&start_state) == START_OVER)
        return 0;
    store_relaxed(&start_state, START_RUNS);
    gnomon__os_atomic_word(&gnomon_enabled);
    gnomon__observer_start();
    return 1;
}

void gnomon__control_started(void)
{
    if (load_relaxed(&start_state) == START_OVER)
        return;
    gnomon__observer_started();
    store_release(&start_state, START_OVER);
    gnomon__turn_next();
}

/* Sets STUCK unless the start is over. */
static void give_up_start(void)
{
    uint32_t state = load_relaxed(&start_state);
    while (state != START_OVER &&
           !cas_acq_rel(&start_state, &state, START_STUCK))
        continue;
    gnomon__turn_next();
}

/* Inside: may make the start, or waits for it. 0: the mark is refused. */
static int start_or_wait(void)
{
    uint64_t since = gnomon__os_monotonic_ns(), pause = 0;
    for (int sleeps = 0;; sleeps++) {
        uint32_t seen = gnomon__turn();
        uint32_t state = load_acquire(&start_state);
        if (state == START_OVER || gnomon__fork_is_off())
            return 1;
        if (gnomon__control_take_now())
            return GNOMON__MAKES_START;
        if (state == START_STUCK)
            return 0;
        if (sleeps > MOST_SLEEPS ||
            gnomon__os_monotonic_ns() - since > MARK_WAITS_NS)
            give_up_start();
        else
            gnomon__turn_wait(seen, &pause);
    }
}

int gnomon__control_first(void)
{
    uint32_t state = load_acquire(&start_state);
    if (state == START_OVER || gnomon__control_is_inside())
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
    int is_done = 1;
    gnomon__control_go_in(gnomon__os_cancel_off());
    if (gnomon__copy_owns()) {
        watch_forks();
        is_done = start_or_wait();
    } else {
        store_relaxed(&start_state, START_OVER); /* the owner has its own */
    }
    if (is_done != GNOMON__MAKES_START)
        gnomon__control_come_out();
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
