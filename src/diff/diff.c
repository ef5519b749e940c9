/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of two sides. Called by the program, one thread at a time. What a run has of a row
 * is added up first, and then added to the job's part.
 *
 * Invariant: the n-th row is that of the n-th row of the table, before that is ordered,
 * and a side's parts add up to its sums. */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "diff/run_rows.h"
#include "platform/memory.h"

const double gnomon__quantiles[GNOMON__QUANTILES] = {0.5, 0.9, 0.99};

static const gnomon__table_choice diff_no_groups = {.sort = -1};

/* ---- The table -------------------------------------------------------------------- */

const gnomon__column gnomon__diff_columns[GNOMON__DIFF_COLUMNS] = {
    [GNOMON__DIFF_NAME] = GNOMON__COLUMN("name", "", TEXT, SHOWN, KEY),
    [GNOMON__DIFF_CALLS_A] = GNOMON__COLUMN("calls_a", "", VALUE, EXTRA, MADE),
    [GNOMON__DIFF_CALLS_B] = GNOMON__COLUMN("calls_b", "", VALUE, EXTRA, MADE),
    [GNOMON__DIFF_A] = GNOMON__COLUMN("a", "", VALUE, SHOWN, MADE),
    [GNOMON__DIFF_B] = GNOMON__COLUMN("b", "", VALUE, SHOWN, MADE),
    [GNOMON__DIFF_CHANGE] =
        GNOMON__COLUMN("change", "Change", VALUE, SHOWN, MADE),
    [GNOMON__DIFF_LOW] = GNOMON__COLUMN("low", "", VALUE, SHOWN, MADE),
    [GNOMON__DIFF_HIGH] = GNOMON__COLUMN("high", "At most", VALUE, EXTRA, MADE),
    [GNOMON__DIFF_CONFIDENCE] =
        GNOMON__COLUMN("confidence", "Confidence", VALUE, EXTRA, MADE),
    [GNOMON__DIFF_TOTAL_A] =
        GNOMON__COLUMN("total_a_ns", "Total A", VALUE, EXTRA, MADE),
    [GNOMON__DIFF_TOTAL_B] =
        GNOMON__COLUMN("total_b_ns", "Total B", VALUE, EXTRA, MADE),
    [GNOMON__DIFF_MORE] =
        GNOMON__COLUMN("more_ns", "In total", VALUE, SHOWN, MADE),
    [GNOMON__DIFF_STAGE] = GNOMON__COLUMN("", "", TEXT, HIDDEN, KEY),
    [GNOMON__DIFF_KIND] = GNOMON__COLUMN("", "", ID, HIDDEN, KEY),
    [GNOMON__DIFF_ORDINAL] = GNOMON__COLUMN("", "", ID, HIDDEN, LEAST),
    [GNOMON__DIFF_BY_TOTAL] = GNOMON__COLUMN("", "", NUMBER, HIDDEN, MADE),
    [GNOMON__DIFF_BY_CHANGE] = GNOMON__COLUMN("", "", NUMBER, HIDDEN, MADE),
    [GNOMON__DIFF_BY_CONFIDENCE] = GNOMON__COLUMN("", "", NUMBER, HIDDEN, MADE),
};

/* The row has no later ordinal than another one of its stage. */
static void diff_lower_ordinal(gnomon__report_table *t, size_t row,
                               size_t other)
{
    gnomon__cell *a = gnomon__cells_of(t, row);
    const gnomon__cell *b = gnomon__cells_of(t, other);
    if (strcmp(a[GNOMON__DIFF_STAGE].text, b[GNOMON__DIFF_STAGE].text) == 0 &&
        b[GNOMON__DIFF_ORDINAL].count < a[GNOMON__DIFF_ORDINAL].count)
        a[GNOMON__DIFF_ORDINAL].count = b[GNOMON__DIFF_ORDINAL].count;
}

/* By the first ordinal of a stage of the name, so that its tables stand together, then by
 * kind. Sorting keeps the order of what is equal, which is that of names. */
static void diff_order(gnomon__report_rows *r)
{
    gnomon__report_table *t = &r->table;
    r->code = gnomon__table_sort(t, GNOMON__DIFF_KIND);
    if (!r->code)
        r->code = gnomon__table_sort(t, GNOMON__DIFF_STAGE);
    for (size_t i = 1; i < t->row_count; i++)
        diff_lower_ordinal(t, i, i - 1);
    for (size_t i = t->row_count; i > 1; i--)
        diff_lower_ordinal(t, i - 2, i - 1);
    if (!r->code)
        r->code = gnomon__table_sort(t, GNOMON__DIFF_ORDINAL);
}

static const gnomon__report diff_report = {
    .name = "diff",
    .columns = gnomon__diff_columns,
    .column_count = GNOMON__DIFF_COLUMNS,
    .choose = diff_order,
};

/* ---- Rows ------------------------------------------------------------------------- */

int gnomon__diff_create(gnomon__diff **out)
{
    gnomon__diff *d = *out = gnomon__alloc(sizeof *d);
    if (!d)
        return GNOMON_ENOMEM;
    int code =
        gnomon__report_begin(&d->table, &diff_report, &diff_no_groups, NULL);
    d->table.keeps = true;
    return code;
}

