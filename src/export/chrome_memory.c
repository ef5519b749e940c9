/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocations and frees. Each row says how much its pool has allocated since the first
 * of them, so those of all tracks are written in the order of their time. */
#include "export/chrome.h"

#include <stdlib.h>

#include "print/event_walk.h"

/* A track with such events. */
typedef struct chrome_source {
    uint64_t zero;
    size_t track, next, last; /* numbers of its next and its last event */
    gnomon_event_info e;      /* the next one */
} chrome_source;

static void find_next(const gnomon_profile *p, chrome_source *s, size_t from)
{
    for (s->next = from; s->next <= s->last; s->next++) {
        if (gnomon_profile_event(p, s->next, &s->e) == GNOMON_OK &&
            s->e.kind == GNOMON_EVENT_MEMORY && s->e.track == s->track)
            return;
    }
}

/* Notes the first and last event of each track that has some. Returns how many. */
static size_t find_sources(const gnomon__chrome *c, chrome_source *of,
                           size_t *at)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    size_t n = 0;
    gnomon__walk_all(&walk, c->p);
    while ((e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_MEMORY)
            continue;
        if (!at[e->track]) {
            of[n] = (chrome_source){.zero = gnomon__chrome_zero(c, e->track),
                                    .track = e->track,
                                    .next = walk.number,
                                    .e = *e};
            at[e->track] = ++n;
        }
        of[at[e->track] - 1].last = walk.number;
    }
    return n;
}

static chrome_source *earliest_of(chrome_source *of, size_t count)
{
    chrome_source *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (of[i].next <= of[i].last &&
            (!found ||
             of[i].zero + of[i].e.begin_ns < found->zero + found->e.begin_ns))
            found = &of[i];
    return found;
}

/* Bytes; what no memory has is 0. */
static int64_t whole(double bytes)
{
    return bytes > -1e18 && bytes < 1e18 ? (int64_t)bytes : 0;
}

static void put_memory(gnomon__chrome *c, const chrome_source *s,
                       int64_t allocated)
{
    gnomon_track_info pool = {.device = -1};
    (void)gnomon_profile_track(c->p, s->e.region, &pool);
    gnomon__chrome_moment(c, s->track, s->zero + s->e.begin_ns,
                          "\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\"",
                          "[memory]");
    gnomon__export_literal(c->t, "\"Device Type\":");
    gnomon__export_number(c->t, pool.device >= 0);
    gnomon__export_literal(c->t, ",\"Device Id\":");
    gnomon__export_signed(c->t, pool.device);
    gnomon__export_literal(c->t, ",\"Bytes\":");
    gnomon__export_signed(c->t, whole(s->e.value));
    gnomon__export_literal(c->t, ",\"Addr\":");
    gnomon__export_number(c->t, s->e.instance);
    gnomon__export_literal(c->t, ",\"Total Allocated\":");
    gnomon__export_signed(c->t, allocated);
    gnomon__export_literal(c->t, ",\"Total Reserved\":0}}");
}

static void put_all(gnomon__chrome *c, chrome_source *of, size_t count,
                    int64_t *allocated)
{
    for (chrome_source *s; !c->t->code && (s = earliest_of(of, count)) != NULL;
         find_next(c->p, s, s->next + 1)) {
        int64_t *pool = &allocated[s->e.region];
        *pool = whole((double)*pool + s->e.value);
        if (gnomon__export_takes(c->what, c->base + s->zero + s->e.begin_ns))
            put_memory(c, s, *pool);
    }
}

int gnomon__chrome_memory(gnomon__chrome *c)
{
    if (!c->has_memory)
        return 1;
    size_t tracks = gnomon_profile_count(c->p, GNOMON_TRACKS);
    chrome_source *of = calloc(tracks + 1, sizeof *of);
    size_t *at = calloc(tracks + 1, sizeof *at);
    int64_t *allocated = calloc(tracks + 1, sizeof *allocated);
    int ok = of && at && allocated;
    if (ok)
        put_all(c, of, find_sources(c, of, at), allocated);
    free(of);
    free(at);
    free(allocated);
    return ok;
}
