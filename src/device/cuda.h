/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What scopes on CUDA's streams and CUDA's timers share. */
#ifndef GNOMON_DEVICE_CUDA_H
#define GNOMON_DEVICE_CUDA_H

#include "gnomon/cuda.h"

/* 0 and 1: the legacy stream, 2: the thread's own; all of the current context. */
static inline int gnomon__cuda_is_special(const void *stream)
{
    return (uintptr_t)stream <= 2;
}

/* The context of a stream, as gnomon_device.context_of. Any thread. */
int gnomon__cuda_context(void *stream, gnomon_device_context *out);

/* Records an event in a stream of its context. Returns the driver's result. */
int gnomon__cuda_record(void *event, void *stream);

/* The code for a result of the call of that name, which is kept if it is the first of its
 * kind. Any thread; waits for nobody. */
int gnomon__cuda_failed(int result, const char *call);
/* Logs the first failures of the driver, each once. */
void gnomon__cuda_log_failures(void);

/* Makes an event of that context, whichever is current, as
 * gnomon_device.event_create. */
int gnomon__cuda_event_create(const gnomon_device_context *where, void **event);

/* The error code for a result of the driver. GNOMON_EBUSY: not finished. */
int gnomon__cuda_code(int result);

#endif
