/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runs of all inputs, in order, and what is of none of them. Inputs are scanned, one at
 * a time, for the runs in them and for what these share: of each only its index stays in
 * memory.
 *
 * The key of a run is job, rank, attempt and uuid. Two records of one uuid are readings
 * of one process at two moments: the later one is kept. Without a uuid they add up. */
#include "merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "merge/united.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/order.h"
#include "profile/fields.h"

/* A run as one part of one input has it. */
typedef struct merge_reading {
    gnomon_run_info info; /* texts are the merge's */
    uint32_t input;
    uint32_t part;
    uint32_t run;      /* in the part; 0: it has none */
    uint32_t is_apart; /* from those of other inputs */
} merge_reading;

struct gnomon__merge {
    gnomon__merge_inputs inputs;
    uint32_t kinds;
    gnomon__file_index *index; /* by input; of known parts losses are taken */
    gnomon__shared shared;
    gnomon__model *texts; /* of readings; and losses of no run */
    merge_reading *readings;
    size_t reading_count, reading_room;
    size_t *first; /* reading of each run; one more at the end */
    size_t run_count;
    int has_runs; /* any input has */

    gnomon__source source; /* of the input that is open */
    size_t open;           /* which; SIZE_MAX: none */
    gnomon_profile *part;  /* the last that was read */
    size_t part_input, part_number;
};

#define RUN_KINDS (1u << GNOMON_RUNS)
#define SHARED_KINDS \
    (1u << GNOMON_REGIONS | 1u << GNOMON_OPS | 1u << GNOMON_VIEWS)

/* ---- Inputs ----------------------------------------------------------------------- */

void gnomon__merge_close(gnomon__merge *m)
{
    if (m->open != SIZE_MAX)
        m->inputs.close(m->inputs.context, &m->source);
    m->open = SIZE_MAX;
}

static int open_input(gnomon__merge *m, size_t input)
{
    if (m->open == input)
        return GNOMON_OK;
    gnomon__merge_close(m);
    int code = m->inputs.open(m->inputs.context, input, &m->source);
    if (!code)
        m->open = input;
    return code;
}

static int add_reading(gnomon__merge *m, const gnomon_run_info *info,
                       size_t input, size_t part, size_t run)
{
    if (!gnomon__grow(&m->readings, &m->reading_room, m->reading_count + 1,
                      sizeof *m->readings))
        return gnomon__no_memory_to_merge();
    merge_reading *r = &m->readings[m->reading_count];
    *r = (merge_reading){.info = *info,
                         .input = (uint32_t)input,
                         .part = (uint32_t)part,
                         .run = (uint32_t)run};
    r->is_apart = !info->uuid &&
                  m->inputs.apart > (info->rank < 0 ? GNOMON__APART_NONE
                                                    : GNOMON__APART_UNKNOWN);
    gnomon__copier copier = {.m = m->texts, .text = gnomon__copy_text};
    if (!gnomon__copy_inside(&copier, &gnomon__structs[GNOMON_RUNS], &r->info))
        return gnomon__no_memory_to_merge();
    m->reading_count++;
    return GNOMON_OK;
}

/* A part without runs is a reading only if it holds anything, because merging an empty
 * profile must change nothing. */
static int scan_part_without_run(gnomon__merge *m, size_t input, size_t part)
{
    const gnomon__file_index *x = &m->index[input];
    gnomon_profile *p;
    size_t count = 0;
    int code = gnomon__read_part(&p, &m->source, &x->parts[part], x->shared_end,
                                 GNOMON__EVERY_KIND);
    if (code)
        return code;
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        if (!gnomon__is_shared(k))
            count += gnomon_profile_count(p, k);
    gnomon_profile_free(p);
    return count ? add_reading(m, &gnomon__no_run, input, part, 0) : GNOMON_OK;
}

static int scan_part(gnomon__merge *m, size_t input, size_t part)
{
    const gnomon__file_index *x = &m->index[input];
    gnomon_profile *p;
    gnomon_run_info info;
    int code = gnomon__read_part(&p, &m->source, &x->parts[part], x->shared_end,
                                 part ? RUN_KINDS : RUN_KINDS | SHARED_KINDS);
    if (code)
        return code;
    if (!part)
        code = gnomon__shared_add(&m->shared, p);
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    m->has_runs |= runs > 0;
    if (!code && !runs)
        code = scan_part_without_run(m, input, part);
    for (size_t i = 1; !code && i <= runs; i++) {
        gnomon_profile_run(p, i, &info);
        code = add_reading(m, &info, input, part, i);
    }
    gnomon_profile_free(p);
    return code;
}

int gnomon__merge_scan(gnomon__merge *m, size_t input)
{
    size_t before = m->reading_count;
    gnomon__fail_clear();
    int code = open_input(m, input);
    if (!code)
        code = gnomon__index_file(&m->index[input], &m->source);
    for (size_t i = 0; !code && i < m->index[input].count; i++)
        code = scan_part(m, input, i);
    if (code)
        m->reading_count = before;
    return code;
}

/* ---- One run -----------------------------------------------------------------------
 *
 * It is made of its readings: the part of the input that each is in is read when it is
 * needed, and replaces the one before. */

/* Notes the losses of an input's part that are of none of its runs. */
static int take_losses(gnomon__merge *m, const gnomon_profile *p, size_t input)
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
        to->kind = l.kind;
        to->count = l.count;
        to->reserved = (uint32_t)input;
    }
    return GNOMON_OK;
}

