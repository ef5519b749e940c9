/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "print/step_events.h"

#include <stdlib.h>

#include "print/order.h"

#define STEP_PATHS 6 /* that are named of a step */

/* The next execution of the run; NULL: there is none. */
static const gnomon_event_info *next_execution(gnomon__event_walk *walk,
                                               uint32_t run)
{
    const gnomon_event_info *e;
    gnomon_track_info track;
    while ((e = gnomon__walk_next(walk)) != NULL)
        if (e->kind == GNOMON_EVENT_EXECUTION &&
            gnomon_profile_track(walk->p, e->track, &track) == GNOMON_OK &&
            track.run == run)
            return e;
    return NULL;
}

static uint64_t length_of_step(const gnomon_step_info *s)
{
    return s->end_ns - s->begin_ns;
}

static int by_length_of_step(const void *left, const void *right)
{
    const gnomon_step_info *a = left, *b = right;
    if (length_of_step(a) != length_of_step(b))
        return length_of_step(a) > length_of_step(b) ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

int gnomon__step_events_make(gnomon__step_events *s,
                             const gnomon_profile *profile, uint32_t stage)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon_stage_info of = {.run = 0};
    *s = (gnomon__step_events){.profile = profile};
    if (!gnomon_profile_count(profile, GNOMON_EVENTS))
        return GNOMON_OK;
    (void)gnomon_profile_stage(profile, stage, &of);
    s->run = of.run;
    int code = gnomon__event_steps_make(&s->steps, profile, stage);
    if (code)
        return code;
    gnomon_step_info *at = s->steps.at; /* reserved: whether it has events */
    gnomon__walk_all(&walk, profile);
    while ((e = next_execution(&walk, s->run)) != NULL) {
        const gnomon_step_info *in =
            gnomon__event_step_at(&s->steps, e->begin_ns);
        if (in)
            at[in - at].reserved = 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < s->steps.count; i++)
        if (at[i].reserved)
            at[n++] = at[i];
    s->steps.count = n;
    GNOMON__SORT(at, n, by_length_of_step);
    s->has_median = n > 0;
    if (n) /* of an even number the shorter one */
        s->median = at[(n - 1) / 2];
    return GNOMON_OK;
}

void gnomon__step_events_free(gnomon__step_events *s)
{
    gnomon__event_steps_free(&s->steps);
    *s = (gnomon__step_events){0};
}

/* ---- One step ---------------------------------------------------------------------- */

static const gnomon__column step_columns[] = {
    GNOMON__STEP_COLUMN_LIST(GNOMON__COLUMN_ROW)};

typedef struct step_reading {
    const gnomon__step_events *of;
    const gnomon_step_info *step;
} step_reading;

static bool begins_in(const gnomon_event_info *e, const gnomon_step_info *step)
{
    return e->begin_ns >= step->begin_ns && e->begin_ns < step->end_ns;
}

static void step_read(gnomon__report_rows *r)
{
    const step_reading *reading = r->more;
    const gnomon_step_info *step = reading->step;
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon__walk_all(&walk, r->profile);
    while ((e = next_execution(&walk, reading->of->run)) != NULL) {
        const bool is_here = begins_in(e, step);
        const bool is_usual = begins_in(e, &reading->of->median);
        if (!is_here && !is_usual)
            continue;
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_count(&cells[GNOMON__STEP_NODE], e->node);
        if (is_here)
            gnomon__cell_count(&cells[GNOMON__STEP_AT],
                               e->begin_ns - step->begin_ns);
        if (is_here)
            gnomon__cell_count(&cells[GNOMON__STEP_TOOK], e->duration_ns);
        if (is_usual)
            gnomon__cell_count(&cells[GNOMON__STEP_USUAL], e->duration_ns);
    }
}

static bool step_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const uint32_t number = (uint32_t)cells[GNOMON__STEP_NODE].count;
    const uint64_t took = cells[GNOMON__STEP_TOOK].count;
    const uint64_t usual = cells[GNOMON__STEP_USUAL].count;
    if (took <= usual)
        return false;
    gnomon__cell_text(&cells[GNOMON__STEP_PATH],
                      gnomon__report_path(r, number));
    gnomon__cell_count(&cells[GNOMON__STEP_LONGER], took - usual);
    return true;
}

static void step_choose(gnomon__report_rows *r)
{
    gnomon__report_table *t = &r->table;
    r->code = gnomon__table_sort(t, GNOMON__STEP_LONGER);
    t->row_count = t->row_count < STEP_PATHS ? t->row_count : STEP_PATHS;
    if (!r->code)
        r->code = gnomon__table_sort(t, GNOMON__STEP_NODE);
    if (!r->code)
        r->code = gnomon__table_sort(t, GNOMON__STEP_AT);
}

int gnomon__step_events_read(gnomon__report_rows *rows, gnomon__step_events *s,
                             const gnomon_step_info *step)
{
    static const gnomon__report paths = {.name = "paths",
                                         .columns = step_columns,
                                         .column_count = GNOMON__STEP_COLUMNS,
                                         .read = step_read,
                                         .finish = step_finish,
                                         .choose = step_choose};
    static const gnomon__table_choice all = {.limit = SIZE_MAX, .sort = -1};
    step_reading reading = {s, step};
    return gnomon__report_make(rows, &paths, &all, &reading, s->profile);
}
