/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns, for each lane, the ends of the executions that are open on it, innermost last:
 * as much memory as executions are open at one time. */
#include "export/lanes.h"

#include <stdlib.h>

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
    l->tracks = calloc(count + 1, sizeof *l->tracks);
    l->count = l->tracks ? count + 1 : 0;
    return l->tracks != NULL;
}

static int push_lane(gnomon__lane *lane, uint64_t end)
{
    if (lane->open == lane->room) {
        size_t room = lane->room ? 2 * lane->room : 16;
        uint64_t *ends = realloc(lane->ends, room * sizeof *ends);
        if (!ends)
            return 0;
        lane->ends = ends;
        lane->room = room;
    }
    lane->ends[lane->open++] = end;
    return 1;
}

/* Whether the execution nests in what is open on the lane. What is over leaves. */
static int lane_fits(gnomon__lane *lane, uint64_t begin, uint64_t end)
{
    while (lane->open && lane->ends[lane->open - 1] <= begin)
        lane->open--;
    return !lane->open || lane->ends[lane->open - 1] >= end;
}

uint32_t gnomon__lanes_put(gnomon__lanes *l, size_t track, uint64_t begin,
                           uint64_t end)
{
    gnomon__lane_track *t = &l->tracks[track < l->count ? track : 0];
    for (uint32_t i = 0; i < t->count; i++)
        if (lane_fits(&t->lanes[i], begin, end))
            return push_lane(&t->lanes[i], end) ? i : GNOMON__NO_LANE;
    gnomon__lane *lanes = realloc(t->lanes, (t->count + 1) * sizeof *t->lanes);
    if (!lanes)
        return GNOMON__NO_LANE;
    t->lanes = lanes;
    lanes[t->count] = (gnomon__lane){0};
    return push_lane(&lanes[t->count], end) ? t->count++ : GNOMON__NO_LANE;
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
