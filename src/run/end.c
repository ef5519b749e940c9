/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The end of the process: at exit, and at a signal with the default action, reports
 * are written and the process then ends as it would have.
 *
 * A handler can do next to nothing: the code it interrupted may hold malloc's lock
 * or ours. So it wakes a thread of ours, which writes the reports and then dies of
 * the signal. The handler waits up to HANDLER_WAIT_NS, so that the program does not
 * go on meanwhile, and then returns, so that interrupted code can release its locks.
 * A kernel timer of REPORT_LIMIT_NS bounds all of it. The thread exists while an
 * attached profiler has a report to write at the end.
 *
 * Invariant: END_BEGUN and END_LEFT are left only by the death of the process, so who
 * sets END_BEGUN is the only one that ends it. */
#include <signal.h>
#include <stdlib.h>

#include "mark/observer.h"
#include "mark/upcall.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/process.h"
#include "run/files.h"
#include "run/run.h"
#include "run/snapshots.h"

#define REPORT_LIMIT_NS 5000000000ull
#define HANDLER_WAIT_NS 100000000u
#define CHECK_NS 1000000000ull
#define AGAIN_NS 5000000ull /* while events wait for a control call to end */

enum { END_ABSENT, END_WAITING, END_STOPPING, END_BEGUN, END_LEFT };

static const int end_signals[] = {SIGTERM, SIGINT, SIGHUP};
#define END_COUNT (sizeof end_signals / sizeof *end_signals)

static uint32_t end_state GNOMON__OF_PROCESS;
static int end_number GNOMON__OF_PROCESS; /* of the signal; 0: not known yet */
static gnomon__os_thread end_thread GNOMON__OF_PROCESS;
static int exit_watched;
/* The thread stays: it may be the one that exits. */
static int is_exiting GNOMON__OF_PROCESS;

/* ---- The signal ---------------------------------------------------------- */

/* A second SIGINT kills at once: the user does not want to wait. Other signals may
 * come twice, from a launcher and from the terminal. */
static void on_signal(int number, int again)
{
    uint32_t seen = END_WAITING;
    if (!gnomon__os_is_owner()) {
        gnomon__os_die(number); /* a forked child: the state is its parent's */
        return;
    }
    if (!cas_acq_rel(&end_state, &seen, END_BEGUN)) {
        if (seen != END_BEGUN || again || number == SIGINT)
            gnomon__os_die(number);
        return;
    }
    store_release(&end_number, number);
    gnomon__os_release(SIGINT);
    gnomon__os_die_in(number, REPORT_LIMIT_NS);
    gnomon__os_bell_ring();
    /* No wait where this thread may hold our lock. Malloc's locks are not known. */
    if (!gnomon__busy() && !gnomon__control_is_inside())
        gnomon__os_sleep_ns(HANDLER_WAIT_NS);
}

/* ---- The thread ---------------------------------------------------------- */

/* At exit profilers are detached, so that they free what they hold. */
static void report_at_end(int is_exit)
{
    if (!gnomon__attachments || gnomon__control_enter())
        return;
    gnomon__run_over();
    if (is_exit) {
        is_exiting = 1;
        gnomon__configure_leave(NULL);
        gnomon__configure_clear();
        gnomon__attachments_finish();
    }
    gnomon__control_leave();
}

static int events_are_due(void)
{
    return gnomon__cycles_are_due() || gnomon__tapes_are_full();
}

/* A control call under way delivers them itself, or the next round does. */
static void deliver_events(void)
{
    if (!gnomon__control_try())
        return;
    gnomon__cycles_deliver(0, 0);
    gnomon__streams_deliver(0);
    gnomon__control_leave();
}

void gnomon__upcall_wake(void)
{
    if (load_relaxed(&end_state) == END_WAITING)
        gnomon__os_bell_ring();
}

/* Returns whether the thread is to go, for libc to count who is left and to exit after
 * the last one. Other threads of ours can only go with their profilers. */
static int leave(void)
{
    uint32_t seen = END_WAITING;
    if (!cas_acq_rel(&end_state, &seen, END_LEFT))
        return 0;
    gnomon__os_release_all();
    gnomon__os_threads_end();
    gnomon__log(
        "the main thread has ended: no report comes at SIGTERM, SIGINT or "
        "SIGHUP any more");
    if (gnomon__os_thread_count() > 1)
        report_at_end(1);
    return 1;
}

static void run_end_thread(void *unused)
{
    (void)unused;
    for (;;) {
        int rang = gnomon__os_bell_wait(events_are_due() ? AGAIN_NS : CHECK_NS);
        uint32_t now = load_acquire(&end_state);
        if (now == END_STOPPING)
            return;
        gnomon__clock_anchor(); /* for programs without steps and stages */
        if (now == END_WAITING)
            gnomon__tape_take_pages();
        if (now == END_WAITING && events_are_due())
            deliver_events();
        int number = load_acquire(&end_number);
        if (now == END_BEGUN && rang && number) {
            report_at_end(0);
            gnomon__os_die(number);
            return;
        }
        /* libc would exit after the last thread, but counts this one. */
        int is_deserted = now == END_WAITING ? gnomon__os_is_deserted() : 0;
        if (is_deserted > 0)
            exit(0);
        if (is_deserted < 0 && leave())
            return;
    }
}

/* ---- Exit ---------------------------------------------------------------- */

/* If a signal is already ending the process, wait: it must die of the signal. */
static void at_exit(void)
{
    if (!gnomon__os_is_owner() || gnomon__control_is_inside())
        return;
    if (load_acquire(&end_state) == END_BEGUN)
        gnomon__os_sleep_ns(2 * REPORT_LIMIT_NS);
    report_at_end(1);
}

/* ---- While somebody is attached ------------------------------------------ */

#define NO_SIGNALS "no report comes at SIGTERM, SIGINT or SIGHUP"

static void end_thread_start(void)
{
    static int was_logged;
    gnomon__os_bell_make();
    store_release(&end_state, END_WAITING);
    if (!gnomon__os_thread_start(&end_thread, "gnomon", run_end_thread, NULL))
        return;
    store_release(&end_state, END_ABSENT);
    if (!was_logged)
        gnomon__log("no thread for the end: " NO_SIGNALS);
    was_logged = 1;
}

static void watch_signals(void)
{
    static int is_told;
    for (size_t i = 0; i < END_COUNT; i++)
        if (gnomon__os_catch(end_signals[i], on_signal) < 0 && !is_told++)
            gnomon__log("the system refuses handlers of signals: " NO_SIGNALS);
}

static void end_thread_stop(void)
{
    uint32_t seen = END_WAITING;
    gnomon__os_release_all();
    if (!cas_acq_rel(&end_state, &seen, END_STOPPING))
        return; /* the end has begun: the thread waits for this call */
    gnomon__os_bell_ring();
    gnomon__os_thread_join(&end_thread);
    store_release(&end_state, END_ABSENT);
}

void gnomon__end_watch(void)
{
    if (is_exiting)
        return;
    if (!exit_watched && gnomon__attachments) {
        exit_watched = 1;
        if (atexit(at_exit))
            gnomon__log("reports will not come at exit: call "
                        "gnomon_teardown()");
    }
    int needed = gnomon__end_has_reports();
    if (needed && load_acquire(&end_state) == END_ABSENT)
        end_thread_start();
    if (!needed && load_acquire(&end_state) == END_WAITING)
        end_thread_stop();
    if (load_acquire(&end_state) == END_WAITING)
        watch_signals();
}
