/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Times of regions, added up over all nodes of the same name and category, for the
 * whole profile or for each group. */
#ifndef GNOMON_PRINT_ROWS_H
#define GNOMON_PRINT_ROWS_H

#include "print/groups.h"

typedef struct gnomon__region_row {
    const char *name, *category; /* the profile's */
    uint32_t group;
    bool shares_name;          /* with a row of the group of another category */
    gnomon_stats host, device; /* count 0: none */
    uint64_t first;            /* order of its first end; UINT64_MAX: unknown */
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

/* How long the stages were recorded: 100 per cent of a share. Of several runs, their
 * mean. */
uint64_t gnomon__recorded_ns(const gnomon_profile *profile);

#endif
