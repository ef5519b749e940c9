/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What ran in a step, for the walk of print/critical.c. */
#ifndef GNOMON_PRINT_CRITICAL_STEP_H
#define GNOMON_PRINT_CRITICAL_STEP_H

#include "print/critical.h"

struct critical_track {
    uint64_t last_ends; /* in how many steps it was the last to end */
    uint32_t run, kind;
    size_t first, count; /* its segments in the step */
};

typedef struct critical_item {
    uint64_t begin, end, instance;
    uint32_t track, node;
    size_t order;      /* of its event */
    bool is_outermost; /* on its track, in the step */
} critical_item;

/* A time in which one execution was innermost on its track. Those of a track do not
 * overlap and are in order. */
typedef struct critical_segment {
    uint64_t begin, end;
    uint32_t item;
} critical_segment;

typedef struct critical_step {
    uint64_t begin, end;
    critical_item *items; /* by track and begin */
    size_t item_count, item_room;
    critical_segment *segments; /* by track */
    size_t segment_count;
    gnomon__keyed *names; /* items, by instance */
    size_t name_count;
} critical_step;

/* Sets the segments of the tracks too. GNOMON_OK or GNOMON_ENOMEM; free in any case. */
int gnomon__critical_load(critical_step *s, gnomon__critical *c,
                          const gnomon_step_info *step);
void gnomon__critical_unload(critical_step *s);

/* The execution of that instance; NULL: it did not run in the step. */
const critical_item *gnomon__critical_named(const critical_step *s,
                                            uint64_t instance);
/* The last segment of the track that begins before `ns`, or NULL. */
const critical_segment *gnomon__critical_before(const critical_step *s,
                                                const struct critical_track *t,
                                                uint64_t ns);

#endif
