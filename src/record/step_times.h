/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Times of regions in each step. A second recorder adds up each region's time on each
 * thread; the end of a step takes what was added since the step before. While it
 * records, it takes memory only from the arena. */
#ifndef GNOMON_RECORD_STEP_TIMES_H
#define GNOMON_RECORD_STEP_TIMES_H

#include "mark/recorder.h"

GNOMON__DATA const gnomon__recorder gnomon__step_recorder;

/* When the current step began, in ticks: of a scope that began earlier, only the time
 * from then on counts for the step. Written under the lock of steps. */
GNOMON__DATA uint64_t gnomon__step_since;

#endif
