/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The steps of a stage, or of all stages of a name, in ns. On the heap; the owner has a
 * lock. */
#ifndef GNOMON_RECORD_WHOLE_STEPS_H
#define GNOMON_RECORD_WHOLE_STEPS_H

#include "profile/strip.h"
#include "record/step_sums.h"

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
/* The same, and keeps the memory. */
void gnomon__whole_steps_clear(gnomon__whole_steps *s);

/* ---- Of the open stage, in ticks ------------------------------------------------------ */

/* Of fixed size: counting takes no memory. Under the lock of steps. */
typedef struct gnomon__open_steps {
    gnomon__tick_sum sum; /* of all bins; total and bounds as it is read */
    uint32_t shift;       /* a bin has 1 << shift steps */
    uint32_t slow_count;
    uint64_t slow_from; /* ticks that a slow step takes more than */
    uint64_t until;     /* so many steps fill the last bin */
    struct gnomon__open_bin {
        uint64_t total, above, most; /* above: ~ of the least */
    } last, bins[GNOMON__BINS];      /* the last one is not among the bins */
    struct {
        uint64_t at, number, ticks;
    } slow[GNOMON__SLOW_STEPS]; /* in no order */
} gnomon__open_steps;

/* Slow: the last bin is full; the step is one of the slowest. */
void gnomon__open_steps_turn(gnomon__open_steps *s);
void gnomon__open_steps_slow(gnomon__open_steps *s, uint64_t number,
                             uint64_t ticks);

static inline void gnomon__open_steps_count(gnomon__open_steps *s,
                                            uint64_t number, uint64_t ticks)
{
    if (unlikely(s->sum.count == s->until))
        gnomon__open_steps_turn(s);
    s->last.total += ticks;
    if (~ticks > s->last.above)
        s->last.above = ~ticks;
    if (ticks > s->last.most)
        s->last.most = ticks;
    if (unlikely(ticks > s->slow_from))
        gnomon__open_steps_slow(s, number, ticks);
    s->sum.count++;
    s->sum.cells[gnomon__cell_of_ticks(ticks)]++;
}

/* Sets the empty *to to them in ns; `rate` is gnomon__clock_rate's. 0: no memory. */
int gnomon__open_steps_read(gnomon__whole_steps *to, gnomon__open_steps *s,
                            uint64_t rate);
/* After a read, by whose bounds it goes. The next step begins a stage. */
void gnomon__open_steps_clear(gnomon__open_steps *s);

#endif
