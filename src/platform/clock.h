/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ticks: the cheapest clock that all threads share. On x86-64 the time stamp
 * counter where it is invariant, on aarch64 the virtual counter, else
 * CLOCK_MONOTONIC. Ticks become ns only when a profile is built: the frequency
 * comes from anchors (ticks, monotonic ns) taken at the start, at steps and at
 * reading, so calibration costs no start-up.
 *
 * With GNOMON_TESTING the clock is one word that tests move. */
#ifndef GNOMON_PLATFORM_CLOCK_H
#define GNOMON_PLATFORM_CLOCK_H

#include <stdint.h>

#include "platform/clock_line.h"
#include "platform/os.h"

enum gnomon__clock_kind {
    GNOMON__CLOCK_UNKNOWN = 0, /* gnomon__clock_start was not called */
    GNOMON__CLOCK_COUNTER = 1, /* a read is one instruction */
    GNOMON__CLOCK_SYSTEM = 2   /* a read is a call; ticks are ns */
};

/* What converts ticks: ns = (ticks - zero_ticks) * mult / 2^48, in 128 bits, so
 * that it is exact: double would not round sums down. Plain value. */
typedef struct gnomon__clock {
    uint64_t zero_ticks;
    uint64_t zero_unix_ns;
    uint64_t error_ns; /* between the two zeroes */
    uint64_t mult;     /* ns per tick, times 2^48 */
} gnomon__clock;

/* Chooses the clock and takes the first anchor: the run's zero. Idempotent, any
 * thread; some microseconds, once. Opens a file. */
void gnomon__clock_start(void);
int gnomon__clock_kind(void);
const char *gnomon__clock_name(void); /* "tsc", "cntvct", "monotonic", "test" */

/* The conversion as it is best known now, by an anchor taken now. Where less
 * than 10 ms have passed since the first anchor it is still good to 1 part in
 * 5000, if need be by waiting (some 200 us, never past those 10 ms). Starts the
 * clock if nobody has. Any thread, not a marking one. */
gnomon__clock gnomon__clock_read(void);

/* Both round down, so with one clock a sum of parts never exceeds the whole. A
 * moment before the zero is 0. */
uint64_t gnomon__clock_duration_ns(const gnomon__clock *clock, uint64_t ticks);
uint64_t gnomon__clock_since_zero_ns(const gnomon__clock *clock,
                                     uint64_t ticks);

#ifdef GNOMON_TESTING
/* In ns from 0, or worth `mult`, 2^48 where nothing is said; tests write them
 * between marks. The zero's Unix time is a constant. */
extern uint64_t gnomon__test_ticks, gnomon__test_mult;
#define GNOMON__TEST_UNIX_NS 1000000000000000000u
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

/* Whether the counter can be used, and by how many ticks it moves at least (0:
 * not to be noticed). clock_counter.c. */
int gnomon__counter_is_usable(uint64_t *step);

#endif
