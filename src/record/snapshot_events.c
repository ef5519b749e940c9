/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts the events of tapes into a profile. They stay as 16 bytes each, converted in
 * place: moments and durations to ns, paths to nodes; the profile's reader makes the
 * public struct of each when it is asked for. */
#include "record/activity_rows.h"

#include <string.h>

#include "mark/region.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "record/activity_events.h"
#include "record/tape_read.h"

/* The stage that a path was looked up in last, and its node there. */
typedef struct found_node {
    uint32_t stage_plus_one;
    uint32_t node;
} found_node;

/* ---- Which paths ----------------------------------------------------------------- */

static size_t path_room(const gnomon__snapshot_builder *b, uint32_t thread)
{
    return b->ledger->paths[thread].room;
}

/* Whether the profile is of other stages than this event. */
static int is_elsewhere(const gnomon__snapshot_builder *b, uint32_t stage)
{
    return !stage && b->record->has_some_stages;
}

/* In which an event began. */
static uint32_t stage_of_event(const gnomon__snapshot_builder *b,
                               const gnomon__tape_entry *entry,
                               gnomon__stage_cursor *at)
{
    const gnomon__tape_events *e = b->record->events;
    const uint32_t segment =
        entry->what & GNOMON__ENTRY_MORE ? e->more[entry->length].segment : 0;
    return segment ? gnomon__snapshot_stage_of(b, segment)
                   : gnomon__snapshot_stage_at(b, entry->begin, at);
}

/* Calls of `need` are few: once for each change of a path's stage. */
static int need_of_thread(gnomon__snapshot_builder *b,
                          const gnomon__tape_thread *t)
{
    size_t room = path_room(b, t->thread);
    gnomon__stage_cursor at = {0};
    found_node *found = gnomon__alloc((room + 1) * sizeof *found);
    int ok = found != NULL;
    for (size_t i = 0; ok && i < t->count; i++) {
        uint32_t path = GNOMON__ENTRY_NUMBER(t->entries[i].what);
        uint32_t stage = stage_of_event(b, &t->entries[i], &at);
        if (!path || path >= room || is_elsewhere(b, stage) ||
            found[path].stage_plus_one == stage + 1 ||
            !gnomon__ledger_path(b->ledger, t->thread, path))
            continue;
        found[path].stage_plus_one = stage + 1;
        ok = gnomon__snapshot_need(b, t->thread, path, stage);
    }
    gnomon__free(found);
    return ok;
}

int gnomon__snapshot_need_events(gnomon__snapshot_builder *b)
{
    const gnomon__tape_events *e = b->record->events;
    int ok = 1;
    for (size_t i = 0; ok && e && i < e->thread_count; i++)
        if (i < b->thread_count && e->threads[i].count)
            ok = need_of_thread(b, &e->threads[i]);
    return ok;
}

/* ---- Conversion -------------------------------------------------------------------- */

static uint32_t node_at(const gnomon__snapshot_builder *b, found_node *found,
                        size_t room, uint32_t thread, uint32_t path,
                        uint32_t stage)
{
    if (!path || path >= room)
        return 0;
    if (found[path].stage_plus_one != stage + 1)
        found[path] = (found_node){
            stage + 1, gnomon__snapshot_node(b, thread, path, stage)};
    return found[path].node;
}

/* Durations are the difference of both converted moments, as hooks see it. */
static int convert_length(gnomon__tape_events *e, gnomon__line_part *near,
                          gnomon__tape_entry *entry)
{
    uint64_t ticks = gnomon__entry_length(e, entry);
    uint64_t begin = gnomon__clock_ns_near(near, entry->begin);
    uint64_t ns = gnomon__clock_ns_near(near, entry->begin + ticks);
    ns = ns > begin ? ns - begin : 0;
    entry->begin = begin;
    if (!(entry->what & GNOMON__ENTRY_MORE) && !(ns >> 32)) {
        entry->length = (uint32_t)ns;
        return 1;
    }
    gnomon__tape_more *more = gnomon__entry_more(e, entry);
    if (more) /* a tick may be longer than a ns */
        more->length = ns;
    return more != NULL;
}

