/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What scopes took on devices, by path and by the segment in which they began: the
 * device's part of a node, until the ledger takes it. Written by whoever reads the
 * events, never by a marking thread. A lock of its own, held for some dozens of
 * nanoseconds. */
#ifndef GNOMON_RECORD_DEVICE_STATS_H
#define GNOMON_RECORD_DEVICE_STATS_H

#include "record/totals.h"

typedef struct gnomon__device_path {
    uint32_t generation; /* of the tree's sink */
    uint32_t thread;
    uint32_t number; /* of the path; 0: none */
    uint32_t segment;
} gnomon__device_path;

/* Adds one execution. 0: no memory, nothing was added. */
int gnomon__device_stats_add(const gnomon__device_path *path, uint64_t ns,
                             uint64_t self_ns);

/* Gives all of a generation to `add`, which returns 0 where there is no memory; and
 * forgets what is given, unless it `stays`. */
typedef int gnomon__device_stats_to(void *context,
                                    const gnomon__device_path *path,
                                    const gnomon__total *total);
int gnomon__device_stats_take(uint32_t generation, int stays,
                              gnomon__device_stats_to *add, void *context);

/* Frees those of a generation. */
void gnomon__device_stats_drop(uint32_t generation);

/* In a forked child: there are none. */
void gnomon__device_stats_forget(void);

#endif
