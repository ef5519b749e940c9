/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Schedules. At a step each view's window opens or closes exactly, by one word of open
 * bits in each thread's state: O(threads). The masks of regions follow later: they are
 * armed while a window is open or near, so that marks cost nothing in long waits.
 * Rewriting masks is O(regions), so a thread of ours does it, which exists while a view
 * has a schedule. Only a window that opens before its masks are armed makes the step
 * itself arm them. */
#include <string.h>

#include "mark/observer.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "platform/os_wait.h"
#include "run/run.h"
#include "run/snapshots.h"

#define ARM_AHEAD 4 /* steps */

static gnomon__os_lock steps = GNOMON__OS_LOCK(GNOMON__OS_OWN_STEPS);
static uint32_t wake; /* turns of the worker */
static gnomon__os_thread worker;
static int worker_runs, worker_ends, worker_missed;
static uint32_t wanted_armed; /* what masks should be */
static uint32_t now_armed;    /* what they are being made */
static uint32_t done_armed;   /* of these, what all masks hold */

/* By bit: the phase that a watcher was notified of last, and the current one. The thread
 * that notifies goes on until both are equal, so that a watcher sees phases in order
 * and one at a time, whichever threads step. Callbacks run without the lock. */
static struct {
    int32_t notified, phase;
    int is_notifying; /* a thread calls it now */
} watched[GNOMON__BITS];
static int resting; /* a stage is over, and no mark came since */

void gnomon__step_lock(void)
{
    gnomon__guard(); /* a signal handler that steps would deadlock */
    gnomon__os_lock_take(&steps);
}

void gnomon__step_unlock(void)
{
    gnomon__os_lock_give(&steps);
    gnomon__unguard();
}

/* Masks are rewritten without the lock of steps. The rewrite uses the bits that are
 * wanted at the time, so a step may rewrite them concurrently. */
static void arm(void *unused)
{
    (void)unused;
    gnomon__step_lock();
    while (!worker_ends) {
        if (now_armed == wanted_armed && now_armed == done_armed) {
            (void)gnomon__os_turn_wait(&wake, &steps, UINT64_MAX);
            continue;
        }
        uint32_t bits = now_armed = wanted_armed;
        done_armed &= bits;
        gnomon__observer_arm(bits);
        gnomon__step_unlock();
        gnomon__observer_rewrite();
        gnomon__step_lock();
        if (now_armed == bits)
            done_armed = bits;
    }
    gnomon__step_unlock();
}

/* At once, on this thread. Under the lock of steps. */
static void arm_now(void)
{
    now_armed = wanted_armed;
    gnomon__observer_arm(now_armed);
    gnomon__observer_rewrite();
    done_armed = now_armed;
}

/* Which of the view's watchers are to be notified of its phase. */
static uint32_t find_unnotified(const gnomon__view *v)
{
    uint32_t bits = 0;
    for (uint32_t rest = v->watchers; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        watched[bit].phase =
            resting || !v->rank_on ? GNOMON_PHASE_NONE : v->phase;
        bits |= (uint32_t)(watched[bit].phase != watched[bit].notified) << bit;
    }
    return bits;
}

static int32_t phase_at(const gnomon__view *v, uint64_t step)
{
    return v->scheduled ? (int32_t)gnomon__schedule_phase(&v->schedule, step)
                        : GNOMON_PHASE_RECORD;
}

/* How long a window is open is what its view recorded, from the stage's begin on. Only
 * the first window of a stage may have been opened before that. */
static void set_open(gnomon__view *v, int is_open, uint64_t now)
{
    if (v->is_open == is_open)
        return;
    if (!is_open) {
        uint64_t begin = v->open_before ? 0 : gnomon__stage_begin_ticks(now);
        uint64_t since = v->open_since > begin ? v->open_since : begin;
        v->open_before += now > since ? now - since : 0;
    }
    v->open_since = now;
    v->is_open = is_open;
}

