/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading of events: passes over all threads' timers, and the clocks of devices. It
 * runs on one thread, the reader's, so only that thread waits for a driver that does
 * not answer. Where the thread cannot be made, control calls do it. */
#ifndef GNOMON_DEVICE_READER_H
#define GNOMON_DEVICE_READER_H

#include "device/timers.h"

/* One pass over all timers. Returns how many ended scopes the device has not passed
 * yet. */
size_t gnomon__reader_pass(void);
/* The number of driver calls so far. While it grows, the driver does not hang. */
extern uint64_t gnomon__reader_calls;
/* Whether there is nothing to read, and nothing is under way: then the reader's thread
 * sleeps until a timer is sent. Between passes, on the thread that makes them. */
int gnomon__reader_is_idle(void);
/* Counts the scopes that still wait as late. They are never read. */
void gnomon__reader_give_up(void);

/* ---- reader_sleep.c ------------------------------------------------------ */

/* After gnomon__reader_sleeps was set: until it is called. */
void gnomon__reader_sleep(void);

/* ---- clocks.c ------------------------------------------------------------ */

/* A device context's own time: ns since its first anchor. A driver gives the
 * distance of two events in float milliseconds, which is coarse over hours. So at
 * each step an anchor event is put into a stream of gnomon's own, and time is the
 * sum of short distances. */
typedef struct gnomon__device_clock gnomon__device_clock;

/* The clock of a context, made at its first use; NULL: all clocks are taken. The
 * context must be entered. */
gnomon__device_clock *
gnomon__device_clock_of(const gnomon_device *device,
                        const gnomon_device_context *where);
/* A number that no other clock has or had; 0: no clock. */
uint32_t gnomon__device_clock_number(const gnomon__device_clock *clock);
/* When the device passed `event`, which is over. GNOMON_ESTATE: there is no anchor
 * yet. */
int gnomon__device_clock_time(const gnomon__device_clock *clock, void *event,
                              double *ns);
/* The run's time at which the device passed `event`, which is over, with the error that
 * metadata gnomon.KIND.INDEX.clock_error_ns tells. GNOMON_ESTATE: it is not known. */
int gnomon__device_clock_host(const gnomon__device_clock *clock, void *event,
                              uint64_t *ns);
/* The number of its device; -1: no clock. */
int32_t gnomon__device_clock_index(const gnomon__device_clock *clock);
/* Continues on every clock what is under way: the next anchor, and measuring the
 * cost of events. */
void gnomon__device_clocks_advance(void);
/* Whether none is being measured or waits for an anchor. */
int gnomon__device_clocks_are_idle(void);
/* Drops the clocks without a call of the driver: in a forked child. */
void gnomon__device_clocks_forget(void);
/* Drops the clocks and destroys their events. */
void gnomon__device_clocks_free(void);

#endif
