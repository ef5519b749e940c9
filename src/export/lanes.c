/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Owns, for each lane, the ends of the executions that are open on it, innermost last:
 * as much memory as executions are open at one time; and the numbers of the scopes that
 * their work crosses. */
#include "export/lanes.h"

#include <stdlib.h>

#include "export/text.h"

typedef struct gnomon__lane {
    uint64_t *ends; /* descending */
    size_t open, room;
} gnomon__lane;

typedef struct gnomon__lane_track {
    gnomon__lane *lanes;
    uint32_t count;
} gnomon__lane_track;

int gnomon__lanes_begin(gnomon__lanes *l, size_t count)
{
    *l = (gnomon__lanes){.tracks = calloc(count + 1, sizeof *l->tracks)};
    l->count = l->tracks ? count + 1 : 0;
    return l->tracks != NULL;
}

static int push_lane(gnomon__lane *lane, uint64_t end)
{
    uint64_t *ends =
        gnomon__export_grown(lane->ends, &lane->room, lane->open, sizeof *ends);
    if (ends) {
        lane->ends = ends;
        ends[lane->open++] = end;
    }
    return ends != NULL;
}

/* Whether the execution nests in what is open on the lane. What is over leaves. */
static int lane_fits(gnomon__lane *lane, uint64_t begin, uint64_t end,
                     size_t most)
{
    while (lane->open && lane->ends[lane->open - 1] <= begin)
        lane->open--;
    return !lane->open ||
           (lane->ends[lane->open - 1] >= end && lane->open != most);
}

uint32_t gnomon__lanes_put(gnomon__lanes *l, size_t track, uint32_t first,
                           uint64_t begin, uint64_t end)
{
    gnomon__lane_track *t = &l->tracks[track < l->count ? track : 0];
    for (uint32_t i = first; i < t->count; i++)
        if (lane_fits(&t->lanes[i], begin, end, l->most))
            return push_lane(&t->lanes[i], end) ? i : GNOMON__NO_LANE;
    do {
        gnomon__lane *lanes =
            realloc(t->lanes, (t->count + 1) * sizeof *t->lanes);
        if (!lanes)
            return GNOMON__NO_LANE;
        t->lanes = lanes;
        lanes[t->count++] = (gnomon__lane){0};
    } while (t->count <= first);
    return push_lane(&t->lanes[t->count - 1], end) ? t->count - 1
                                                   : GNOMON__NO_LANE;
}

int gnomon__lanes_take(gnomon__lanes *l, size_t track, uint32_t lane,
                       uint64_t until, uint64_t *end)
{
    gnomon__lane *of = &l->tracks[track].lanes[lane];
    if (!of->open || of->ends[of->open - 1] > until)
        return 0;
    *end = of->ends[--of->open];
    return 1;
}

uint32_t gnomon__lanes_of(const gnomon__lanes *l, size_t track)
{
    return track < l->count ? l->tracks[track].count : 0;
}

void gnomon__lanes_end(gnomon__lanes *l)
{
    for (size_t i = 0; i < l->count; i++) {
        for (uint32_t k = 0; k < l->tracks[i].count; k++)
            free(l->tracks[i].lanes[k].ends);
        free(l->tracks[i].lanes);
    }
    free(l->tracks);
    *l = (gnomon__lanes){0};
}

/* ---- Scopes that their work crosses ---------------------------------------------- */

typedef struct gnomon__crossed_open {
    uint64_t end;
    size_t number;
} gnomon__crossed_open;

int gnomon__crossed_begin(gnomon__crossed *c, const gnomon_profile *p)
{
    size_t timed_nodes = 0;
    gnomon_node_info n;
    *c = (gnomon__crossed){.nodes = gnomon_profile_count(p, GNOMON_NODES)};
    c->is_timed = calloc(c->nodes + 1, 1);
    if (!c->is_timed)
        return 0;
    for (size_t i = 1; i <= c->nodes; i++)
        if (!gnomon_profile_node(p, i, &n) && n.flags & GNOMON_NODE_PART)
            timed_nodes += c->is_timed[i] = 1;
    if (!timed_nodes)
        gnomon__crossed_end(c);
    return 1;
}

static int open_timed(gnomon__crossed *c, uint64_t end, size_t number)
{
    gnomon__crossed_open *open = gnomon__export_grown(
        c->open, &c->open_room, c->open_count, sizeof *open);
    if (open) {
        c->open = open;
        open[c->open_count++] = (gnomon__crossed_open){end, number};
    }
    return open != NULL;
}

static int note_crossed(gnomon__crossed *c, size_t number)
{
    size_t *numbers =
        gnomon__export_grown(c->numbers, &c->room, c->count, sizeof *numbers);
    if (numbers) {
        c->numbers = numbers;
        numbers[c->count++] = number;
    }
    return numbers != NULL;
}

int gnomon__crossed_meet(gnomon__crossed *c, const gnomon_event_info *e,
                         size_t number)
{
    const uint64_t end = e->begin_ns + e->duration_ns;
    size_t kept = 0;
    int ok = 1;
    if (!c->is_timed || e->kind != GNOMON_EVENT_EXECUTION || e->node > c->nodes)
        return 1;
    int is_timed = c->is_timed[e->node];
    if (e->track != c->track)
        c->open_count = 0;
    c->track = e->track;
    for (size_t i = 0; ok && i < c->open_count; i++) {
        const gnomon__crossed_open *o = &c->open[i];
        if (o->end <= e->begin_ns)
            continue; /* it is over */
        if (!is_timed && o->end < end)
            ok = note_crossed(c, o->number);
        else
            c->open[kept++] = *o;
    }
    c->open_count = kept;
    return ok && (!is_timed || open_timed(c, end, number));
}

static int crossed_order(const void *left, const void *right)
{
    const size_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

void gnomon__crossed_ready(gnomon__crossed *c)
{
    if (c->count)
        qsort(c->numbers, c->count, sizeof *c->numbers, crossed_order);
}

uint32_t gnomon__crossed_lane(const gnomon__crossed *c,
                              const gnomon_event_info *e, size_t number)
{
    return c->count && e->node <= c->nodes && c->is_timed[e->node] &&
           bsearch(&number, c->numbers, c->count, sizeof number,
                   crossed_order) != NULL;
}

void gnomon__crossed_end(gnomon__crossed *c)
{
    free(c->is_timed);
    free(c->numbers);
    free(c->open);
    *c = (gnomon__crossed){0};
}
