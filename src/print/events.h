/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What reports of single executions share: the events of a profile one after the other,
 * its steps in the order of time, and values by a key.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_EVENTS_H
#define GNOMON_PRINT_EVENTS_H

#include <stdbool.h>

#include "gnomon/profile.h"

/* ---- Events: read some at a time, which is faster ---------------------------------- */

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
 * or it could not be read, which gnomon__profile_failed tells whoever asked for the
 * report. */
static inline const gnomon_event_info *gnomon__walk_next(gnomon__event_walk *w)
{
    if (w->at == w->count && !gnomon__walk_read(w))
        return NULL;
    w->number++;
    return &w->events[w->at++];
}

/* ---- Steps: in which one a moment was, and when nothing was recorded ---------------- */

typedef struct gnomon__event_steps {
    gnomon_step_info *at; /* that are over, by their begin */
    size_t count;
    bool is_scheduled; /* steps whose numbers are missing were not recorded */
} gnomon__event_steps;

/* `stage`: by its number; 0: all. O(steps) memory. GNOMON_OK or GNOMON_ENOMEM; free in any
 * case. */
int gnomon__event_steps_make(gnomon__event_steps *s,
                             const gnomon_profile *profile, uint32_t stage);
void gnomon__event_steps_free(gnomon__event_steps *s);

/* The step in which a moment was, or NULL. */
const gnomon_step_info *gnomon__event_step_at(const gnomon__event_steps *s,
                                              uint64_t ns);
/* Whether a part of this time was outside of the schedule's windows. */
bool gnomon__event_steps_miss(const gnomon__event_steps *s, uint64_t begin_ns,
                              uint64_t end_ns);

/* What a report says of a profile without events. */
#define GNOMON__NO_EVENTS \
    "no single executions are in this profile: record it with " \
    "GNOMON=trace,file=run.gnomon"

/* ---- Values by a key, such as the instance of an execution -------------------------- */

typedef struct gnomon__keyed {
    uint64_t key, value;
    uint32_t more;
} gnomon__keyed;

/* All zeroes: empty. The caller frees `at`. */
typedef struct gnomon__keyed_list {
    gnomon__keyed *at;
    size_t count, room;
} gnomon__keyed_list;

/* False: no memory. */
bool gnomon__keyed_add(gnomon__keyed_list *list, uint64_t key, uint64_t value,
                       uint32_t more);
/* By key, then value, then `more`. */
void gnomon__keyed_sort(gnomon__keyed_list *list);
/* Adds the links of that kind between single executions, of any if it is below 0: the
 * cause and the kind by the effect; and sorts. False: no memory. */
bool gnomon__keyed_links(gnomon__keyed_list *list,
                         const gnomon_profile *profile, int kind);
/* In a sorted list: how many keys are less. */
size_t gnomon__keyed_from(const gnomon__keyed_list *list, uint64_t key);
/* Likewise: the first one of the key, which the others follow; NULL: there is none. */
const gnomon__keyed *gnomon__keyed_find(const gnomon__keyed_list *list,
                                        uint64_t key);
/* The same in `calls`, of the call that launched this instance, as `launches` says. */
const gnomon__keyed *gnomon__keyed_call(const gnomon__keyed_list *calls,
                                        const gnomon__keyed_list *launches,
                                        uint64_t instance);

#endif
