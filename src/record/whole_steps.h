/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The steps of a stage, or of all stages of a name, in ns. On the heap; the owner has a
 * lock. */
#ifndef GNOMON_RECORD_WHOLE_STEPS_H
#define GNOMON_RECORD_WHOLE_STEPS_H

#include "profile/strip.h"
#include "record/totals.h"

typedef struct gnomon__whole_steps {
    gnomon__total time;
    gnomon__strip strip;
    gnomon_slow_step slow[GNOMON__SLOW_STEPS];
    size_t slow_count;
} gnomon__whole_steps;

/* 0: no memory, and some is missing. */
int gnomon__whole_steps_add(gnomon__whole_steps *to,
                            const gnomon__whole_steps *from);
void gnomon__whole_steps_empty(gnomon__whole_steps *s);

/* ---- Of the open stage, in ticks ------------------------------------------------------ */

/* The bins of one stage, of fixed size: counting takes no memory. */
typedef struct gnomon__open_strip {
    uint32_t shift; /* a bin has 1 << shift steps */
    uint32_t slow_count;
    uint64_t slow_from; /* ticks that a slow step takes more than */
    struct gnomon__open_bin {
        uint64_t total, above, most; /* above: ~ of the least */
    } bins[GNOMON__BINS];
    struct {
        uint64_t at, number, ticks;
    } slow[GNOMON__SLOW_STEPS]; /* in no order */
} gnomon__open_strip;

/* Slow: all bins are full; the step is one of the slowest. */
void gnomon__open_strip_widen(gnomon__open_strip *s);
void gnomon__open_strip_slow(gnomon__open_strip *s, uint64_t at,
                             uint64_t number, uint64_t ticks);

/* Counts step `at` of the stage, from 0, which begins anew. Under the lock of steps. */
static inline void gnomon__open_strip_count(gnomon__open_strip *s, uint64_t at,
                                            uint64_t number, uint64_t ticks)
{
    if (unlikely(!at))
        memset(s, 0, sizeof *s);
    if (unlikely(at >> s->shift == GNOMON__BINS))
        gnomon__open_strip_widen(s);
    struct gnomon__open_bin *bin = &s->bins[at >> s->shift];
    bin->total += ticks;
    if (~ticks > bin->above)
        bin->above = ~ticks;
    if (ticks > bin->most)
        bin->most = ticks;
    if (unlikely(ticks > s->slow_from))
        gnomon__open_strip_slow(s, at, number, ticks);
}

/* Adds `count` steps of it in ns; `rate` is gnomon__clock_rate's. 0: no memory. */
int gnomon__open_strip_add(gnomon__whole_steps *to, const gnomon__open_strip *s,
                           uint64_t count, uint64_t rate);

#endif
