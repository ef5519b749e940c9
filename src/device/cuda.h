/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What scopes on CUDA's streams and CUDA's timers share. */
#ifndef GNOMON_DEVICE_CUDA_H
#define GNOMON_DEVICE_CUDA_H

#include "gnomon/cuda.h"

/* Where a stream is: as gnomon_device.place. Any thread. */
int gnomon__cuda_place(void *stream, gnomon_device_place *out);

/* An event of that place, whatever context is current; as
 * gnomon_device.event_create. */
int gnomon__cuda_event_create(const gnomon_device_place *place, void **event);

/* The error code for what the driver returned: EBUSY where something is not over
 * yet. */
int gnomon__cuda_code(int result);

#endif
