/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From rows in ticks to a profile in ns: the run's own part, and the order of
 * the whole. Any thread; nobody who records waits for it. */
#include "profile/snapshot.h"

#include <string.h>

#include "mark/region.h"
#include "mark/sink.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "profile/take.h"

void gnomon__take_use(gnomon__take *b, uint32_t ordinal)
{
    uint64_t mult = ordinal <= GNOMON__MAX_STAGES ? b->mult[ordinal] : 0;
    b->clock.mult = mult ? mult : b->mult[0];
}

uint64_t gnomon__take_ns(const gnomon__take *b, uint64_t ticks)
{
    return gnomon__clock_duration_ns(&b->clock, ticks);
}

uint64_t gnomon__take_when(const gnomon__take *b, uint64_t ticks)
{
    return ticks ? gnomon__clock_since_zero_ns(&b->clock, ticks) : 0;
}

int gnomon__take_cells(gnomon__take *b, gnomon_stats *s,
                       const gnomon__row_cell *cells, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t low = gnomon_cell_low(cells[i].cell);
        uint64_t high = gnomon_cell_low(cells[i].cell + 1);
        uint64_t middle = gnomon__take_ns(b, low + (high - low) / 2);
        uint64_t *count = &b->scratch[gnomon_cell_of(middle)];
        used += *count == 0;
        *count += cells[i].count;
    }
    gnomon_cell *at = gnomon__model_room(b->m, used * sizeof *at);
    s->cells = at;
    for (uint32_t i = 0; n && i < GNOMON__NS_CELLS; i++) {
        if (b->scratch[i] && at)
            at[s->cell_count++] = (gnomon_cell){i, 0, b->scratch[i]};
        b->scratch[i] = 0;
    }
    return at != NULL;
}

/* ---- The run, stages, steps --------------------------------------------------- */

static int put_run(gnomon__take *b, const gnomon__run_facts *facts)
{
    gnomon_run_info *run = gnomon__model_add(b->m, GNOMON_RUNS);
    if (!run)
        return 0;
    *run = facts->run;
    run->struct_size = sizeof *run;
    run->clock = gnomon__clock_name();
    run->zero_unix_ns = b->clock.zero_unix_ns;
    run->clock_error_ns = b->clock.error_ns;
    run->now_ns = gnomon__take_when(b, gnomon__ticks());
    const char **texts[] = {&run->host,    &run->dir, &run->spec,
                            &run->attempt, &run->job, &run->uuid};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] && !(*texts[i] = gnomon__model_text(b->m, *texts[i])))
            return 0;
    for (size_t i = 0; i < facts->metadata_count; i++) {
        gnomon_metadata_info *d = gnomon__model_add(b->m, GNOMON_METADATA);
        if (!d)
            return 0;
        d->run = 1;
        d->key = gnomon__model_text(b->m, facts->metadata[i].key);
        d->json = gnomon__model_text(b->m, facts->metadata[i].json);
        if (!d->key || !d->json)
            return 0;
    }
    return 1;
}

static int put_step_cells(gnomon__take *b, gnomon_stats *s,
                          const uint64_t *count)
{
    gnomon__row_cell *cells = b->step_cells;
    size_t n = 0;
    for (uint32_t i = 0; i < GNOMON__STEP_CELLS; i++)
        if (count[i])
            cells[n++] = (gnomon__row_cell){i, 0, count[i]};
    return gnomon__take_cells(b, s, cells, n);
}

static int put_step_stats(gnomon__take *b, gnomon_stage_info *s,
                          const gnomon__stage_fact *f)
{
    gnomon_stats *steps = gnomon__model_sized(b->m, sizeof *steps);
    if (!steps)
        return 0;
    s->steps = steps;
    steps->count = f->step_count;
    steps->total_ns = steps->self_ns = gnomon__take_ns(b, f->step_total);
    steps->min_ns = gnomon__take_ns(b, f->step_min);
    steps->max_ns = gnomon__take_ns(b, f->step_max);
    return put_step_cells(b, steps, f->step_cells);
}

static int put_stage(gnomon__take *b, const gnomon__stage_fact *f)
{
    gnomon_stage_info *s = gnomon__model_add(b->m, GNOMON_STAGES);
    if (!s)
        return 0;
    s->run = 1;
    s->ordinal = f->ordinal;
    s->name = gnomon__model_text(b->m, f->name);
    uint64_t end = f->is_over ? f->ended : gnomon__ticks();
    uint64_t begin = f->was_opened ? f->opened : end, first;
    if (gnomon__stage_first(f->ordinal, &first) && first < begin)
        begin = first;
    s->ended = f->is_over;
    gnomon__take_use(b, f->ordinal);
    s->begin_ns = gnomon__take_when(b, begin);
    s->end_ns = gnomon__take_when(b, end);
    return s->name && (!f->step_count || put_step_stats(b, s, f));
}

static int put_steps(gnomon__take *b, const gnomon__run_facts *facts)
{
    for (size_t i = 0; i < facts->step_count; i++) {
        const gnomon__step_fact *f = &facts->steps[i];
        if (!b->stage_numbers[f->ordinal])
            continue;
        gnomon_step_info *s = gnomon__model_add(b->m, GNOMON_STEPS);
        if (!s)
            return 0;
        s->stage = b->stage_numbers[f->ordinal];
        s->number = f->number;
        gnomon__take_use(b, f->ordinal);
        s->begin_ns = gnomon__take_when(b, f->begin);
        s->end_ns = f->is_over ? gnomon__take_when(b, f->end) : 0;
        s->phase = f->phase;
    }
    return 1;
}

