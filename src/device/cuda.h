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
 * yet. Of others the first is remembered, for gnomon__cuda_trouble. */
int gnomon__cuda_code(int result, const char *call);

/* What the driver refused first, in a line, once; NULL: nothing new. */
const char *gnomon__cuda_trouble(char *line, size_t size);

#endif
