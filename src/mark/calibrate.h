/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a scope costs on this machine: begin and end on the hot path, in a
 * call tree whose names come again. */
#ifndef GNOMON_MARK_CALIBRATE_H
#define GNOMON_MARK_CALIBRATE_H

/* ns of a pair; 0: not known. Runs some thousands on a thread state of its own,
 * about 0.1 ms, the first time; inside a control call. */
double gnomon__calibrate_pair_ns(void);
/* What it found, if it was called. Any thread. */
double gnomon__calibrated_ns(void);

#endif
