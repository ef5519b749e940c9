/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When the stages of the run ended: of an event only its moment is known. Kept for the
 * last stages, and where nothing records events or work for the last one, of which work
 * may be told later; what is earlier is of no stage. Under the readers' lock. */
#include <string.h>

#include "mark/segment.h"
#include "platform/ticks.h"
#include "platform/memory.h"
#include "platform/process.h"
#include "run/run.h"
#include "run/snapshots.h"

#define MOST_SPANS 65536u

static struct {
    gnomon__stage_span *at;
    size_t count, room;
} spans GNOMON__OF_PROCESS;

static int are_needed(void)
{
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->tape || v->has_work || v->timed)
            return 1;
    return 0;
}

/* The first of the last `count` has the time of all before it, and is of no stage. */
static void forget_spans(size_t count)
{
    if (spans.count <= count)
        return;
    memmove(spans.at, spans.at + spans.count - count, count * sizeof *spans.at);
    spans.at[0].ordinal = 0;
    spans.at[0].name = UINT32_MAX;
    spans.count = count;
}

void gnomon__stage_span_add(uint64_t until, const gnomon__stage_key *stage)
{
    if (!are_needed())
        forget_spans(1);
    else if (spans.count == MOST_SPANS)
        forget_spans(MOST_SPANS / 2);
    if (gnomon__grow(&spans.at, &spans.room, spans.count + 1, sizeof *spans.at))
        spans.at[spans.count++] = (gnomon__stage_span){
            until, stage->ordinal, stage->name, gnomon__segment - 1, 0};
}

const gnomon__stage_span *gnomon__stage_spans(size_t *count)
{
    *count = spans.count;
    return spans.at;
}

void gnomon__stage_spans_clear(void)
{
    gnomon__free(spans.at);
    spans.at = NULL;
    spans.count = spans.room = 0;
}
