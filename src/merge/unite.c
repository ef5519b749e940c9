/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs, stages, tracks and paths that become one.
 *
 * Invariant: whatever is united has a number, whatever names it names that, and
 * no two of a kind have the same key. */
#include "merge/unite.h"

#include <stdlib.h>
#include <string.h>

#include "merge/unite_filter.h"
#include "merge/unite_nodes.h"
#include "merge/unite_steps.h"
#include "merge/unite_views.h"
#include "merge/united.h"
#include "platform/hash.h"
#include "platform/memory.h"
#include "profile/fields.h"

/* ---- The run --------------------------------------------------------------------- */

static uint32_t united_run(const gnomon__unite *u)
{
    return !(u->fold.rules & GNOMON__UNITE_NO_RUN);
}

/* Of several records of a run the greatest is kept (gnomon__compare_runs), with its
 * metadata. */
static int unite_run(gnomon__united_part *part)
{
    gnomon__unite *u = part->u;
    gnomon__table *metadata = &u->fold.m->tables[GNOMON_METADATA];
    gnomon_run_info run = gnomon__no_run;
    part->map.of[GNOMON_RUNS][part->run] = united_run(u);
    if (u->fold.rules & GNOMON__UNITE_NO_RUN)
        return GNOMON_OK;
    if (part->run && !(u->fold.rules & GNOMON__UNITE_RANKS) &&
        gnomon_profile_run(part->p, part->run, &run) != GNOMON_OK)
        return gnomon__shared_changed();
    gnomon_run_info *to = gnomon__model_count(u->fold.m, GNOMON_RUNS)
                              ? gnomon__model_at(u->fold.m, GNOMON_RUNS, 1)
                              : NULL;
    int order = to ? gnomon__compare_runs(&run, to) : 1;
    part->is_latest = order >= 0;
    if (!to && !(to = gnomon__model_add(u->fold.m, GNOMON_RUNS)))
        return gnomon__no_memory_to_merge();
    if (order <= 0)
        return GNOMON_OK;
    metadata->count = u->merged_count[GNOMON_METADATA] = 0;
    *to = run;
    return gnomon__unite_keep(&u->fold, GNOMON_RUNS, to)
               ? GNOMON_OK
               : gnomon__no_memory_to_merge();
}

/* ---- Stages ---------------------------------------------------------------------- */

static int is_stage_in(const gnomon__united_part *part,
                       const gnomon_stage_info *s)
{
    const gnomon__stage_filter *only = part->only;
    return s->run == part->run &&
           (!only || (only->name && strcmp(s->name, only->name) == 0 &&
                      (s->ordinal == only->ordinal ||
                       part->u->fold.rules & GNOMON__UNITE_NAMES)));
}

static int unite_stages(gnomon__united_part *part)
{
    gnomon__unite *u = part->u;
    gnomon_stage_info s;
    uint32_t last = 0;
    for (size_t i = 1; i <= part->count[GNOMON_STAGES]; i++) {
        gnomon_profile_stage(part->p, i, &s);
        if (!is_stage_in(part, &s) || !gnomon__unite_view_stage(part, i, &s))
            continue;
        if (!part->last_stage || s.ordinal > last) {
            part->last_stage = i;
            last = s.ordinal;
        }
        if (part->only)
            s.ordinal = part->only->ordinal;
        if (u->fold.rules & GNOMON__UNITE_RANKS) {
            s.end_ns -= s.begin_ns;
            s.begin_ns = 0;
        }
        gnomon__renumber(&part->map, GNOMON_STAGES, &s);
        uint32_t number = gnomon__fold_add(&u->fold, GNOMON_STAGES, &s);
        if (!number)
            return gnomon__no_memory_to_merge();
        part->map.of[GNOMON_STAGES][i] = number;
    }
    return GNOMON_OK;
}

/* ---- Tracks ----------------------------------------------------------------------- */

static int unite_tracks(gnomon__united_part *part)
{
    gnomon__unite *u = part->u;
    gnomon_track_info t;
    for (size_t i = 1; i <= part->count[GNOMON_TRACKS]; i++) {
        gnomon_profile_track(part->p, i, &t);
        if (t.run != part->run)
            continue;
        gnomon__renumber(&part->map, GNOMON_TRACKS, &t);
        if (u->fold.rules & GNOMON__UNITE_RANKS)
            t.index = 0;
        uint32_t number = gnomon__fold_add(&u->fold, GNOMON_TRACKS, &t);
        if (!number)
            return gnomon__no_memory_to_merge();
        part->map.of[GNOMON_TRACKS][i] = number;
    }
    return GNOMON_OK;
}

