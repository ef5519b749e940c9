/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Snapshots of a view as profiles: of the stage that was closed last, of the open one,
 * or of all by their names. Under the readers' lock, so that any thread may take one
 * while control calls run. */
#include <string.h>

#include "mark/calibrate.h"
#include "mark/segment.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "profile/model.h"
#include "record/activities.h"
#include "run/host.h"
#include "run/run.h"
#include "run/snapshots.h"

/* A cycle has its own steps, and so has a view that came after steps had been made. */
static void choose_steps(gnomon__run_record *r,
                         const gnomon__event_range *events)
{
    uint64_t from = events->window->since > events->from ? events->window->since
                                                         : events->from;
    if (gnomon__tape_is_of_stage(events->which) || events->most || !from)
        return;
    r->steps_from = gnomon__clock_ns(from);
    r->steps_until = events->until == UINT64_MAX
                         ? UINT64_MAX
                         : gnomon__clock_ns(events->until);
}

/* Before the tree is read, so that all their paths are known there. */
static int take_events(gnomon__snapshot_input *f, const gnomon__view *v,
                       const gnomon__event_range *events)
{
    if (!events || !events->window->tape)
        return GNOMON_OK;
    int is_stage = events->which == GNOMON__TAPE_ON_TIME;
    f->run.events = &f->events;
    choose_steps(&f->run, events);
    if (!gnomon__tape_is_late(events->which))
        f->run.work = &f->work;
    if (f->run.work && (v->has_work || v->timed) &&
        !gnomon__activities_read(
            &f->work, v->tree->generation, is_stage ? 0 : events->from,
            is_stage ? UINT64_MAX : events->until, events->most))
        return GNOMON_ENOMEM;
    gnomon__events_ask(&f->events, events);
    return gnomon__tape_read(&f->events);
}

/* The run's part. GNOMON_ENOMEM and a text. */
static int take_run(gnomon__snapshot_input *f, const gnomon__view *v,
                    const gnomon__event_range *events)
{
    memset(f, 0, sizeof *f);
    gnomon__run_describe(&f->run.run);
    f->run.view = v->words;
    size_t length = gnomon__spec_resolved(NULL, 0);
    f->spec = gnomon__alloc(length + 1);
    if (!f->spec)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a profile");
    gnomon__spec_resolved(f->spec, length + 1);
    f->run.run.spec = f->spec;
    f->run.metadata = gnomon__metadata_all(&f->run.metadata_count);
    gnomon__step_lock();
    f->run.step_count = gnomon__steps_last(f->last_steps);
    gnomon__step_unlock();
    f->run.steps = f->last_steps;
    f->run.open = gnomon__stage_ordinal();
    return take_events(f, v, events);
}

void gnomon__snapshot_input_free(gnomon__snapshot_input *f)
{
    gnomon__ledger_free(&f->ledger);
    gnomon__whole_steps_empty(&f->open_steps);
    gnomon__tape_events_free(&f->events);
    gnomon__activity_events_free(&f->work);
    gnomon__free(f->spec);
    gnomon__free(f->stages);
    memset(f, 0, sizeof *f);
}

/* ---- A stage that is over ------------------------------------------------------------ */

static int snapshot_stage(gnomon__model **out, const gnomon__view *v,
                          const gnomon__stage_record *stage,
                          const gnomon__event_range *events)
{
    gnomon__snapshot_input f;
    gnomon__readers_lock();
    int code = take_run(&f, v, events);
    f.run.stages = stage;
    f.run.stage_count = 1;
    if (!code && gnomon__snapshot(out, &v->ledger, &f.run))
        code = gnomon__fail(GNOMON_ENOMEM, "no memory for a profile");
    gnomon__readers_unlock();
    gnomon__snapshot_input_free(&f);
    return code;
}

int gnomon__snapshot_closed(gnomon__model **out, const gnomon__view *v,
                            const gnomon__event_range *events)
{
    gnomon__stage_record stage = gnomon__stage.reported;
    *out = NULL;
    (void)gnomon__calibrate_pair_ns();
    stage.totals = &v->ledger.closed;
    return snapshot_stage(out, v, &stage, events);
}

/* Those that began in the stage; none if that is not known any more. */
static gnomon__event_range late_events(const gnomon__view *window,
                                       const gnomon__stage_key *stage)
{
    gnomon__event_range range = {.window = window, .which = GNOMON__TAPE_LATE};
    const gnomon__past_segments *over = &gnomon__segments_over;
    for (size_t i = 0; i < over->count; i++)
        if (over->at[i].stage.ordinal == stage->ordinal) {
            range.last_segment = over->at[i].number;
            if (!range.first_segment)
                range.first_segment = range.last_segment;
        }
    return range;
}

