/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rings of events. Positions only grow: of position p the entry is p modulo the room. */
#include "record/activity_events.h"

#include <string.h>

#include "mark/thread.h"
#include "platform/memory.h"
#include "record/activity_notes.h"

/* Of the memory for marks (mem=): 350 000 events of 64 MiB. It is the heap's, which has
 * pages for what is in use. */
#define RING_SHARE 4u

typedef struct work_ring {
    gnomon__activity_event *of; /* NULL: none */
    size_t room;
    uint64_t count; /* positions used */
    uint64_t given; /* positions below were given away */
    uint64_t overwritten, first_ns, last_ns;
} work_ring;

static work_ring rings[GNOMON__ACTIVITY_VIEWS];
static uint64_t ring_taken[GNOMON__ACTIVITY_VIEWS]; /* ticks; any thread */

int gnomon__activity_ring_make(uint32_t view)
{
    work_ring *r = &rings[view];
    if (r->of)
        return 1;
    r->room = gnomon__marks_arena.size / RING_SHARE / sizeof *r->of;
    r->of = gnomon__alloc(r->room * sizeof *r->of);
    return r->of != NULL;
}

void gnomon__activity_ring_drop(uint32_t view, int frees)
{
    if (frees)
        gnomon__free(rings[view].of);
    else
        gnomon__keep_reachable(rings[view].of);
    rings[view] = (work_ring){0};
    store_relaxed(&ring_taken[view], 0);
}

static gnomon__activity_event *ring_at(const work_ring *r, uint64_t position)
{
    return &r->of[position % r->room];
}

static uint64_t ring_first(const work_ring *r)
{
    uint64_t first = r->count > r->room ? r->count - r->room : 0;
    return first > r->given ? first : r->given;
}

void gnomon__activity_ring_put(uint32_t view,
                               const gnomon__activity_event *event)
{
    work_ring *r = &rings[view];
    if (!r->of)
        return;
    gnomon__activity_event *e = ring_at(r, r->count);
    if (r->count >= r->room && r->count - r->room >= r->given &&
        e->launched >= load_relaxed(&ring_taken[view])) {
        if (!r->overwritten++ || e->begin_ns < r->first_ns)
            r->first_ns = e->begin_ns;
        if (e->begin_ns > r->last_ns)
            r->last_ns = e->begin_ns;
    }
    *e = *event;
    e->serial = ++r->count;
}

int gnomon__activity_ring_read(gnomon__activity_events *out, uint32_t view,
                               uint64_t from, uint64_t until, int gives)
{
    work_ring *r = &rings[view];
    uint64_t taken = load_relaxed(&ring_taken[view]);
    *out = (gnomon__activity_events){.overwritten = r->overwritten,
                                     .first_ns = r->first_ns,
                                     .last_ns = r->last_ns};
    size_t most = (size_t)(r->count - ring_first(r));
    from = taken > from ? taken : from;
    if (!r->of || !most)
        return 1;
    if (!(out->of = gnomon__alloc(most * sizeof *out->of)))
        return 0;
    for (uint64_t p = ring_first(r); p < r->count; p++) {
        const gnomon__activity_event *e = ring_at(r, p);
        if (e->launched >= from && e->launched < until)
            out->of[out->count++] = *e;
    }
    if (gives) {
        r->given = r->count;
        r->overwritten = r->first_ns = r->last_ns = 0;
    }
    return 1;
}

void gnomon__activity_events_free(gnomon__activity_events *e)
{
    gnomon__free(e->of);
    *e = (gnomon__activity_events){0};
}

void gnomon__activity_ring_taken(uint32_t view, uint64_t until)
{
    if (until > load_relaxed(&ring_taken[view]))
        store_relaxed(&ring_taken[view], until);
}
