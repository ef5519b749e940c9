/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The events of a merged run, one after the other, from all of its readings at once: in
 * the memory of a few blocks, whatever their number.
 *
 * In each reading the events of a track are in the order of their begins, and stay so
 * under new numbers. So for each track of the result, its tracks in the readings are
 * merged by begin. What began at one moment is collected and put in order by itself. */
#include "merge/merge_events.h"

#include <stdlib.h>
#include <string.h>

#include "merge/merging.h"
#include "merge/moments.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/events.h"

#define CHUNK 1024u
/* More than so many at one moment of one track are put in order piece by piece. */
#define MOST_AT_ONCE (1u << 16)

/* The lowest and the highest track of CHUNK events. */
typedef struct event_chunk {
    uint32_t low, high;
} event_chunk;

/* A track in a reading, and its next event. */
typedef struct event_cursor {
    const gnomon__run_reading *of;
    const event_chunk *chunks;
    uint32_t reading; /* from 1 */
    uint32_t track;   /* in the reading */
    uint32_t to;      /* in the result */
    size_t number;    /* of the next event */
    int is_over;
    gnomon_event_info e; /* it, with the numbers of the result */
} event_cursor;

typedef struct event_merge {
    const gnomon__run_events *run;
    event_chunk **chunks; /* by reading */
    event_cursor *cursors;
    size_t cursor_count;
    gnomon__table moment; /* events that began together */
    gnomon__merge_put *put;
    void *context;
} event_merge;

/* ---- Where the events of a track are ------------------------------------------- */

static int index_reading(event_merge *w, size_t reading)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    const gnomon_profile *p = w->run->of[reading].p;
    const size_t count = gnomon_profile_count(p, GNOMON_EVENTS);
    event_chunk *c = gnomon__alloc((count / CHUNK + 1) * sizeof *c);
    w->chunks[reading] = c;
    if (!c)
        return gnomon__no_memory_to_merge();
    gnomon__walk_all(&walk, p);
    while ((e = gnomon__walk_next(&walk)) != NULL) {
        event_chunk *at = &c[(walk.number - 1) / CHUNK];
        if ((walk.number - 1) % CHUNK == 0)
            *at = (event_chunk){e->track, e->track};
        at->low = e->track < at->low ? e->track : at->low;
        at->high = e->track > at->high ? e->track : at->high;
    }
    return walk.number == count
               ? GNOMON_OK
               : gnomon__unread_while_merged(gnomon__profile_failed(p));
}

/* Gives it the numbers of the result. 0: it is not in the run. */
static int renumber_event(const gnomon__run_reading *r, gnomon_event_info *e)
{
    gnomon__renumber(&r->map.of, GNOMON_EVENTS, e);
    return e->track &&
           (e->kind == GNOMON_EVENT_EXECUTION ? e->node : e->region) != 0;
}

static int advance(event_cursor *c)
{
    const size_t count = gnomon_profile_count(c->of->p, GNOMON_EVENTS);
    while (c->number <= count) {
        const event_chunk *at = &c->chunks[(c->number - 1) / CHUNK];
        if (c->track < at->low || c->track > at->high) {
            c->number = ((c->number - 1) / CHUNK + 1) * CHUNK + 1;
            continue;
        }
        const int code = gnomon_profile_event(c->of->p, c->number++, &c->e);
        if (code)
            return gnomon__unread_while_merged(code);
        c->e.reserved = c->reading;
        if (c->e.track == c->track && renumber_event(c->of, &c->e))
            return GNOMON_OK;
    }
    c->is_over = 1;
    return GNOMON_OK;
}

static int compare_cursors(const void *left, const void *right)
{
    const event_cursor *a = left, *b = right;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->reading < b->reading ? -1 : a->reading > b->reading;
}

