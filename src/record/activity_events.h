/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Single records of work, for views that want events: of each view the last ones, in
 * blocks of the arena that marks write to. An event belongs where its launch was, as in
 * sums. Takes the lock of activities, if not said otherwise. */
#ifndef GNOMON_RECORD_ACTIVITY_EVENTS_H
#define GNOMON_RECORD_ACTIVITY_EVENTS_H

#include <stddef.h>

#include "record/tape_read.h"

typedef struct gnomon__activity_event {
    uint64_t begin_ns, end_ns;
    uint64_t launched;    /* ticks */
    uint64_t correlation; /* with the source's number; 0: not known */
    uint64_t serial;      /* 1, 2, ... in the view */
    uint32_t leaf;
    uint32_t segment; /* of the launch */
} gnomon__activity_event;

/* What a profile gets. */
typedef struct gnomon__activity_events {
    gnomon__activity_event *of;
    size_t count;
    gnomon__tape_loss missing; /* in ns: they began in this time */
    /* They were given away to no profile yet: the view's index, from 1. */
    uint32_t given_by;
} gnomon__activity_events;

/* The view wants events too: those of work that is launched while one of the tapes `bits`
 * is open; 0: it wants none, and those that were are gone. In control calls. */
void gnomon__activities_keep(uint32_t generation, uint32_t bits);
/* The same for one that has no work any more, by its index. Under the lock. */
void gnomon__activity_events_drop(uint32_t view);

/* Adds one, whose `serial` is set here; without a leaf it is missing. The view's tapes say
 * what goes where memory is full. Takes the lock of marks once for each block. Under the
 * lock. */
void gnomon__activity_events_put(uint32_t view,
                                 const gnomon__activity_event *event);

/* Copies those of the view that were launched in this time, in ticks, and that were not
 * taken. `most` 0: all, and they stay; else the oldest, of about so many bytes, which are
 * given away. 0: no memory. */
int gnomon__activities_read(gnomon__activity_events *out, uint32_t generation,
                            uint64_t from, uint64_t until, size_t most);
/* Bytes that wait to be read. */
uint64_t gnomon__activities_waiting(uint32_t generation);
/* One of them has no place in the profile: counts it as missing if it was given away. */
void gnomon__activity_events_miss(gnomon__activity_events *e,
                                  const gnomon__activity_event *event);
/* What was given away and is in no profile counts as missing in the next. */
void gnomon__activity_events_free(gnomon__activity_events *e);

/* What was launched before `until` is not missed where it is overwritten, and is in no
 * profile any more. Takes no lock; any thread. */
void gnomon__activities_taken(uint32_t generation, uint64_t until);
/* The same. `is_told`: a profile has it, and told what was missing when it was read, which
 * counts no more; else no profile could be made, and its events are missing. */
void gnomon__activities_over(uint32_t generation, uint64_t until, int is_told);

#endif
