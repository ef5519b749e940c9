/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Times of scopes on devices, by path, by the segment in which they began, and by stream,
 * until the ledger takes them. The reader of events adds each once, never a marking
 * thread; a node's sum is made of its parts by the ledger. They have a lock of their own,
 * held for some dozens of nanoseconds. */
#ifndef GNOMON_RECORD_DEVICE_STATS_H
#define GNOMON_RECORD_DEVICE_STATS_H

#include "record/totals.h"

typedef struct gnomon__device_path {
    uint32_t generation; /* of the tree's recorder */
    uint32_t thread;
    uint32_t number; /* of the path; 0: none */
    uint32_t segment;
} gnomon__device_path;

/* What a path has on one stream. No padding: compared as bytes. */
typedef struct gnomon__device_part {
    gnomon__device_path path;
    int32_t device; /* -1: not known */
    uint32_t stream;
    /* The stream's number is that of its records of work; 0: one among the streams of
     * which that is not known, from 1. */
    uint32_t is_of_work;
} gnomon__device_part;

/* Adds one execution. 0: no memory, nothing was added. */
int gnomon__device_stats_add(const gnomon__device_part *part, uint64_t ns,
                             uint64_t self_ns);

/* Passes all of a generation to `add`, which returns 0 where there is no memory, and
 * removes them unless `stays`. Returns 0 if any `add` did. `add` may take the lock of
 * activities. */
typedef int gnomon__device_stats_to(void *context,
                                    const gnomon__device_part *part,
                                    const gnomon__total *total);
int gnomon__device_stats_take(uint32_t generation, int stays,
                              gnomon__device_stats_to *add, void *context);

/* Frees those of a generation. */
void gnomon__device_stats_drop(uint32_t generation);

#endif
