/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds a profile from a ledger: the run, its stages and tracks. Nodes, links and
 * counters are in snapshot_nodes.c, steps in snapshot_steps.c. Any thread; recording
 * threads do not wait for it. */
#include "record/snapshot.h"

#include <stddef.h>
#include <string.h>

#include "mark/thread.h"
#include "platform/ticks.h"
#include "platform/memory.h"
#include "record/snapshot_parts.h"
#include "record/tape_read.h"

/* ---- The run and stages -------------------------------------------------------- */

static int put_metadata(gnomon__snapshot_builder *b)
{
    const gnomon__run_record *record = b->record;
    for (size_t i = 0; i < record->metadata_count; i++) {
        gnomon_metadata_info *d = gnomon__model_add(b->m, GNOMON_METADATA);
        if (!d)
            return 0;
        d->run = 1;
        d->key = gnomon__model_text(b->m, record->metadata[i].key);
        d->json = gnomon__model_text(b->m, record->metadata[i].json);
        if (!d->key || !d->json)
            return 0;
    }
    return 1;
}

/* The first anchor is the run's time 0. */
static int put_anchors(gnomon__snapshot_builder *b, gnomon_run_info *run)
{
    gnomon__clock_moment moments[GNOMON__CLOCK_MOMENTS];
    size_t count = gnomon__clock_moments(moments);
    gnomon_clock_anchor *to = gnomon__model_room(b->m, count * sizeof *to);
    if (!to)
        return 0;
    for (size_t i = 0; i < count; i++) {
        to[i].struct_size = sizeof *to;
        to[i].ns = moments[i].ns;
        to[i].unix_ns = moments[i].unix_ns;
        to[i].error_ns = moments[i].error_ns;
    }
    run->anchors = to;
    run->anchor_count = count;
    run->zero_unix_ns = moments[0].unix_ns;
    run->clock_error_ns = moments[0].error_ns;
    return 1;
}

static int put_run(gnomon__snapshot_builder *b)
{
    gnomon_run_info *run = gnomon__model_add(b->m, GNOMON_RUNS);
    if (!run)
        return 0;
    *run = b->record->run;
    run->struct_size = sizeof *run;
    run->clock = gnomon__clock_name();
    if (!put_anchors(b, run))
        return 0;
    run->now_ns = gnomon__clock_ns(gnomon__ticks());
    const char **texts[] = {&run->host,    &run->dir, &run->spec,
                            &run->attempt, &run->job, &run->uuid};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] && !(*texts[i] = gnomon__model_text(b->m, *texts[i])))
            return 0;
    return put_metadata(b);
}

/* The only view: all nodes are of it. */
static int put_view(gnomon__snapshot_builder *b)
{
    gnomon_view_info *v = gnomon__model_add(b->m, GNOMON_VIEWS);
    return v && (v->words = gnomon__model_text(b->m, b->record->view)) != NULL;
}

static int put_stage(gnomon__snapshot_builder *b, const gnomon__stage_record *f)
{
    gnomon_stage_info *s = gnomon__model_add(b->m, GNOMON_STAGES);
    if (!s)
        return 0;
    s->run = 1;
    s->ordinal = f->key.ordinal;
    s->name = gnomon__model_text(b->m, f->name);
    s->begin_ns = f->key.begin_ns;
    s->end_ns = f->key.end_ns;
    s->ended = f->is_over;
    s->count = f->count;
    s->recorded_ns = f->totals->recorded_ns;
    s->late = f->totals->late;
    if (f->steps && f->steps->time.s.count &&
        !(s->steps = gnomon__snapshot_stats(b, &f->steps->time)))
        return 0;
    return s->name != NULL &&
           (!f->steps ||
            gnomon__snapshot_strip(
                b,
                (gnomon_strip_info){
                    .stage = (uint32_t)gnomon__model_count(b->m, GNOMON_STAGES),
                    .slow = f->steps->slow,
                    .slow_count = f->steps->slow_count},
                &f->steps->strip));
}

/* ---- Tracks ------------------------------------------------------------------- */

/* Whether some events of the thread are missing: their count needs a track. */
static int has_event_loss(const gnomon__snapshot_builder *b, uint32_t thread)
{
    const gnomon__tape_events *e = b->record->events;
    return e && thread < e->thread_count &&
           (e->threads[thread].lost.count ||
            e->threads[thread].overwritten.count);
}

/* Whether the thread has a tree in one of the stages, or events in them, and whether some
 * of it is inexact. */
