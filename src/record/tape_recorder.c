/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entry of tapes in the table of recorders. It has no `begin`, so that a scope
 * which the call tree sees too costs nothing more at its begin. */
#include "record/tape_recorder.h"

const gnomon__recorder gnomon__tape_recorder = {
    .name = "tape",
    .is_tape = 1,
    .adopt = gnomon__tape_adopt,
    .drop = gnomon__tape_drop,
    .end = gnomon__tape_end,
    .ended = gnomon__tape_ended,
    .range = gnomon__tape_range,
    .mark = gnomon__tape_mark,
    .sample = gnomon__tape_sample,
    .step = gnomon__tape_step,
    .cut = gnomon__tape_cut,
    .kept_bytes = sizeof(gnomon__kept),
};
