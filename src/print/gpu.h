/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What devices did, for which scopes, and when they were idle.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_GPU_H
#define GNOMON_PRINT_GPU_H

#include "print/rows.h"

extern const gnomon__report gnomon__gpu;

#endif
