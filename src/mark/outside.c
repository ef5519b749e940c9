/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What control calls do for threads that are outside of marks, so that they
 * need not wait for a thread's next mark: cuts, and ends made by other threads.
 *
 * A cut: all that is marked from one moment on belongs to the next segment.
 * Each thread has two banks. A cut shuts the hot path of all threads, so
 * that the next mark of each takes the slow path, and waits until each
 * thread was seen outside a mark, or in a callback, where its recorders do
 * not change. A thread whose mark comes first changes to its other bank
 * itself; for all others it is done here. So no mark waits for a report, and
 * a bank at rest is read while nobody writes it. */
#include "mark/foreign.h"
#include "mark/segment.h"
#include "mark/observer.h"
#include "platform/os_wait.h"

#define STUCK_AFTER_NS 1000000000ull
#define FIRST_LOOK_NS 1000u /* a mark is short, and nothing signals its end */
#define LOCKED_THREADS 64u

/* ---- Cuts -------------------------------------------------------------------- */

/* Outside a mark, or in a callback: its recorders do not change until it
 * settles, which takes the lock. Ask after the barrier. */
static int is_resting(const gnomon__thread *t)
{
    return gnomon__is_outside(t) || (load_acquire(&t->in_hook) & 1);
}

/* Cuts one thread. Under the lock, which it gives up while it waits. 0: the
 * thread stayed inside one mark for too long. */
static int cut_thread(gnomon__thread *t, uint64_t deadline)
{
    uint64_t pause = FIRST_LOOK_NS;
    while (t->segment != gnomon__segment && t->recorder_bits &&
           !is_resting(t)) {
        gnomon__unlock();
        int is_late = gnomon__os_monotonic_ns() > deadline;
        gnomon__os_pause(&pause, UINT64_MAX);
        gnomon__lock();
        if (is_late)
            return 0;
    }
    if (t->segment != gnomon__segment) {
        if (gnomon__is_outside(t))
            gnomon__thread_take_foreign_ends(t);
        gnomon__thread_cut(t);
    }
    return 1;
}

uint32_t gnomon__cut(uint64_t ticks)
{
    uint32_t left = 0;
    gnomon__lock();
    gnomon__segment_next(ticks);
    uint32_t total = gnomon__thread_total;
    gnomon__each_thread(t)
        gnomon__thread_shut(t);
    if (!total)
        gnomon__segment_settled = gnomon__segment;
    gnomon__unlock();
    if (!total)
        return 0;
    gnomon__observer_barrier();
    uint64_t deadline = gnomon__os_monotonic_ns() + STUCK_AFTER_NS;
    for (uint32_t i = 0; i < total;) {
        gnomon__lock();
        do
            left += !cut_thread(gnomon__threads[i], deadline);
        while (++i < total && i % LOCKED_THREADS);
        if (i == total)
            gnomon__segment_settled = gnomon__segment;
        gnomon__unlock();
    }
    return left;
}

/* ---- Ends that other threads made
 * ------------------------------------------- */

static int shut_those_with_foreign_ends(void)
{
    int any = 0;
    gnomon__each_thread(t) {
        if (!gnomon__has_foreign_ends(t))
            continue;
        gnomon__thread_shut(t);
        t->was_shut = 1;
        any = 1;
    }
    return any;
}

void gnomon__foreign_settle(void)
{
    gnomon__lock();
    int any = shut_those_with_foreign_ends();
    gnomon__unlock();
    if (!any)
        return;
    gnomon__observer_barrier();
    gnomon__each_thread(t) {
        gnomon__lock();
        /* The thread's next mark takes the lock; a mark that it is in makes
         * the ends itself. One that settled meanwhile may be in a mark that
         * is not seen yet, though another end has shut it again: no barrier
         * came after that. */
        if (t->was_shut && gnomon__has_foreign_ends(t) && gnomon__is_outside(t))
            gnomon__thread_take_foreign_ends(t);
        gnomon__unlock();
    }
}
