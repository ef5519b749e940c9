/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inputs, the runs in them, and each run put together.
 *
 * A run is known by job, rank, attempt and uuid. Where it has a uuid, what is
 * given twice are readings of one life, of which the later holds; else it adds
 * up. */
#include "offline/merge.h"

#include <stdlib.h>
#include <string.h>

#include "offline/keys.h"
#include "platform/error.h"
#include "platform/memory.h"

/* A run in a part of an input. */
typedef struct merge_reading {
    gnomon_run_info info; /* texts are the merge's */
    uint32_t input;
    uint32_t part;
    uint32_t run; /* in the part; 0: it has none */
    uint32_t reserved;
} merge_reading;

struct gnomon__merge {
    gnomon__merge_inputs inputs;
    uint32_t kinds;
    gnomon__file_index *index; /* by input */
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
    unsigned char **was_read; /* by input and part: its own losses are taken */
};

#define RUN_KINDS (1u << GNOMON_RUNS)
#define SHARED_KINDS \
    (1u << GNOMON_REGIONS | 1u << GNOMON_OPS | 1u << GNOMON_VIEWS)

/* ---- Inputs ------------------------------------------------------------------- */

static void close_input(gnomon__merge *m)
{
    if (m->open != SIZE_MAX)
        m->inputs.close(m->inputs.context, &m->source);
    m->open = SIZE_MAX;
}

static int open_input(gnomon__merge *m, size_t input)
{
    if (m->open == input)
        return GNOMON_OK;
    close_input(m);
    int code = m->inputs.open(m->inputs.context, input, &m->source);
    if (!code)
        m->open = input;
    return code;
}

static int add_reading(gnomon__merge *m, const gnomon_run_info *info,
                       size_t input, size_t part, size_t run)
{
    if (m->reading_count == m->reading_room) {
        size_t room = m->reading_room ? 2 * m->reading_room : 16;
        merge_reading *more = gnomon__realloc(m->readings, room * sizeof *more);
        if (!more)
            return gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
        m->readings = more;
        m->reading_room = room;
    }
    merge_reading *r = &m->readings[m->reading_count];
    memset(r, 0, sizeof *r);
    r->info = *info;
    r->input = (uint32_t)input;
    r->part = (uint32_t)part;
    r->run = (uint32_t)run;
    const char **texts[] = {&r->info.host, &r->info.dir,     &r->info.spec,
                            &r->info.job,  &r->info.attempt, &r->info.uuid,
                            &r->info.clock};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i] && !(*texts[i] = gnomon__model_text(m->texts, *texts[i])))
            return gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
    m->reading_count++;
    return GNOMON_OK;
}

/* Of a part that names no run, whether there is anything in it; the empty profile
 * changes nothing that it is merged with. */
static int look_at_no_run(gnomon__merge *m, size_t input, size_t part)
{
    static const gnomon_run_info unknown = {.rank = -1,
                                            .local_rank = -1,
                                            .world_size = -1,
                                            .host = "",
                                            .spec = "",
                                            .clock = ""};
    const gnomon__file_index *x = &m->index[input];
    gnomon_profile *p;
    size_t count = 0;
    int code = gnomon__read_part(&p, &m->source, &x->parts[part], x->shared_end,
                                 GNOMON__EVERY_KIND);
    if (code)
        return code;
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        if (!(SHARED_KINDS >> k & 1))
            count += gnomon_profile_count(p, k);
    gnomon_profile_free(p);
    return count ? add_reading(m, &unknown, input, part, 0) : GNOMON_OK;
}

static int look_at_part(gnomon__merge *m, size_t input, size_t part)
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
        code = look_at_no_run(m, input, part);
    for (size_t i = 1; !code && i <= runs; i++) {
        gnomon_profile_run(p, i, &info);
        code = add_reading(m, &info, input, part, i);
    }
    gnomon_profile_free(p);
    return code;
}

int gnomon__merge_look(gnomon__merge *m, size_t input)
{
    size_t before = m->reading_count;
    gnomon__fail_clear();
    int code = open_input(m, input);
    if (!code)
        code = gnomon__index_file(&m->index[input], &m->source);
    if (!code &&
        !(m->was_read[input] = gnomon__alloc(m->index[input].count + 1)))
        code = gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
    for (size_t i = 0; !code && i < m->index[input].count; i++)
        code = look_at_part(m, input, i);
    if (code)
        m->reading_count = before;
    return code;
}

/* ---- Runs ------------------------------------------------------------------------ */

static int reading_order(const void *left, const void *right)
{
    const merge_reading *a = left, *b = right;
    int order = gnomon__compare_run_keys(&a->info, &b->info);
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
    if (!code && !m->first)
        code = gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
    if (code)
        return code;
    if (m->reading_count)
        qsort(m->readings, m->reading_count, sizeof *m->readings,
              reading_order);
    for (size_t i = 0; i < m->reading_count; i++)
        if (!i || gnomon__compare_run_keys(&m->readings[i - 1].info,
                                           &m->readings[i].info))
            m->first[m->run_count++] = i;
    m->first[m->run_count] = m->reading_count;
    return GNOMON_OK;
}

