/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which segment is open: its number, when it began, and its first mark. */
#include "mark/segment.h"

#include "platform/atomic.h"

uint32_t gnomon__segment = 1;
uint64_t gnomon__segment_begin;
uint32_t gnomon__segment_settled = 1;

uint64_t gnomon__first_mark; /* of the open segment */

void gnomon__segment_mark_slow(uint32_t segment, uint64_t ticks)
{
    uint64_t seen = load_relaxed(&gnomon__first_mark);
    ticks++;
    if (segment != load_relaxed(&gnomon__segment))
        return; /* the mark came during a cut: its segment has ended */
    while ((!seen || ticks < seen) &&
           !cas_acq_rel(&gnomon__first_mark, &seen, ticks))
        ;
}

int gnomon__segment_first(uint64_t *ticks)
{
    uint64_t first = load_acquire(&gnomon__first_mark);
    uint64_t begin = load_relaxed(&gnomon__segment_begin);
    *ticks = first - 1 > begin ? first - 1 : begin; /* during the cut */
    return first != 0;
}

void gnomon__segments_forget(void)
{
    store_relaxed(&gnomon__segment, 1);
    gnomon__segment_settled = 1;
    store_relaxed(&gnomon__segment_begin, 0);
    store_relaxed(&gnomon__first_mark, 0);
}

void gnomon__segment_next(uint64_t ticks)
{
    store_relaxed(&gnomon__segment, gnomon__segment + 1);
    store_relaxed(&gnomon__segment_begin, ticks);
    store_relaxed(&gnomon__first_mark, 0);
}
