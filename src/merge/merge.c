/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runs of all inputs, each merged from its readings.
 *
 * The key of a run is job, rank, attempt and uuid. Two records of one uuid are readings
 * of one process at two moments: the later one is kept. Without a uuid they add up. */
#include "merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "profile/keys.h"
#include "merge/merging.h"
#include "platform/error.h"
#include "platform/memory.h"

/* ---- Runs ------------------------------------------------------------------------ */

/* By run. */
static int compare_run_keys(const gnomon__reading *a, const gnomon__reading *b)
{
    int order = gnomon__compare_keys(GNOMON_RUNS, &a->info, &b->info);
    if (!order && a->is_apart)
        order = GNOMON__COMPARE(a->input, b->input);
    return order;
}

static int reading_order(const void *left, const void *right)
{
    const gnomon__reading *a = left, *b = right;
    int order = compare_run_keys(a, b);
    if (!order)
        order = gnomon__compare_runs(&a->info, &b->info);
    if (!order)
        order = GNOMON__COMPARE(a->input, b->input);
    return order ? order : GNOMON__COMPARE(a->part, b->part);
}

int gnomon__merge_order(gnomon__merge *m)
{
    int code = gnomon__shared_order(&m->shared);
    m->first = gnomon__alloc((m->reading_count + 1) * sizeof *m->first);
    if (!m->first)
        return gnomon__no_memory_to_merge();
    if (code)
        return code;
    if (m->reading_count)
        qsort(m->readings, m->reading_count, sizeof *m->readings,
              reading_order);
    for (size_t i = 0; i < m->reading_count; i++)
        if (!i || compare_run_keys(&m->readings[i - 1], &m->readings[i]))
            m->first[m->run_count++] = i;
    m->first[m->run_count] = m->reading_count;
    return GNOMON_OK;
}

size_t gnomon__merge_count(const gnomon__merge *m)
{
    return m->run_count;
}

size_t gnomon__merge_readings(const gnomon__merge *m, size_t run)
{
    return m->first[run + 1] - m->first[run];
}

const gnomon_run_info *gnomon__merge_reading(const gnomon__merge *m, size_t run,
                                             size_t reading, size_t *input)
{
    const gnomon__reading *r = &m->readings[m->first[run] + reading];
    *input = r->input;
    return &r->info;
}

/* ---- Reading --------------------------------------------------------------------- */

/* The losses of a file of runs that are of none of them. */
static int take_own_losses(gnomon__merge *m, const gnomon_profile *p,
                           size_t input)
{
    gnomon_loss_info l;
    if (!gnomon_profile_count(p, GNOMON_RUNS))
        return GNOMON_OK;
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++) {
        if (l.run)
            continue;
        gnomon_loss_info *to = gnomon__model_add(m->texts, GNOMON_LOSSES);
        if (!to || !(l.kind = gnomon__model_text(m->texts, l.kind)))
            return gnomon__no_memory_to_merge();
        *to = l;
        to->reserved = (uint32_t)input;
    }
    return GNOMON_OK;
}

const gnomon_loss_info *gnomon__merge_loss(const gnomon__merge *m, size_t which,
                                           size_t *input)
{
    if (which >= gnomon__model_count(m->texts, GNOMON_LOSSES))
        return NULL;
    const gnomon_loss_info *l =
        gnomon__model_at(m->texts, GNOMON_LOSSES, which + 1);
    *input = l->reserved;
    return l;
}

/* The part of a reading becomes m->part. */
static int read_reading(gnomon__merge *m, const gnomon__reading *r)
{
    const gnomon__file_index *x = &m->index[r->input];
    if (m->part && m->part_input == r->input && m->part_number == r->part)
        return GNOMON_OK;
    gnomon_profile_free(m->part);
    m->part = NULL;
    int code = gnomon__merge_open(m, r->input);
    if (!code)
        code = gnomon__read_part(&m->part, &m->source, &x->parts[r->part],
                                 x->shared_end, m->kinds);
    if (code)
        return code;
    m->part_input = r->input;
    m->part_number = r->part;
    if (m->was_read[r->input][r->part])
        return GNOMON_OK;
    m->was_read[r->input][r->part] = 1;
    return take_own_losses(m, m->part, r->input);
}

static unsigned run_rules(const gnomon__merge *m)
{
    return (m->has_runs ? 0u : GNOMON__UNITE_NO_RUN) |
           (m->streams_events ? GNOMON__UNITE_NO_EVENTS : 0u);
}

/* Where numbers of a reading are kept for its events; NULL: nowhere. */
static gnomon__run_reading *reading_of_events(gnomon__merge *m, size_t i)
{
    return m->events.of ? &m->events.of[i] : NULL;
}

