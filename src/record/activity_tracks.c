/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tracks of work: their names, kinds and order. Nothing is kept. */
#include "record/activity_tracks.h"

#include <inttypes.h>
#include <stdio.h>

#include "mark/names.h"
#include "mark/thread.h"

/* Above the numbers that vendors give streams. */
#define FIRST_TIMED_STREAM 1000000u

static void name_track(char *name, size_t size,
                       const gnomon__activity_track *of)
{
    static const char *const lanes[] = {[GNOMON__LANE_OVERHEAD] = "overhead",
                                        [GNOMON__LANE_GRAPHS] = "graphs",
                                        [GNOMON__LANE_COLLECTIVES] =
                                            "collectives"};
    char room[16];
    switch (of->lane) {
    case GNOMON__LANE_STREAM:
        (void)snprintf(name, size, "stream %" PRId64, of->number);
        break;
    case GNOMON__LANE_TIMED:
        (void)snprintf(name, size, "timed stream %" PRId64, of->number);
        break;
    case GNOMON__LANE_CALLS:
        (void)snprintf(
            name, size, "calls of %s",
            gnomon__thread_name_of(
                gnomon__thread_numbered((uint64_t)of->number), room));
        break;
    case GNOMON__LANE_CALLS_OF:
        (void)snprintf(name, size, "calls of thread %" PRId64, of->number);
        break;
    default:
        (void)snprintf(name, size, "%s", lanes[of->lane]);
    }
}

static int64_t system_thread(const gnomon__activity_track *of)
{
    if (of->lane != GNOMON__LANE_CALLS)
        return of->lane == GNOMON__LANE_CALLS_OF ? of->number : 0;
    return load_relaxed(&gnomon__thread_numbered((uint64_t)of->number)->os_id);
}

uint32_t gnomon__activity_put_track(gnomon__model *m,
                                    const gnomon__activity_track *from)
{
    gnomon_track_info *t = gnomon__model_add(m, GNOMON_TRACKS);
    char name[GNOMON__MAX_NAME + 64];
    if (!t)
        return 0;
    name_track(name, sizeof name, from);
    t->run = 1;
    t->device = from->device;
    t->kind =
        from->lane == GNOMON__LANE_STREAM || from->lane == GNOMON__LANE_TIMED
            ? GNOMON_TRACK_STREAM
            : GNOMON_TRACK_LANE;
    t->index = (uint32_t)from->number;
    if (from->lane == GNOMON__LANE_TIMED)
        t->index += FIRST_TIMED_STREAM;
    t->os_id = system_thread(from);
    t->name = gnomon__model_text(m, name);
    return t->name ? (uint32_t)gnomon__model_count(m, GNOMON_TRACKS) : 0;
}

int gnomon__activity_is_host_lane(uint32_t lane)
{
    return lane == GNOMON__LANE_CALLS || lane == GNOMON__LANE_CALLS_OF;
}

int gnomon__activity_track_order(const gnomon__activity_track *a,
                                 const gnomon__activity_track *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}
