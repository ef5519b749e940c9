/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns a copy of the steps. A profile has them by no order: the last ones, the slowest,
 * and those of its events. */
#include "print/event_steps.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"

static int event_steps_by_begin(const void *left, const void *right)
{
    const gnomon_step_info *a = left, *b = right;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

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
    qsort(s->at, s->count, sizeof *s->at, event_steps_by_begin);
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
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->at[middle].begin_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
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
