/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading the clock. Apart from clock.h because the tests' library has another clock:
 * what includes this header is compiled once more for it, with GNOMON_TESTING. Then
 * the clock is one word that tests move. */
#ifndef GNOMON_PLATFORM_TICKS_H
#define GNOMON_PLATFORM_TICKS_H

#include <stdint.h>

#include "platform/clock.h"

#ifdef GNOMON_TESTING
/* Ticks are ns from 0, or `mult` / 2^48 ns each. The Unix time of the zero
 * is a constant. Tests change the ticks by the two functions, as a thread of
 * ours may read them at any moment. */
GNOMON__DATA uint64_t gnomon__test_ticks, gnomon__test_mult;
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

/* Orders a later read of the counter after earlier loads: without it the
 * read may be older than what another thread stored before. Some ns. */
static inline void gnomon__ticks_wait(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
}

/* Ticks of the chosen clock; for all but the hot path, which is used with
 * the counter only. 0 before the start, which is before the zero. */
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

#endif
