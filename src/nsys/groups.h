/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels added up by what they are of: a row for each operation, module, layer, kernel,
 * range or step. */
#ifndef GNOMON_NSYS_GROUPS_H
#define GNOMON_NSYS_GROUPS_H

#include "nsys/kernels.h"
#include "nsys/roofline.h"
#include "print/table.h"

enum gnomon__nsys_by {
    GNOMON__NSYS_BY_OP,
    GNOMON__NSYS_BY_MODULE,
    GNOMON__NSYS_BY_LAYER,
    GNOMON__NSYS_BY_KERNEL,
    GNOMON__NSYS_BY_RANGE, /* the innermost one */
    GNOMON__NSYS_BY_STEP,
    GNOMON__NSYS_BY_COLLECTIVE
};

typedef struct gnomon__nsys_grouping {
    int by; /* gnomon__nsys_by */
    gnomon__peaks peaks;
    const char *plot; /* a file to draw a roofline into; NULL: none */
    gnomon__table_choice choice;
} gnomon__nsys_grouping;

/* Reads columns and a sort of the table, parted by commas; NULL: the usual, of peaks too
 * where there are some. A gnomon__exit after one line. Free choice.columns in any case. */
int gnomon__nsys_groups_choose(gnomon__nsys_grouping *grouping,
                               const char *columns, const char *sort);

/* Prints all of them. A gnomon__exit. */
int gnomon__nsys_groups_print(gnomon__nsys_kernels *kernels,
                              const gnomon__nsys_grouping *grouping,
                              const gnomon_writer *out);

#endif