int gnomon__snapshot_late(gnomon__model **out, const gnomon__view *v,
                          uint32_t which, const gnomon__view *window)
{
    *out = NULL;
    if (which >= v->ledger.late_reported.count)
        return GNOMON_OK;
    const gnomon__late_part *part = &v->ledger.late_reported.of[which];
    const gnomon__stage_record stage = {
        .name = gnomon__stages_named(part->stage.name)->name,
        .key = part->stage,
        .count = 1,
        .is_over = 1,
        .totals = &part->totals};
    gnomon__event_range range;
    if (window)
        range = late_events(window, &part->stage);
    if (window && which + 1 == v->ledger.late_reported.count)
        range.which = GNOMON__TAPE_LATE_LAST;
    return snapshot_stage(out, v, &stage, window ? &range : NULL);
}

/* ---- All of their names --------------------------------------------------------------- */

/* The open stage is the last of its name. */
static int join_open(gnomon__snapshot_input *f, gnomon__stage_record *s,
                     const gnomon__stage_record *open)
{
    uint64_t begin_ns = s->count ? s->key.begin_ns : open->key.begin_ns;
    if (s->steps && s->steps->time.s.count &&
        !gnomon__whole_steps_add(&f->open_steps, s->steps))
        return 0;
    s->name = open->name;
    s->key = open->key;
    s->key.begin_ns = begin_ns;
    s->is_over = 0;
    s->steps = &f->open_steps;
    s->count++;
    return 1;
}

/* In the order of their begins. */
static void sort_stages(gnomon__snapshot_input *f)
{
    for (size_t i = 1; i < f->run.stage_count; i++) {
        gnomon__stage_record s = f->stages[i];
        size_t at = i;
        for (; at && f->stages[at - 1].key.begin_ns > s.key.begin_ns; at--)
            f->stages[at] = f->stages[at - 1];
        f->stages[at] = s;
    }
}

/* Stages by their names, with `open`, which is not over; NULL: there is none. */
static int list_names(gnomon__snapshot_input *f, uint32_t only,
                      const gnomon__stage_record *open)
{
    uint32_t n = 0;
    while (gnomon__stages_named(n))
        n++;
    f->stages = gnomon__alloc((n + 1) * sizeof *f->stages);
    if (!f->stages)
        return GNOMON_ENOMEM;
    for (uint32_t i = 0; i <= n; i++) {
        const gnomon__named_stages *name = gnomon__stages_named(i);
        int is_open = open && i == open->key.name;
        if ((only != GNOMON__ALL_NAMES && only != i) ||
            (!is_open && (!name || !name->count)))
            continue;
        gnomon__stage_record *s = &f->stages[f->run.stage_count++];
        *s = (gnomon__stage_record){.key.name = i, .is_over = 1};
        if (name) {
            s->name = name->name;
            s->key = (gnomon__stage_key){name->ordinal, i, name->begin_ns,
                                         name->end_ns};
            s->count = name->count;
            s->steps = &name->steps;
        }
        if (is_open && !join_open(f, s, open))
            return GNOMON_ENOMEM;
    }
    sort_stages(f);
    f->run.stages = f->stages;
    f->run.by_name = 1;
    return GNOMON_OK;
}

static void find_totals(gnomon__snapshot_input *f, const gnomon__ledger *ledger)
{
    static const gnomon__totals nothing;
    for (size_t i = 0; i < f->run.stage_count; i++) {
        uint32_t name = f->stages[i].key.name;
        f->stages[i].totals =
            name < ledger->name_room ? &ledger->names[name] : &nothing;
    }
}

int gnomon__snapshot_named(gnomon__model **out, const gnomon__view *v,
                           uint32_t name, const gnomon__event_range *events)
{
    gnomon__snapshot_input f;
    const gnomon__stage_record *reported = &gnomon__stage.reported;
    *out = NULL;
    (void)gnomon__calibrate_pair_ns();
    gnomon__readers_lock();
    int code = take_run(&f, v, events);
    f.run.has_some_stages = name != GNOMON__ALL_NAMES;
    if (!code && reported->steps && !reported->is_over &&
        !gnomon__whole_steps_add(&f.open_steps, reported->steps))
        code = GNOMON_ENOMEM;
    if (!code)
        code = list_names(
            &f, name, reported->name && !reported->is_over ? reported : NULL);
    if (!code) {
        find_totals(&f, &v->ledger);
        code = gnomon__snapshot(out, &v->ledger, &f.run);
    }
    gnomon__readers_unlock();
    gnomon__snapshot_input_free(&f);
    return code ? gnomon__fail(code, "no memory for a profile") : code;
}

