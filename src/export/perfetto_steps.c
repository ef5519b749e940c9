/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Steps, on a track of their own: a scope may begin in one and end in the next. */
#include "export/perfetto.h"

#include <stdlib.h>

typedef struct perfetto_step {
    gnomon_step_info info;
    const char *stage;
    size_t row;
} perfetto_step;

static int perfetto_compare_steps(const void *left, const void *right)
{
    const perfetto_step *a = left, *b = right;
    if (a->row != b->row)
        return a->row > b->row ? 1 : -1;
    if (a->info.begin_ns != b->info.begin_ns)
        return a->info.begin_ns > b->info.begin_ns ? 1 : -1;
    return (a->info.number > b->info.number) -
           (a->info.number < b->info.number);
}

/* As torch names steps: tools find them by it. */
static int perfetto_put_step(gnomon__perfetto *f, const perfetto_step *s)
{
    gnomon__perfetto_run *run = &f->runs[f->rows[s->row].run];
    uint64_t begin = gnomon__perfetto_unix(run, s->info.begin_ns);
    uint64_t end = s->info.end_ns ? s->info.end_ns : GNOMON__PERFETTO_NEVER;
    size_t from;
    if (!gnomon__export_takes(f->what, begin))
        return 1;
    if (end != GNOMON__PERFETTO_NEVER &&
        gnomon__perfetto_unix(run, end) <= run->floor) {
        run->skipped_steps++;
        return 1;
    }
    if (!gnomon__perfetto_begin(f, s->row, 0, s->info.begin_ns, end, &from))
        return 0;
    gnomon__wire *w = &f->wire;
    gnomon__wire_text(w, EVENT_CATEGORIES, "step");
    size_t name = gnomon__wire_open(w, EVENT_NAME);
    gnomon__wire_piece(w, "ProfilerStep#");
    gnomon__wire_natural(w, s->info.number);
    gnomon__wire_close(w, name);
    if (*s->stage)
        gnomon__perfetto_note_text(w, GNOMON__PERFETTO_STAGE, s->stage);
    if (s->info.rank >= 0)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_RANK, (uint64_t)s->info.rank);
    gnomon__perfetto_event_end(f, from);
    return 1;
}

int gnomon__perfetto_steps(gnomon__perfetto *f)
{
    size_t count = gnomon_profile_count(f->p, GNOMON_STEPS);
    perfetto_step *steps = calloc(count + 1, sizeof *steps);
    int ok = steps != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        gnomon_stage_info stage = {.name = ""};
        (void)gnomon_profile_step(f->p, i + 1, &steps[i].info);
        (void)gnomon_profile_stage(f->p, steps[i].info.stage, &stage);
        steps[i].stage = stage.name ? stage.name : "";
        steps[i].row =
            f->track_count + 1 + (stage.run <= f->run_count ? stage.run : 0);
    }
    if (ok && count)
        qsort(steps, count, sizeof *steps, perfetto_compare_steps);
    for (size_t i = 0; ok && i < count && !f->t->code; i++)
        ok = perfetto_put_step(f, &steps[i]);
    free(steps);
    return ok;
}
