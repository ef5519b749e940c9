/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cycles of schedules, and the callback `events`. A step that ends a cycle only notes its
 * times (window.c) and wakes the thread that waits for the end of the process (end.c),
 * which makes a profile of the cycle's events and calls `events`. Where a stage ends
 * first, the control call that ends it does so. In control calls. */
#include <stdio.h>
#include <string.h>

#include "mark/region.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "profile/model.h"
#include "run/files.h"
#include "run/run.h"
#include "run/snapshots.h"

/* Whether a cycle's events are also for a report or a file of the stage. */
static int are_needed_later(const gnomon__view *v)
{
    for (const gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        if (a->window == v && gnomon__attachment_has_events(a) &&
            (a->profiler.summary || gnomon__profile_is_kept(a)))
            return 1;
    return 0;
}

/* A range that is open where the run ends is lost to the view's last profile, which is of
 * the next cut. Of an earlier stage, where no other follows, that is a late part. */
static void lose_at_end(void *to, uint32_t thread, uint64_t begin,
                        uint32_t segment)
{
    gnomon__view *v = to;
    int is_late;
    (void)begin;
    gnomon__lock();
    gnomon__tape *tape = gnomon__tape_with(gnomon__threads[thread],
                                           v->tape->bit, v->tape->generation);
    if (tape)
        tape->opens++;
    gnomon__unlock();
    if (!gnomon__stage_is_due())
        (void)gnomon__ledger_segment(&v->base->ledger, segment, &is_late);
}

void gnomon__ranges_over(int leaving)
{
    gnomon__readers_lock();
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->tape && (!leaving || gnomon__view_leaves(v)) &&
            (!v->scheduled || are_needed_later(v))) /* else the cycle has it */
            gnomon__ranges_lose(v->tape->bit, 0, UINT64_MAX,
                                load_acquire(&gnomon__thread_total),
                                lose_at_end, v);
    gnomon__readers_unlock();
}

static int make_cycle(gnomon__model **m, const gnomon__view *v,
                      const gnomon__event_range *range, int is_closed)
{
    if (is_closed)
        return gnomon__snapshot_closed(m, v->base, range);
    gnomon__readers_lock();
    int code = gnomon__snapshot_live(m, v->base, 0, range);
    gnomon__readers_unlock();
    return code;
}

/* `a` or the next one that gets the window's cycles. NULL: there is none. */
static gnomon__attachment *reader_of(const gnomon__view *v,
                                     gnomon__attachment *a)
{
    while (a && (a->window != v || !gnomon__wants_ready(a)))
        a = a->next;
    return a;
}

/* One profile for all profilers of the window, each of which gets it so often; without a
 * range it has no events. Whether there is one goes to *has_any. */
static int give_cycle(const gnomon__view *v, const gnomon__event_range *range,
                      int is_closed, uint64_t times, int *has_any)
{
    gnomon__model *m = NULL;
    int code = GNOMON_OK;
    for (gnomon__attachment *a = reader_of(v, gnomon__attachments); a && !code;
         a = reader_of(v, a->next)) {
        if (!m)
            code = make_cycle(&m, v, range, is_closed);
        for (uint64_t i = 0; i < times && !code; i++)
            gnomon__call_ready(a, m);
    }
    *has_any = code || (m && gnomon_profile_count(&m->base, GNOMON_EVENTS));
    if (m)
        gnomon_profile_free(&m->base);
    return code;
}

/* Cycles that ended faster than they were given. Their profilers are called for each, so
 * that they count right. */
static void give_together(gnomon__view *v, uint64_t cycles, int is_closed)
{
    int has_any;
    uint64_t first = v->cycles.given + 1;
    gnomon__log("cycles %llu to %llu of a schedule ended faster than "
                "profilers took them: the first has the events of all",
                (unsigned long long)first,
                (unsigned long long)(first + cycles - 1));
    if (give_cycle(v, NULL, is_closed, cycles - 1, &has_any))
        gnomon__log("a cycle of a schedule has no number: %s",
                    gnomon_error_text());
}

/* Where nobody gets it, its events stay for snapshots. */
static void deliver_cycle(gnomon__view *v, const struct gnomon__cycle *c,
                          int is_closed)
{
    const gnomon__event_range range = {.window = v,
                                       .from = c->begin,
                                       .until = c->end,
                                       .which = are_needed_later(v)
                                                    ? GNOMON__TAPE_CYCLE
                                                    : GNOMON__TAPE_CYCLE_ALONE};
    int has_any = 1;
    if (reader_of(v, gnomon__attachments)) {
        if (!is_closed && v->base->has_work)
            gnomon__work_flush();
        int code = give_cycle(v, &range, is_closed, 1, &has_any);
        if (code)
            gnomon__log("a cycle of a schedule is lost: %s",
                        gnomon_error_text());
        if (range.which == GNOMON__TAPE_CYCLE_ALONE)
            gnomon__work_events_over(v, range.until, !code);
        if (c->cycles > 1)
            give_together(v, c->cycles, is_closed);
    }
    v->cycles.had_events |= has_any;
    v->cycles.given += c->cycles;
}

void gnomon__cycles_deliver(int is_closed, int leaving)
{
    struct gnomon__cycle c;
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        while ((!leaving || gnomon__view_leaves(v)) &&
               gnomon__cycle_take(v, &c))
            deliver_cycle(v, &c, is_closed);
}

static void log_unreached(const gnomon__attachment *a)
{
    const gnomon__view *v = a->window;
    if (v->cycles.had_events || !v->rank_on)
        return;
    if (v->cycles.was_any) {
        gnomon__log(
            "%s: nothing was marked in the active steps of its schedule",
            a->profiler.name);
        return;
    }
    gnomon__step_lock(); /* steps go on meanwhile */
    uint64_t most = v->cycles.most_steps;
    gnomon__step_unlock();
    char made[64] =
        "no step was made: gnomon_step() makes one, or step= in $GNOMON";
    if (most)
        snprintf(made, sizeof made, "no stage had more than %llu step%s",
                 (unsigned long long)most, most == 1 ? "" : "s");
    gnomon__log(
        "%s: its schedule never recorded: its first active step is "
        "%llu, and %s",
        a->profiler.name,
        (unsigned long long)gnomon__schedule_next_active(&v->schedule, 0) +
            v->schedule.warmup,
        made);
}

static void deliver_run(gnomon__attachment *a, uint64_t now)
{
    gnomon__event_range range = {
        .window = a->window, .until = now, .which = GNOMON__TAPE_OVER};
    gnomon__model *m = NULL;
    if (gnomon__snapshot_named(&m, a->view, GNOMON__ALL_NAMES, &range)) {
        gnomon__log("%s: %s", a->profiler.name, gnomon_error_text());
        return;
    }
    gnomon__call_ready(a, m);
    gnomon_profile_free(&m->base);
}

uint64_t gnomon__run_deliver(int leaving)
{
    gnomon__streams_deliver(1);
    uint64_t now = gnomon__ticks();
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next) {
        if (!gnomon__has_ready(a) || (leaving && !a->leaves) ||
            !a->window->rank_on)
            continue;
        if (a->window->scheduled)
            log_unreached(a);
        else if (gnomon__wants_ready(a) && gnomon__region_count() > 1)
            deliver_run(a, now);
    }
    return now;
}

void gnomon__run_delivered(int leaving, uint64_t until)
{
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->tape && (!leaving || gnomon__view_leaves(v)))
            gnomon__events_over(v, until);
}
