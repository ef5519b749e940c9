/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What scopes on CUDA's streams and CUDA's timers share. */
#ifndef GNOMON_DEVICE_CUDA_H
#define GNOMON_DEVICE_CUDA_H

#include "gnomon/cuda.h"

/* 0, 1 the legacy one, 2 the thread's own: numbers, of the current context. */
static inline int gnomon__cuda_is_special(const void *stream)
{
    return (uintptr_t)stream <= 2;
}

/* Where a stream is: as gnomon_device.context_of. Any thread. */
int gnomon__cuda_place(void *stream, gnomon_device_context *out);

/* Puts an event into a stream of its place; the driver's result. */
int gnomon__cuda_record(void *event, void *stream);

/* Says what the driver refused first, once. */
void gnomon__cuda_log_failures(void);

/* An event of that place, whatever context is current; as
 * gnomon_device.event_create. */
int gnomon__cuda_event_create(const gnomon_device_context *place, void **event);

/* The error code for what the driver returned: EBUSY where something is not over
 * yet. */
int gnomon__cuda_code(int result);

#endif
