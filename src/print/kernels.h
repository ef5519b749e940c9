/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels, copies and calls of devices by name.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_KERNELS_H
#define GNOMON_PRINT_KERNELS_H

#include "print/rows.h"

extern const gnomon__report gnomon__kernels;

/* Waits for devices, as a table inside another report: gnomon__report_part. */
int gnomon__kernels_print_waits(const gnomon_profile *profile,
                                const gnomon_writer *out);

#endif
