/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What ticks are worth.
 *
 * The first anchor (ticks, monotonic ns) is the run's zero and never changes;
 * gnomon__clock_read takes a second one and draws the line between the two. No
 * state is kept but the first, so reading needs no lock, and what a processor
 * claims of its frequency is not needed. Anchors know their own error: half the
 * ticks that passed around the system's clock, and the counter's own step. errno
 * is left alone. */
#include "platform/clock.h"

#include <pthread.h>

#include "platform/atomic.h"

__extension__ typedef unsigned __int128 wide;

static int clock_kind_chosen;
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;

int gnomon__clock_kind(void)
{
    return load_relaxed(&clock_kind_chosen);
}

uint64_t gnomon__clock_duration_ns(const gnomon__clock *clock, uint64_t ticks)
{
    return (uint64_t)((wide)ticks * clock->mult >> GNOMON__CLOCK_SHIFT);
}

uint64_t gnomon__clock_since_zero_ns(const gnomon__clock *clock, uint64_t ticks)
{
    if (ticks <= clock->zero_ticks)
        return 0;
    return gnomon__clock_duration_ns(clock, ticks - clock->zero_ticks);
}

#ifdef GNOMON_TESTING

uint64_t gnomon__test_ticks;
uint64_t gnomon__test_mult = 1ull << GNOMON__CLOCK_SHIFT;

static void clock_begin(void)
{
    uint64_t step; /* asked, so that tests make it fail */
    (void)gnomon__counter_is_usable(&step);
    store_relaxed(&clock_kind_chosen, GNOMON__CLOCK_COUNTER);
}

void gnomon__clock_start(void)
{
    pthread_once(&clock_once, clock_begin);
}

const char *gnomon__clock_name(void)
{
    return "test";
}

gnomon__clock gnomon__clock_read(void)
{
    gnomon__clock clock = {0, GNOMON__TEST_UNIX_NS, 0, gnomon__test_mult};
    gnomon__clock_start();
    return clock;
}

#else

static const uint64_t one_ns_a_tick = 1ull << GNOMON__CLOCK_SHIFT;

/* From this distance on an anchor is as good as any; below it, the errors of
 * both must be small against the distance. */
#define FAR_NS 10000000u
#define ONE_PART_IN 5000u
#define TRIES 5

typedef struct clock_anchor {
    uint64_t ticks;
    uint64_t ns;
    uint64_t error; /* ticks; UINT64_MAX: the counter runs backwards */
} clock_anchor;

static clock_anchor first_anchor; /* by CLOCK_MONOTONIC */
static clock_anchor unix_anchor;  /* right after it, by CLOCK_REALTIME */

/* The ticks by which the counter moves: a read may be that much behind. */
static uint64_t counter_step;

/* Reads `system` between two reads of the ticks, some times, and keeps the
 * closest: an interrupt widens one try, not all. */
static clock_anchor take_anchor(uint64_t (*system)(void))
{
    clock_anchor best = {0, 0, UINT64_MAX};
    int i;
    for (i = 0; i < TRIES; i++) {
        uint64_t before = gnomon__ticks(), ns = system();
        uint64_t after = gnomon__ticks();
        uint64_t error = (after - before + 1) / 2 + counter_step;
        if (after >= before && error < best.error) {
            best.ticks = before + (after - before) / 2;
            best.ns = ns;
            best.error = error;
        }
    }
    return best;
}

static void clock_begin(void)
{
    int kind = gnomon__counter_is_usable(&counter_step) ? GNOMON__CLOCK_COUNTER
                                                        : GNOMON__CLOCK_SYSTEM;
    store_relaxed(&clock_kind_chosen, kind);
    first_anchor = take_anchor(gnomon__os_monotonic_ns);
    if (first_anchor.error == UINT64_MAX) {
        store_relaxed(&clock_kind_chosen, GNOMON__CLOCK_SYSTEM);
        counter_step = 0;
        first_anchor = take_anchor(gnomon__os_monotonic_ns);
    }
    unix_anchor = take_anchor(gnomon__os_unix_ns);
}

void gnomon__clock_start(void)
{
    pthread_once(&clock_once, clock_begin);
}

const char *gnomon__clock_name(void)
{
    if (gnomon__clock_kind() == GNOMON__CLOCK_SYSTEM)
        return "monotonic";
#if defined(__x86_64__)
    return "tsc";
#elif defined(__aarch64__)
    return "cntvct";
#else
    return "monotonic";
#endif
}

/* ns per tick since the first anchor; 0: not to be known yet. */
static uint64_t mult_now(void)
{
    clock_anchor now = take_anchor(gnomon__os_monotonic_ns);
    uint64_t ticks = now.ticks - first_anchor.ticks;
    uint64_t ns = now.ns - first_anchor.ns;
    int is_far = ns >= FAR_NS;
    if (now.error == UINT64_MAX || now.ticks <= first_anchor.ticks)
        return 0;
    if (!is_far && ticks / ONE_PART_IN < now.error + first_anchor.error)
        return 0;
    return (uint64_t)(((wide)ns << GNOMON__CLOCK_SHIFT) / ticks);
}

gnomon__clock gnomon__clock_read(void)
{
    gnomon__clock clock = {0, 0, 0, one_ns_a_tick};
    gnomon__clock_start();
    if (gnomon__clock_kind() == GNOMON__CLOCK_COUNTER) {
        int last;
        do {
            last = gnomon__os_monotonic_ns() >= first_anchor.ns + FAR_NS;
            clock.mult = mult_now();
        } while (clock.mult == 0 && !last);
    }
    clock.zero_ticks = first_anchor.ticks;
    clock.zero_unix_ns =
        unix_anchor.ns - gnomon__clock_duration_ns(
                             &clock, unix_anchor.ticks - first_anchor.ticks);
    clock.error_ns = gnomon__clock_duration_ns(&clock, unix_anchor.error) + 1;
    return clock;
}

#endif
