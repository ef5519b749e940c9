/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The call tree as rows. Paths of all tracks with equal names are one row. */
#ifndef GNOMON_PRINT_TREE_H
#define GNOMON_PRINT_TREE_H

#include "print/groups.h"

typedef struct gnomon__tree_row {
    uint32_t parent; /* row; UINT32_MAX: outermost */
    uint32_t depth;
    uint32_t group;        /* of roots only */
    uint32_t first, count; /* its children, in `order` */
    bool is_linked;        /* submitted by its parent, on whichever thread */
    bool is_range;         /* its time may overlap that of others */
    bool has_times;        /* it, or something below it */
    const char *name, *category;
    uint64_t calls, total_ns, self_ns, max_ns;
    uint64_t device_calls, device_ns;
    uint32_t tracks; /* on how many it ran */
} gnomon__tree_row;

enum gnomon__tree_sort {
    GNOMON__TREE_TOTAL,
    GNOMON__TREE_SELF,
    GNOMON__TREE_CALLS,
    GNOMON__TREE_NAME
};

typedef struct gnomon__tree_rows {
    gnomon__tree_row *rows; /* parents before children */
    uint32_t *order;        /* rows: siblings together, as sorted */
    uint32_t count;
    uint32_t roots; /* their number: the first of `order` */
} gnomon__tree_rows;

/* GNOMON_OK or GNOMON_ENOMEM; free in any case. O(nodes) memory. */
int gnomon__tree_rows_make(gnomon__tree_rows *tree, int sort,
                           const gnomon__groups *groups,
                           const gnomon_profile *profile);
void gnomon__tree_rows_free(gnomon__tree_rows *tree);

#endif
