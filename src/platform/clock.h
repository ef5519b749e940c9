/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time. Ticks are the cheapest clock that all threads share: the time stamp
 * counter on x86-64 and the virtual counter on aarch64, where they are usable,
 * else CLOCK_MONOTONIC. Recorders keep ticks; they are converted to ns for
 * output.
 *
 * One line converts ticks to ns since the run's zero, the same for all of the
 * process; clock_line.h states its guarantees. It stays within 1 us of
 * CLOCK_MONOTONIC, plus the error of reading both, if an anchor is taken each
 * second (gnomon__clock_anchor, ticks.h). When CLOCK_MONOTONIC itself changes its
 * rate, the line follows within a second of the next anchor. */
#ifndef GNOMON_PLATFORM_CLOCK_H
#define GNOMON_PLATFORM_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "platform/atomic.h"
#include "platform/clock_line.h"
#include "platform/os.h"

enum gnomon__clock_kind {
    GNOMON__CLOCK_UNKNOWN = 0, /* gnomon__clock_start was not called */
    GNOMON__CLOCK_COUNTER = 1, /* a read is one instruction */
    GNOMON__CLOCK_SYSTEM = 2   /* a read is a call; ticks are ns */
};

/* Chooses the clock and takes the first anchor: the run's zero. Idempotent, any
 * thread; some microseconds, once. Opens a file. */
void gnomon__clock_start(void);
int gnomon__clock_kind(void);
const char *gnomon__clock_name(void); /* "tsc", "cntvct", "monotonic", "test" */

/* ---- Ticks to ns --------------------------------------------------------- */

/* `ticks` in ns since the zero; 0 before it. The same ticks always give the
 * same ns (except long ago: `error` in clock_line.h), and later ticks never
 * give smaller ns. After the machine slept and its counter began again, ticks
 * above the counter's value are from before the sleep.
 *
 * Any thread, signal handlers too; never waits for another thread. 3 ns, or
 * 20 for ticks of long ago. Each 250 ms one caller takes an anchor for all:
 * 0.4 us, or 3 with cold caches. In the first 250 us of a run the rate is
 * not known: the caller then takes anchors until it is known to 1 part in
 * 5000, for 10 ms at most. Starts the clock. */
uint64_t gnomon__clock_ns(uint64_t ticks);

/* The same for moments that are near each other, however long ago: 1 ns. `near` is all
 * zero at first. */
uint64_t gnomon__clock_ns_far(gnomon__line_part *near, uint64_t ticks);
static inline uint64_t gnomon__clock_ns_near(gnomon__line_part *near,
                                             uint64_t ticks)
{
    if (likely(ticks - near->ticks < near->length))
        return near->ns + gnomon__line_scale(ticks - near->ticks, near->mult);
    return gnomon__clock_ns_far(near, ticks);
}

/* From one moment to another, in ns; 0 where the counter went back. */
static inline uint64_t gnomon__clock_between(uint64_t from, uint64_t to)
{
    uint64_t begin = gnomon__clock_ns(from), end = gnomon__clock_ns(to);
    return end > begin ? end - begin : 0;
}

/* The rate between two moments: ns per tick, times 2^48. For sums of
 * durations, with gnomon__line_scale, which rounds down, so that parts never
 * exceed the whole. Time asleep is left out. As gnomon__clock_ns, but up to
 * 0.5 us. */
uint64_t gnomon__clock_rate(uint64_t from, uint64_t to);

/* Takes an anchor if the last one is older than 100 ms. Call it at least
 * each second, where that is easy: steps, stages, a thread of ours. Any
 * thread, signal handlers too; never waits; some ns, or the time of an
 * anchor. `now`: the present ticks. Also notices a counter that began again,
 * as the difference then wraps to a large value. */
void gnomon__clock_anchor_due(uint64_t now);
GNOMON__DATA uint64_t gnomon__quiet_from, gnomon__quiet_ticks;
static inline void gnomon__clock_anchor_at(uint64_t now)
{
    if (unlikely(now - load_relaxed(&gnomon__quiet_from) >=
                 load_relaxed(&gnomon__quiet_ticks)))
        gnomon__clock_anchor_due(now);
}

/* A moment of the run, and the system's clock at that moment. */
#define GNOMON__CLOCK_MOMENTS 64
typedef struct gnomon__clock_moment {
    uint64_t ns; /* since the zero */
    uint64_t unix_ns;
    uint64_t error_ns; /* between the two */
} gnomon__clock_moment;

/* Fills in the zero, some moments at about equal distances, and now, in this
 * order, and returns how many: 2 at least. Whether somebody set the system's
 * clock shows between two of them. Starts the clock; any thread. */
size_t gnomon__clock_moments(gnomon__clock_moment out[GNOMON__CLOCK_MOMENTS]);

/* ---- Inside the clock ---------------------------------------------------- */

/* Whether the counter can be used, and its smallest step in ticks (0: too
 * small to notice). clock_counter.c. */
int gnomon__counter_is_usable(uint64_t *step);

#endif
