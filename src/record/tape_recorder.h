/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The recorder of tapes: one table of functions, as the call tree's. What marks write is
 * in mark/tape.h; record/tape_read.h reads it. */
#ifndef GNOMON_RECORD_TAPE_RECORDER_H
#define GNOMON_RECORD_TAPE_RECORDER_H

#include "mark/tape.h"
#include "platform/atomic.h"

GNOMON__DATA const gnomon__recorder gnomon__tape_recorder;

#endif