size_t gnomon__merge_count(const gnomon__merge *m)
{
    return m->run_count;
}

/* The record that holds is the last: it says most. */
const gnomon_run_info *gnomon__merge_info(const gnomon__merge *m, size_t run,
                                          size_t *readings, size_t *input)
{
    *readings = m->first[run + 1] - m->first[run];
    *input = m->readings[m->first[run]].input;
    return &m->readings[m->first[run + 1] - 1].info;
}

/* ---- Reading --------------------------------------------------------------------- */

/* The losses of a file of runs that are of none of them. */
static int take_own_losses(gnomon__merge *m, const gnomon_profile *p)
{
    gnomon_loss_info l;
    if (!gnomon_profile_count(p, GNOMON_RUNS))
        return GNOMON_OK;
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++) {
        if (l.run)
            continue;
        gnomon_loss_info *to = gnomon__model_add(m->texts, GNOMON_LOSSES);
        if (!to || !(l.kind = gnomon__model_text(m->texts, l.kind)))
            return gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
        *to = l;
    }
    return GNOMON_OK;
}

/* The part of a reading becomes m->part. */
static int read_reading(gnomon__merge *m, const merge_reading *r)
{
    const gnomon__file_index *x = &m->index[r->input];
    if (m->part && m->part_input == r->input && m->part_number == r->part)
        return GNOMON_OK;
    gnomon_profile_free(m->part);
    m->part = NULL;
    int code = open_input(m, r->input);
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
    return take_own_losses(m, m->part);
}

static unsigned run_rules(const gnomon__merge *m)
{
    return m->has_runs ? 0 : GNOMON__UNITE_NO_RUN;
}

/* All readings of it, one after the other. */
static int unite_all(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    gnomon__unite *u;
    int code = gnomon__unite_create(&u, &m->shared, run_rules(m));
    for (size_t i = m->first[run]; !code && i < m->first[run + 1]; i++) {
        code = read_reading(m, &m->readings[i]);
        if (!code)
            code = gnomon__unite_add(u, m->part, m->readings[i].run, NULL);
    }
    if (!code)
        return gnomon__unite_finish(u, out);
    gnomon__unite_free(u);
    return code;
}

/* Each by itself first: in one reading what has one key adds up. */
static int unite_readings(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    gnomon__unite *all, *one;
    gnomon_profile *p;
    int code = gnomon__unite_create(&all, &m->shared, GNOMON__UNITE_READINGS);
    for (size_t i = m->first[run]; !code && i < m->first[run + 1]; i++) {
        code = read_reading(m, &m->readings[i]);
        if (!code)
            code = gnomon__unite_create(&one, &m->shared, 0);
        if (code)
            break;
        code = gnomon__unite_add(one, m->part, m->readings[i].run, NULL);
        if (code) {
            gnomon__unite_free(one);
            break;
        }
        code = gnomon__unite_finish(one, &p);
        if (!code) {
            code = gnomon__unite_add(all, p, 1, NULL);
            gnomon_profile_free(p);
        }
    }
    if (!code)
        return gnomon__unite_finish(all, out);
    gnomon__unite_free(all);
    return code;
}

int gnomon__merge_run(gnomon__merge *m, size_t run, gnomon_profile **out)
{
    const merge_reading *r = &m->readings[m->first[run]];
    size_t count = m->first[run + 1] - m->first[run];
    *out = NULL;
    gnomon__fail_clear();
    if (count > 1 && r->info.uuid && *r->info.uuid)
        return unite_readings(m, run, out);
    return unite_all(m, run, out);
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
    int code = rest
                   ? gnomon__shared_lend(&m->shared, rest)
                   : gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
    *out = NULL;
    if (t->count > 1)
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
        if (!last || !(last->kind = gnomon__model_text(rest, l->kind)))
            code = gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
        else
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
        return gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
    m->inputs = *inputs;
    m->kinds = kinds | RUN_KINDS | SHARED_KINDS;
    m->open = SIZE_MAX;
    m->texts = gnomon__model_create();
    m->index = gnomon__alloc((inputs->count + 1) * sizeof *m->index);
    m->was_read = gnomon__alloc((inputs->count + 1) * sizeof *m->was_read);
    if (m->texts && m->index && m->was_read)
        return GNOMON_OK;
    gnomon__merge_free(m);
    *out = NULL;
    return gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
}

const gnomon__shared *gnomon__merge_shared(const gnomon__merge *m)
{
    return &m->shared;
}

void gnomon__merge_free(gnomon__merge *m)
{
    if (!m)
        return;
    close_input(m);
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
