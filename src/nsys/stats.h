/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reports of `nsys stats`, with its columns, units and order, of an export of Nsight
 * Systems. */
#ifndef GNOMON_NSYS_STATS_H
#define GNOMON_NSYS_STATS_H

#include "nsys/columns.h"
#include "nsys/kernels.h"

/* Prints a report of gnomon__nsys_stats_names, at most `limit` rows of what passes the
 * filter. A gnomon__exit, after one line. */
int gnomon__nsys_stats(int which, const char *path,
                       const gnomon__nsys_filter *filter,
                       enum gnomon__nsys_form form, uint64_t limit);

#endif