static int convert_entry(gnomon__snapshot_builder *b, gnomon__tape_events *e,
                         gnomon__line_part *near, gnomon__tape_entry *entry,
                         uint32_t node)
{
    uint32_t kind = GNOMON__ENTRY_KIND(entry->what);
    entry->what = (entry->what & ~GNOMON__ENTRY_NUMBER(UINT32_MAX)) | node;
    if (!convert_length(e, near, entry))
        return 0;
    if (kind == GNOMON_EVENT_EXECUTION)
        return 1;
    gnomon__tape_more *more = &e->more[entry->length];
    const uint32_t id = GNOMON__KEY_REGION(more->region);
    if (kind == GNOMON_EVENT_COUNTER &&
        gnomon__region_entry(id)->region->kind == GNOMON_KIND_POOL) {
        entry->what |= (uint32_t)GNOMON_EVENT_MEMORY << 30;
        more->region = gnomon__snapshot_pool(b, id);
    } else {
        more->region = gnomon__snapshot_region(b, id);
    }
    return more->region != 0;
}

/* An event whose path the ledger does not know yet was written after the tree was read:
 * it comes with the next profile. */
static int convert_thread(gnomon__snapshot_builder *b, gnomon__tape_events *e,
                          gnomon__tape_thread *t)
{
    size_t room = path_room(b, t->thread), kept = 0;
    gnomon__stage_cursor at = {0};
    gnomon__line_part near = {0};
    found_node *found = gnomon__alloc((room + 1) * sizeof *found);
    int ok = found != NULL;
    for (size_t i = 0; ok && i < t->count; i++) {
        gnomon__tape_entry entry = t->entries[i];
        uint32_t path = GNOMON__ENTRY_NUMBER(entry.what);
        uint32_t stage = stage_of_event(b, &entry, &at);
        if (is_elsewhere(b, stage))
            continue;
        uint32_t node = node_at(b, found, room, t->thread, path, stage);
        if (!node && GNOMON__ENTRY_KIND(entry.what) == GNOMON_EVENT_EXECUTION)
            continue;
        ok = convert_entry(b, e, &near, &entry, node);
        t->entries[kept++] = entry;
    }
    t->count = kept;
    t->track = b->threads[t->thread].track;
    gnomon__free(found);
    return ok;
}

/* ---- Losses and steps ---------------------------------------------------------------- */

/* `begin` and `end` in ns. */
static int put_lost(gnomon__snapshot_builder *b, uint32_t track,
                    const char *kind, uint64_t count, uint64_t begin,
                    uint64_t end)
{
    gnomon_loss_info *l = count ? gnomon__model_add(b->m, GNOMON_LOSSES) : NULL;
    if (!l)
        return !count;
    l->run = 1;
    l->track = track;
    l->kind = kind;
    l->count = count;
    l->begin_ns = begin;
    l->end_ns = end;
    return 1;
}

static int put_event_loss(gnomon__snapshot_builder *b, uint32_t track,
                          const char *kind, const gnomon__tape_loss *loss)
{
    const uint64_t last = loss->last > loss->first ? loss->last : loss->first;
    return put_lost(b, track, kind, loss->count, gnomon__clock_ns(loss->first),
                    gnomon__clock_ns(last));
}

static int put_work_loss(gnomon__snapshot_builder *b)
{
    const gnomon__activity_events *work = b->record->work;
    return !work ||
           put_lost(b, 0, "activities_overwritten", work->missing.count,
                    work->missing.first, work->missing.last);
}

static int put_taped_steps(gnomon__snapshot_builder *b,
                           const gnomon__tape_events *e)
{
    size_t kept = gnomon__model_count(b->m, GNOMON_STEPS);
    int ok = 1;
    for (size_t i = 0; ok && i < e->step_count; i++) {
        const gnomon__tape_step_read *s = &e->steps[i];
        gnomon__stage_cursor at = {0};
        uint32_t stage = gnomon__snapshot_stage_at(b, s->begin, &at);
        const gnomon__step_record f = {
            .ordinal = at.ordinal,
            .phase = GNOMON_PHASE_RECORD,
            .number = s->number,
            .begin_ns = gnomon__clock_ns(s->begin),
            .end_ns = gnomon__clock_ns(s->begin + s->ticks)};
        ok = !stage || gnomon__snapshot_taped_step(b, stage, &f, kept);
    }
    return ok;
}

/* ---- The profile's reader --------------------------------------------------------------- */

typedef struct taped_source {
    gnomon__event_source base;
    gnomon__tape_events e;
    size_t taped;            /* how many events are of `e`; the others ... */
    gnomon__work_rows *work; /* ... are of devices */
} taped_source;

