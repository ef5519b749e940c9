/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bytes of a .prof file, as cProfile writes it and pstats, snakeviz and gprof2dot
 * read it. */
#ifndef GNOMON_PRINT_PROF_H
#define GNOMON_PRINT_PROF_H

#include "print/functions.h"

/* The size of a table's file, and its bytes. Rows must differ in file, line or name,
 * and every caller must be a row. pstats needs at least one row. */
size_t gnomon__prof_size(const gnomon__functions *table);
void gnomon__prof_write(const gnomon__functions *table, unsigned char *bytes);

#endif
