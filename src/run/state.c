/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all of the run reads: what is attached, by which spec, the views it records under,
 * and the stage.
 * It lies below the rest, so that who reads it needs nothing of who changes it. */
#include <stdio.h>

#include "mark/segment.h"
#include "platform/process.h"
#include "run/run.h"

gnomon__attachment *gnomon__attachments GNOMON__OF_PROCESS;
gnomon__view *gnomon__views GNOMON__OF_PROCESS;
gnomon__stages gnomon__stage GNOMON__OF_PROCESS;
int gnomon__spec_follows;
const char *gnomon__spec_folds;

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

/* ---- The resolved spec ------------------------------------------------------------ */

void gnomon__memory_print(char *text, size_t size)
{
    uint32_t bytes = gnomon__marks_arena.size;
    if (bytes % 1024)
        snprintf(text, size, "%u", (unsigned)bytes);
    else if (bytes % (1u << 20))
        snprintf(text, size, "%uKiB", (unsigned)(bytes >> 10));
    else
        snprintf(text, size, "%uMiB", (unsigned)(bytes >> 20));
}

size_t gnomon__spec_resolved(char *buffer, size_t size)
{
    gnomon__spec spec = {0};
    const char *steps = NULL, *fold = load_relaxed(&gnomon__spec_folds);
    for (const gnomon__attachment *a = gnomon__attachments; a; a = a->next) {
        if (!a->word)
            continue;
        if (a->view->batch == GNOMON__BATCH_OF_STEPS) {
            steps = gnomon__options_text(a->options, "filter");
            continue;
        }
        if (gnomon__spec_add(&spec, a->word))
            break;
        gnomon__options_settle(a->options,
                               &spec.items[spec.item_count - 1].settings);
    }
    char memory[16];
    gnomon__memory_print(memory, sizeof memory);
    /* There is none where no address space was left. */
    if (spec.item_count && gnomon__marks_arena.size)
        (void)gnomon__settings_add(&spec.defaults, "mem", memory);
    if (spec.item_count && load_relaxed(&gnomon__spec_follows))
        (void)gnomon__settings_add(&spec.defaults, "fork", "follow");
    if (spec.item_count && steps)
        (void)gnomon__settings_add(&spec.defaults, "step", steps);
    if (spec.item_count &&
        fold) /* last: libgnomon-nvtx.so reads the end of the spec */
        (void)gnomon__settings_add(&spec.defaults, "fold", fold);
    size_t length = gnomon__spec_print(&spec, buffer, size);
    gnomon__spec_free(&spec);
    return length;
}
