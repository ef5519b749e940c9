/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of two sides. Called by the program, one thread at a time. Executions are summed
 * as they are read; sums are also kept by part, for the spread between jobs.
 *
 * Invariant between adds: rows are ordered and no two have the same names, and a
 * side's parts add up to its sums. */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "diff/diff_rows.h"
#include "platform/memory.h"
#include "profile/compare.h"

const double gnomon__quantiles[GNOMON__QUANTILES] = {0.5, 0.9, 0.99};

int gnomon__diff_create(gnomon__diff **out)
{
    *out = gnomon__alloc(sizeof **out);
    return *out ? GNOMON_OK : GNOMON_ENOMEM;
}

static void diff_free_row(gnomon__diff_row *row)
{
    for (int side = 0; side < 2; side++) {
        gnomon__free(row->side[side].parts);
        gnomon__sum_free(&row->side[side].all);
    }
    gnomon__free(row->stage);
    gnomon__free(row->name);
    gnomon__free(row);
}

void gnomon__diff_free(gnomon__diff *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++)
        diff_free_row(d->rows[i]);
    gnomon__free(d->rows);
    gnomon__jobs_free(&d->jobs[0]);
    gnomon__jobs_free(&d->jobs[1]);
    gnomon__free(d);
}

/* ---- Rows --------------------------------------------------------------- */

int gnomon__diff_order(const gnomon__diff_key *a, const gnomon__diff_key *b)
{
    GNOMON__TRY(strcmp(a->stage, b->stage));
    GNOMON__TRY(GNOMON__COMPARE(a->kind, b->kind));
    return strcmp(a->name, b->name);
}

static gnomon__diff_key diff_key_of(const gnomon__diff_row *row)
{
    return (gnomon__diff_key){row->stage, row->name, row->kind};
}

static int diff_by_key(const void *left, const void *right)
{
    const gnomon__diff_key a =
        diff_key_of(*(const gnomon__diff_row *const *)left);
    const gnomon__diff_key b =
        diff_key_of(*(const gnomon__diff_row *const *)right);
    return gnomon__diff_order(&a, &b);
}

void gnomon__diff_sort(gnomon__diff *d)
{
    if (d->count > 1)
        qsort(d->rows, d->count, sizeof *d->rows, diff_by_key);
}

static gnomon__diff_row *diff_find(const gnomon__diff *d, size_t count,
                                   const gnomon__diff_key *key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const gnomon__diff_key other = diff_key_of(d->rows[middle]);
        int order = gnomon__diff_order(key, &other);
        if (order == 0)
            return d->rows[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static gnomon__diff_row *diff_new_row(gnomon__diff *d,
                                      const gnomon__diff_key *key)
{
    gnomon__diff_row *row;
    if (!gnomon__grow(&d->rows, &d->room, d->count + 1,
                      sizeof(gnomon__diff_row *)))
        return NULL;
    row = gnomon__alloc(sizeof *row);
    if (!row)
        return NULL;
    row->stage = gnomon__strdup(key->stage);
    row->name = gnomon__strdup(key->name);
    row->kind = key->kind;
    row->ordinal = UINT32_MAX;
    if (!row->stage || !row->name) {
        diff_free_row(row);
        return NULL;
    }
    return d->rows[d->count++] = row;
}

gnomon__diff_row *gnomon__diff_row_of(gnomon__diff *d, size_t sorted,
                                      const gnomon__diff_key *key)
{
    gnomon__diff_row *row = diff_find(d, sorted, key);
    if (!row && d->count > sorted) {
        const gnomon__diff_key last = diff_key_of(d->rows[d->count - 1]);
        if (gnomon__diff_order(&last, key) == 0)
            row = d->rows[d->count - 1];
    }
    return row ? row : diff_new_row(d, key);
}

/* ---- One row's sums ----------------------------------------------------- */

/* NULL: no memory. */
static gnomon__diff_part *diff_part_of(gnomon__diff_half *half, size_t job)
{
    size_t at = job % GNOMON__DIFF_PARTS;
    if (!gnomon__grow_zeroed(&half->parts, &half->part_room, at + 1,
                             sizeof *half->parts))
        return NULL;
    if (at >= half->part_count)
        half->part_count = at + 1;
    return &half->parts[at];
}

/* The sums of one run. */
int gnomon__diff_add_run(gnomon__diff_half *half, size_t job,
                         const gnomon_stats *s)
{
    gnomon__diff_part *part = diff_part_of(half, job);
    if (!part)
        return GNOMON_ENOMEM;
    part->calls += s->count;
    part->total_ns += s->total_ns;
    part->self_ns += s->self_ns;
    part->max_ns = s->max_ns > part->max_ns ? s->max_ns : part->max_ns;
    if (!part->runs || s->min_ns < part->min_ns)
        part->min_ns = s->min_ns;
    for (int q = 0; q < GNOMON__QUANTILES; q++)
        part->quantiles[q] += gnomon_quantile(s, gnomon__quantiles[q]);
    part->runs++;
    return gnomon__sum_add(&half->all, s);
}

static void diff_sum_samples(gnomon__diff_samples *to, int is_first,
                             const gnomon__diff_samples *from)
{
    if (is_first || from->low < to->low)
        to->low = from->low;
    if (is_first || from->high > to->high)
        to->high = from->high;
    to->sum += from->sum;
    to->last += from->last;
}

int gnomon__diff_add_samples(gnomon__diff_half *half, size_t job,
                             uint64_t count, const gnomon__diff_samples *s)
{
    gnomon__diff_part *part = diff_part_of(half, job);
    if (!part)
        return GNOMON_ENOMEM;
    diff_sum_samples(&part->samples, !part->runs, s);
    diff_sum_samples(&half->samples, !half->all.s.count, s);
    part->calls += count;
    part->runs++;
    half->all.s.count += count;
    return GNOMON_OK;
}

int gnomon__diff_is_assumed(const gnomon__diff *d)
{
    return d->jobs[0].jobs < 2 && d->jobs[1].jobs < 2;
}