void gnomon__windows_narrow(uint64_t step)
{
    uint64_t now = gnomon__ticks();
    uint32_t closed = 0;
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        if (phase_at(v, step) < GNOMON_PHASE_RECORD) {
            set_open(v, 0, now);
            closed |= v->bits;
        }
    gnomon__observer_open(closed, 0);
}

uint32_t gnomon__windows_move(uint64_t step, int rests, uint64_t now)
{
    uint32_t which = 0, open = 0, near = 0, unnotified = 0;
    resting = rests;
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        v->phase = phase_at(v, step);
        which |= v->bits;
        set_open(v, v->phase >= GNOMON_PHASE_RECORD, now);
        if (v->tape && v->scheduled)
            gnomon__cycle_move(v, step, now);
        if (v->is_open) {
            open |= v->bits;
            store_relaxed(&v->was_active, 1);
        }
        if (v->phase != GNOMON_PHASE_NONE ||
            gnomon__schedule_next_active(&v->schedule, step) - step <=
                ARM_AHEAD)
            near |= v->bits;
        unnotified |= find_unnotified(v);
    }
    wanted_armed = near;
    if (open & ~done_armed)
        arm_now();
    else if (now_armed != near)
        gnomon__os_turn_tell(&wake);
    done_armed &= near;
    gnomon__observer_open(which, open);
    return unnotified;
}

/* A hook that is being detached is not called again: its bit is cleared in *live, and
 * the detaching thread waits for this one. */
void gnomon__windows_notify(uint32_t bits, const uint32_t *live)
{
    if (!bits)
        return;
    int cancel = gnomon__os_cancel_off(); /* is_notifying would stay */
    for (; bits; bits &= bits - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(bits), one = bits & -bits;
        const gnomon__observer *s = &gnomon__observers[bit];
        gnomon__step_lock();
        int mine = !watched[bit].is_notifying;
        while (mine && watched[bit].phase != watched[bit].notified &&
               (!live || load_relaxed(live) & one)) {
            gnomon_window_event event = {sizeof event, watched[bit].phase,
                                         gnomon__stage_steps()};
            watched[bit].notified = event.phase;
            watched[bit].is_notifying = 1;
            gnomon__step_unlock();
            s->hook->window(s->self, &event);
            gnomon__step_lock();
        }
        if (mine)
            watched[bit].is_notifying = 0;
        gnomon__step_unlock();
    }
    gnomon__os_cancel_back(cancel);
}

void gnomon__windows_watch(gnomon__view *v, uint32_t bit, int comes)
{
    if (comes) {
        memset(&watched[bit], 0, sizeof watched[bit]); /* GNOMON_PHASE_NONE */
        v->watchers |= 1u << bit;
    } else {
        v->watchers &= ~(1u << bit);
    }
}

void gnomon__windows_refresh(int came)
{
    int scheduled = 0;
    gnomon__step_lock();
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        scheduled |= v->scheduled;
    uint32_t unnotified = gnomon__windows_move(
        gnomon__stage_steps(), resting && !came, gnomon__ticks());
    arm_now();
    int start = scheduled && !worker_runs, end = !scheduled && worker_runs;
    if (start)
        worker_ends = 0;
    if (end) {
        worker_ends = 1;
        gnomon__os_turn_tell(&wake);
    }
    gnomon__step_unlock();
    gnomon__windows_notify(unnotified, NULL);
    int why = start ? gnomon__os_thread_start(&worker, "gnomon", arm, NULL) : 0;
    if (why && !worker_missed)
        gnomon__log("no thread for schedules (%s): reports are the same, marks "
                    "cost their full price outside the windows too: raise the "
                    "limit (ulimit -u)",
                    strerror(why));
    worker_missed |= why != 0; /* logged once */
    if (start && !why)
        worker_runs = 1;
    if (end) {
        gnomon__os_thread_join(&worker);
        worker_runs = 0;
    }
}

/* In a forked child: neither the worker nor the lock's owner exists. */
void gnomon__windows_forget(void)
{
    gnomon__os_lock_renew(&steps);
    worker_runs = worker_ends = resting = 0;
    memset(watched, 0, sizeof watched);
    wanted_armed = now_armed = done_armed = 0;
}
