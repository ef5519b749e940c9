/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lanes: viewers draw the executions of a row as nested boxes and drop one that
 * overlaps another partially. So each track has as many lanes as it needs for the
 * executions of each to nest; nearly always one. */
#ifndef GNOMON_EXPORT_LANES_H
#define GNOMON_EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

typedef struct gnomon__lanes {
    struct gnomon__lane_track *tracks; /* by number */
    size_t count;
} gnomon__lanes;

#define GNOMON__NO_LANE UINT32_MAX

/* For tracks 1 .. count. 0: no memory. */
int gnomon__lanes_begin(gnomon__lanes *l, size_t count);
/* The lane, from 0, of an execution. A track's executions come in the order of their
 * begins. GNOMON__NO_LANE: no memory. */
uint32_t gnomon__lanes_put(gnomon__lanes *l, size_t track, uint64_t begin,
                           uint64_t end);
/* Takes out the innermost open execution of a lane if it ends at `until` or before it:
 * for what writes begins and ends apart. 0: there is none, or it ends later. */
int gnomon__lanes_take(gnomon__lanes *l, size_t track, uint32_t lane,
                       uint64_t until, uint64_t *end);
/* How many lanes the track has so far. */
uint32_t gnomon__lanes_of(const gnomon__lanes *l, size_t track);
void gnomon__lanes_end(gnomon__lanes *l);

#endif
