/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The line goes through the last two anchors, and on beyond them. CUPTI's own clock is
 * the system's time of day, which somebody may set: then the two anchors do not belong
 * together, and the last one counts alone. One that another profiler gave may count
 * anything, as the processor's ticks: then the next anchor tells how fast. */
#include "device/cupti_clock.h"

#include <string.h>

#include "device/cupti_driver.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/ticks.h"

#define CLOCK_TRIES 9       /* the one with the least time between is taken */
#define CLOCK_APART 1000000 /* ns, from which a rate can be told */
#define CLOCK_DRIFT 1000 /* more than one part of so many: the clock was set */
#define CLOCK_IS_OURS 1000000 /* ns, within which both are one clock */

typedef struct cupti_anchor {
    uint64_t ours, theirs;
    uint64_t error; /* half the time that reading both took */
} cupti_anchor;

static int clock_was_given, clock_is_given;
static int rate_is_open; /* of the line from the last anchor on */
static cupti_anchor anchor_before, anchor_last; /* ours 0: none */
static uint64_t clock_error; /* atomic: any thread describes the process */

static uint64_t cupti_now(void)
{
    return gnomon__clock_ns(gnomon__ticks());
}

static int read_both(cupti_anchor *out, int tries)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    out->error = UINT64_MAX;
    for (int i = 0; i < tries; i++) {
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

static uint64_t clock_apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Whether it is still gnomon's. */
static int clock_is_ours(void)
{
    cupti_anchor now;
    if (!clock_is_given || !read_both(&now, 1) ||
        clock_apart(now.theirs, now.ours) <= now.error + CLOCK_IS_OURS)
        return clock_is_given;
    static int is_logged;
    if (!is_logged)
        gnomon__log("CUPTI has a clock that another profiler gave it: times of "
                    "work are told from it as well as can be");
    is_logged = 1;
    anchor_before = anchor_last = (cupti_anchor){0};
    clock_is_given = 0;
    rate_is_open = 1;
    return 0;
}

/* How far it is from the line of the earlier two anchors is how wrong a time can be. */
void gnomon__cupti_clock_anchor(void)
{
    cupti_anchor now;
    if (clock_is_ours() || !read_both(&now, CLOCK_TRIES))
        return;
    if (anchor_last.ours && now.ours - anchor_last.ours < CLOCK_APART)
        return;
    uint64_t expected = gnomon__cupti_clock_time(now.theirs);
    uint64_t missed = clock_apart(expected, now.ours);
    int was_set = anchor_last.ours && !rate_is_open &&
                  missed > (now.ours - anchor_last.ours) / CLOCK_DRIFT +
                               now.error + anchor_last.error;
    uint64_t error = now.error;
    if (anchor_before.ours && !was_set)
        error += missed;
    if (error > load_relaxed(&clock_error))
        store_relaxed(&clock_error, error);
    anchor_before = anchor_last;
    if (was_set)
        memset(&anchor_before, 0, sizeof anchor_before);
    rate_is_open = was_set || (rate_is_open && !anchor_last.ours);
    anchor_last = now;
}

void gnomon__cupti_clock_start(int is_one_of_several)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    if (!clock_was_given || is_one_of_several)
        clock_was_given = cupti->RegisterTimestamp &&
                          cupti->RegisterTimestamp(cupti_now) == CUPTI_OK;
    clock_is_given = clock_was_given;
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
    return load_relaxed(&clock_error);
}
