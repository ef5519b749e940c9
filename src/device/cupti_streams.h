/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The numbers that CUPTI's records have for streams. */
#ifndef GNOMON_DEVICE_CUPTI_STREAMS_H
#define GNOMON_DEVICE_CUPTI_STREAMS_H

#include <stdint.h>

/* Whether CUPTI records now, and can tell the number of a stream. Any thread. */
int gnomon__cupti_knows_streams(void);

/* The number of a stream that exists; NULL: of the current context's legacy stream, or
 * with `is_own` of the calling thread's own. 0: CUPTI does not know. Any thread, after
 * gnomon__cupti_knows_streams. */
int gnomon__cupti_stream_number(void *stream, int is_own, uint32_t *number);

#endif
