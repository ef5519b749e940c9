/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which events the profiles of an attachment have, and how long tapes keep them. Inside
 * control calls, and gnomon__events_of also under the readers' lock. */
#include "gnomon/profile.h"
#include "record/activities.h"
#include "spec/names.h"
#include "run/files.h"
#include "run/run.h"
#include "run/snapshots.h"

int gnomon__attachment_has_events(const gnomon__attachment *a)
{
    return a->window->tape && (a->profiler.wants & GNOMON_WANT_EVENTS);
}

const gnomon__event_range *gnomon__events_of(const gnomon__attachment *a,
                                             enum gnomon__tape_which which,
                                             gnomon__event_range *room)
{
    *room = (gnomon__event_range){
        .window = a->window, .until = UINT64_MAX, .which = which};
    return gnomon__attachment_has_events(a) ? room : NULL;
}

void gnomon__events_ask(gnomon__tape_events *out,
                        const gnomon__event_range *range)
{
    *out = (gnomon__tape_events){.which = range->which,
                                 .from = range->from,
                                 .until = range->until,
                                 .first_segment = range->first_segment,
                                 .last_segment = range->last_segment,
                                 .most = range->most,
                                 .bit = range->window->tape->bit,
                                 .generation = range->window->tape->generation};
}

int gnomon__has_ready(const gnomon__attachment *a)
{
    return a->profiler.events && gnomon__attachment_has_events(a) &&
           gnomon__output_is_ours();
}

/* Who throws a profile away is made none: it costs as much as a file. Events of a stream
 * go all the same, as they would fill its memory. */
int gnomon__wants_ready(const gnomon__attachment *a)
{
    const char *when = gnomon__options_text(a->options, "on_trace_ready");
    int is_none = when && gnomon__same_word(when, "none") &&
                  a->window->keep.mode != GNOMON__KEEP_STREAM;
    return gnomon__has_ready(a) && !is_none;
}

/* Whether it needs the events of a stage after that was reported: its report is of the
 * run, or its file is written anew each time. */
static int is_late_reader(const gnomon__attachment *a)
{
    const char *at = gnomon__options_text(a->options, "at");
    if (!gnomon__attachment_has_events(a))
        return 0;
    return (gnomon__wants_ready(a) && !a->window->scheduled) ||
           (a->profiler.wants & GNOMON_WANT_RUN) ||
           (at && gnomon__same_word(at, "end")) ||
           gnomon__path_form(a) == GNOMON__FORM_JSON;
}

/* Whether another window has events of the same work. */
static int shares_work(const gnomon__view *v)
{
    const gnomon__view *other = gnomon__views;
    while (other && (other == v || !other->tape || other->base != v->base))
        other = other->next;
    return other != NULL;
}

void gnomon__events_over(const gnomon__view *v, uint64_t until)
{
    gnomon__tape_over(v->tape->bit, v->tape->generation);
    gnomon__work_events_over(v, until, 1);
}

void gnomon__work_events_over(const gnomon__view *v, uint64_t until,
                              int is_told)
{
    if (!shares_work(v))
        gnomon__activities_over(v->base->tree->generation, until, is_told);
}

void gnomon__events_step(gnomon__view *v, uint64_t begin)
{
    if (!v->step_begins)
        return;
    v->step_begins[v->steps_noted++ % v->keep.steps] = begin;
    if (v->steps_noted < v->keep.steps)
        return;
    uint64_t since = v->step_begins[v->steps_noted % v->keep.steps];
    gnomon__tape_expire(v->tape->bit, v->tape->generation, since);
    if (!shares_work(v))
        gnomon__activities_taken(v->base->tree->generation, since);
}

void gnomon__events_reported(int leaving)
{
    uint64_t until = gnomon__stage.reported.until;
    for (const gnomon__view *v = gnomon__views; v; v = v->next) {
        if (!v->tape || (leaving && !gnomon__view_leaves(v)))
            continue;
        gnomon__tape_reported(v->tape->bit, v->tape->generation);
        int is_needed = 0;
        for (const gnomon__attachment *a = gnomon__attachments; a; a = a->next)
            is_needed |= a->window == v && is_late_reader(a);
        if (!is_needed)
            gnomon__events_over(v, until);
    }
}
