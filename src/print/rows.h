/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What regions took, added up over their paths by name and category, of the whole
 * profile or of each group. */
#ifndef GNOMON_PRINT_ROWS_H
#define GNOMON_PRINT_ROWS_H

#include "print/groups.h"

typedef struct gnomon__region_row {
    const char *name, *category; /* the profile's */
    uint32_t group;
    bool shares_name; /* another row of the group has it, of another category */
    uint64_t calls, total_ns, self_ns, mean_ns;
    uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns;
    uint64_t device_calls, device_ns; /* of work that it launched */
    uint64_t first; /* order of its first end; UINT64_MAX: not known */
} gnomon__region_row;

/* Rows in the order of their groups, names and categories; the caller frees *rows.
 * O(nodes) memory. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__region_rows(gnomon__region_row **rows, size_t *count,
                        const gnomon__groups *groups,
                        const gnomon_profile *profile);

/* For how long its stages were recorded, which a share in per cent is of; of
 * several runs their mean. */
uint64_t gnomon__recorded_ns(const gnomon_profile *profile);

#endif
