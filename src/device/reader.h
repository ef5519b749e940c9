/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What reads events: passes over all lanes, and the clocks of places. All of it
 * on one thread, the reader's, which alone waits where a driver does not answer;
 * where that thread cannot be had, in control calls. */
#ifndef GNOMON_DEVICE_READER_H
#define GNOMON_DEVICE_READER_H

#include "device/timers.h"

/* One look at everything. Returns how many scopes have ended that the device has
 * not come past. */
size_t gnomon__reader_pass(void);
/* How many calls of a driver came back: where it grows, nothing hangs. */
extern uint64_t gnomon__reader_calls;
/* These are counted as late, and never read. */
void gnomon__reader_give_up(void);

/* ---- clocks.c ------------------------------------------------------------ */

/* A place's own time, as events of it tell: ns since its first anchor. Events say
 * their distance in float milliseconds, which is coarse over hours; so an anchor
 * is put into a stream apart at each step, and time is the sum of short
 * distances. */
typedef struct gnomon__device_clock gnomon__device_clock;

/* The clock of a place, made at its first use; NULL: none can be had. The place
 * is entered. */
gnomon__device_clock *gnomon__device_clock_of(const gnomon_device *device,
                                              const gnomon_device_context *place);
/* No two clocks have the same, one that was made anew neither; 0: no clock. */
uint32_t gnomon__device_clock_number(const gnomon__device_clock *clock);
/* When the device came past `event`, which is over. GNOMON_ESTATE: there is no
 * anchor yet. */
int gnomon__device_clock_time(const gnomon__device_clock *clock, void *event,
                              double *ns);
/* Goes on with what is under way on every clock: anchors, and the measuring of
 * what events cost. */
void gnomon__device_clocks_advance(void);
/* Without another look at their events. */
void gnomon__device_clocks_forget(void);
/* With the events that can be destroyed. */
void gnomon__device_clocks_free(void);

#endif
