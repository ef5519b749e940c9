/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The built-in profilers: what $GNOMON knows without loading anything. */
#ifndef GNOMON_PROFILERS_TABLE_H
#define GNOMON_PROFILERS_TABLE_H

#include "gnomon/tool.h"

/* All of them, in the order of GNOMON=help; NULL ends the list. An element points to a
 * pointer, *gnomon__profilers[i], as each file defines its profiler as a pointer, whose
 * value is no constant expression in C. */
extern const gnomon_profiler *const *const gnomon__profilers[];

#endif