static int make_cursors(event_merge *w)
{
    size_t most = 0;
    for (size_t i = 0; i < w->run->count; i++)
        most += gnomon_profile_count(w->run->of[i].p, GNOMON_TRACKS);
    w->cursors = gnomon__alloc((most + 1) * sizeof *w->cursors);
    if (!w->cursors)
        return gnomon__no_memory_to_merge();
    for (size_t i = 0; i < w->run->count; i++) {
        const gnomon__run_reading *r = &w->run->of[i];
        const size_t tracks = gnomon_profile_count(r->p, GNOMON_TRACKS);
        for (uint32_t t = 1; t <= tracks; t++)
            if (r->map.of.of[GNOMON_TRACKS][t])
                w->cursors[w->cursor_count++] =
                    (event_cursor){.of = r,
                                   .chunks = w->chunks[i],
                                   .reading = (uint32_t)i + 1,
                                   .track = t,
                                   .to = r->map.of.of[GNOMON_TRACKS][t],
                                   .number = 1,
                                   .e.struct_size = sizeof(gnomon_event_info)};
    }
    qsort(w->cursors, w->cursor_count, sizeof *w->cursors, compare_cursors);
    return GNOMON_OK;
}

/* ---- One track of the result ----------------------------------------------------- */

static int put_moment(event_merge *w)
{
    gnomon__table *t = &w->moment;
    int code = GNOMON_OK;
    if (t->count > 1)
        gnomon__sort_moment(t, w->run->are_readings);
    for (size_t i = 0; !code && i < t->count; i++) {
        gnomon_event_info *e = (gnomon_event_info *)(void *)t->items + i;
        e->reserved = 0;
        code = w->put(w->context, e);
    }
    t->count = 0;
    return code;
}

/* Takes all of a cursor's events that began at `begin`. */
static int take_moment(event_merge *w, event_cursor *c, uint64_t begin)
{
    gnomon__table *t = &w->moment;
    int code = GNOMON_OK;
    while (!code && !c->is_over && c->e.begin_ns == begin) {
        if (t->count == MOST_AT_ONCE && (code = put_moment(w)) != 0)
            break;
        if (!gnomon__grow(&t->items, &t->room, t->count + 1, t->size))
            return gnomon__no_memory_to_merge();
        memcpy(t->items + t->count++ * t->size, &c->e, t->size);
        code = advance(c);
    }
    return code;
}

static int merge_track(event_merge *w, event_cursor *first, size_t count)
{
    int code = GNOMON_OK;
    for (size_t i = 0; !code && i < count; i++)
        code = advance(&first[i]);
    while (!code) {
        uint64_t begin = UINT64_MAX;
        int is_over = 1;
        for (size_t i = 0; i < count; i++) {
            is_over &= first[i].is_over;
            if (!first[i].is_over && first[i].e.begin_ns < begin)
                begin = first[i].e.begin_ns;
        }
        if (is_over)
            break;
        for (size_t i = 0; !code && i < count; i++)
            code = take_moment(w, &first[i], begin);
        if (!code)
            code = put_moment(w);
    }
    return code;
}

/* ---- All of a run ------------------------------------------------------------------ */

static int merge_tracks(event_merge *w)
{
    int code = GNOMON_OK;
    for (size_t i = 0; !code && i < w->run->count; i++)
        code = index_reading(w, i);
    if (!code)
        code = make_cursors(w);
    for (size_t i = 0, end; !code && i < w->cursor_count; i = end) {
        for (end = i + 1;
             end < w->cursor_count && w->cursors[end].to == w->cursors[i].to;)
            end++;
        code = merge_track(w, &w->cursors[i], end - i);
    }
    return code;
}

static int has_events(const gnomon__run_events *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (gnomon_profile_count(run->of[i].p, GNOMON_EVENTS))
            return 1;
    return 0;
}

int gnomon__merge_events(const gnomon__run_events *run, gnomon__merge_put *put,
                         void *context)
{
    event_merge w = {.run = run, .put = put, .context = context};
    if (!has_events(run))
        return GNOMON_OK;
    w.moment.size = sizeof(gnomon_event_info);
    w.chunks = gnomon__alloc(run->count * sizeof *w.chunks);
    int code = w.chunks ? merge_tracks(&w) : gnomon__no_memory_to_merge();
    for (size_t i = 0; w.chunks && i < run->count; i++)
        gnomon__free(w.chunks[i]);
    gnomon__free((void *)w.chunks);
    gnomon__free(w.cursors);
    gnomon__free(w.moment.items);
    return code;
}

void gnomon__run_events_free(gnomon__run_events *run)
{
    for (size_t i = 0; i < run->count; i++) {
        gnomon_profile_free(run->of[i].own);
        gnomon__numbers_free(&run->of[i].map.of);
    }
    gnomon__free(run->of);
    memset(run, 0, sizeof *run);
}
