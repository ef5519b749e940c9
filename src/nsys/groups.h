/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels added up by what they are of: a row for each operation, module, layer, kernel
 * or range. */
#ifndef GNOMON_NSYS_GROUPS_H
#define GNOMON_NSYS_GROUPS_H

#include "nsys/kernels.h"
#include "print/table.h"

enum gnomon__nsys_by {
    GNOMON__NSYS_BY_OP,
    GNOMON__NSYS_BY_MODULE,
    GNOMON__NSYS_BY_LAYER,
    GNOMON__NSYS_BY_KERNEL,
    GNOMON__NSYS_BY_RANGE /* the innermost one */
};

/* Reads columns= and sort= of the table, parted by commas; NULL: the usual. A gnomon__exit
 * after one line. Free choice->columns in any case. */
int gnomon__nsys_groups_choose(gnomon__table_choice *choice,
                               const char *columns, const char *sort);

/* Prints all of them. A gnomon__exit. */
int gnomon__nsys_groups_print(gnomon__nsys_kernels *kernels, int by,
                              const gnomon__table_choice *choice,
                              const gnomon_writer *out);

#endif
