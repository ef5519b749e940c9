/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns, for each lane of calls, the next few of them. A file's events are read in order,
 * so some are read at a time, and not one in turn with the thread's. */
#include "export/chrome.h"

#include <stdlib.h>

#define CALLS 256u

typedef struct gnomon__chrome_lane {
    uint32_t track;
    size_t next; /* number of the event from which it is read on */
    size_t at, count;
    size_t numbers[CALLS];
    gnomon_event_info of[CALLS];
} gnomon__chrome_lane;

int gnomon__chrome_calls_begin(gnomon__chrome_calls *l,
                               const gnomon__timeline *of)
{
    l->of = calloc(of->track_count + 1, sizeof *l->of);
    l->count = l->of ? of->track_count + 1 : 0;
    for (size_t i = 1; i < l->count; i++) {
        if (of->tracks[i].host == i)
            continue;
        gnomon__chrome_lane *lane = calloc(1, sizeof *lane);
        if (!lane)
            return 0;
        lane->track = (uint32_t)i;
        lane->next = 1;
        l->of[of->tracks[i].host] = lane;
    }
    return l->of != NULL;
}

void gnomon__chrome_calls_end(gnomon__chrome_calls *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->of[i]);
    free(l->of);
    *l = (gnomon__chrome_calls){0};
}

static void read_calls(gnomon__chrome_lane *lane, const gnomon_profile *p)
{
    const size_t events = gnomon_profile_count(p, GNOMON_EVENTS);
    gnomon__event_walk walk;
    gnomon__walk_from(&walk, p, lane->next, events);
    lane->at = lane->count = 0;
    while (lane->count < CALLS) {
        const gnomon_event_info *e = gnomon__walk_next(&walk);
        if (!e) {
            lane->next = events + 1;
            return;
        }
        if (e->track == lane->track) {
            lane->numbers[lane->count] = walk.number;
            lane->of[lane->count++] = *e;
        }
    }
    lane->next = walk.number + 1;
}

int gnomon__chrome_calls_next(gnomon__chrome_calls *l, const gnomon_profile *p,
                              size_t track, uint64_t ns, gnomon_event_info *e,
                              size_t *number)
{
    gnomon__chrome_lane *lane = l->of[track];
    if (!lane)
        return 0;
    if (lane->at == lane->count)
        read_calls(lane, p);
    if (lane->at == lane->count || lane->of[lane->at].begin_ns >= ns)
        return 0;
    *e = lane->of[lane->at];
    *number = lane->numbers[lane->at++];
    return 1;
}
