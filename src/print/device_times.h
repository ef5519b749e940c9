/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When devices were busy: their work in the order of time, which needs single
 * executions, with the calls that launched it; and how computing, copies and
 * communication lay beside one another, in all and in each step.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_DEVICE_TIMES_H
#define GNOMON_PRINT_DEVICE_TIMES_H

#include "print/device_work.h"
#include "print/event_steps.h"

/* One piece of work that a device was busy with. */
typedef struct gnomon__work_item {
    uint64_t begin_ns, end_ns;
    uint64_t launched_ns; /* when its call began */
    uint64_t instance;
    uint32_t node, stage;
    uint32_t device;     /* index */
    uint32_t call_track; /* of its call; 0: the call is not there */
} gnomon__work_item;

/* Parts of a time, in which a device did such things at least once. */
typedef struct gnomon__device_parts {
    uint64_t busy_ns;    /* anything */
    uint64_t compute_ns; /* kernels, but those of communication */
    uint64_t copy_ns;    /* copies and sets */
    uint64_t communication_ns;
    uint64_t hidden_copy_ns; /* while it computed, too */
    uint64_t hidden_communication_ns;
} gnomon__device_parts;

typedef struct gnomon__device_times {
    const gnomon__device_work *work;
    gnomon__work_item *items; /* by device, then begin */
    size_t count;
    gnomon__event_steps steps;
    gnomon__device_parts *of_step;   /* by index in `steps`; of all devices */
    gnomon__device_parts *of_device; /* by index */
    uint64_t missing;                /* pieces of work that are no events */
} gnomon__device_times;

/* Reads all events. O(work + calls + links + steps) memory. GNOMON_OK or
 * GNOMON_ENOMEM; free in any case. Borrows `work`. */
int gnomon__device_times_make(gnomon__device_times *t,
                              const gnomon__device_work *work);
void gnomon__device_times_free(gnomon__device_times *t);

#endif
