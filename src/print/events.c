/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "print/events.h"

#include <stdlib.h>
#include <string.h>

#include "print/order.h"
#include "print/table.h"

void gnomon__walk_from(gnomon__event_walk *w, const gnomon_profile *p,
                       size_t first, size_t last)
{
    w->p = p;
    w->number = first - 1;
    w->last = last;
    w->at = w->count = 0;
}

void gnomon__walk_all(gnomon__event_walk *w, const gnomon_profile *p)
{
    gnomon__walk_from(w, p, 1, gnomon_profile_count(p, GNOMON_EVENTS));
}

size_t gnomon__walk_read(gnomon__event_walk *w)
{
    const size_t left = w->last - w->number;
    w->at = 0;
    w->count = gnomon_profile_events(
        w->p, w->number + 1, w->events,
        left < GNOMON__WALK_ROOM ? left : GNOMON__WALK_ROOM);
    return w->count;
}

/* ---- Steps ------------------------------------------------------------------------ */

/* A profile has them by no order: the last ones, the slowest, and those of its events. */
GNOMON__ORDER(event_steps_by_begin, gnomon_step_info, UP(begin_ns), UP(number))

static bool event_steps_have_schedule(const gnomon_profile *p)
{
    gnomon_run_info run;
    gnomon_view_info view;
    for (size_t i = 1; !gnomon_profile_run(p, i, &run); i++)
        if (strstr(run.spec, "schedule="))
            return true;
    for (size_t i = 1; !gnomon_profile_view(p, i, &view); i++)
        if (strstr(view.words, "schedule="))
            return true;
    return false;
}

int gnomon__event_steps_make(gnomon__event_steps *s, const gnomon_profile *p,
                             uint32_t stage)
{
    const size_t count = gnomon_profile_count(p, GNOMON_STEPS);
    *s = (gnomon__event_steps){.is_scheduled = event_steps_have_schedule(p)};
    s->at = calloc(count + 1, sizeof *s->at);
    if (!s->at)
        return GNOMON_ENOMEM;
    for (size_t i = 1; i <= count; i++) {
        gnomon_step_info *step = &s->at[s->count];
        if (gnomon_profile_step(p, i, step) == GNOMON_OK &&
            step->end_ns > step->begin_ns &&
            step->phase >= GNOMON_PHASE_RECORD &&
            (!stage || step->stage == stage))
            s->count++;
    }
    GNOMON__SORT(s->at, s->count, event_steps_by_begin);
    return GNOMON_OK;
}

void gnomon__event_steps_free(gnomon__event_steps *s)
{
    free(s->at);
    *s = (gnomon__event_steps){0};
}

/* How many steps begin at this moment or before it. */
static size_t event_steps_begun(const gnomon__event_steps *s, uint64_t ns)
{
    size_t low = 0, high = s->count;
    GNOMON__SEARCH(low, high, i, s->at[i].begin_ns <= ns)
    return low;
}

const gnomon_step_info *gnomon__event_step_at(const gnomon__event_steps *s,
                                              uint64_t ns)
{
    size_t begun = event_steps_begun(s, ns);
    return begun && ns < s->at[begun - 1].end_ns ? &s->at[begun - 1] : NULL;
}

bool gnomon__event_steps_miss(const gnomon__event_steps *s, uint64_t begin_ns,
                              uint64_t end_ns)
{
    size_t i = event_steps_begun(s, begin_ns);
    for (i = i ? i - 1 : 0; s->is_scheduled && i + 1 < s->count; i++) {
        const gnomon_step_info *a = &s->at[i], *b = &s->at[i + 1];
        if (a->end_ns >= end_ns)
            return false;
        if (a->stage == b->stage && a->ordinal == b->ordinal &&
            b->number > a->number + 1 && b->begin_ns > begin_ns)
            return true;
    }
    return false;
}

/* ---- Values by a key ---------------------------------------------------------------- */

bool gnomon__keyed_add(gnomon__keyed_list *l, uint64_t key, uint64_t value,
                       uint32_t more)
{
    return GNOMON__PUSH(l->at, l->room, l->count,
                        (gnomon__keyed){key, value, more});
}

GNOMON__ORDER(keyed_compare, gnomon__keyed, UP(key), UP(value), UP(more))

void gnomon__keyed_sort(gnomon__keyed_list *l)
{
    GNOMON__SORT(l->at, l->count, keyed_compare);
}

bool gnomon__keyed_links(gnomon__keyed_list *list, const gnomon_profile *p,
                         int kind)
{
    gnomon_link_info l;
    bool ok = true;
    for (size_t i = 1; ok && !gnomon_profile_link(p, i, &l); i++)
        if (l.from_instance && l.to_instance &&
            (kind < 0 || l.kind == (uint32_t)kind))
            ok =
                gnomon__keyed_add(list, l.to_instance, l.from_instance, l.kind);
    gnomon__keyed_sort(list);
    return ok;
}

size_t gnomon__keyed_from(const gnomon__keyed_list *l, uint64_t key)
{
    size_t low = 0, high = l->count;
    GNOMON__SEARCH(low, high, i, l->at[i].key < key)
    return low;
}

const gnomon__keyed *gnomon__keyed_find(const gnomon__keyed_list *l,
                                        uint64_t key)
{
    const size_t at = gnomon__keyed_from(l, key);
    return at < l->count && l->at[at].key == key ? &l->at[at] : NULL;
}

const gnomon__keyed *gnomon__keyed_call(const gnomon__keyed_list *calls,
                                        const gnomon__keyed_list *launches,
                                        uint64_t instance)
{
    const gnomon__keyed *l = gnomon__keyed_find(launches, instance);
    return l ? gnomon__keyed_find(calls, l->value) : NULL;
}
