/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_MERGE_MERGE_EVENTS_H
#define GNOMON_MERGE_MERGE_EVENTS_H

#include "merge/unite.h"

/* One reading of a run. */
typedef struct gnomon__run_reading {
    const gnomon_profile *p;
    gnomon_profile
        *own; /* p, if it is freed with the run's events; else NULL */
    gnomon__unite_map map;
} gnomon__run_reading;

/* Where the events of a run are. */
typedef struct gnomon__run_events {
    gnomon__run_reading *of;
    size_t count;
    int are_readings; /* of one process: what several have counts once */
} gnomon__run_events;

/* GNOMON_OK or an error, at which the merge ends. It may change the event. */
typedef int gnomon__merge_put(void *context, gnomon_event_info *e);

/* Gives all events of the run to `put`, in the order that gnomon__unite_finish would give
 * them. GNOMON_OK or the first error. */
int gnomon__merge_events(const gnomon__run_events *run, gnomon__merge_put *put,
                         void *context);
void gnomon__run_events_free(gnomon__run_events *run);

#endif
