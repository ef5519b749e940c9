/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A device context's own time: ns since its first anchor. A driver gives the distance of
 * two events in float milliseconds, which is coarse over hours. So at each step an anchor
 * event is put into a stream of gnomon's own, and time is the sum of short distances.
 * On the thread that reads events, if not said otherwise. */
#ifndef GNOMON_DEVICE_CLOCKS_H
#define GNOMON_DEVICE_CLOCKS_H

#include "gnomon/tool.h"

/* A context of a device; with another id it is another one, after a reset. */
typedef struct gnomon__device_place {
    const gnomon_device *device; /* NULL: none */
    gnomon_device_context where;
} gnomon__device_place;

static inline int gnomon__is_place(const gnomon__device_place *a,
                                   const gnomon__device_place *b)
{
    return a->device == b->device && a->where.context == b->where.context &&
           a->where.id == b->where.id;
}

typedef struct gnomon__device_clock gnomon__device_clock;

/* Training steps so far: a new anchor is due. Atomic, as the next. */
extern uint64_t gnomon__device_steps;
/* The number of driver calls so far. While it grows, the driver does not hang. */
extern uint64_t gnomon__reader_calls;

/* The clock of a context, made at its first use; NULL: all clocks are taken. The
 * context must be entered. */
gnomon__device_clock *gnomon__device_clock_of(const gnomon__device_place *on);
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
/* Drops the clocks, and with `is_over` 0 destroys their events. */
void gnomon__device_clocks_free(int is_over);

/* Calls `add` for each thing that is known of devices, as metadata: a key and a JSON value.
 * Any thread. */
void gnomon__describe_each(int (*add)(const char *key, const char *json));

#endif
