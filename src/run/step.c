/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Steps: gnomon_step, and the statistics of steps. Under the lock of steps, which is
 * held for some dozens of nanoseconds. */
#include <string.h>

#include "device/timers.h"
#include "gnomon/profile.h"
#include "mark/frame.h"
#include "mark/tls.h"
#include "mark/upcall.h"
#include "platform/ticks.h"
#include "platform/owner.h"
#include "platform/process.h"
#include "record/step_sums.h"
#include "record/step_times.h"
#include "run/snapshots.h"
#include "run/step_marks.h"

#define GNOMON__STEP_ANEW 2 /* `given` of gnomon_step_slow */

static struct {
    uint64_t kept;   /* in the ring so far, of all stages */
    uint64_t number; /* of the open step */
    uint64_t begin;
    int was_begun_anew; /* the open step, by gnomon_step_begin */
} step_state GNOMON__OF_PROCESS;

static gnomon__step_record
    last_steps[GNOMON__LAST_STEPS];   /* a ring, in ticks */
static gnomon__open_steps open_steps; /* of the open stage */
/* Of the stage that is reported. A child of a fork may have half of a change of it, as of
 * a block that had just moved. */
static gnomon__whole_steps reported_steps GNOMON__OF_PROCESS;

static void begin_step(uint64_t number, uint64_t ticks)
{
    step_state.number = number;
    step_state.begin = ticks;
    step_state.was_begun_anew = 0;
    store_relaxed(&gnomon__step_under_way, number);
}

static void count_in_recorders(const gnomon__view *v,
                               const gnomon__step_record *done)
{
    for (int i = 0; i < GNOMON__RECORDERS; i++)
        if (v->kept[i] && gnomon__recorders[i]->count_step)
            gnomon__recorders[i]->count_step(v->kept[i], done);
}

/* What was marked so far is of no step. */
static void leave_to_no_step(uint64_t now)
{
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->counts_steps)
            count_in_recorders(v, NULL);
    store_relaxed(&gnomon__step_since, now);
}

void gnomon__steps_begin(uint64_t ticks)
{
    leave_to_no_step(ticks);
    step_state.begin = ticks;
    step_state.was_begun_anew = 0;
}

/* ---- Statistics ------------------------------------------------------------------ */

int gnomon__steps_flush(const gnomon__whole_steps **out, uint64_t begin,
                        uint64_t now)
{
    *out = &reported_steps;
    gnomon__whole_steps_clear(&reported_steps);
    if (gnomon__steps_copy(&reported_steps, begin, now))
        return GNOMON_OK;
    gnomon__whole_steps_clear(&reported_steps);
    return GNOMON_ENOMEM;
}

int gnomon__steps_end(const gnomon__whole_steps **out, uint64_t begin,
                      uint64_t now)
{
    int code = gnomon__steps_flush(out, begin, now);
    gnomon__open_steps_clear(&open_steps);
    store_relaxed(&gnomon__steps_over, 0);
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        count_in_recorders(v, NULL); /* no step has what came after the last */
    begin_step(0, 0);
    store_relaxed(&gnomon__step_since, now);
    return code;
}

int gnomon__steps_copy(gnomon__whole_steps *out, uint64_t begin, uint64_t now)
{
    return gnomon__open_steps_read(out, &open_steps,
                                   gnomon__clock_rate(begin, now));
}

int gnomon__steps_were_made(void)
{
    return step_state.kept != 0;
}

uint64_t gnomon__steps_last_end(void)
{
    return step_state.kept
               ? last_steps[(step_state.kept - 1) % GNOMON__LAST_STEPS].end_ns
               : 0;
}

size_t gnomon__steps_last(gnomon__step_record *out)
{
    size_t n = 0;
    uint64_t oldest = step_state.kept < GNOMON__LAST_STEPS
                          ? 0
                          : step_state.kept - GNOMON__LAST_STEPS;
    for (uint64_t i = oldest; i < step_state.kept; i++) {
        out[n] = last_steps[i % GNOMON__LAST_STEPS];
        out[n].begin_ns = gnomon__clock_ns(out[n].begin_ns);
        out[n].end_ns = gnomon__clock_ns(out[n].end_ns);
        n++;
    }
    return n;
}

void gnomon__steps_restart(void)
{
    if (open_steps.until) /* a child of a fork may have half of one */
        memset(&open_steps, 0, sizeof open_steps);
    gnomon__whole_steps_empty(&reported_steps);
    store_relaxed(&gnomon__steps_over, 0);
    step_state.kept = 0;
    begin_step(0, 0);
}

/* ---- A step --------------------------------------------------------------------- */

/* A step counts only in views that recorded all of it. */
static void count_in_view(const gnomon__view *v, gnomon__step_record done)
{
    int is_whole = v->is_open && v->rank_on && v->open_since <= done.begin_ns;
    done.phase = v->phase;
    count_in_recorders(v, is_whole ? &done : NULL);
}

