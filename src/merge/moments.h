/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Open scopes and events: what happened at a moment. Two of one key are two, but for copies
 * in several readings of one process. `reserved` is the reading until all are in order. */
#ifndef GNOMON_MERGE_MOMENTS_H
#define GNOMON_MERGE_MOMENTS_H

#include "merge/united.h"

/* Of readings: leaves out copies of open scopes, once there may be many; and in any case.
 * By the numbers that all else has now. */
void gnomon__prune_opens(gnomon__unite *u);
void gnomon__merge_opens(gnomon__unite *u);

/* By the numbers they have now, `reserved` last. */
void gnomon__sort_opens(gnomon__table *t);

/* Puts events that began at one moment in order; of readings of one process it leaves out
 * those that several have. */
void gnomon__sort_moment(gnomon__table *events, int are_readings);

#endif
