/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of scopes that were timed on streams: one for each name in each group, and below
 * it one for each device where there are several. */
#ifndef GNOMON_PRINT_TIMED_ROWS_H
#define GNOMON_PRINT_TIMED_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "gnomon/stats.h"
#include "print/groups.h"

typedef struct gnomon__timed_row {
    const char *name;
    uint32_t group;
    int32_t number;  /* of its device, in rows below that of all; -1: all */
    uint64_t all_ns; /* of all devices */
    gnomon_stats device;
    uint64_t host_calls, host_ns; /* of the same nodes */
} gnomon__timed_row;

/* Those of a group together, by time. The caller frees *rows. GNOMON_OK or
 * GNOMON_ENOMEM. */
int gnomon__timed_rows(const gnomon_profile *profile,
                       const gnomon__groups *groups, gnomon__timed_row **rows,
                       size_t *count);

#endif
