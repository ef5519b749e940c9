/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Steps in few bins. Bins of step i of any stage are the same where they are as wide, and
 * two narrow ones are exactly one that is twice as wide: so strips add up in any order. */
#ifndef GNOMON_PROFILE_STRIP_H
#define GNOMON_PROFILE_STRIP_H

#include <string.h>

#include "gnomon/profile.h"
#include "platform/atomic.h"

#define GNOMON__BINS 1024u
#define GNOMON__SLOW_STEPS 16u

/* All zero is an empty one. */
typedef struct gnomon__strip {
    uint64_t width;
    gnomon_bin *bins; /* on the heap */
    size_t count, room;
} gnomon__strip;

/* Doubles are stored through their bits: readers may be on other threads. */
static inline void gnomon__store_double(double *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    store_relaxed((uint64_t *)(void *)to, bits);
}

/* Adds all of `more`, but no struct_size. One thread at a time. */
static inline void gnomon__bin_add(gnomon_bin *to, const gnomon_bin *more)
{
    const uint32_t sum = to->count + more->count;
    if (!more->count)
        return;
    if (!to->count || more->min < to->min)
        gnomon__store_double(&to->min, more->min);
    if (!to->count || more->max > to->max)
        gnomon__store_double(&to->max, more->max);
    gnomon__store_double(&to->sum, to->sum + more->sum);
    store_relaxed(&to->count, sum < more->count ? UINT32_MAX : sum);
}

/* In place: `times`, a power of two, become one. Returns how many are left. */
size_t gnomon__bins_widen(gnomon_bin *bins, size_t count, uint64_t times);

/* Whether its numbers are within their bounds, so that it can be added to others. */
static inline int gnomon__strip_is_sound(const gnomon_strip_info *s)
{
    return s->width && !(s->width & (s->width - 1)) &&
           s->bin_count <= GNOMON__BINS && s->slow_count <= GNOMON__SLOW_STEPS;
}

/* How many bins the sum of both has. */
size_t gnomon__strip_need(const gnomon__strip *to, uint64_t width,
                          size_t count);
/* Adds bins, of any size that their struct_size says. 0: no memory. */
int gnomon__strip_add(gnomon__strip *to, uint64_t width, const gnomon_bin *bins,
                      size_t count);
void gnomon__strip_free(gnomon__strip *s);

/* Adds to a list of at most GNOMON__SLOW_STEPS, the slowest first. Returns its new count. */
size_t gnomon__slow_add(gnomon_slow_step *list, size_t count,
                        const gnomon_slow_step *step);

#endif
