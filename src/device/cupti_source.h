/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUPTI as a source of work that is over. In control calls, if not said otherwise. */
#ifndef GNOMON_DEVICE_CUPTI_SOURCE_H
#define GNOMON_DEVICE_CUPTI_SOURCE_H

#include "gnomon/tool.h"

const gnomon_device_source *gnomon__cupti_source(void);

/* Which calls are recorded, where calls are wanted: all, at first. */
void gnomon__cupti_calls_wanted(int runtime, int driver);

/* Records should be read before many more are made. Any thread. */
void gnomon__cupti_flush_soon(void);

/* Whether CUPTI records now, and can tell the number that its records have for a stream.
 * Any thread. */
int gnomon__cupti_knows_streams(void);
/* CUPTI's number of an existing stream; NULL: of the current context's legacy stream,
 * or with `is_own` of the calling thread's own. 0: CUPTI does not know. Any thread,
 * after gnomon__cupti_knows_streams. */
int gnomon__cupti_stream_number(void *stream, int is_own, uint32_t *number);

/* How many kernels were launched since the subscription, outside of captures and of
 * graphs. */
uint64_t gnomon__cupti_launched(void);

/* Called when so many calls were noted that their records must be read soon, or notes are
 * overwritten: gnomon__cupti_flush_soon. Tests put another in place. */
extern void (*gnomon__cupti_at_many_calls)(void);

/* Adds gnomon.cupti.version and, where CUPTI has a clock of its own,
 * gnomon.cupti.clock_error_ns to what a profile says of its process; nothing where CUPTI
 * was not in use. */
void gnomon__cupti_describe(int (*add)(const char *key, const char *json));

#endif
