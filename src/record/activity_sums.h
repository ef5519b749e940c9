/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of work by leaf (record/activity_tables.h): those that wait for the ledger, by the
 * segment of their launch too, and those of a stage, or of all stages of a name. On the
 * heap; the owner has a lock. */
#ifndef GNOMON_RECORD_ACTIVITY_SUMS_H
#define GNOMON_RECORD_ACTIVITY_SUMS_H

#include "record/totals.h"
#include "platform/atomic.h"

typedef struct gnomon__activity_sum {
    uint32_t leaf;
    uint32_t segment; /* 0 in sums of a stage */
    uint64_t bytes;   /* of all executions */
    gnomon__total total;
} gnomon__activity_sum;

typedef struct gnomon__activity_sums {
    gnomon__activity_sum *of;
    size_t count, room;
    gnomon__slots slots;
} gnomon__activity_sums;

/* The sum of a leaf, made where there is none. NULL: no memory. */
gnomon__activity_sum *gnomon__activity_sum_at(gnomon__activity_sums *s,
                                              uint32_t leaf, uint32_t segment);
/* Adds `from` to the sum of its leaf in *to, which is made if it is NULL. 0: no memory. */
int gnomon__activity_sum_add(void **to, const gnomon__activity_sum *from);

void gnomon__activity_sums_empty(gnomon__activity_sums *s);

/* A stage's, as gnomon__totals have it: for work, no marking thread calls it. */
GNOMON__DATA const gnomon__recorder gnomon__activity_recorder;

#endif
