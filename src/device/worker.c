/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rounds are numbered: a thread that asks for one waits until that number has ended. It
 * gives up when for gnomon__hang_ns no round has ended and there was no progress. */
#include "device/worker.h"

#include <string.h>

#include "platform/atomic.h"
#include "platform/error.h"

/* ---- The thread ----------------------------------------------------------------------- */

/* Until it is woken; 1: a round is due. Under the lock. */
static int wait_for_work(gnomon__worker *w)
{
    return !(w->sleep && w->sleep()) &&
           !gnomon__os_turn_wait(&w->now->wake, &w->lock,
                                 gnomon__os_monotonic_ns() + w->each_ns);
}

/* Until it is to end, after one more round. Under the lock. */
static void run_rounds(gnomon__worker *w)
{
    for (int ends = 0; !ends || !w->now->ends;) {
        uint32_t why = 0;
        if (w->now->asked == w->now->answered && !w->now->why &&
            !w->now->ends && wait_for_work(w))
            why = GNOMON__WORKER_DUE;
        uint64_t asked = w->now->asked;
        ends = w->now->ends;
        why |= w->now->why |
               (asked != w->now->answered ? GNOMON__WORKER_ASKED : 0u) |
               (ends ? GNOMON__WORKER_ENDS : 0u);
        w->now->why = 0;
        gnomon__os_lock_give(&w->lock);
        w->round(why);
        gnomon__os_lock_take(&w->lock);
        w->now->answered = asked;
        gnomon__os_turn_tell(&w->now->answer);
    }
}

static void worker_main(void *worker)
{
    gnomon__worker *w = worker;
    gnomon__os_lock_take(&w->lock);
    run_rounds(w);
    w->now->is_over = 1;
    gnomon__os_turn_tell(&w->now->answer);
    gnomon__os_lock_give(&w->lock);
}

/* ---- Start and end -------------------------------------------------------------------- */

/* Whether a thread that was left hanging is used again. Rounds that another one has not
 * made are not made any more. */
static int worker_resume(gnomon__worker *w)
{
    gnomon__os_lock_take(&w->lock);
    int is_left = w->now->state == WORKER_LEFT;
    int goes_on = is_left && !w->now->is_over;
    w->now->ends = w->now->is_over = 0;
    w->now->answered = w->now->asked;
    gnomon__os_lock_give(&w->lock);
    if (is_left && !goes_on)
        gnomon__os_thread_join(&w->now->thread);
    w->now->state = goes_on ? WORKER_RUNS : WORKER_NONE;
    return goes_on;
}

void gnomon__worker_start(gnomon__worker *w)
{
    if (w->now->state == WORKER_RUNS || worker_resume(w))
        return;
    int why = gnomon__os_thread_start(&w->now->thread, w->name, worker_main, w);
    if (!why)
        w->now->state = WORKER_RUNS;
    else if (!w->has_no_thread)
        gnomon__log("no thread for %s (%s): they are read when a stage ends "
                    "only: raise the limit (ulimit -u)",
                    w->reads, strerror(why));
    w->has_no_thread |= why != 0;
}

static void log_silence(gnomon__worker *w)
{
    if (!w->is_silent)
        gnomon__log("%s", w->silence);
    w->is_silent = 1;
}

/* Under the lock. */
static void call_worker(gnomon__worker *w)
{
    gnomon__os_turn_tell(&w->now->wake);
    if (w->rouse)
        w->rouse();
}

/* 0: it hangs. Under the lock. */
static int wait_for_round(gnomon__worker *w)
{
    uint64_t before = load_relaxed(w->progress);
    return gnomon__os_turn_wait(&w->now->answer, &w->lock,
                                gnomon__os_monotonic_ns() +
                                    gnomon__hang_ns()) ||
           load_relaxed(w->progress) != before;
}

int gnomon__worker_stop(gnomon__worker *w)
{
    if (w->now->state == WORKER_NONE)
        w->round(GNOMON__WORKER_ENDS);
    if (w->now->state != WORKER_RUNS)
        return w->now->state == WORKER_NONE;
    gnomon__os_lock_take(&w->lock);
    w->now->ends = 1;
    call_worker(w);
    while (!w->now->is_over && wait_for_round(w))
        ;
    w->now->state = w->now->is_over ? WORKER_NONE : WORKER_LEFT;
    gnomon__os_lock_give(&w->lock);
    if (w->now->state == WORKER_NONE)
        gnomon__os_thread_join(&w->now->thread);
    else
        log_silence(w);
    return w->now->state == WORKER_NONE;
}

/* ---- Rounds ----------------------------------------------------------------------------- */

/* On the host's threads too, which another one may cancel. */
void gnomon__worker_wake(gnomon__worker *w, uint32_t why)
{
    int cancel = gnomon__os_cancel_off();
    gnomon__os_lock_take(&w->lock);
    w->now->why |= why;
    call_worker(w);
    gnomon__os_lock_give(&w->lock);
    gnomon__os_cancel_back(cancel);
}

int gnomon__worker_ask(gnomon__worker *w, uint32_t why)
{
    gnomon__os_lock_take(&w->lock);
    uint64_t asked = w->now->asked + 1;
    int hangs =
        w->now->answered < w->now->asked || w->now->state == WORKER_LEFT;
    w->now->is_awaited = !hangs;
    if (!hangs && w->now->state == WORKER_RUNS) {
        w->now->asked = asked;
        w->now->why |= why;
        call_worker(w);
        while (w->now->answered < asked && wait_for_round(w))
            ;
    } else if (!hangs) {
        gnomon__os_lock_give(&w->lock);
        w->round(why | GNOMON__WORKER_ASKED);
        gnomon__os_lock_take(&w->lock);
        w->now->answered = w->now->asked = asked;
    }
    int is_answered = w->now->answered >= asked;
    w->now->is_awaited = 0;
    gnomon__os_lock_give(&w->lock);
    if (!is_answered)
        log_silence(w);
    return is_answered;
}
