/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The line goes through the last two anchors, and on beyond them. CUPTI's own clock is
 * the system's time of day, which somebody may set: then the two anchors do not belong
 * together, and the last one counts alone. */
#include "device/cupti_clock.h"

#include "device/cupti_driver.h"
#include "platform/atomic.h"
#include "platform/ticks.h"

#define CLOCK_TRIES 9       /* the one with the least time between is taken */
#define CLOCK_APART 1000000 /* ns, from which a rate can be told */
#define CLOCK_DRIFT 1000 /* more than one part of so many: the clock was set */

typedef struct cupti_anchor {
    uint64_t ours, theirs;
    uint64_t error; /* half the time that reading both took */
} cupti_anchor;

static int clock_is_given;
static cupti_anchor anchor_before, anchor_last; /* ours 0: none */
static uint64_t clock_error; /* atomic: any thread describes the process */

static uint64_t cupti_now(void)
{
    return gnomon__clock_ns(gnomon__ticks());
}

static int read_both(cupti_anchor *out)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    out->error = UINT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t before = cupti_now(), theirs = 0;
        if (cupti->GetTimestamp(&theirs))
            return 0;
        uint64_t half = (cupti_now() - before) / 2;
        if (half < out->error)
            *out = (cupti_anchor){before + half, theirs, half};
    }
    return 1;
}

/* How far theirs went more than ours from one anchor to the other. */
static int64_t clock_gain(const cupti_anchor *a, const cupti_anchor *b)
{
    return (int64_t)(b->theirs - a->theirs) - (int64_t)(b->ours - a->ours);
}

/* How far it is from the line of the earlier two anchors is how wrong a time can be. */
void gnomon__cupti_clock_anchor(void)
{
    cupti_anchor now;
    if (clock_is_given || !read_both(&now))
        return;
    if (anchor_last.ours && now.ours - anchor_last.ours < CLOCK_APART)
        return;
    uint64_t passed = now.ours - anchor_last.ours;
    int64_t gain = clock_gain(&anchor_last, &now);
    uint64_t off = (uint64_t)(gain < 0 ? -gain : gain);
    int was_set = anchor_last.ours &&
                  off > passed / CLOCK_DRIFT + now.error + anchor_last.error;
    int64_t expected = (int64_t)gnomon__cupti_clock_time(now.theirs);
    int64_t missed = expected - (int64_t)now.ours;
    uint64_t error = now.error;
    if (anchor_before.ours && !was_set)
        error += (uint64_t)(missed < 0 ? -missed : missed);
    if (error > load_relaxed(&clock_error))
        store_relaxed(&clock_error, error);
    anchor_before = anchor_last;
    if (was_set)
        anchor_before = (cupti_anchor){0};
    anchor_last = now;
}

void gnomon__cupti_clock_start(void)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    if (clock_is_given)
        return;
    clock_is_given = cupti->RegisterTimestamp &&
                     cupti->RegisterTimestamp(cupti_now) == CUPTI_OK;
    gnomon__cupti_clock_anchor();
}

uint64_t gnomon__cupti_clock_time(uint64_t moment)
{
    if (clock_is_given)
        return moment;
    int64_t since = (int64_t)(moment - anchor_last.theirs);
    if (anchor_before.ours) {
        double theirs =
            (double)(int64_t)(anchor_last.theirs - anchor_before.theirs);
        double gain = (double)clock_gain(&anchor_before, &anchor_last);
        since -= (int64_t)((double)since * (gain / theirs));
    }
    if (since < 0 && (uint64_t)-since > anchor_last.ours)
        return 0;
    return anchor_last.ours + (uint64_t)since;
}

uint64_t gnomon__cupti_clock_error(void)
{
    return clock_is_given ? 0 : load_relaxed(&clock_error);
}