/* The part of a reading becomes m->part. */
static int read_reading(gnomon__merge *m, const merge_reading *r)
{
    const gnomon__file_index *x = &m->index[r->input];
    gnomon__file_part *part = &x->parts[r->part];
    if (m->part && m->part_input == r->input && m->part_number == r->part)
        return GNOMON_OK;
    gnomon_profile_free(m->part);
    m->part = NULL;
    int code = open_input(m, r->input);
    if (!code)
        code = gnomon__read_part(&m->part, &m->source, part, x->shared_end,
                                 m->kinds);
    if (code)
        return code;
    m->part_input = r->input;
    m->part_number = r->part;
    if (part->is_known)
        return GNOMON_OK;
    part->is_known = 1;
    return take_losses(m, m->part, r->input);
}

/* Adds a reading. The events of its part stay readable: where there is more than `one`,
 * the next reading would replace the part. */
static int add_part(gnomon__merge *m, gnomon__unite *u, const merge_reading *r,
                    int is_one)
{
    int code = read_reading(m, r);
    if (!code)
        code = gnomon__unite_add(u, m->part, r->run, NULL);
    if (!code && !is_one && u->events && gnomon__events_own(u->events, m->part))
        m->part = NULL;
    return code;
}

/* So many readings from the first on, which add up. */
static int unite_sums(gnomon__merge *m, size_t first, size_t count,
                      unsigned rules, gnomon_profile **out)
{
    gnomon__unite *u;
    int code = gnomon__unite_create(&u, &m->shared, rules);
    for (size_t i = first; !code && i < first + count; i++)
        code =
            add_part(m, u, &m->readings[i], (rules & GNOMON__UNITE_LENDS) != 0);
    return gnomon__unite_finish(u, code, out);
}

/* A run of which the later reading wins. Each reading is united by itself first, because
 * within one reading entities of one key add up. */
static int unite_readings(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    gnomon__unite *all;
    int code = gnomon__unite_create(&all, &m->shared, GNOMON__UNITE_READINGS);
    for (size_t i = m->first[run]; !code && i < m->first[run + 1]; i++) {
        gnomon_profile *p = NULL;
        code = unite_sums(m, i, 1, 0, &p);
        if (!code)
            code = gnomon__unite_add(all, p, 1, NULL);
        const gnomon__model *model = (const void *)p;
        if (!code && model->events)
            code = gnomon__events_follow(all->events, model->events);
        gnomon_profile_free(p);
    }
    return gnomon__unite_finish(all, code, out);
}

int gnomon__merge_run(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    const merge_reading *r = &m->readings[m->first[run]];
    size_t count = m->first[run + 1] - m->first[run];
    const unsigned rules = (m->has_runs ? 0u : GNOMON__UNITE_NO_RUN) |
                           (count == 1 ? GNOMON__UNITE_LENDS : 0u);
    *out = NULL;
    gnomon__fail_clear();
    return count > 1 && r->info.uuid && *r->info.uuid
               ? unite_readings(m, run, out)
               : unite_sums(m, m->first[run], count, rules, out);
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

/* ---- Runs ------------------------------------------------------------------------ */

/* By run. */
GNOMON__ORDER(compare_run_keys, merge_reading,
              OF(gnomon__compare_keys(GNOMON_RUNS, &a->info, &b->info)),
              OF(a->is_apart ? GNOMON__COMPARE(a->input, b->input) : 0))

GNOMON__ORDER(reading_order, merge_reading, OF(compare_run_keys(a, b)),
              OF(gnomon__compare_runs(&a->info, &b->info)), UP(input), UP(part))

int gnomon__merge_order(gnomon__merge *m)
{
    int code = gnomon__shared_order(&m->shared);
    m->first = gnomon__alloc((m->reading_count + 1) * sizeof *m->first);
    if (!m->first)
        return gnomon__no_memory_to_merge();
    if (code)
        return code;
    GNOMON__SORT(m->readings, m->reading_count, reading_order);
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
    const merge_reading *r = &m->readings[m->first[run] + reading];
    *input = r->input;
    return &r->info;
}

const gnomon_run_info *gnomon__merge_info(const gnomon__merge *m, size_t run)
{
    return &m->readings[m->first[run + 1] - 1].info;
}

int gnomon__merge_is_run(const gnomon__merge *m, size_t run)
{
    return m->readings[m->first[run]].run != 0;
}

/* ---- What is of no run ---------------------------------------------------------- */

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

GNOMON__ORDER(loss_order, gnomon_loss_info, TEXT(kind))

/* A profile of none but them, and their moments have no common zero. */
int gnomon__merge_rest(gnomon__merge *m, gnomon_profile **out)
{
    gnomon__table *t = &m->texts->tables[GNOMON_LOSSES];
    gnomon__unite *u;
    gnomon__sort(t->items, t->count, t->size, loss_order);
    int code = gnomon__unite_create(&u, &m->shared,
                                    GNOMON__UNITE_NO_RUN | GNOMON__UNITE_RANKS);
    if (!code)
        code = gnomon__unite_add(u, &m->texts->base, 0, NULL);
    return gnomon__unite_finish(u, code, out);
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
    m->kinds = kinds | RUN_KINDS | SHARED_KINDS;
    m->open = SIZE_MAX;
    m->texts = gnomon__model_create();
    m->index = gnomon__alloc((inputs->count + 1) * sizeof *m->index);
    if (m->texts && m->index)
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
    for (size_t i = 0; m->index && i < m->inputs.count; i++)
        gnomon__index_free(&m->index[i]);
    gnomon__free(m->index);
    gnomon__shared_free(&m->shared);
    if (m->texts)
        gnomon_profile_free(&m->texts->base);
    gnomon__free(m->readings);
    gnomon__free(m->first);
    gnomon__free(m);
}
