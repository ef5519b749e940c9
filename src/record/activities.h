/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work of devices, from the source's records to the ledgers: each record is joined with
 * the note of its launch (activity_notes.h), gets its numbers (activity_tables.h), and is
 * added to the sums of each view that saw the launch, until the view's ledger takes them,
 * and perhaps to its events (activity_events.h). Under one lock, which no marking thread
 * takes. */
#ifndef GNOMON_RECORD_ACTIVITIES_H
#define GNOMON_RECORD_ACTIVITIES_H

#include "gnomon/tool.h"
#include "record/activity_events.h"
#include "record/activity_notes.h"
#include "record/activity_sums.h"
#include "record/activity_tables.h"

/* Whose a scope on a stream is. */
typedef struct gnomon__device_path {
    uint32_t generation; /* of the view's tree */
    uint32_t thread;
    uint32_t number; /* of the path; 0: none */
    uint32_t segment;
} gnomon__device_path;

/* A view wants work, or times of scopes on streams, from now on. GNOMON_EFULL and a text.
 * In control calls, as often as _unwatch is. */
int gnomon__activities_watch(uint32_t bit, uint32_t generation);
/* It does no longer. Where no view does, the tables are empty afterwards. Under the
 * readers' lock, and the last time after gnomon__ledger_drop_activities. */
void gnomon__activities_unwatch(uint32_t generation);

/* Adds records; those that cannot be are counted. Any thread but a marking one, inside no
 * lock of ours. */
void gnomon__activities_put(uint32_t source, const gnomon_device_work *records,
                            size_t count);

/* Adds one time of a scope on a stream, of which `self_ns` is its own, to the sums of its
 * view; and, if `is_event`, the event, whose leaf and segment are set here. Where the
 * device is not known (-1), or there is no room for the track, the time is the node's
 * alone; the latter is counted. 0: no memory, nothing was added. The reader of events
 * calls it. */
int gnomon__activities_scope(const gnomon__device_path *path,
                             const gnomon__activity_track *on,
                             gnomon__activity_event event, uint64_t self_ns,
                             int is_event);

/* Passes the view's sums to `add`, which returns 0 where there is no memory, and removes
 * them unless they stay. Returns 0 if any `add` did. Under the readers' lock. */
typedef int gnomon__activities_to(void *context,
                                  const gnomon__activity_sum *sum);
int gnomon__activities_take(uint32_t generation, int stays,
                            gnomon__activities_to *add, void *context);

#endif
