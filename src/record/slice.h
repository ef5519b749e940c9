/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one thread recorded for one view in one segment. Scopes that are open at the end of
 * a segment are treated as if they ended there and began anew in the next one, so each
 * segment has its share of such an execution. Its count of 1 belongs to the segment in
 * which it began. */
#ifndef GNOMON_RECORD_SLICE_H
#define GNOMON_RECORD_SLICE_H

#include "platform/clock.h"
#include "record/rows.h"

/* Rows with their shares: of the segment that has just ended, which is cleared, in a
 * control call; or, if `is_live`, a copy of the open one, which goes on. GNOMON_ENOMEM.
 * Under the readers' lock. Free with gnomon__rows_free, in any case. */
int gnomon__slice_read(gnomon__rows *out, gnomon__thread *t, uint32_t bit,
                       uint32_t generation, int is_live);

static inline uint64_t gnomon__slice_ns(const gnomon__rows *r, uint64_t ticks)
{
    return gnomon__line_scale(ticks, r->rate);
}

#endif
