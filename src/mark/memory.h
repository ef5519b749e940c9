/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Marks of memory, on the calling thread: they lead to the recorder of blocks, which is a
 * library of its own, with the innermost node of the tree that memory is recorded in. */
#ifndef GNOMON_MARK_MEMORY_H
#define GNOMON_MARK_MEMORY_H

#include "gnomon/tool.h"
#include "platform/atomic.h"

/* NULL: its library is not loaded. */
GNOMON__DATA const gnomon_memory_recorder *gnomon__memory_recorder;

/* The calls host->memory and host->memory_record. */
void gnomon__memory_mark(gnomon_region *pool, uint32_t mask, int kind,
                         const void *pointer, uint64_t bytes);
int gnomon__memory_record(const gnomon_memory_recorder *recorder);

#endif
