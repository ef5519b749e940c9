/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The built-in profilers: what $GNOMON knows without loading anything. */
#ifndef GNOMON_PROFILERS_TABLE_H
#define GNOMON_PROFILERS_TABLE_H

#include "gnomon/profiler.h"

/* All of them, in the order of GNOMON=help; NULL ends it. One step more than
 * expected, *gnomon__profilers[i], as each file names its profiler by a pointer
 * and C lets no constant be read at translation. */
extern const gnomon_profiler *const *const gnomon__profilers[];

#endif
