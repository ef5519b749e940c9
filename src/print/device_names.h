/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The work of devices by name: a row for each kernel, kind of copy, wait and call.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_DEVICE_NAMES_H
#define GNOMON_PRINT_DEVICE_NAMES_H

#include "print/device_work.h"
#include "print/groups.h"

/* Texts are the profile's. */
typedef struct gnomon__device_name {
    const char *name;
    const char *scope;  /* that launched most of it; "": none is known */
    uint64_t scope_ns;  /* how much of it */
    gnomon_stats stats; /* without cells */
    uint64_t bytes;     /* moved; 0: not known */
    uint32_t group;
    int work; /* gnomon__work */
} gnomon__device_name;

typedef struct gnomon__device_names {
    gnomon__device_name *rows; /* by group, kind of work, then total */
    size_t count;
} gnomon__device_names;

/* groups NULL: all are of group 0. GNOMON_OK or GNOMON_ENOMEM; free in any case.
 * O(nodes) memory. */
int gnomon__device_names_make(gnomon__device_names *names,
                              const gnomon__device_work *work,
                              const gnomon__groups *groups);
void gnomon__device_names_free(gnomon__device_names *names);

#endif
