/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The events of a united profile, which stay in the profiles that it is made of: each is
 * read there when it is asked for, and gets the result's numbers.
 *
 * Asked for in their order, they are read once more than those profiles are; any other
 * order begins a track anew. */
#ifndef GNOMON_MERGE_UNITED_EVENTS_H
#define GNOMON_MERGE_UNITED_EVENTS_H

#include "profile/fields.h"
#include "profile/model.h"

/* The lowest and the highest track of some events. */
typedef struct gnomon__event_chunk {
    uint32_t low, high;
} gnomon__event_chunk;

/* What a track has of the result's events, and when the first and the last of these
 * began. */
typedef struct gnomon__event_track {
    size_t count;
    uint64_t begin_ns, last_ns;
} gnomon__event_track;

/* When a stage was. */
typedef struct gnomon__event_window {
    uint64_t begin_ns, end_ns;
} gnomon__event_window;

/* The events of one profile. */
typedef struct gnomon__event_part {
    const gnomon_profile *p;
    gnomon_profile *own; /* it, if it is freed with the events; else NULL */
    /* The result's numbers of its tracks, nodes and regions; 0: left out. */
    gnomon__numbers of;
    size_t count[GNOMON__ENTITIES];
    /* Of events without a node: by region whether they are in (NULL: all are), and when
     * they have begun: in one of the windows, or in none of them. */
    unsigned char *is_taken;
    gnomon__event_window *windows;
    size_t window_count;
    int is_outside;
    gnomon__event_chunk *chunks; /* NULL: not known yet, nor are */
    gnomon__event_track *tracks; /* by track, from 1 */
} gnomon__event_part;

typedef struct gnomon__united_events gnomon__united_events;

/* Makes *s if it is NULL, and adds a part, which must outlive it unless it owns it, and
 * which is freed with it. NULL: no memory. */
gnomon__event_part *gnomon__events_add(gnomon__united_events **s,
                                       const gnomon_profile *p);
void gnomon__events_free(gnomon__united_events *s);

/* The last part, if it is `p`, is freed with it; else 0. */
int gnomon__events_own(gnomon__united_events *s, gnomon_profile *p);

/* The last part is a result itself, with events of `source`: its own parts take its place,
 * so that it may go. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__events_follow(gnomon__united_events *s,
                          gnomon__event_source *source);

/* After the last part: `n` has the result's numbers by those that the parts have. Of
 * `readings` of one process what several have counts once. Then the model has them.
 * GNOMON_OK or an error. */
int gnomon__events_end(gnomon__united_events *s, const gnomon__numbers *n,
                       int are_readings);
gnomon__event_source *gnomon__events_source(gnomon__united_events *s);

/* `move` changes the times of each, but not their order. */
void gnomon__events_move(gnomon__event_source *s,
                         void (*move)(const void *context,
                                      gnomon_event_info *e),
                         const void *context);

/* Of equal entities in several readings, as many stay as there are in the reading
 * that has most of them. The table is sorted by `order`, whose last key is the
 * reading. */
void gnomon__leave_out_copies(gnomon__table *t,
                              int (*same)(const void *a, const void *b),
                              int (*order)(const void *a, const void *b));

#endif
