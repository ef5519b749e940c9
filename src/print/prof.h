/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bytes of a .prof file: what cProfile dumps and pstats, snakeviz and
 * gprof2dot load. */
#ifndef GNOMON_PRINT_PROF_H
#define GNOMON_PRINT_PROF_H

#include "print/functions.h"

/* How many bytes a table becomes, and these bytes. Rows must differ in place or
 * name, and every caller be a row; pstats wants at least one row. */
size_t gnomon__prof_size(const gnomon__functions *table);
void gnomon__prof_write(const gnomon__functions *table, unsigned char *bytes);

#endif
