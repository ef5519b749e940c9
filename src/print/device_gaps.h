/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When devices were idle, and who was to blame: the host where the work that ended a gap
 * was launched after the gap had begun, else the device, which had the work already and
 * waited for something else.
 *
 * No gap is counted from one stage to the next one, outside of a schedule's windows, or
 * while events were lost.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_DEVICE_GAPS_H
#define GNOMON_PRINT_DEVICE_GAPS_H

#include "print/device_times.h"

enum gnomon__gap_bound {
    GNOMON__BOUND_UNKNOWN, /* the call is not in the profile */
    GNOMON__BOUND_HOST,
    GNOMON__BOUND_DEVICE,
    GNOMON__BOUNDS
};

typedef struct gnomon__device_gap {
    uint64_t begin_ns, ns;
    size_t before;  /* item that ended it */
    uint32_t after; /* node of the work that ended last */
    uint32_t bound; /* gnomon__gap_bound */
    uint32_t
        scope; /* node; 0: nothing was marked. Of the longest alone: what the
                       launching thread did most in it, of its innermost scopes, up to
                       the launch; else what launched the work. */
    uint32_t device;
} gnomon__device_gap;

/* Of a device. */
typedef struct gnomon__device_idle {
    uint64_t gaps, longest_ns;
    uint64_t ns[GNOMON__BOUNDS];
} gnomon__device_idle;

typedef struct gnomon__device_gaps {
    const gnomon__device_times *times;
    gnomon__device_gap *at; /* the longest first */
    size_t count;
    gnomon__device_idle *of_device; /* by index */
} gnomon__device_gaps;

/* All gaps; the scopes of the `limit` longest. Reads all events. GNOMON_OK or
 * GNOMON_ENOMEM; free in any case. Borrows `times`. */
int gnomon__device_gaps_make(gnomon__device_gaps *g,
                             const gnomon__device_times *times, size_t limit);
void gnomon__device_gaps_free(gnomon__device_gaps *g);

#endif
