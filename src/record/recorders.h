/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The list of recorders that profilers can want beside the call tree. A new one needs
 * its files, a bit of gnomon_wants, a number here and a line in recorders.c. */
#ifndef GNOMON_RECORD_RECORDERS_H
#define GNOMON_RECORD_RECORDERS_H

#include "mark/recorder.h"

enum gnomon__recorder_numbers {
    GNOMON__STEP_RECORDER,
    GNOMON__ACTIVITY_RECORDER, /* sources feed it, and not marks */
    GNOMON__MEMORY_RECORDER,   /* marks of pools */
    GNOMON__RECORDERS          /* how many */
};

/* By number. */
GNOMON__DATA const gnomon__recorder *const gnomon__recorders[GNOMON__RECORDERS];

#endif
