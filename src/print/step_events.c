/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "print/step_events.h"

#include <stdlib.h>
#include <string.h>

#include "print/event_walk.h"

typedef struct step_events_step {
    gnomon_step_info step;
    uint64_t ns;
    int has_events;
} step_events_step;

/* ---- Steps ------------------------------------------------------------------------ */

static int by_begin_of_step(const void *left, const void *right)
{
    const step_events_step *a = left, *b = right;
    return (a->step.begin_ns > b->step.begin_ns) -
           (a->step.begin_ns < b->step.begin_ns);
}

static int by_length_of_step(const void *left, const void *right)
{
    const step_events_step *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? 1 : -1;
    return (a->step.number > b->step.number) -
           (a->step.number < b->step.number);
}

static int list_steps_of(gnomon__step_events *s, uint32_t stage)
{
    size_t all = gnomon_profile_count(s->profile, GNOMON_STEPS);
    gnomon_step_info step;
    s->steps = calloc(all + 1, sizeof *s->steps);
    for (size_t i = 1; s->steps && i <= all; i++) {
        (void)gnomon_profile_step(s->profile, i, &step);
        if (step.stage == stage && step.end_ns > step.begin_ns)
            s->steps[s->count++] =
                (step_events_step){step, step.end_ns - step.begin_ns, 0};
    }
    if (s->steps)
        qsort(s->steps, s->count, sizeof *s->steps, by_begin_of_step);
    return s->steps != NULL;
}

static step_events_step *step_at(const gnomon__step_events *s, uint64_t ns)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->steps[middle].step.begin_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low && ns < s->steps[low - 1].step.end_ns ? &s->steps[low - 1]
                                                     : NULL;
}

/* ---- Events ------------------------------------------------------------------------ */

typedef void step_event_use(void *context, const gnomon_event_info *e);

/* Each execution of the stage's run. */
static void each_execution(const gnomon_profile *p, uint32_t run,
                           step_event_use *use, void *context)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon_track_info track = {.run = 0};
    uint32_t last = 0;
    gnomon__walk_all(&walk, p);
    while ((e = gnomon__walk_next(&walk)) != NULL) {
        if (e->track != last)
            (void)gnomon_profile_track(p, last = e->track, &track);
        if (track.run == run && e->kind == GNOMON_EVENT_EXECUTION)
            use(context, e);
    }
}

static void mark_step(void *context, const gnomon_event_info *e)
{
    step_events_step *step = step_at(context, e->begin_ns);
    if (step)
        step->has_events = 1;
}

static uint32_t run_of_stage(const gnomon_profile *p, uint32_t number)
{
    gnomon_stage_info stage;
    (void)gnomon_profile_stage(p, number, &stage);
    return stage.run;
}

/* Of those that have events; of an even number the shorter one. */
static void choose_median(gnomon__step_events *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->steps[i].has_events)
            s->steps[n++] = s->steps[i];
    s->count = n;
    if (!n)
        return;
    qsort(s->steps, n, sizeof *s->steps, by_length_of_step);
    s->median = s->steps[(n - 1) / 2].step;
    s->has_median = 1;
}

typedef struct step_sum {
    const gnomon_step_info *step;
    gnomon__step_path *paths; /* by node; or NULL */
    uint64_t *usual;          /* likewise */
} step_sum;

static void add_to_step(void *context, const gnomon_event_info *e)
{
    const step_sum *sum = context;
    if (e->begin_ns < sum->step->begin_ns || e->begin_ns >= sum->step->end_ns)
        return;
    if (sum->usual)
        sum->usual[e->node] += e->duration_ns;
    if (!sum->paths)
        return;
    gnomon__step_path *path = &sum->paths[e->node];
    uint64_t at = e->begin_ns - sum->step->begin_ns;
    if (!path->node || at < path->at_ns)
        path->at_ns = at;
    path->node = e->node;
    path->ns += e->duration_ns;
}

int gnomon__step_events_make(gnomon__step_events *s,
                             const gnomon_profile *profile, uint32_t stage)
{
    size_t nodes = gnomon_profile_count(profile, GNOMON_NODES);
    *s = (gnomon__step_events){.profile = profile};
    if (!gnomon_profile_count(profile, GNOMON_EVENTS))
        return GNOMON_OK;
    s->usual = calloc(nodes + 1, sizeof *s->usual);
    s->paths = calloc(nodes + 1, sizeof *s->paths);
    if (!s->usual || !s->paths || !list_steps_of(s, stage))
        return GNOMON_ENOMEM;
    uint32_t run = run_of_stage(profile, stage);
    each_execution(profile, run, mark_step, s);
    choose_median(s);
    if (s->has_median)
        each_execution(profile, run, add_to_step,
                       &(step_sum){&s->median, NULL, s->usual});
    return GNOMON_OK;
}

void gnomon__step_events_free(gnomon__step_events *s)
{
    free(s->steps);
    free(s->usual);
    free(s->paths);
    *s = (gnomon__step_events){0};
}

/* ---- One step ---------------------------------------------------------------------- */

static uint64_t longer_by(const gnomon__step_path *p)
{
    return p->ns > p->usual_ns ? p->ns - p->usual_ns : 0;
}

static int by_excess_of_path(const void *left, const void *right)
{
    const gnomon__step_path *a = left, *b = right;
    uint64_t x = longer_by(a), y = longer_by(b);
    if (x != y)
        return x < y ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

static int by_begin_of_path(const void *left, const void *right)
{
    const gnomon__step_path *a = left, *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns > b->at_ns ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

int gnomon__step_events_read(gnomon__step_events *s,
                             const gnomon_step_info *step,
                             const gnomon__step_path **paths)
{
    size_t nodes = gnomon_profile_count(s->profile, GNOMON_NODES);
    size_t n = 0, kept = 0;
    *paths = s->paths;
    if (!s->has_median)
        return 0;
    memset(s->paths, 0, (nodes + 1) * sizeof *s->paths);
    each_execution(s->profile, run_of_stage(s->profile, step->stage),
                   add_to_step, &(step_sum){step, s->paths, NULL});
    for (size_t i = 1; i <= nodes; i++)
        if (s->paths[i].node) {
            s->paths[n] = s->paths[i];
            s->paths[n].usual_ns = s->usual[s->paths[n].node];
            n++;
        }
    qsort(s->paths, n, sizeof *s->paths, by_excess_of_path);
    while (kept < n && kept < GNOMON__STEP_PATHS &&
           longer_by(&s->paths[kept]) > 0)
        kept++;
    qsort(s->paths, kept, sizeof *s->paths, by_begin_of_path);
    return (int)kept;
}
