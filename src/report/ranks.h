/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How the ranks of a stage compare: of each action the least, the median and the
 * most time that a rank spent in it, and which one was slowest. With by= it is so for
 * the ranks of each host, or for the part of an action of each category or file. */
#ifndef GNOMON_REPORT_RANKS_H
#define GNOMON_REPORT_RANKS_H

#include "print/rows.h"

/* Its profiles are ranks: gnomon__report_add with their runs. */
extern const gnomon__report gnomon__ranks;
extern const gnomon_profiler *const gnomon__ranks_profiler;

#endif
