/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables of devices: how busy they were, when they were idle, what they did in steps.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_DEVICE_TABLES_H
#define GNOMON_PRINT_DEVICE_TABLES_H

#include "gnomon/profiler.h"
#include "print/device_gaps.h"

typedef struct gnomon__device_report {
    const gnomon_profile *profile;
    const gnomon_writer *out;
    size_t limit; /* the most gaps, and steps */
    gnomon__device_work work;
    gnomon__device_times times;
    gnomon__device_gaps gaps;
} gnomon__device_report;

/* Whether all work is there as single executions. */
static inline bool gnomon__device_has_all(const gnomon__device_report *r)
{
    return r->times.count > 0 && !r->times.missing;
}

/* Each prints a table, or nothing where there is nothing to say; all but the first after
 * an empty line. GNOMON_OK, GNOMON_ENOMEM, or the writer's code. */
int gnomon__print_devices(const gnomon__device_report *r);
int gnomon__print_device_gaps(const gnomon__device_report *r);
int gnomon__print_device_steps(const gnomon__device_report *r);

#endif
