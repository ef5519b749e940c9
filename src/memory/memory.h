/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The recorder of memory, as gnomon_memory_recorder has it: recorder.c. */
#ifndef GNOMON_MEMORY_MEMORY_H
#define GNOMON_MEMORY_MEMORY_H

#include "gnomon/tool.h"

int64_t gnomon__memory_marked(uint32_t thread, uint32_t node, uint32_t pool_id,
                              int kind, const void *pointer, uint64_t bytes);
void gnomon__memory_begin(void);
int gnomon__memory_read(void *to,
                        int (*put)(void *to, uint32_t node, uint32_t pool,
                                   const gnomon_memory_stats *sums));
void gnomon__memory_next(void);
void gnomon__memory_step(uint64_t at);
uint64_t gnomon__memory_lost(void);
int gnomon__memory_levels(void *to,
                          int (*put)(void *to, uint32_t pool, uint64_t width,
                                     const gnomon_bin *bins, size_t count));

/* The profiler, which is a report: report.c, also in the program. */
extern const gnomon_profiler *const gnomon__memory_report;

#endif