static int has_thread(const gnomon__snapshot_builder *b, uint32_t thread,
                      int *is_inexact)
{
    int has_tree = b->threads[thread].count || has_event_loss(b, thread);
    *is_inexact = 0;
    for (size_t i = 0; i < b->record->stage_count; i++) {
        const gnomon__totals *totals = b->record->stages[i].totals;
        *is_inexact |= totals->is_incomplete;
        if (thread >= totals->thread_count)
            continue;
        has_tree |= totals->threads[thread].has_tree != 0;
        *is_inexact |= totals->threads[thread].is_inexact != 0;
    }
    return has_tree;
}

static int put_thread(gnomon__snapshot_builder *b, uint32_t thread)
{
    int is_inexact;
    if (!has_thread(b, thread, &is_inexact))
        return 1;
    const gnomon__thread *t = load_acquire(&gnomon__threads[thread]);
    gnomon_track_info *k = gnomon__model_add(b->m, GNOMON_TRACKS);
    if (!k)
        return 0;
    k->run = 1;
    k->device = -1;
    k->kind = GNOMON_TRACK_THREAD;
    char room[16];
    k->name = gnomon__model_text(b->m, gnomon__thread_name_of(t, room));
    k->os_id = load_relaxed(&t->os_id);
    k->index = thread;
    k->thread_count = load_relaxed(&t->lives);
    k->alive = (int32_t)load_relaxed(&t->alive);
    k->inexact = is_inexact;
    b->threads[thread].track =
        (uint32_t)gnomon__model_count(b->m, GNOMON_TRACKS);
    return k->name && gnomon__snapshot_nodes(b, thread) &&
           gnomon__snapshot_counters(b, thread);
}

/* ---- The whole ----------------------------------------------------------------- */

/* All counts of gnomon_health that are not 0, of the whole process. The counts follow one
 * another, as their names do. */
static int put_losses(gnomon__snapshot_builder *b)
{
#define LOSS(field, text) #field "\0"
#define ONE(field, text) +1
    static const char kinds[] = GNOMON_HEALTH(LOSS);
    const size_t counts = 0 GNOMON_HEALTH(ONE);
#undef LOSS
#undef ONE
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    const char *at = (const char *)&h + offsetof(gnomon_health, unmatched);
    const char *kind = kinds;
    for (size_t i = 0; i < counts; i++, kind += strlen(kind) + 1) {
        uint64_t count;
        memcpy(&count, at, sizeof count);
        at += sizeof count;
        gnomon_loss_info *l =
            count ? gnomon__model_add(b->m, GNOMON_LOSSES) : NULL;
        if (count && !l)
            return 0;
        if (!count)
            continue;
        l->run = 1;
        l->kind = kind;
        l->count = count;
    }
    return 1;
}

static int put_sums(gnomon__snapshot_builder *b, uint32_t stage)
{
    void *const *sums = b->record->stages[stage - 1].totals->sums;
    int ok = 1;
    for (int i = 0; ok && i < GNOMON__RECORDERS; i++)
        ok = !sums[i] || !gnomon__recorders[i]->put_sums ||
             gnomon__recorders[i]->put_sums(b, stage, sums[i]);
    return ok;
}

static int build(gnomon__snapshot_builder *b)
{
    int ok = gnomon__snapshot_choose(b) && gnomon__snapshot_need_events(b) &&
             gnomon__snapshot_order(b) && put_run(b) && put_view(b);
    for (size_t i = 0; ok && i < b->record->stage_count; i++)
        ok = put_stage(b, &b->record->stages[i]);
    ok = ok && gnomon__snapshot_steps(b);
    for (uint32_t i = 0; ok && i < b->thread_count; i++)
        ok = put_thread(b, i);
    for (uint32_t i = 1; ok && i <= b->record->stage_count; i++)
        ok = put_sums(b, i) && gnomon__snapshot_memory(b, i);
    return ok && gnomon__snapshot_activities(b) &&
           gnomon__snapshot_event_links(b) && gnomon__snapshot_put_events(b) &&
           gnomon__snapshot_own_steps(b) && gnomon__snapshot_opens(b) &&
           gnomon__snapshot_links(b) && put_losses(b);
}

int gnomon__snapshot(gnomon__model **out, const gnomon__ledger *ledger,
                     const gnomon__run_record *record)
{
    gnomon__snapshot_builder b = {.ledger = ledger, .record = record};
    *out = NULL;
    b.m = gnomon__model_create();
    int ok = b.m && build(&b);
    for (uint32_t i = 0; i < b.thread_count && b.threads; i++) {
        gnomon__free(b.threads[i].items);
        gnomon__free((void *)b.threads[i].order);
    }
    gnomon__free(b.threads);
    gnomon__free(b.region_numbers);
    gnomon__free(b.op_numbers);
    gnomon__free(b.links);
    gnomon__free(b.work);
    if (ok) {
        gnomon__snapshot_events_arrived(&b);
        *out = b.m;
    } else if (b.m) {
        gnomon_profile_free(&b.m->base);
    }
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}
