/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One run of a merge, made of its readings: the part of the input that each is in is read
 * when it is needed, and replaces the one before. */
#include <string.h>

#include "merge/merging.h"
#include "platform/error.h"
#include "platform/memory.h"

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
    return gnomon__merge_take_losses(m, m->part, r->input);
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