void gnomon__diff_free(gnomon__diff *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++)
        for (int side = 0; side < 2; side++) {
            gnomon__free(d->rows[i].side[side].parts);
            gnomon__sum_free(&d->rows[i].side[side].all);
        }
    gnomon__report_free(&d->table);
    gnomon__free(d->rows);
    gnomon__free(d->jobs[0].runs);
    gnomon__free(d->jobs[1].runs);
    gnomon__free(d);
}

int gnomon__diff_end(gnomon__diff *d)
{
    return gnomon__report_end(&d->table, NULL);
}

const gnomon__diff_row *gnomon__diff_row_at(const gnomon__diff *d, size_t at)
{
    return &d->rows[gnomon__report_number(&d->table, at) - 1];
}

int gnomon__diff_is_assumed(const gnomon__diff *d)
{
    return d->jobs[0].jobs < 2 && d->jobs[1].jobs < 2;
}

/* ---- Adding it ---------------------------------------------------------------------- */

/* The row of these names, perhaps a new one; NULL: no memory. */
static gnomon__diff_row *diff_row_of(gnomon__diff *d, const gnomon__cell *from)
{
    gnomon__cell *cells = gnomon__report_row_of(&d->table, 0);
    cells[GNOMON__DIFF_NAME] = from[GNOMON__RUN_NAME];
    cells[GNOMON__DIFF_STAGE] = from[GNOMON__RUN_STAGE];
    cells[GNOMON__DIFF_KIND] = from[GNOMON__RUN_KIND];
    cells[GNOMON__DIFF_ORDINAL] = from[GNOMON__RUN_ORDINAL];
    const uint32_t number = gnomon__report_put(&d->table);
    if (!number ||
        !gnomon__grow_zeroed(&d->rows, &d->room, number, sizeof *d->rows))
        return NULL;
    if (number > d->count) {
        cells = gnomon__cells_of(&d->table.table, number - 1);
        d->rows[d->count++] = (gnomon__diff_row){
            .stage = cells[GNOMON__DIFF_STAGE].text,
            .name = cells[GNOMON__DIFF_NAME].text,
            .kind = (enum gnomon__diff_kind)from[GNOMON__RUN_KIND].count};
    }
    return &d->rows[number - 1];
}

static void diff_add_part(gnomon__diff_part *to, const gnomon__diff_part *from)
{
    if (to->runs == 0 || from->min < to->min)
        to->min = from->min;
    if (to->runs == 0 || from->max > to->max)
        to->max = from->max;
    to->calls += from->calls;
    to->total += from->total;
    to->self += from->self;
    to->last += from->last;
    for (int q = 0; q < GNOMON__QUANTILES; q++)
        to->quantiles[q] += from->quantiles[q];
    to->runs++;
}

static int diff_add_row(gnomon__diff *d, enum gnomon__side side, uint32_t job,
                        const gnomon__cell *from)
{
    const size_t at = job % GNOMON__DIFF_PARTS;
    const gnomon_stats *s = gnomon__times_of(&from[GNOMON__RUN_TIMES]);
    gnomon__diff_part part = {.calls = (double)s->count,
                              .total = (double)s->total_ns,
                              .self = (double)s->self_ns,
                              .min = (double)s->min_ns,
                              .max = (double)s->max_ns};
    gnomon__diff_row *row = diff_row_of(d, from);
    if (!row)
        return GNOMON_ENOMEM;
    gnomon__diff_half *half = &row->side[side];
    if (!gnomon__grow_zeroed(&half->parts, &half->part_room, at + 1,
                             sizeof *half->parts))
        return GNOMON_ENOMEM;
    if (at >= half->part_count)
        half->part_count = at + 1;
    if (row->kind == GNOMON__DIFF_COUNTER) {
        part = (gnomon__diff_part){.calls =
                                       (double)from[GNOMON__RUN_SAMPLES].count,
                                   .total = from[GNOMON__RUN_SUM].number,
                                   .min = from[GNOMON__RUN_MIN].number,
                                   .max = from[GNOMON__RUN_MAX].number,
                                   .last = from[GNOMON__RUN_LAST].number};
        half->all.s.count += from[GNOMON__RUN_SAMPLES].count;
    }
    for (int q = 0; s->count && q < GNOMON__QUANTILES; q++)
        part.quantiles[q] = gnomon_quantile(s, gnomon__quantiles[q]);
    diff_add_part(&half->parts[at], &part);
    return s->count ? gnomon__sum_add(&half->all, s) : GNOMON_OK;
}

int gnomon__diff_add(gnomon__diff *d, enum gnomon__side side, uint32_t job,
                     const gnomon_profile *p, size_t *other_views)
{
    gnomon__report_rows rows;
    int code = gnomon__run_rows_make(&rows, p, d->view, other_views);
    for (size_t i = 0; !code && i < rows.table.row_count; i++)
        code = diff_add_row(d, side, job, gnomon__cells_of(&rows.table, i));
    if (d->jobs[side].jobs <= job)
        d->jobs[side].jobs = job + 1;
    gnomon__report_free(&rows);
    return code;
}
