/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lanes: viewers draw the executions of a row as nested boxes and drop one that
 * overlaps another partially. So each track has as many lanes as it needs for the
 * executions of each to nest; nearly always one. */
#ifndef GNOMON_EXPORT_LANES_H
#define GNOMON_EXPORT_LANES_H

#include "gnomon/profile.h"

typedef struct gnomon__lanes {
    struct gnomon__lane_track *tracks; /* by number */
    size_t count;
    size_t most; /* open at one time on a lane; 0: any number */
} gnomon__lanes;

#define GNOMON__NO_LANE UINT32_MAX

/* For tracks 1 .. count. 0: no memory. */
int gnomon__lanes_begin(gnomon__lanes *l, size_t count);
/* The lane, from `first` on, of an execution. A track's executions come in the order of
 * their begins. GNOMON__NO_LANE: no memory. */
uint32_t gnomon__lanes_put(gnomon__lanes *l, size_t track, uint32_t first,
                           uint64_t begin, uint64_t end);
/* Takes out the innermost open execution of a lane if it ends at `until` or before it:
 * for what writes begins and ends apart. 0: there is none, or it ends later. */
int gnomon__lanes_take(gnomon__lanes *l, size_t track, uint32_t lane,
                       uint64_t until, uint64_t *end);
/* How many lanes the track has so far. */
uint32_t gnomon__lanes_of(const gnomon__lanes *l, size_t track);
void gnomon__lanes_end(gnomon__lanes *l);

/* ---- Scopes that their work crosses ---------------------------------------------- */

/* Events time a scope on a stream, and another clock the work: this may seem to end after
 * the scope in which it began. Such scopes are in the second lane, so that the work stays
 * in the first, with the rest of the stream's. Known are they when all events were met. */
typedef struct gnomon__crossed {
    unsigned char *is_timed; /* by node; NULL: none is */
    size_t nodes;
    size_t *numbers; /* of events */
    size_t count, room;
    struct gnomon__crossed_open
        *open; /* timed scopes, on the last event's track */
    size_t open_count, open_room;
    uint32_t track;
} gnomon__crossed;

/* These return 0 where there is no memory. Events are met in their order, by number. */
int gnomon__crossed_begin(gnomon__crossed *c, const gnomon_profile *p);
int gnomon__crossed_meet(gnomon__crossed *c, const gnomon_event_info *e,
                         size_t number);
/* After all were met. */
void gnomon__crossed_ready(gnomon__crossed *c);
/* The first lane that the event may be in. */
uint32_t gnomon__crossed_lane(const gnomon__crossed *c,
                              const gnomon_event_info *e, size_t number);
void gnomon__crossed_end(gnomon__crossed *c);

#endif
