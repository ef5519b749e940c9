/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Moments of the run with the system's clock, which show whether it was set.
 * A thread that takes an anchor keeps a moment if one is due. One thread at
 * a time; a second one skips it. When the array is full every other moment
 * is dropped, so that they stay about equally far apart. */
#include "platform/clock.h"

#ifndef GNOMON_TESTING

#include "platform/atomic.h"

#define MOMENTS_KEPT (GNOMON__CLOCK_MOMENTS - 2) /* beside the zero and now */
#define MOMENTS_DISTANCE_NS 1000000000u
#define MOMENTS_TRIES 1000000 /* in a child, the owner may not exist */

static uint32_t moments_owned;
static uint64_t moments_due = MOMENTS_DISTANCE_NS; /* when to keep the next */
static uint64_t moments_distance_ns = MOMENTS_DISTANCE_NS;
static gnomon__clock_moment kept_moments[MOMENTS_KEPT];
static size_t kept_count;
static gnomon__anchor unix_zero; /* right after the zero */

static int own_moments(void)
{
    uint32_t nobody = 0;
    return cas_acq_rel(&moments_owned, &nobody, 1);
}

void gnomon__moments_begin(void)
{
    unix_zero = gnomon__clock_take(gnomon__os_unix_ns);
}

static void thin_moments(void)
{
    for (size_t i = 1; i < MOMENTS_KEPT; i += 2)
        kept_moments[i / 2] = kept_moments[i];
    kept_count = MOMENTS_KEPT / 2;
    moments_distance_ns *= 2;
}

void gnomon__moments_keep(uint64_t ticks, uint64_t ns, uint64_t rate)
{
    if (ns < load_relaxed(&moments_due) || !own_moments())
        return;
    gnomon__anchor now = gnomon__clock_take(gnomon__os_unix_ns);
    if (now.error != UINT64_MAX && now.ticks >= ticks) {
        if (kept_count == MOMENTS_KEPT)
            thin_moments();
        kept_moments[kept_count++] = (gnomon__clock_moment){
            ns + gnomon__line_scale(now.ticks - ticks, rate), now.ns,
            gnomon__line_scale(now.error, rate) + 1};
        store_relaxed(&moments_due, ns + moments_distance_ns);
    }
    store_release(&moments_owned, 0);
}

size_t gnomon__clock_moments(gnomon__clock_moment out[GNOMON__CLOCK_MOMENTS])
{
    gnomon__clock_start();
    gnomon__anchor now = gnomon__clock_take(gnomon__os_unix_ns);
    uint64_t ns = gnomon__clock_ns(now.ticks); /* which makes a rate known */
    uint64_t rate = gnomon__clock_rate(unix_zero.ticks, now.ticks);
    size_t n = 1;
    out[0].ns = 0;
    out[0].unix_ns = unix_zero.ns - gnomon__clock_ns(unix_zero.ticks);
    out[0].error_ns = gnomon__line_scale(unix_zero.error, rate) + 1;
    for (int tries = 0; tries < MOMENTS_TRIES; tries++) {
        if (!own_moments())
            continue;
        for (size_t i = 0; i < kept_count && kept_moments[i].ns < ns; i++)
            out[n++] = kept_moments[i];
        store_release(&moments_owned, 0);
        break;
    }
    out[n].ns = ns;
    out[n].unix_ns = now.ns;
    out[n].error_ns = gnomon__line_scale(now.error, rate) + 1;
    return n + 1;
}

#endif