/* Under the lock: counts the finished step, which it returns, and begins the next. */
static gnomon__step_record count_step(uint64_t now, uint64_t number, int given)
{
    int is_first = !open_steps.sum.count && !step_state.was_begun_anew;
    uint64_t first =
        is_first && !gnomon__stage.was_opened ? gnomon__stage_first_mark() : 0;
    if (first)
        step_state.begin = first - 1;
    if (now <
        step_state.begin) /* another thread's later step was counted first */
        now = step_state.begin;
    if (!step_state.begin) /* no stage was begun and no mark made */
        step_state.begin = now;
    gnomon__open_steps_count(&open_steps, step_state.number,
                             now - step_state.begin);
    int32_t phase = GNOMON_PHASE_RECORD;
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->scheduled)
            phase = v->phase;
    gnomon__step_record done = {gnomon__stage_ordinal(), phase,
                                step_state.number, step_state.begin, now};
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        if (v->counts_steps)
            count_in_view(v, done);
        gnomon__events_step(v, done.begin_ns);
    }
    store_relaxed(&gnomon__step_since, now);
    last_steps[step_state.kept++ % GNOMON__LAST_STEPS] = done;
    store_relaxed(&gnomon__steps_over, open_steps.sum.count);
    begin_step(given ? number : step_state.number + 1, now);
    return done;
}

/* What came since the last step is of none. */
static void begin_step_anew(uint64_t number)
{
    uint64_t now = gnomon__ticks();
    gnomon__step_lock();
    leave_to_no_step(now);
    begin_step(number, now);
    step_state.was_begun_anew = 1;
    gnomon__step_unlock();
}

static void step_recorders(gnomon__thread *t, const gnomon__step_record *done,
                           uint32_t open)
{
    const gnomon__stepped over = {done->number, done->begin_ns, done->end_ns,
                                  open};
    /* Trees know no steps. */
    uint32_t rest =
        load_relaxed(&t->attached) & t->recorder_bits & ~t->tree_bits;
    for (; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        const gnomon__recorder *r = gnomon__recorder_of(t, bit);
        if (r->step)
            r->step(t, bit, &over);
    }
}

static void call_step_hooks(gnomon__thread *t, const gnomon__step_record *done,
                            uint32_t unnotified)
{
    uint32_t hooks = load_relaxed(&t->attached) & ~t->recorder_bits;
    if (!hooks)
        return;
    gnomon_step_event event = {sizeof event, t->number, done->number,
                               gnomon__clock_ns(done->begin_ns),
                               gnomon__clock_ns(done->end_ns)};
    GNOMON__HOOKS_CALL(t, &t->attached, hooks, step, &event);
    if (gnomon__hooks_enter(t, &t->attached, hooks))
        GNOMON__KEEP_ERRNO(t, gnomon__windows_notify(unnotified, &t->attached));
    gnomon__hooks_leave(t);
}

/* On an entered thread. */
static void make_step(gnomon__thread *t, uint64_t number, int given)
{
    uint64_t now = gnomon__ticks();
    gnomon__step_lock();
    gnomon__step_record done = count_step(now, number, given);
    uint32_t open = load_relaxed(&gnomon__open_bits);
    uint32_t unnotified = gnomon__windows_move(open_steps.sum.count, 0, now);
    gnomon__step_unlock();
    gnomon__clock_anchor_at(now);
    gnomon__timers_step();
    step_recorders(t, &done, open);
    call_step_hooks(t, &done, unnotified);
}

/* Step callbacks clear the callback flag when they end. It is set again for the rest of
 * the mark's callbacks. */
void gnomon__step_in_mark(void)
{
    gnomon__thread *t = gnomon__tls_now()->thread;
    if (!t)
        return;
    uint32_t is_raised = load_relaxed(&t->in_hook) & 1;
    make_step(t, 0, 0);
    if (is_raised)
        (void)gnomon__hooks_enter(t, &t->attached, 0);
}

void gnomon_step_slow(uint64_t number, int given)
{
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__tls_now()->thread, reentered);
        return;
    }
    if ((load_relaxed(&gnomon_enabled) & GNOMON_MASK_UNSEEN) &&
        !gnomon__upcall_start()) {
        gnomon__trouble(&gnomon__no_thread, reentered);
        return;
    }
    GNOMON__FORWARD_VOID(step(number, given));
    if (!load_relaxed(&gnomon_enabled))
        return;
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return;
    gnomon__repair(t, (uintptr_t)__builtin_frame_address(0));
    if (given == GNOMON__STEP_ANEW)
        begin_step_anew(number);
    else
        make_step(t, number, given);
    gnomon__leave(t);
}