/* The events of the part stay readable; the next reading would replace it. */
static void keep_part(gnomon__merge *m, gnomon__run_reading *of)
{
    if (!of)
        return;
    of->p = m->part;
    if (m->events.count < 2)
        return;
    of->own = m->part;
    m->part = NULL;
}

static int begin_events(gnomon__merge *m, size_t count, int are_readings)
{
    gnomon__run_events_free(&m->events);
    if (!m->streams_events)
        return GNOMON_OK;
    m->events.of = gnomon__alloc(count * sizeof *m->events.of);
    if (!m->events.of)
        return gnomon__no_memory_to_merge();
    m->events.count = count;
    m->events.are_readings = are_readings;
    return GNOMON_OK;
}

/* A run of which readings add up. */
static int unite_all(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    gnomon__unite *u;
    int is_one = m->first[run + 1] - m->first[run] == 1;
    int code = gnomon__unite_create(
        &u, &m->shared, run_rules(m) | (is_one ? GNOMON__UNITE_LENDS : 0u));
    for (size_t i = m->first[run]; !code && i < m->first[run + 1]; i++) {
        gnomon__run_reading *of = reading_of_events(m, i - m->first[run]);
        code = read_reading(m, &m->readings[i]);
        if (!code && of)
            gnomon__unite_keep_map(u, &of->map);
        if (!code)
            code = gnomon__unite_add(u, m->part, m->readings[i].run, NULL);
        if (!code)
            keep_part(m, of);
    }
    if (!code)
        return gnomon__unite_finish(u, out);
    gnomon__unite_free(u);
    return code;
}

/* One reading by itself. */
static int unite_reading(gnomon__merge *m, const gnomon__reading *r,
                         gnomon__run_reading *of, gnomon_profile **out)
{
    gnomon__unite *one;
    int code = read_reading(m, r);
    if (!code)
        code = gnomon__unite_create(&one, &m->shared,
                                    run_rules(m) & GNOMON__UNITE_NO_EVENTS);
    if (code)
        return code;
    if (of)
        gnomon__unite_keep_map(one, &of->map);
    code = gnomon__unite_add(one, m->part, r->run, NULL);
    if (!code)
        return gnomon__unite_finish(one, out);
    gnomon__unite_free(one);
    return code;
}

/* The numbers of a reading in the result, by way of the reading by itself. */
static void follow_map(gnomon__unite_map *map, const gnomon__unite_map *on)
{
    static const int kinds[] = {GNOMON_TRACKS, GNOMON_NODES};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 1; i <= map->count[kinds[k]]; i++)
            map->of.of[kinds[k]][i] =
                on->of.of[kinds[k]][map->of.of[kinds[k]][i]];
}

/* A run of which the later reading wins. Each reading is united by itself first, because
 * within one reading entities of one key add up. */
static int unite_readings(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    const size_t first = m->first[run], count = m->first[run + 1] - first;
    gnomon__unite *all;
    gnomon__unite_map *maps = gnomon__alloc(count * sizeof *maps);
    if (!maps)
        return gnomon__no_memory_to_merge();
    int code = gnomon__unite_create(
        &all, &m->shared,
        GNOMON__UNITE_READINGS | (run_rules(m) & GNOMON__UNITE_NO_EVENTS));
    for (size_t i = 0; !code && i < count; i++) {
        gnomon__run_reading *of = reading_of_events(m, i);
        gnomon_profile *p = NULL;
        code = unite_reading(m, &m->readings[first + i], of, &p);
        if (!code && of)
            gnomon__unite_keep_map(all, &maps[i]);
        if (!code)
            code = gnomon__unite_add(all, p, 1, NULL);
        if (!code)
            keep_part(m, of);
        gnomon_profile_free(p);
    }
    if (!code)
        code = gnomon__unite_finish(all, out);
    else
        gnomon__unite_free(all);
    for (size_t i = 0; i < count; i++) {
        if (!code && m->events.of)
            follow_map(&m->events.of[i].map, &maps[i]);
        gnomon__numbers_free(&maps[i].of);
    }
    gnomon__free(maps);
    return code;
}

int gnomon__merge_run(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    const gnomon__reading *r = &m->readings[m->first[run]];
    size_t count = m->first[run + 1] - m->first[run];
    const int are_readings = count > 1 && r->info.uuid && *r->info.uuid;
    *out = NULL;
    gnomon__fail_clear();
    int code = begin_events(m, count, are_readings);
    if (code)
        return code;
    code = are_readings ? unite_readings(m, run, out) : unite_all(m, run, out);
    if (code)
        gnomon__run_events_free(&m->events);
    return code;
}

