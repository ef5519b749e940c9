/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Times of regions in each step. A second recorder adds up each region's time on each
 * thread; the end of a step takes what was added since the step before. While it
 * records, it takes memory only from the arena. */
#ifndef GNOMON_RECORD_STEP_TIMES_H
#define GNOMON_RECORD_STEP_TIMES_H

#include "mark/recorder.h"
#include "record/snapshot.h"
#include "record/step_sums.h"

extern const gnomon__recorder gnomon__step_recorder;

/* When the current step began, in ticks: of a scope that began earlier, only the time
 * from then on counts for the step. Written under the lock of steps. */
extern uint64_t gnomon__step_since;

/* The sums of one view in the open stage. Under the lock of steps. */
typedef struct gnomon__step_times gnomon__step_times;

/* For the recorder of `bit`, on the heap; NULL: no memory. */
gnomon__step_times *gnomon__step_times_create(uint32_t bit,
                                              uint32_t generation);
void gnomon__step_times_free(gnomon__step_times *s);

/* Ends the step `done`, whose begin and end are in ticks. NULL: drops what was added
 * since the last step, as it is of no step that counts. O(threads + regions of those
 * that marked). */
void gnomon__step_times_step(gnomon__step_times *s,
                             const gnomon__step_record *done);

/* Adds the steps of the stage so far to `to`. The stage goes from `begin` to `now`, in
 * ticks. 0: no memory, and some is missing. */
int gnomon__step_times_add(const gnomon__step_times *s, gnomon__totals *to,
                           uint64_t begin, uint64_t now);
/* Empties it: the stage is over. */
void gnomon__step_times_clear(gnomon__step_times *s);

#endif
