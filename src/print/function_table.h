/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions below each action as one of the tables of print/table.h.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_FUNCTION_TABLE_H
#define GNOMON_PRINT_FUNCTION_TABLE_H

#include "print/functions.h"
#include "print/rows.h"

enum {
    GNOMON__FUNCTION_NAME,
    GNOMON__FUNCTION_FILE,
    GNOMON__FUNCTION_LINE,
    GNOMON__FUNCTION_CALLS,
    GNOMON__FUNCTION_PRIMITIVE,
    GNOMON__FUNCTION_SELF,
    GNOMON__FUNCTION_CUMULATIVE,
    GNOMON__FUNCTION_COLUMNS
};

extern const gnomon__column gnomon__function_columns[GNOMON__FUNCTION_COLUMNS];

/* Writes a group of rows for each action of `calls`, which has no groups; with
 * choice->by one for each action in each of these groups. The code of
 * gnomon__table_print. */
int gnomon__function_table_print(gnomon__calls *calls,
                                 const gnomon__table_choice *choice,
                                 const gnomon_profile *profile,
                                 const gnomon_writer *out);

#endif