/* The thread of an event: the last one whose first event is not after it. */
static const gnomon__tape_thread *thread_of_event(const gnomon__tape_events *e,
                                                  size_t number)
{
    size_t low = 0, high = e->thread_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (e->threads[middle].first <= number)
            low = middle;
        else
            high = middle;
    }
    return &e->threads[low];
}

static void get_work(const gnomon__work_row *row, gnomon_event_info *to)
{
    *to = (gnomon_event_info){.struct_size = sizeof *to,
                              .kind = GNOMON_EVENT_EXECUTION,
                              .track = row->track,
                              .node = row->node,
                              .begin_ns = row->begin_ns,
                              .duration_ns = row->duration_ns,
                              .instance = row->instance};
}

static void get_taped(const gnomon__tape_events *e,
                      const gnomon__tape_thread *t,
                      const gnomon__tape_entry *entry, gnomon_event_info *to)
{
    *to = (gnomon_event_info){.struct_size = sizeof *to,
                              .kind = GNOMON__ENTRY_KIND(entry->what),
                              .track = t->track,
                              .node = GNOMON__ENTRY_NUMBER(entry->what),
                              .begin_ns = entry->begin,
                              .duration_ns = entry->length};
    if (!(entry->what & GNOMON__ENTRY_MORE))
        return;
    const gnomon__tape_more *more = &e->more[entry->length];
    to->duration_ns = more->length;
    to->instance = more->instance;
    to->value = more->value;
    if (to->kind != GNOMON_EVENT_EXECUTION)
        to->region = more->region;
}

/* Up to the thread's last. */
static size_t read_taped(gnomon__event_source *s, size_t number,
                         gnomon_event_info *to, size_t room)
{
    const taped_source *source = (const void *)s;
    const int is_work = number > source->taped;
    const gnomon__tape_thread *t =
        is_work ? NULL : thread_of_event(&source->e, number);
    const size_t first = is_work ? source->taped + 1 : t->first;
    const size_t count = is_work ? source->work->count : t->count;
    const size_t left = count - (number - first);
    room = room < left ? room : left;
    for (size_t i = 0; i < room; i++)
        if (is_work)
            get_work(&source->work->of[number - first + i], &to[i]);
        else
            get_taped(&source->e, t, &t->entries[number - first + i], &to[i]);
    return room;
}

static void free_taped(gnomon__event_source *s)
{
    taped_source *source = (void *)s;
    gnomon__tape_events_free(&source->e);
    gnomon__free(source->work);
    gnomon__free(s);
}

/* The profile owns the events from now on. */
static int give_events(gnomon__snapshot_builder *b, gnomon__tape_events *e)
{
    taped_source *s = gnomon__alloc(sizeof *s);
    if (!s)
        return 0;
    size_t count = 0;
    for (size_t i = 0; i < e->thread_count; i++) {
        e->threads[i].first = count + 1;
        count += e->threads[i].count;
    }
    s->taped = count;
    s->work = b->work;
    b->work = NULL;
    count += s->work ? s->work->count : 0;
    s->base = (gnomon__event_source){
        .count = count, .read = read_taped, .free = free_taped};
    s->e = *e;
    memset(e, 0, sizeof *e);
    gnomon__model_set_events(b->m, &s->base);
    b->events = &s->e;
    return 1;
}

void gnomon__snapshot_events_arrived(const gnomon__snapshot_builder *b)
{
    if (b->events)
        gnomon__tape_told(b->events);
    if (b->events && b->record->work)
        b->record->work->given_by = 0;
}

int gnomon__snapshot_put_events(gnomon__snapshot_builder *b)
{
    gnomon__tape_events *e = b->record->events;
    int ok = 1;
    if (!e)
        return 1;
    ok = put_taped_steps(b, e);
    for (size_t i = 0; ok && i < e->thread_count; i++) {
        gnomon__tape_thread *t = &e->threads[i];
        if (i >= b->thread_count || !b->threads[i].track)
            t->count = 0;
        else
            ok = convert_thread(b, e, t) &&
                 put_event_loss(b, t->track, "events_lost", &t->lost) &&
                 put_event_loss(b, t->track, "events_overwritten",
                                &t->overwritten);
    }
    return ok && put_work_loss(b) && give_events(b, e);
}