/* ---- A part ----------------------------------------------------------------------- */

static int begin_united_part(gnomon__united_part *part)
{
    static const int own[] = {GNOMON_RUNS, GNOMON_STAGES, GNOMON_STEPS,
                              GNOMON_TRACKS, GNOMON_NODES};
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        part->count[k] = gnomon_profile_count(part->p, k);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t n = part->count[own[i]] + 1 + part->run; /* of any run */
        part->map.of[own[i]] = gnomon__alloc(n * sizeof(uint32_t));
        if (!part->map.of[own[i]])
            return gnomon__no_memory_to_merge();
    }
    return gnomon__shared_find(part->u->shared, part->p, &part->map);
}

void gnomon__unite_keep_map(gnomon__unite *u, gnomon__unite_map *map)
{
    map->next = u->maps;
    u->maps = map;
    u->has_next_map = 1;
}

static void keep_map(gnomon__united_part *part)
{
    static const int kept[] = {GNOMON_TRACKS, GNOMON_NODES, GNOMON_REGIONS};
    gnomon__unite_map *map = part->u->maps;
    part->u->has_next_map = 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        map->of.of[kept[i]] = part->map.of[kept[i]];
        map->count[kept[i]] = part->count[kept[i]];
        part->map.of[kept[i]] = NULL;
    }
}

int gnomon__unite_add(gnomon__unite *u, const gnomon_profile *p, uint32_t run,
                      const gnomon__stage_filter *only)
{
    gnomon__united_part part = {.u = u, .p = p, .run = run, .only = only};
    int code = begin_united_part(&part);
    u->parts++;
    if (!code)
        code = unite_run(&part);
    if (!code)
        code = gnomon__unite_views_begin(&part);
    if (!code)
        code = unite_stages(&part);
    if (!code)
        code = unite_tracks(&part);
    if (!code)
        code = gnomon__unite_views(&part);
    if (!code)
        code = gnomon__filter_begin(&part);
    if (!code)
        code = gnomon__unite_nodes(&part);
    if (!code)
        code = gnomon__filter_links(&part);
    if (!code)
        code = gnomon__unite_steps(&part);
    if (!code)
        code = gnomon__unite_leaves(&part);
    if (u->has_next_map)
        keep_map(&part);
    gnomon__free(part.view_time);
    gnomon__filter_free(&part);
    gnomon__numbers_free(&part.map);
    return code;
}

/* ---- The whole -------------------------------------------------------------------- */

int gnomon__unite_create(gnomon__unite **out, const gnomon__shared *shared,
                         unsigned rules)
{
    gnomon__unite *u = *out = gnomon__alloc(sizeof *u);
    if (!u)
        return gnomon__no_memory_to_merge();
    u->shared = shared;
    u->fold.rules = rules;
    u->fold.way = rules & GNOMON__UNITE_READINGS ? &gnomon__fold_readings
                                                 : &gnomon__fold_sums;
    u->fold.keep = gnomon__unite_keep;
    if ((u->fold.m = gnomon__model_create()) != NULL)
        return GNOMON_OK;
    gnomon__free(u);
    *out = NULL;
    return gnomon__no_memory_to_merge();
}

int gnomon__unite_has_stages(const gnomon__unite *u)
{
    return gnomon__model_count(u->fold.m, GNOMON_STAGES) > 0;
}

void gnomon__unite_filter(gnomon__unite *u, const gnomon__filter *filter)
{
    u->filter = filter;
}

uint32_t gnomon__unite_left_out(const gnomon__unite *u)
{
    return u->left_out;
}

int gnomon__unite_finish(gnomon__unite *u, gnomon_profile **out)
{
    gnomon__model *m = u->fold.m;
    int code = gnomon__shared_lend(u->shared, m);
    if (!code)
        code = gnomon__unite_order(u);
    if (!code)
        code = gnomon_profile_check(&m->base);
    *out = code ? NULL : &m->base;
    if (!code)
        u->fold.m = NULL;
    gnomon__unite_free(u);
    return code;
}

void gnomon__unite_free(gnomon__unite *u)
{
    if (!u)
        return;
    if (u->fold.m) {
        gnomon__unite_steps_free(u);
        gnomon_profile_free(&u->fold.m->base);
    }
    gnomon__text_table_free(&u->texts);
    gnomon__fold_free(&u->fold);
    gnomon__free(u);
}
