/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Schedules. At a step each view's window opens or closes exactly, by one word of open
 * bits in each thread's state: O(threads). The masks of regions follow later: they are
 * armed while a window is open or near, so that marks cost nothing in long waits.
 * Rewriting masks is O(regions), so a thread of ours does it, which exists while a view
 * has a schedule. Only a window that opens before its masks are armed makes the step
 * itself arm them. */
#include <string.h>

#include "mark/callbacks.h"
#include "mark/observer.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/os_wait.h"
#include "platform/process.h"
#include "run/run.h"

#define ARM_AHEAD 4 /* steps */

static gnomon__os_lock steps = GNOMON__OS_LOCK;

static struct {
    uint32_t wake; /* turns of the worker */
    gnomon__os_thread worker;
    int runs, ends;
    uint32_t wanted; /* what masks should be */
    uint32_t now;    /* what they are being made */
    uint32_t done;   /* of these, what all masks hold */
    int rests;       /* a stage is over, and no mark came since */
} window_state GNOMON__OF_PROCESS;
static int worker_missed; /* a line was logged */

/* By bit: the phase that a watcher was notified of last, and the current one. The thread
 * that notifies goes on until both are equal, so that a watcher sees phases in order
 * and one at a time, whichever threads step. Callbacks run without the lock. */
static struct {
    int32_t notified, phase;
    int is_notifying; /* a thread calls it now */
} watched[GNOMON__BITS] GNOMON__OF_PROCESS;

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
    while (!window_state.ends) {
        if (window_state.now == window_state.wanted &&
            window_state.now == window_state.done) {
            (void)gnomon__os_turn_wait(&window_state.wake, &steps, UINT64_MAX);
            continue;
        }
        uint32_t bits = window_state.now = window_state.wanted;
        window_state.done &= bits;
        gnomon__observer_arm(bits);
        gnomon__step_unlock();
        gnomon__observer_rewrite();
        gnomon__step_lock();
        if (window_state.now == bits)
            window_state.done = bits;
    }
    gnomon__step_unlock();
}

/* At once, on this thread. Under the lock of steps. */
static void arm_now(void)
{
    window_state.now = window_state.wanted;
    gnomon__observer_arm(window_state.now);
    gnomon__observer_rewrite();
    window_state.done = window_state.now;
}

/* Which of the view's watchers are to be notified of its phase. */
static uint32_t find_unnotified(const gnomon__view *v)
{
    uint32_t bits = 0;
    for (uint32_t rest = v->watchers; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        watched[bit].phase =
            window_state.rests || !v->rank_on ? GNOMON_PHASE_NONE : v->phase;
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

/* ---- Cycles ---------------------------------------------------------------------- */

/* How many are over, of all views. */
static uint32_t cycles_due GNOMON__OF_PROCESS;

int gnomon__cycles_are_due(void)
{
    return load_relaxed(&cycles_due) != 0;
}

/* Where too many wait, the newest becomes longer: no event is lost. */
static void end_cycle(gnomon__cycles *c, uint64_t now)
{
    c->is_open = 0;
    if (c->count == GNOMON__WAITING_CYCLES) {
        c->over[c->count - 1].end = now;
        c->over[c->count - 1].cycles++;
        return;
    }
    c->over[c->count++] = (struct gnomon__cycle){c->begin, now, 1};
    store_relaxed(&cycles_due, cycles_due + 1);
    gnomon__os_bell_ring();
}

static void cycle_move(gnomon__view *v, uint64_t step, uint64_t now)
{
    gnomon__cycles *c = &v->cycles;
    uint64_t number = gnomon__schedule_cycle(&v->schedule, step);
    if (step > c->most_steps)
        c->most_steps = step;
    if (c->is_open && (!v->is_open || c->number != number))
        end_cycle(c, now);
    if (v->is_open && !c->is_open && v->rank_on) {
        c->is_open = c->was_any = 1;
        c->number = number;
        c->begin = now;
    }
}

void gnomon__cycles_end(uint64_t now, int leaving)
{
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->cycles.is_open && (!leaving || gnomon__view_leaves(v)))
            end_cycle(&v->cycles, now);
}

int gnomon__cycle_take(gnomon__view *v, struct gnomon__cycle *out)
{
    gnomon__cycles *c = &v->cycles;
    if (!gnomon__cycles_are_due())
        return 0;
    gnomon__step_lock();
    int is_any = c->count != 0;
    if (is_any) {
        *out = c->over[0];
        memmove(c->over, c->over + 1, --c->count * sizeof *c->over);
        store_relaxed(&cycles_due, cycles_due - 1);
    }
    gnomon__step_unlock();
    return is_any;
}

/* ---- Windows --------------------------------------------------------------------- */

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
    window_state.rests = rests;
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        v->phase = phase_at(v, step);
        which |= v->bits;
        set_open(v, v->phase >= GNOMON_PHASE_RECORD, now);
        if (v->tape && v->scheduled)
            cycle_move(v, step, now);
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
    window_state.wanted = near;
    if (open & ~window_state.done)
        arm_now();
    else if (window_state.now != near)
        gnomon__os_turn_tell(&window_state.wake);
    window_state.done &= near;
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
                                         load_relaxed(&gnomon__steps_over)};
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
    uint32_t unnotified =
        gnomon__windows_move(load_relaxed(&gnomon__steps_over),
                             window_state.rests && !came, gnomon__ticks());
    arm_now();
    int start = scheduled && !window_state.runs,
        end = !scheduled && window_state.runs;
    if (start)
        window_state.ends = 0;
    if (end) {
        window_state.ends = 1;
        gnomon__os_turn_tell(&window_state.wake);
    }
    gnomon__step_unlock();
    gnomon__windows_notify(unnotified, NULL);
    int why = start ? gnomon__os_thread_start(&window_state.worker, "gnomon",
                                              arm, NULL)
                    : 0;
    if (why && !worker_missed)
        gnomon__log("no thread for schedules (%s): marks cost as much outside "
                    "of windows as inside: raise the limit (ulimit -u)",
                    strerror(why));
    worker_missed |= why != 0; /* logged once */
    if (start && !why)
        window_state.runs = 1;
    if (end) {
        gnomon__os_thread_join(&window_state.worker);
        window_state.runs = 0;
    }
}
