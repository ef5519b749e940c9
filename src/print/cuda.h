/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes that were timed on streams.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_CUDA_H
#define GNOMON_PRINT_CUDA_H

#include "print/rows.h"

extern const gnomon__report gnomon__stream_times;

#endif
