/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What gnomon has CUPTI do in the host's process: call back where work is launched, and
 * record. All but the callback itself in control calls. */
#ifndef GNOMON_DEVICE_CUPTI_SUBSCRIBER_H
#define GNOMON_DEVICE_CUPTI_SUBSCRIBER_H

#include <stddef.h>
#include <stdint.h>

/* Subscribes, gives CUPTI our buffers, and from then on says of each launch, on its thread,
 * that source `number` will tell of it: as one of several subscribers where CUPTI can, else
 * as the only one. 0, or the code of CUPTI's that says why not; *symbol is the call that
 * failed. */
int gnomon__cupti_subscribe(uint32_t number, const char **symbol);
void gnomon__cupti_unsubscribe(void);

/* Whether CUPTI records now, and can tell the number that its records have for a stream.
 * Any thread. */
int gnomon__cupti_knows_streams(void);
/* That of a stream which exists; NULL: of the current context's legacy stream, or with
 * `is_own` of the calling thread's own. 0: CUPTI does not know. Any thread, after
 * gnomon__cupti_knows_streams. */
int gnomon__cupti_stream_number(void *stream, int is_own, uint32_t *number);

/* Has CUPTI record these kinds, bits of 1 << gnomon_activity_kind, and no others; of
 * calls, those that are wanted. A kind that it refuses is left out with a line, but
 * kernels: then the code, as above. */
int gnomon__cupti_record(uint32_t kinds, const char **symbol);

/* Which calls are wanted from the next gnomon__cupti_record on: all, at first. */
void gnomon__cupti_record_calls(int runtime, int driver);

/* The line of an error after which CUPTI has ended itself: nothing of it may be called any
 * more. NULL: there was none. Any thread. */
const char *gnomon__cupti_fatal(void);
/* The process ends: nothing of CUPTI or CUDA is called any more. */
void gnomon__cupti_ends(void);
/* Whether it does, or CUPTI has ended itself. Any thread. */
int gnomon__cupti_is_at_end(void);

/* `at_launch` is called at the first launch of the process, and `at_many` when so many
 * calls were noted that their records must be read soon, or notes are overwritten. */
void gnomon__cupti_at_launches(void (*at_launch)(void), void (*at_many)(void));

/* How many kernels were launched since the subscription, outside of captures and of
 * graphs; or that a thread is in a launch, so that this is to change. */
#define GNOMON__CUPTI_LAUNCHES UINT64_MAX
uint64_t gnomon__cupti_launched(void);
/* Whether work was launched that was not waited for. */
int gnomon__cupti_has_launched(void);

/* Waits until all that was launched is over. Does nothing where the driver refuses, or
 * while a graph is captured, which waiting would spoil. On a thread of ours. */
void gnomon__cupti_wait(void);

/* In a forked child: nothing is called. */
void gnomon__cupti_subscriber_forget(void);

#endif
