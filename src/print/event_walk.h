/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The events of a profile one after the other, read some at a time, which is faster.
 *
 * Uses public headers only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_EVENT_WALK_H
#define GNOMON_PRINT_EVENT_WALK_H

#include "gnomon/profile.h"

#define GNOMON__WALK_ROOM 64u /* 4 KiB, on the stack too */

typedef struct gnomon__event_walk {
    const gnomon_profile *p;
    size_t number; /* of the event that was given last */
    size_t last;   /* none after it is given */
    size_t at, count;
    gnomon_event_info events[GNOMON__WALK_ROOM];
} gnomon__event_walk;

/* The next event will be number `first`, from 1. */
void gnomon__walk_from(gnomon__event_walk *w, const gnomon_profile *p,
                       size_t first, size_t last);
/* All events of the profile. */
void gnomon__walk_all(gnomon__event_walk *w, const gnomon_profile *p);
/* Reads the next ones; 0: there are none. */
size_t gnomon__walk_read(gnomon__event_walk *w);

/* The next event, valid until the next call; its number is w->number. NULL: there is none,
 * or it could not be read. */
static inline const gnomon_event_info *gnomon__walk_next(gnomon__event_walk *w)
{
    if (w->at == w->count && !gnomon__walk_read(w))
        return NULL;
    w->number++;
    return &w->events[w->at++];
}

#endif
