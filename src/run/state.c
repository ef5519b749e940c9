/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all of the run reads: what is attached, the views it records under, and the stage.
 * It lies below the rest, so that who reads it needs nothing of who changes it. */
#include "mark/segment.h"
#include "platform/process.h"
#include "run/run.h"

gnomon__attachment *gnomon__attachments GNOMON__OF_PROCESS;
gnomon__view *gnomon__views GNOMON__OF_PROCESS;
gnomon__stages gnomon__stage GNOMON__OF_PROCESS;

int gnomon__view_leaves(const gnomon__view *v)
{
    const gnomon__attachment *a = gnomon__attachments;
    while (a && ((a->view != v && a->window != v) || a->leaves))
        a = a->next;
    return a == NULL;
}

const char *gnomon__stage_name(void)
{
    const gnomon__stages *s = &gnomon__stage;
    const char *name = s->reported.name ? s->reported.name
                       : s->was_opened  ? s->name
                                        : NULL;
    return name && *name ? name : NULL;
}

uint64_t gnomon__stage_first_mark(void)
{
    uint64_t first = gnomon__stage.first, its;
    if (gnomon__segment_first(&its) && (!first || its + 1 < first))
        first = its + 1;
    return first;
}

uint64_t gnomon__stage_begin_ticks(uint64_t now)
{
    uint64_t first = gnomon__stage_first_mark();
    uint64_t begin = gnomon__stage.was_opened ? gnomon__stage.opened : now;
    return first && first - 1 < begin ? first - 1 : begin;
}

int gnomon__stage_is_due(void)
{
    return gnomon__stage.was_opened || gnomon__stage.over == 0 ||
           gnomon__stage_first_mark();
}

void gnomon__stage_reports_over(void)
{
    gnomon__readers_lock();
    gnomon__stage.reported = gnomon__stage.unfinished;
    gnomon__free(gnomon__stage.reported_name);
    gnomon__stage.reported_name = NULL;
    gnomon__readers_unlock();
}
