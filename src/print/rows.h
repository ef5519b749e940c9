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
    gnomon_stats host, device; /* count 0: nothing */
    uint64_t first; /* order of its first end; UINT64_MAX: not known */
} gnomon__region_row;

/* Rows in the order of their groups, names and categories. */
typedef struct gnomon__region_rows {
    gnomon__region_row *rows;
    size_t count;
    gnomon_cell *cells; /* of all, host and device */
    size_t cell_count, cell_room;
} gnomon__region_rows;

/* O(nodes) memory. GNOMON_OK or GNOMON_ENOMEM; free in any case. */
int gnomon__region_rows_make(gnomon__region_rows *rows,
                             const gnomon__groups *groups,
                             const gnomon_profile *profile);
void gnomon__region_rows_free(gnomon__region_rows *rows);

/* For how long its stages were recorded, which a share in per cent is of; of
 * several runs their mean. */
uint64_t gnomon__recorded_ns(const gnomon_profile *profile);

#endif