/* ---- Regions and tracks ------------------------------------------------------- */

uint32_t gnomon__take_region(gnomon__take *b, uint32_t id)
{
    if (b->region_numbers[id])
        return b->region_numbers[id];
    gnomon_region_info *r = gnomon__model_add(b->m, GNOMON_REGIONS);
    if (!r)
        return 0;
    const gnomon__entry *e = gnomon__region_entry(id);
    r->kind = e->region->kind;
    r->name = e->name;
    r->category = e->category;
    r->file = e->region->file ? e->region->file : "";
    r->function = e->region->function ? e->region->function : "";
    r->line = e->region->line;
    return b->region_numbers[id] =
               (uint32_t)gnomon__model_count(b->m, GNOMON_REGIONS);
}

static int put_track(gnomon__take *b, uint32_t thread)
{
    const gnomon__thread *t = load_acquire(&gnomon__threads[thread]);
    gnomon_track_info *k = gnomon__model_add(b->m, GNOMON_TRACKS);
    if (!k)
        return 0;
    k->run = 1;
    k->device = -1;
    k->kind = GNOMON_TRACK_THREAD;
    k->name = gnomon__model_text(b->m, load_acquire(&t->name));
    k->os_id = load_relaxed(&t->os_id);
    k->index = thread;
    k->lives = load_relaxed(&t->lives);
    k->alive = (int32_t)load_relaxed(&t->alive);
    k->inexact = b->tracks[thread].count && !b->tracks[thread].exact;
    return k->name != NULL;
}

/* ---- The whole ----------------------------------------------------------------- */

static int collect(gnomon__take *b)
{
    b->track_count = load_acquire(&gnomon__thread_total);
    size_t n = b->track_count ? b->track_count : 1;
    b->tracks = gnomon__alloc(n * sizeof *b->tracks);
    b->node_numbers = gnomon__alloc(n * sizeof *b->node_numbers);
    if (!b->tracks || !b->node_numbers)
        return 0;
    for (uint32_t i = 0; i < b->track_count; i++) {
        gnomon__rows *r = &b->tracks[i];
        if (gnomon__rows_copy(r, load_acquire(&gnomon__threads[i]), b->bit,
                              b->generation))
            return 0;
        if (!r->count)
            continue;
        b->node_numbers[i] = gnomon__alloc(r->count * sizeof(uint32_t));
        if (!b->node_numbers[i])
            return 0;
        gnomon__take_choose(b, i);
    }
    /* Taken last: the nodes copied so far have ids up to here. */
    size_t regions = (size_t)gnomon__region_count() + 1;
    b->region_numbers = gnomon__alloc(regions * sizeof *b->region_numbers);
    return b->region_numbers != NULL;
}

/* What marks lost, of the whole process: health that is not zero. */
static int put_losses(gnomon__take *b)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    const struct {
        const char *kind;
        uint64_t count;
    } losses[] = {
#define LOSS(field, text) {#field, h.field},
        GNOMON_HEALTH(LOSS)
#undef LOSS
    };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (!losses[i].count)
            continue;
        gnomon_loss_info *l = gnomon__model_add(b->m, GNOMON_LOSSES);
        if (!l)
            return 0;
        l->run = 1;
        l->kind = losses[i].kind;
        l->count = losses[i].count;
    }
    return 1;
}

static int build(gnomon__take *b, const gnomon__run_facts *facts)
{
    /* Numbers first: which rows are taken hangs on them. */
    for (size_t i = 0; i < facts->stage_count; i++) {
        const gnomon__stage_fact *f = &facts->stages[i];
        b->stage_numbers[f->ordinal] = (uint32_t)i + 1;
        b->mult[f->ordinal] = f->is_over ? f->mult : 0;
    }
    if (!collect(b) || !put_run(b, facts))
        return 0;
    for (size_t i = 0; i < facts->stage_count; i++)
        if (!put_stage(b, &facts->stages[i]))
            return 0;
    if (!put_steps(b, facts))
        return 0;
    gnomon__take_use(b, 0);
    for (uint32_t i = 0; i < b->track_count; i++) {
        if (!b->tracks[i].count)
            continue;
        if (!put_track(b, i))
            return 0;
        uint32_t track = (uint32_t)gnomon__model_count(b->m, GNOMON_TRACKS);
        if (!gnomon__take_nodes(b, i, track) ||
            !gnomon__take_counters(b, i, track))
            return 0;
    }
    return gnomon__take_links(b) && put_losses(b);
}

int gnomon__snapshot(gnomon__model **out, uint32_t bit, uint32_t generation,
                     const gnomon__run_facts *facts)
{
    *out = NULL;
    gnomon__take *b = gnomon__alloc(sizeof *b);
    if (!b)
        return GNOMON_ENOMEM;
    b->clock = gnomon__clock_read();
    b->mult[0] = b->clock.mult;
    b->bit = bit;
    b->generation = generation;
    b->m = gnomon__model_create();
    int ok = b->m && build(b, facts);
    for (uint32_t i = 0; i < b->track_count && b->tracks; i++) {
        gnomon__rows_free(&b->tracks[i]);
        if (b->node_numbers)
            gnomon__free(b->node_numbers[i]);
    }
    gnomon__free(b->tracks);
    gnomon__free(b->node_numbers);
    gnomon__free(b->region_numbers);
    if (ok)
        *out = b->m;
    else if (b->m)
        gnomon_profile_free(&b->m->base);
    gnomon__free(b);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}
