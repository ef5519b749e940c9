/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reports of devices.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_DEVICES_H
#define GNOMON_PRINT_DEVICES_H

#include "print/rows.h"

extern const gnomon__report gnomon__stream_times; /* of scopes */
extern const gnomon__report gnomon__gpu; /* for which scopes, and when idle */
extern const gnomon__report gnomon__kernels; /* copies and calls, by name */

/* Waits for devices, as a table inside another report: gnomon__report_part. */
int gnomon__kernels_print_waits(const gnomon_profile *profile,
                                const gnomon_writer *out);

#endif
