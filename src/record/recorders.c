/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The recorders beside the call tree, by number. */
#include "record/recorders.h"

#include "record/activity_sums.h"
#include "record/memory_sums.h"
#include "record/step_times.h"

const gnomon__recorder *const gnomon__recorders[GNOMON__RECORDERS] = {
    [GNOMON__STEP_RECORDER] = &gnomon__step_recorder,
    [GNOMON__ACTIVITY_RECORDER] = &gnomon__activity_recorder,
    [GNOMON__MEMORY_RECORDER] = &gnomon__memory_sums_recorder,
};
