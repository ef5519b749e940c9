/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The steps of a profile in the order of time, for reports of events: in which step a
 * moment was, and when nothing was recorded.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_EVENT_STEPS_H
#define GNOMON_PRINT_EVENT_STEPS_H

#include <stdbool.h>

#include "gnomon/entities.h"
#include "gnomon/writer.h"

typedef struct gnomon__event_steps {
    gnomon_step_info *at; /* that are over, by their begin */
    size_t count;
    bool is_scheduled; /* steps whose numbers are missing were not recorded */
} gnomon__event_steps;

/* `stage`: by its number; 0: all. O(steps) memory. GNOMON_OK or GNOMON_ENOMEM; free in any case. */
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

#endif
