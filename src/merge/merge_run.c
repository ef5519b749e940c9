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
    return m->has_runs ? 0u : GNOMON__UNITE_NO_RUN;
}

/* Adds a reading. The events of its part stay readable: where there is more than `one`,
 * the next reading would replace the part. */
static int add_part(gnomon__merge *m, gnomon__unite *u,
                    const gnomon__reading *r, int is_one)
{
    int code = read_reading(m, r);
    if (!code)
        code = gnomon__unite_add(u, m->part, r->run, NULL);
    if (!code && !is_one && gnomon__unite_own(u, m->part))
        m->part = NULL;
    return code;
}

/* A run of which readings add up. */
static int unite_all(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    gnomon__unite *u;
    int is_one = m->first[run + 1] - m->first[run] == 1;
    int code = gnomon__unite_create(
        &u, &m->shared, run_rules(m) | (is_one ? GNOMON__UNITE_LENDS : 0u));
    for (size_t i = m->first[run]; !code && i < m->first[run + 1]; i++)
        code = add_part(m, u, &m->readings[i], is_one);
    if (!code)
        return gnomon__unite_finish(u, out);
    gnomon__unite_free(u);
    return code;
}

/* One reading by itself. */
static int unite_reading(gnomon__merge *m, const gnomon__reading *r,
                         gnomon_profile **out)
{
    gnomon__unite *one;
    int code = gnomon__unite_create(&one, &m->shared, 0);
    if (!code)
        code = add_part(m, one, r, 0);
    if (!code)
        return gnomon__unite_finish(one, out);
    gnomon__unite_free(one);
    return code;
}

/* A run of which the later reading wins. Each reading is united by itself first, because
 * within one reading entities of one key add up. */
static int unite_readings(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    gnomon__unite *all;
    int code = gnomon__unite_create(&all, &m->shared, GNOMON__UNITE_READINGS);
    for (size_t i = m->first[run]; !code && i < m->first[run + 1]; i++) {
        gnomon_profile *p = NULL;
        code = unite_reading(m, &m->readings[i], &p);
        if (!code)
            code = gnomon__unite_add(all, p, 1, NULL);
        if (!code)
            code = gnomon__unite_follow(all, p);
        gnomon_profile_free(p);
    }
    if (!code)
        return gnomon__unite_finish(all, out);
    gnomon__unite_free(all);
    return code;
}

int gnomon__merge_run(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    const gnomon__reading *r = &m->readings[m->first[run]];
    size_t count = m->first[run + 1] - m->first[run];
    const int are_readings = count > 1 && r->info.uuid && *r->info.uuid;
    *out = NULL;
    gnomon__fail_clear();
    return are_readings ? unite_readings(m, run, out) : unite_all(m, run, out);
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
    if (gnomon_profile_count(m->part, GNOMON_EVENTS))
        return; /* they are read by what they name */
    gnomon__model_drop_entities((gnomon__model *)(void *)m->part);
    m->part_input = SIZE_MAX; /* to be read again */
}