/* ---- The open stage --------------------------------------------------------------- */

/* A clock that stepped back must not end a stage before its begin. */
static void end_stage_at(gnomon__stage_record *s, uint64_t ticks)
{
    uint64_t end = gnomon__clock_ns(ticks);
    s->key.end_ns = end > s->key.begin_ns ? end : s->key.begin_ns;
}

void gnomon__stage_describe(gnomon__stage_record *s, uint64_t now)
{
    const char *name = gnomon__stage.name ? gnomon__stage.name : "";
    *s = (gnomon__stage_record){.name = name, .count = 1};
    s->key.ordinal = gnomon__stage_ordinal();
    s->key.name = gnomon__stage_name_find(name);
    s->from = gnomon__stage_begin_ticks(now);
    s->key.begin_ns = gnomon__clock_ns(s->from);
    end_stage_at(s, now);
}

static int is_range_open; /* of goes_on alone */

static void see_range(uint32_t segment)
{
    (void)segment;
    is_range_open = 1;
}

/* Devices may work on after the last mark. */
static int goes_on(const gnomon__ledger *copy)
{
    int any = gnomon__stage.was_opened || gnomon__stage.unreached;
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        any |=
            (copy ? copy : &v->ledger)->open_count || v->has_work || v->timed;
    is_range_open = 0;
    gnomon__ranges_open(see_range);
    return any || is_range_open;
}

uint64_t gnomon__stage_end(gnomon__stage_record *s, const gnomon__ledger *copy,
                           uint64_t now)
{
    uint64_t last = gnomon__last_end(), step = gnomon__steps_last_end();
    last = last > step ? last : step;
    if (last <= s->from || last > now || goes_on(copy))
        return now;
    end_stage_at(s, last);
    return last;
}

/* ---- What goes on --------------------------------------------------------------------- */

static int describe_open(gnomon__snapshot_input *f, gnomon__stage_record *stage,
                         const gnomon__view *v, uint64_t *end)
{
    gnomon__step_lock();
    uint64_t now = gnomon__ticks(), begin = gnomon__stage_begin_ticks(now);
    gnomon__stage_describe(stage, now);
    int ok = gnomon__steps_copy(&f->open_steps, begin, now) &&
             gnomon__view_read(v, &f->ledger.open, begin, now);
    *end = gnomon__stage_end(stage, &f->ledger, now);
    gnomon__step_unlock();
    stage->steps = &f->open_steps;
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

static int snapshot_open(gnomon__model **out, gnomon__view *v, int by_name,
                         const gnomon__event_range *events)
{
    gnomon__snapshot_input f;
    gnomon__stage_record open;
    int code = take_run(&f, v, events);
    f.run.has_some_stages = !by_name;
    if (!code)
        code = gnomon__ledger_copy(&f.ledger, &v->ledger, v->tree->bit,
                                   v->tree->generation, by_name);
    /* Described last, so that all copied records are before its end. */
    uint64_t end = 0;
    if (!code)
        code = describe_open(&f, &open, v, &end);
    uint64_t recorded = gnomon__view_recorded(v, end);
    if (!code && by_name) {
        int is_due = gnomon__stage_is_due();
        code = list_names(&f, GNOMON__ALL_NAMES, is_due ? &open : NULL);
        if (!code)
            code = is_due
                       ? gnomon__ledger_join(&f.ledger, open.key.name, recorded)
                       : gnomon__ledger_settle(&f.ledger);
        find_totals(&f, &f.ledger);
    } else if (!code) {
        open.totals = &f.ledger.open;
        f.ledger.open.recorded_ns = recorded;
        f.run.stages = &open;
        f.run.stage_count = 1;
    }
    if (!code)
        code = gnomon__snapshot(out, &f.ledger, &f.run);
    gnomon__snapshot_input_free(&f);
    return code ? gnomon__fail(GNOMON_ENOMEM, "no memory for a profile") : code;
}

int gnomon__snapshot_live(gnomon__model **out, gnomon__view *v, int by_name,
                          const gnomon__event_range *events)
{
    *out = NULL;
    gnomon__heap_start(); /* not first under a lock */
    return snapshot_open(out, v, by_name, events);
}
