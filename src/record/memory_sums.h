/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory of a stage, as the recorder of blocks told it (mark/memory.h). */
#ifndef GNOMON_RECORD_MEMORY_SUMS_H
#define GNOMON_RECORD_MEMORY_SUMS_H

#include "profile/strip.h"
#include "record/snapshot_parts.h"

typedef struct gnomon__memory_sum {
    uint32_t thread, path; /* 0: outside of all scopes */
    uint32_t pool;         /* the id of its region. All three are the key */
    gnomon_memory_stats s;
} gnomon__memory_sum;

/* The bytes in use in a pool, by steps. */
typedef struct gnomon__memory_level {
    uint32_t pool; /* the id of its region */
    gnomon__strip strip;
} gnomon__memory_level;

typedef struct gnomon__memory_sums {
    gnomon__memory_sum *of;
    size_t count, room;
    gnomon__memory_level *levels;
    size_t level_count, level_room;
    gnomon__slots slots;
} gnomon__memory_sums;

GNOMON__DATA const gnomon__recorder gnomon__memory_sums_recorder;

/* Whether anything was marked since the last stage was read. Under the readers' lock. */
int gnomon__memory_was_marked(void);

#endif
