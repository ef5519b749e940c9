/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What scopes had devices do: a row for each name, of the scopes that launched work and
 * those around them.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_DEVICE_SCOPES_H
#define GNOMON_PRINT_DEVICE_SCOPES_H

#include "print/device_times.h"
#include "print/groups.h"

/* A row; text is the profile's. */
typedef struct gnomon__device_scope {
    const char *name; /* "" of what no known scope launched */
    uint32_t group;
    uint64_t work;     /* pieces of work launched in it */
    uint64_t total_ns; /* of them, streams added up */
    uint64_t self_ns;  /* of those that it launched itself */
    uint64_t
        busy_ns;    /* with any of them, so overlaps count once; from events */
    uint64_t calls; /* its executions on the host; 0: not known */
    uint64_t delayed, delay_ns,
        most_delay_ns; /* from call to work, of its own */
    uint64_t until_ns; /* used while rows are made: these three */
    size_t seen;
    uint32_t device;
} gnomon__device_scope;

typedef struct gnomon__device_scopes {
    gnomon__device_scope *rows; /* by group, then total */
    size_t count;
} gnomon__device_scopes;

/* GNOMON_OK or GNOMON_ENOMEM; free in any case. O(nodes) memory, O(work * depth)
 * time. */
int gnomon__device_scopes_make(gnomon__device_scopes *s,
                               const gnomon__device_times *times,
                               const gnomon__groups *groups);
void gnomon__device_scopes_free(gnomon__device_scopes *s);

#endif
