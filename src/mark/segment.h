/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Segments: a segment is what is marked between two cuts. A stage is one;
 * what is marked after its end belongs to the next. */
#ifndef GNOMON_MARK_SEGMENT_H
#define GNOMON_MARK_SEGMENT_H

#include <stdint.h>

#include "platform/atomic.h"

/* The number of the segment that marks belong to: 1, 2, ... Changed under the
 * lock. */
GNOMON__DATA uint32_t gnomon__segment;
GNOMON__DATA uint64_t gnomon__segment_begin; /* ticks: the cut that began it */

/* The newest one whose cut is over. While it is another than the open one, threads are
 * being cut. Under the lock. */
GNOMON__DATA uint32_t gnomon__segment_settled;

/* Ends the segment at `ticks`. When it returns, no thread records in it, and
 * what was recorded rests until the next cut. A thread that stayed inside
 * one mark for a second is left out; returns how many were. What such a
 * thread recorded is at rest once its t->segment is gnomon__segment. In
 * control calls, one at a time; not under the lock of marks. */
uint32_t gnomon__cut(uint64_t ticks);

/* The next one begins. Under the lock; for gnomon__cut alone. */
void gnomon__segment_next(uint64_t ticks);

/* A segment's first mark is kept: for the open segment alone, any thread. */
GNOMON__DATA uint64_t gnomon__first_mark; /* plus 1; 0: none */
void gnomon__segment_mark_slow(uint32_t segment, uint64_t ticks);
static inline void gnomon__segment_mark(uint32_t segment, uint64_t ticks)
{
    if (unlikely(load_relaxed(&gnomon__first_mark) - 1 > ticks))
        gnomon__segment_mark_slow(segment, ticks);
}
int gnomon__segment_first(uint64_t *ticks); /* 0: nothing was marked yet */

/* Calls `each` with the segment in which each open range began. Any thread;
 * a range that ends meanwhile may be left out. */
void gnomon__ranges_open(void (*each)(uint32_t segment));

/* Ranges of these first threads that began in this time, in ticks, and are open: the tape of
 * `bit` gets no event of them, and each is lost, once. Any thread. */
typedef void gnomon__range_lost(void *to, uint32_t thread, uint64_t begin,
                                uint32_t segment);
void gnomon__ranges_lose(uint32_t bit, uint64_t from, uint64_t until,
                         uint32_t threads, gnomon__range_lost *lose, void *to);

/* A new run: numbers begin anew. Nothing records. In a forked child, too. */
void gnomon__segments_forget(void);

#endif
