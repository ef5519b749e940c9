/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What each step was made of, while it is recorded: a recorder that rides along adds
 * up each region's time on each thread, and at a step somebody takes what was added
 * since the step before. Nothing of it takes memory but pieces of the arena. */
#ifndef GNOMON_RECORD_STEP_TIMES_H
#define GNOMON_RECORD_STEP_TIMES_H

#include "mark/recorder.h"
#include "record/snapshot.h"
#include "record/step_sums.h"

extern const gnomon__recorder gnomon__step_recorder;

/* When the step under way began, in ticks; what began before counts from then. Written
 * under the lock of steps. */
extern uint64_t gnomon__step_since;

/* Of one view, in the stage that is open. Under the lock of steps. */
typedef struct gnomon__step_times gnomon__step_times;

/* For what the recorder of `bit` keeps, from the heap; NULL: no memory. */
gnomon__step_times *gnomon__step_times_create(uint32_t bit,
                                              uint32_t generation);
void gnomon__step_times_free(gnomon__step_times *s);

/* A step is over, `done`, its moments in ticks; NULL: what was added since the last
 * one is of none that counts. O(threads), and the regions of those that marked. */
void gnomon__step_times_step(gnomon__step_times *s,
                             const gnomon__step_record *done);

/* Adds what steps took up to now in the stage, which goes from `begin` to `now`, in
 * ticks. 0: no memory, and some is missing. */
int gnomon__step_times_add(const gnomon__step_times *s, gnomon__totals *to,
                           uint64_t begin, uint64_t now);
/* Nothing again: the stage is over. */
void gnomon__step_times_clear(gnomon__step_times *s);

#endif
