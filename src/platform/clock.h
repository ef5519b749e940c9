/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time. Ticks are the cheapest clock that all threads share: on x86-64 the time
 * stamp counter and on aarch64 the virtual counter, where they are fit, else
 * CLOCK_MONOTONIC. Recorders keep ticks. They become ns where somebody is told.
 *
 * One line leads from ticks to ns since the run's zero, the same for everybody
 * in the process; clock_line.h says what holds of it. It stays within 1 us of
 * CLOCK_MONOTONIC, plus the error of reading both, if an anchor is taken each
 * second (gnomon__clock_anchor). When CLOCK_MONOTONIC itself changes its rate,
 * the line follows within a second of the next anchor.
 *
 * With GNOMON_TESTING the clock is one word that tests move. */
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

/* The moment of `ticks` in ns since the zero; before it, 0. What was told of a
 * moment stays: the same ticks give the same ns for ever (but for what is long
 * ago: `error` in clock_line.h), and later ticks never give smaller ns. After
 * the machine slept and its counter began again, ticks that are ahead of the
 * counter are from before.
 *
 * Any thread, signal handlers too; never waits for another thread. 3 ns, or 20
 * for ticks of long ago; each 250 ms one caller takes an anchor for all: 0.4 us,
 * or 3 where none of this is in a cache. In the first 250 us of a run the rate
 * is not known yet: the caller then takes anchors until it is known to 1 part in
 * 5000, for 10 ms at most. Starts the clock. */
uint64_t gnomon__clock_ns(uint64_t ticks);

/* From one moment to another, in ns; 0 where the counter went back. */
uint64_t gnomon__clock_between(uint64_t from, uint64_t to);

/* What ticks are worth between two moments: ns per tick, times 2^48, to convert
 * sums of durations with gnomon__line_scale, which rounds down, so that parts
 * never exceed the whole. Without what the machine slept. As gnomon__clock_ns,
 * but up to 0.5 us. */
uint64_t gnomon__clock_rate(uint64_t from, uint64_t to);

/* Takes an anchor if the last one is older than 100 ms. Call it at least each
 * second, from where that is easy: steps, stages, a thread of ours. Any thread,
 * signal handlers too; never waits; some ns, or what an anchor takes. `now`: these
 * ticks. A counter that began again is far from the quiet time, too. */
void gnomon__clock_anchor_due(uint64_t now);
extern uint64_t gnomon__quiet_from, gnomon__quiet_ticks;
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

/* ---- Ticks --------------------------------------------------------------- */

#ifdef GNOMON_TESTING
/* In ns from 0, or worth `mult`, 2^48 where nothing is said. The zero's Unix time
 * is a constant. Tests move the ticks by the two functions: a thread of ours may
 * read them at any moment. */
extern uint64_t gnomon__test_ticks, gnomon__test_mult;
#define GNOMON__TEST_UNIX_NS 1000000000000000000u
static inline void gnomon__test_set(uint64_t ticks)
{
    __atomic_store_n(&gnomon__test_ticks, ticks, __ATOMIC_RELAXED);
}
static inline void gnomon__test_pass(uint64_t ticks)
{
    __atomic_fetch_add(&gnomon__test_ticks, ticks, __ATOMIC_RELAXED);
}
static inline uint64_t gnomon__ticks_counter(void)
{
    return __atomic_load_n(&gnomon__test_ticks, __ATOMIC_RELAXED);
}
#elif defined(__x86_64__)
static inline uint64_t gnomon__ticks_counter(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t gnomon__ticks_counter(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
static inline uint64_t gnomon__ticks_counter(void)
{
    return gnomon__os_monotonic_ns();
}
#endif

/* Reads of the counter wait for no load: without this one may be older than what
 * another thread said before. Some ns. */
static inline void gnomon__ticks_wait(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
}

/* Ticks by whichever clock was chosen; for all but the hot path, which knows
 * that it is the counter. Before the start 0, a moment before the zero. */
static inline uint64_t gnomon__ticks(void)
{
    int kind = gnomon__clock_kind();
    if (kind == GNOMON__CLOCK_SYSTEM)
        return gnomon__os_monotonic_ns();
#ifndef GNOMON_TESTING
    if (kind == GNOMON__CLOCK_UNKNOWN)
        return 0;
#endif
    return gnomon__ticks_counter();
}

static inline void gnomon__clock_anchor(void)
{
    gnomon__clock_anchor_at(gnomon__ticks());
}

/* ---- Inside the clock ---------------------------------------------------- */

/* Whether the counter can be used, and by how many ticks it moves at least (0:
 * not to be noticed). clock_counter.c. */
int gnomon__counter_is_usable(uint64_t *step);

/* Reads `system` between two reads of the ticks, some times, and returns the
 * closest, or one of no use where the ticks ran backwards. */
gnomon__anchor gnomon__clock_take(uint64_t (*system)(void));

/* The first moment beside Unix time, at the start. */
void gnomon__moments_begin(void);
/* Keeps the moment of `ticks`, which is now, if the last is long ago; never
 * waits. `ns` is its ns, `rate` what ticks are worth. */
void gnomon__moments_keep(uint64_t ticks, uint64_t ns, uint64_t rate);

#endif
