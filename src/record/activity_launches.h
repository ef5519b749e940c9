/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Links to work from the executions of scopes that launched it, where no call of the
 * launch is known. */
#ifndef GNOMON_RECORD_ACTIVITY_LAUNCHES_H
#define GNOMON_RECORD_ACTIVITY_LAUNCHES_H

#include "record/snapshot_parts.h"

/* Instances of work have this bit, which tokens of scopes have not (mark/node.h); those
 * that scopes get here have both bits. */
#define GNOMON__WORK_INSTANCE (UINT64_C(1) << 60)
#define GNOMON__SCOPE_INSTANCE (UINT64_C(3) << 59)

/* A launch, and the work. */
typedef struct gnomon__work_launch {
    uint32_t thread, path;
    uint64_t ticks;
    uint64_t instance;
    uint32_t node;
    uint32_t reserved;
} gnomon__work_launch;

typedef struct gnomon__work_launches {
    gnomon__work_launch *of;
    size_t count, room;
} gnomon__work_launches;

/* The link of a launch. 0: no memory. */
int gnomon__snapshot_launch(gnomon__snapshot_builder *b, uint32_t from,
                            uint64_t from_instance, uint32_t to,
                            uint64_t to_instance);
/* Before events are put: b's tapes have ticks and paths. Sorts the launches. 0: no
 * memory. */
int gnomon__snapshot_launches(gnomon__snapshot_builder *b,
                              gnomon__work_launches *l);

#endif
