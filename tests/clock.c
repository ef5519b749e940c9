/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The clock of the testing library, in the place of src/platform/clock.c: tests move it
 * (ticks.h). */
#include "platform/clock.h"

#include "platform/os_wait.h"
#include "platform/ticks.h"

static int clock_kind_chosen;
static gnomon__os_once clock_once = GNOMON__OS_ONCE;

static void clock_begin(void);

int gnomon__clock_kind(void)
{
    return load_relaxed(&clock_kind_chosen);
}

void gnomon__clock_start(void)
{
    gnomon__os_make_once(&clock_once, clock_begin);
}

uint64_t gnomon__test_ticks;
uint64_t gnomon__test_mult = 1ull << GNOMON__CLOCK_SHIFT;

static void clock_begin(void)
{
    uint64_t step; /* called so that tests can make it fail */
    (void)gnomon__counter_is_usable(&step);
    store_relaxed(&clock_kind_chosen, GNOMON__CLOCK_COUNTER);
}

const char *gnomon__clock_name(void)
{
    return "test";
}

uint64_t gnomon__clock_ns(uint64_t ticks)
{
    return gnomon__line_scale(ticks, gnomon__test_mult);
}

uint64_t gnomon__clock_ns_far(gnomon__line_part *near, uint64_t ticks)
{
    (void)near;
    return gnomon__clock_ns(ticks);
}

uint64_t gnomon__clock_rate(uint64_t from, uint64_t to)
{
    (void)from, (void)to;
    return gnomon__test_mult;
}

uint64_t gnomon__quiet_from, gnomon__quiet_ticks;

void gnomon__clock_anchor_due(uint64_t now)
{
    (void)now;
}

size_t gnomon__clock_moments(gnomon__clock_moment out[GNOMON__CLOCK_MOMENTS])
{
    uint64_t now = gnomon__clock_ns(gnomon__ticks());
    gnomon__clock_start();
    out[0] = (gnomon__clock_moment){0, GNOMON__TEST_UNIX_NS, 0};
    out[1] = (gnomon__clock_moment){now, GNOMON__TEST_UNIX_NS + now, 0};
    return 2;
}
