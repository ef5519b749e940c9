/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What formats with a timeline read beside the events of each track: what had not ended,
 * track by track; and memory, in the order of time. */
#ifndef GNOMON_EXPORT_TIMELINE_H
#define GNOMON_EXPORT_TIMELINE_H

#include "gnomon/profile.h"

/* Scopes that were open, by track, in the order of their begins. */
typedef struct gnomon__opens {
    gnomon_open_info *of;
    size_t *next; /* by track: the first that was not given */
    size_t count;
} gnomon__opens;

/* 0: no memory. */
int gnomon__opens_begin(gnomon__opens *o, const gnomon_profile *p);
void gnomon__opens_end(gnomon__opens *o);
/* The track's next open scope that began at `ns` or before it; NULL: none. */
const gnomon_open_info *gnomon__opens_next(gnomon__opens *o, size_t track,
                                           uint64_t ns);

/* Allocations and frees, of all tracks in the order of time, and of equal moments in that
 * of tracks: many threads allocate from one pool. */
typedef struct gnomon__memory {
    const gnomon_profile *p;
    struct gnomon__memory_track *of; /* a heap, the earliest first */
    size_t count;
} gnomon__memory;

/* Reads all events. 0: no memory. */
int gnomon__memory_begin(gnomon__memory *m, const gnomon_profile *p);
void gnomon__memory_end(gnomon__memory *m);
/* Copies the next one, and its moment. 0: there is none. */
int gnomon__memory_next(gnomon__memory *m, gnomon_event_info *e,
                        uint64_t *unix_ns);

#endif
