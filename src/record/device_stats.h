/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What scopes took on devices, by the node of the call tree that they belong to:
 * the device's part of a node. Written by whoever reads the events, never by a
 * marking thread. A lock of its own, held for some dozens of nanoseconds. */
#ifndef GNOMON_RECORD_DEVICE_STATS_H
#define GNOMON_RECORD_DEVICE_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "gnomon/entities.h"

/* Adds one execution of the node at `node` in the arena, of a tree whose sink is
 * of `generation`. 0: no memory, nothing was added. */
int gnomon__device_stats_add(uint32_t node, uint32_t generation, uint64_t ns,
                             uint64_t self_ns);

/* Copies what a node has. `cells` has room for GNOMON__DEVICE_CELLS. 0: the node
 * has none. */
#define GNOMON__DEVICE_CELLS 1024
int gnomon__device_stats_get(uint32_t node, uint32_t generation,
                             gnomon_stats *out, gnomon_cell *cells);

/* Frees those of a generation. */
void gnomon__device_stats_drop(uint32_t generation);

/* In a forked child: there are none. */
void gnomon__device_stats_forget(void);

#endif
