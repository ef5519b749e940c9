/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Single records of work, for views that want events: of each view the last ones, in a
 * ring of fixed size. An event belongs where its launch was, as in sums. Under the lock of
 * activities, if not said otherwise. */
#ifndef GNOMON_RECORD_ACTIVITY_EVENTS_H
#define GNOMON_RECORD_ACTIVITY_EVENTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gnomon__activity_event {
    uint64_t begin_ns, end_ns;
    uint64_t launched;    /* ticks */
    uint64_t correlation; /* with the source's number; 0: not known */
    uint64_t serial;      /* 1, 2, ... in the ring */
    uint32_t leaf;
    uint32_t segment; /* of the launch */
} gnomon__activity_event;

/* What a profile gets. */
typedef struct gnomon__activity_events {
    gnomon__activity_event *of;
    size_t count;
    uint64_t overwritten; /* how many are missing, that began in this time */
    uint64_t first_ns, last_ns;
} gnomon__activity_events;

/* Makes the ring of a view, by its index; 0: no memory. And drops it. */
int gnomon__activity_ring_make(uint32_t view);
void gnomon__activity_ring_drop(uint32_t view, int frees);

/* `serial` is set here. */
void gnomon__activity_ring_put(uint32_t view,
                               const gnomon__activity_event *event);

/* Copies those of the view that were launched in this time, in ticks, and that were not
 * given away. With `gives` they are from now on. 0: no memory. */
int gnomon__activity_ring_read(gnomon__activity_events *out, uint32_t view,
                               uint64_t from, uint64_t until, int gives);
void gnomon__activity_events_free(gnomon__activity_events *e);

/* What was launched before `until` is not missed where it is overwritten, and is in no
 * profile any more. Takes no lock; any thread. */
void gnomon__activity_ring_taken(uint32_t view, uint64_t until);

#endif
