/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When the stages of the run ended: of an event only its moment is known. Kept for the
 * last stages, and only while something records events or work; what is earlier is of no
 * stage. Under the readers' lock. */
#include <string.h>

#include "mark/segment.h"
#include "platform/memory.h"
#include "run/run.h"

#define MOST_SPANS 65536u

static gnomon__stage_span *spans;
static size_t stage_spans_count, stage_spans_room;

static int are_needed(void)
{
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->tape || v->has_work || v->timed)
            return 1;
    return 0;
}

void gnomon__stage_span_add(uint64_t until, const gnomon__stage_key *stage)
{
    static const gnomon__stage_key none = {.name = UINT32_MAX};
    if (!are_needed()) {
        stage_spans_count = 0; /* one that has the time of all before it */
        stage = &none;
    }
    if (stage_spans_count == MOST_SPANS) {
        stage_spans_count = MOST_SPANS / 2;
        memmove(spans, spans + MOST_SPANS / 2,
                stage_spans_count * sizeof *spans);
        spans[0].ordinal = 0; /* it has the time of all before it */
    }
    if (gnomon__grow(&spans, &stage_spans_room, stage_spans_count + 1,
                     sizeof *spans))
        spans[stage_spans_count++] = (gnomon__stage_span){
            until, stage->ordinal, stage->name, gnomon__segment - 1, 0};
}

const gnomon__stage_span *gnomon__stage_spans(size_t *count)
{
    *count = stage_spans_count;
    return spans;
}

void gnomon__stage_spans_clear(int frees)
{
    if (frees)
        gnomon__free(spans);
    else
        gnomon__keep_reachable(spans);
    spans = NULL;
    stage_spans_count = stage_spans_room = 0;
}
