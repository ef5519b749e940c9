/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns, of scopes that were open when the profile was taken, a list: they have no event
 * yet, and are written among those of their track, to which they are parents. Of memory,
 * a heap has each track's next event. */
#include "export/timeline.h"

#include <stdlib.h>

#include "print/event_walk.h"

/* ---- What had not ended ----------------------------------------------------- */

static int compare_opens(const void *left, const void *right)
{
    const gnomon_open_info *a = left, *b = right;
    if (a->track != b->track)
        return a->track > b->track ? 1 : -1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns > b->begin_ns ? 1 : -1;
    return (a->reserved > b->reserved) - (a->reserved < b->reserved);
}

int gnomon__opens_begin(gnomon__opens *o, const gnomon_profile *p)
{
    size_t tracks = gnomon_profile_count(p, GNOMON_TRACKS);
    size_t count = gnomon_profile_count(p, GNOMON_OPENS);
    o->of = calloc(count + 1, sizeof *o->of);
    o->next = calloc(tracks + 2, sizeof *o->next);
    o->count = 0;
    if (!o->of || !o->next)
        return 0;
    for (size_t i = 0; i < count; i++) {
        (void)gnomon_profile_open(p, i + 1, &o->of[i]);
        o->of[i].reserved = (uint32_t)i; /* the outer one first, for the sort */
    }
    qsort(o->of, count, sizeof *o->of, compare_opens);
    o->count = count;
    for (size_t i = count; i > 0; i--)
        o->next[o->of[i - 1].track] = i - 1;
    return 1;
}

void gnomon__opens_end(gnomon__opens *o)
{
    free(o->of);
    free(o->next);
    *o = (gnomon__opens){0};
}

const gnomon_open_info *gnomon__opens_next(gnomon__opens *o, size_t track,
                                           uint64_t ns)
{
    size_t i = o->next[track];
    if (i >= o->count || o->of[i].track != track || o->of[i].begin_ns > ns)
        return NULL;
    o->next[track] = i + 1;
    return &o->of[i];
}

/* ---- Memory ------------------------------------------------------------------- */

typedef struct gnomon__memory_track {
    uint64_t zero, at;   /* `at`: of the next event */
    size_t number, last; /* of the next event and the last one */
    gnomon_event_info e; /* the next one */
} gnomon__memory_track;

static int is_earlier(const gnomon__memory_track *a,
                      const gnomon__memory_track *b)
{
    return a->at != b->at ? a->at < b->at : a->e.track < b->e.track;
}

/* Moves what is at `i` down to where it belongs. */
static void sink_memory(gnomon__memory *m, size_t i)
{
    const gnomon__memory_track moved = m->of[i];
    for (size_t child = 2 * i + 1; child < m->count; child = 2 * i + 1) {
        if (child + 1 < m->count &&
            is_earlier(&m->of[child + 1], &m->of[child]))
            child++;
        if (!is_earlier(&m->of[child], &moved))
            break;
        m->of[i] = m->of[child];
        i = child;
    }
    m->of[i] = moved;
}

static uint64_t zero_of(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info k = {.run = 0};
    gnomon_run_info run = {.zero_unix_ns = 0};
    (void)gnomon_profile_track(p, track, &k);
    (void)gnomon_profile_run(p, k.run ? k.run : 1, &run);
    return run.zero_unix_ns;
}

int gnomon__memory_begin(gnomon__memory *m, const gnomon_profile *p)
{
    const size_t tracks = gnomon_profile_count(p, GNOMON_TRACKS);
    size_t *place = calloc(tracks + 1, sizeof *place); /* in the heap, from 1 */
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    *m = (gnomon__memory){.p = p, .of = calloc(tracks + 1, sizeof *m->of)};
    const int ok = place && m->of;
    gnomon__walk_all(&walk, p);
    while (ok && (e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_MEMORY)
            continue;
        if (!place[e->track]) {
            const uint64_t zero = zero_of(p, e->track);
            m->of[m->count] = (gnomon__memory_track){zero, zero + e->begin_ns,
                                                     walk.number, 0, *e};
            place[e->track] = ++m->count;
        }
        m->of[place[e->track] - 1].last = walk.number;
    }
    free(place);
    for (size_t i = m->count; i > 0; i--)
        sink_memory(m, i - 1);
    return ok;
}

void gnomon__memory_end(gnomon__memory *m)
{
    free(m->of);
    *m = (gnomon__memory){0};
}

int gnomon__memory_next(gnomon__memory *m, gnomon_event_info *e,
                        uint64_t *unix_ns)
{
    gnomon__memory_track *t = m->of;
    if (!m->count)
        return 0;
    *e = t->e;
    *unix_ns = t->at;
    do
        t->number++;
    while (t->number <= t->last &&
           (gnomon_profile_event(m->p, t->number, &t->e) ||
            t->e.kind != GNOMON_EVENT_MEMORY || t->e.track != e->track));
    t->at = t->zero + t->e.begin_ns;
    if (t->number > t->last)
        *t = m->of[--m->count];
    sink_memory(m, 0);
    return 1;
}
