/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An entry is kept for one cut more than the last one that held it: a range may end after
 * a cut but before the open ranges are read, on a thread that is itself read at the next
 * cut. */
#include "record/segments.h"

#include "mark/segment.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "platform/process.h"
#include "record/totals.h"

gnomon__past_segments gnomon__segments_over GNOMON__OF_PROCESS;

int gnomon__segments_add(uint64_t until, const gnomon__stage_key *stage)
{
    gnomon__past_segments *s = &gnomon__segments_over;
    const uint64_t from = s->count ? s->at[s->count - 1].until : 0;
    return GNOMON__ADD(s->at, s->room, s->count,
                       (gnomon__past_segment){*stage, from, until,
                                              gnomon__segment, s->cuts})
               ? GNOMON_OK
               : GNOMON_ENOMEM;
}

void gnomon__segments_name(const gnomon__stage_key *stage)
{
    const gnomon__past_segments *s = &gnomon__segments_over;
    for (size_t i = s->count;
         i-- > 0 && s->at[i].stage.ordinal == stage->ordinal;)
        s->at[i].stage = *stage;
}

gnomon__past_segment *gnomon__segments_find(uint32_t segment)
{
    const gnomon__past_segments *s = &gnomon__segments_over;
    size_t low = 0, high = s->count;
    GNOMON__SEARCH(low, high, i, s->at[i].number < segment)
    return low < s->count && s->at[low].number == segment ? &s->at[low] : NULL;
}

gnomon__stage_key gnomon__segments_stage(uint32_t segment)
{
    const gnomon__past_segment *s = gnomon__segments_find(segment);
    return s ? s->stage : (gnomon__stage_key){0};
}

void gnomon__segments_hold(uint32_t segment)
{
    gnomon__past_segment *s = gnomon__segments_find(segment);
    if (s)
        s->held = gnomon__segments_over.cuts;
}

/* By halves, so that a cut need not look at all. */
void gnomon__segments_sweep(size_t least)
{
    gnomon__past_segments *s = &gnomon__segments_over;
    size_t kept = 0;
    gnomon__each_thread(t) /* it may not have cut yet */
        gnomon__segments_hold(load_relaxed(&t->segment));
    for (size_t i = 0; s->count >= 2 * least && i < s->count; i++)
        if (s->at[i].held + 1 >= s->cuts || i + least >= s->count)
            s->at[kept++] = s->at[i];
    s->count = kept ? kept : s->count;
    s->cuts++;
}

void gnomon__segments_clear(void)
{
    gnomon__free(gnomon__segments_over.at);
    gnomon__segments_over = (gnomon__past_segments){0};
}
