/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runs of all inputs, in order, and what is of none of them.
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

int gnomon__merge_is_run(const gnomon__merge *m, size_t run)
{
    return m->readings[m->first[run]].run != 0;
}

/* ---- What is of no run ---------------------------------------------------------- */

int gnomon__merge_take_losses(gnomon__merge *m, const gnomon_profile *p,
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
