/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entries in the order of segments. An entry is kept for one cut more than the last
 * one that held it: a range may end after a cut but before the open ranges are read,
 * on a thread that is itself read at the next cut. */
#include "record/segments.h"

#include "mark/segment.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "platform/process.h"
#include "record/totals.h"

#define RECENT 4u

typedef struct segment_entry {
    uint32_t segment;
    uint32_t held; /* number of the last cut that held it */
    gnomon__stage_key stage;
} segment_entry;

static struct {
    segment_entry *at;
    size_t count, room;
} segment_list GNOMON__OF_PROCESS;
static uint32_t cuts; /* number of this cut */

int gnomon__segments_add(uint32_t segment, uint32_t ordinal)
{
    return GNOMON__ADD(segment_list.at, segment_list.room, segment_list.count,
                       (segment_entry){segment, cuts, {.ordinal = ordinal}})
               ? GNOMON_OK
               : GNOMON_ENOMEM;
}

void gnomon__segments_name(const gnomon__stage_key *stage)
{
    for (size_t i = segment_list.count; i-- > 0;)
        if (segment_list.at[i].stage.ordinal == stage->ordinal)
            segment_list.at[i].stage = *stage;
        else if (segment_list.at[i].stage.ordinal < stage->ordinal)
            return;
}

static segment_entry *entry_of(uint32_t segment)
{
    size_t low = 0, high = segment_list.count;
    GNOMON__SEARCH(low, high, i, segment_list.at[i].segment < segment)
    return low < segment_list.count && segment_list.at[low].segment == segment
               ? &segment_list.at[low]
               : NULL;
}

gnomon__stage_key gnomon__segments_stage(uint32_t segment)
{
    const segment_entry *e = entry_of(segment);
    return e ? e->stage : (gnomon__stage_key){0};
}

void gnomon__segments_hold(uint32_t segment)
{
    segment_entry *e = entry_of(segment);
    if (e)
        e->held = cuts;
}

void gnomon__segments_sweep(void)
{
    size_t kept = 0;
    uint32_t total = load_acquire(&gnomon__thread_total);
    for (uint32_t i = 0; i < total; i++) /* a thread may not have cut yet */
        gnomon__segments_hold(load_relaxed(&gnomon__threads[i]->segment));
    for (size_t i = 0; i < segment_list.count; i++)
        if (segment_list.at[i].held + 1 >= cuts ||
            i + RECENT >= segment_list.count)
            segment_list.at[kept++] = segment_list.at[i];
    segment_list.count = kept;
    cuts++;
}

void gnomon__segments_clear(void)
{
    gnomon__free(segment_list.at);
    segment_list.at = NULL;
    segment_list.count = segment_list.room = 0;
}