void gnomon__merge_stream_events(gnomon__merge *m)
{
    m->streams_events = 1;
}

int gnomon__merge_run_events(gnomon__merge *m, gnomon__merge_put *put,
                             void *context)
{
    return gnomon__merge_events(&m->events, put, context);
}

static int has_stages_once(const gnomon_profile *p)
{
    gnomon_stage_info a, b;
    for (size_t i = 1; gnomon_profile_stage(p, i, &a) == GNOMON_OK; i++)
        for (size_t k = 1; k < i; k++) {
            gnomon_profile_stage(p, k, &b);
            if (a.ordinal == b.ordinal && strcmp(a.name, b.name) == 0)
                return 0;
        }
    return 1;
}

int gnomon__merge_run_read(gnomon__merge *m, size_t run,
                           const gnomon_profile **out)
{
    *out = NULL;
    gnomon__fail_clear();
    if (m->first[run + 1] - m->first[run] != 1)
        return GNOMON_OK;
    int code = read_reading(m, &m->readings[m->first[run]]);
    if (!code && gnomon_profile_count(m->part, GNOMON_RUNS) < 2 &&
        has_stages_once(m->part))
        *out = m->part;
    return code;
}

void gnomon__merge_drop_entities(gnomon__merge *m)
{
    gnomon__model_drop_entities((gnomon__model *)(void *)m->part);
    m->part_input = SIZE_MAX; /* to be read again */
}

/* ---- What is of no run ---------------------------------------------------------- */

static int loss_order(const void *left, const void *right)
{
    const gnomon_loss_info *a = left, *b = right;
    return strcmp(a->kind, b->kind);
}

int gnomon__merge_rest(gnomon__merge *m, gnomon_profile **out)
{
    gnomon__table *t = &m->texts->tables[GNOMON_LOSSES];
    gnomon__model *rest = gnomon__model_create();
    int code = rest ? gnomon__shared_lend(&m->shared, rest)
                    : gnomon__no_memory_to_merge();
    *out = NULL;
    if (t->items && t->count > 1)
        qsort(t->items, t->count, t->size, loss_order);
    gnomon_loss_info *last = NULL;
    for (size_t i = 1; !code && i <= t->count; i++) {
        const gnomon_loss_info *l =
            gnomon__model_at(m->texts, GNOMON_LOSSES, i);
        if (last && strcmp(last->kind, l->kind) == 0) {
            last->count += l->count;
            continue;
        }
        last = gnomon__model_add(rest, GNOMON_LOSSES);
        if (!last || !(last->kind = gnomon__model_text(rest, l->kind))) {
            code = gnomon__no_memory_to_merge();
            break;
        }
        last->count = l->count;
    }
    if (!code)
        *out = &rest->base;
    else if (rest)
        gnomon_profile_free(&rest->base);
    return code;
}

/* ---- The merge --------------------------------------------------------------------- */

int gnomon__merge_create(gnomon__merge **out,
                         const gnomon__merge_inputs *inputs, uint32_t kinds)
{
    gnomon__merge *m = *out = gnomon__alloc(sizeof *m);
    gnomon__fail_clear();
    if (!m)
        return gnomon__no_memory_to_merge();
    m->inputs = *inputs;
    m->kinds = kinds | GNOMON__RUN_KINDS | GNOMON__SHARED_KINDS;
    m->open = SIZE_MAX;
    m->texts = gnomon__model_create();
    m->index = gnomon__alloc((inputs->count + 1) * sizeof *m->index);
    m->was_read = gnomon__alloc((inputs->count + 1) * sizeof *m->was_read);
    if (m->texts && m->index && m->was_read)
        return GNOMON_OK;
    gnomon__merge_free(m);
    *out = NULL;
    return gnomon__no_memory_to_merge();
}

const gnomon__shared *gnomon__merge_shared(const gnomon__merge *m)
{
    return &m->shared;
}

void gnomon__merge_free(gnomon__merge *m)
{
    if (!m)
        return;
    gnomon__merge_close(m);
    gnomon__run_events_free(&m->events);
    gnomon_profile_free(m->part);
    for (size_t i = 0; i < m->inputs.count; i++) {
        if (m->index)
            gnomon__index_free(&m->index[i]);
        if (m->was_read)
            gnomon__free(m->was_read[i]);
    }
    gnomon__free(m->index);
    gnomon__free((void *)m->was_read);
    gnomon__shared_free(&m->shared);
    if (m->texts)
        gnomon_profile_free(&m->texts->base);
    gnomon__free(m->readings);
    gnomon__free(m->first);
    gnomon__free(m);
}
