/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "print/event_walk.h"

void gnomon__walk_from(gnomon__event_walk *w, const gnomon_profile *p,
                       size_t first, size_t last)
{
    w->p = p;
    w->number = first - 1;
    w->last = last;
    w->at = w->count = 0;
}

void gnomon__walk_all(gnomon__event_walk *w, const gnomon_profile *p)
{
    gnomon__walk_from(w, p, 1, gnomon_profile_count(p, GNOMON_EVENTS));
}

size_t gnomon__walk_read(gnomon__event_walk *w)
{
    const size_t left = w->last - w->number;
    w->at = 0;
    w->count = gnomon_profile_events(
        w->p, w->number + 1, w->events,
        left < GNOMON__WALK_ROOM ? left : GNOMON__WALK_ROOM);
    return w->count;
}
