/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of two sides. Called by the program, one thread at a time. What a run has of a row
 * is added up first, and then added to the job's part.
 *
 * Invariant: the n-th row is that of the n-th row of the table, before that is ordered,
 * and a side's parts add up to its sums. */
#include "diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "platform/memory.h"
#include "print/devices.h"
#include "spec/filter.h"

const double gnomon__quantiles[GNOMON__QUANTILES] = {0.5, 0.9, 0.99};

static const gnomon__table_choice diff_no_groups = {.sort = -1};

/* ---- The table -------------------------------------------------------------------- */

const gnomon__column gnomon__diff_columns[] = {
    GNOMON__DIFF_COLUMN_LIST(GNOMON__COLUMN_ROW)};

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

/* ---- What a run has -------------------------------------------------------------------- */

/* For each row of a comparison; these are by stage, kind and name. */
#define RUN_COLUMN_LIST(X) \
    X(RUN_NAME, "name", "", TEXT, SHOWN, KEY) \
    X(RUN_STAGE, "stage", "", TEXT, SHOWN, KEY) /* "": of none */ \
    X(RUN_KIND, "kind", "", ID, SHOWN, KEY)     /* gnomon__diff_kind */ \
    /* of memory its stage's, as peaks of several do not add up; else none */ \
    X(RUN_NUMBER, "number", "", ID, SHOWN, KEY) \
    /* the first of a stage of this name */ \
    X(RUN_ORDINAL, "ordinal", "", ID, SHOWN, LEAST) \
    /* of all but counters and memory, which have the others */ \
    X(RUN_TIMES, "times", "", TEXT, SHOWN, TIMES) \
    X(RUN_SAMPLES, "samples", "", COUNT, SHOWN, SUM) \
    X(RUN_SUM, "sum", "", NUMBER, SHOWN, SUM) \
    X(RUN_MIN, "min", "", NUMBER, SHOWN, LEAST) \
    X(RUN_MAX, "max", "", NUMBER, SHOWN, MOST) \
    X(RUN_LAST, "last", "", NUMBER, SHOWN, LAST) /* of its last track */ \
    X(RUN_PEAK, "peak", "", NUMBER, SHOWN, SUM) \
    X(RUN_HELD, "held", "", NUMBER, SHOWN, SUM)
GNOMON__COLUMNS(run_columns, RUN_COLUMNS, RUN_COLUMN_LIST);

/* A run that is being read. */
typedef struct run_reader {
    gnomon__device_work work;
    unsigned char *is_wanted; /* by view; what is of none always is */
    struct run_stage {        /* by stage; first what is of none */
        uint32_t view;        /* whose nodes are taken; 0: those of no view */
        uint32_t has_others;
    } * stages;
    bool has_peaks; /* of memory: older files and torch's sessions have none */
} run_reader;

static bool run_has(const gnomon_stats *stats)
{
    return stats && stats->count;
}

static bool run_has_host(const gnomon__report_node *n)
{
    const uint32_t kind = n->region.kind;
    return run_has(n->of.host) &&
           (kind == GNOMON_KIND_SCOPE || kind == GNOMON_KIND_FUNCTION ||
            kind == GNOMON_KIND_ACTION || kind == GNOMON_KIND_RANGE);
}

/* Zeroes and no name: there is none. */
static gnomon_stage_info run_stage_at(const gnomon_profile *p, uint32_t number)
{
    gnomon_stage_info stage = {.ordinal = 0};
    if (number)
        gnomon_profile_stage(p, number, &stage);
    if (!stage.name)
        stage.name = "";
    return stage;
}

static gnomon__cell *run_cells(gnomon__report_rows *r,
                               enum gnomon__diff_kind kind,
                               const gnomon_stage_info *stage, const char *name)
{
    gnomon__cell *cells = gnomon__report_row_of(r, 0);
    gnomon__cell_text(&cells[RUN_NAME], name ? name : "");
    gnomon__cell_text(&cells[RUN_STAGE], stage->name);
    gnomon__cell_count(&cells[RUN_KIND], kind);
    gnomon__cell_count(&cells[RUN_ORDINAL], stage->ordinal);
    return cells;
}

static void run_times(gnomon__report_rows *r, enum gnomon__diff_kind kind,
                      const gnomon_stage_info *stage, const char *name,
                      const gnomon_stats *times)
{
    if (run_has(times))
        gnomon__cell_times(&run_cells(r, kind, stage, name)[RUN_TIMES], times);
}

/* The first of the wanted views that has nodes of a stage. */
static void run_choose_views(gnomon__report_rows *r)
{
    run_reader *reader = r->more;
    gnomon__report_node n;
    for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++) {
        struct run_stage *s = &reader->stages[n.of.stage];
        for (size_t k = 0; k < n.of.memory_count; k++)
            reader->has_peaks |= gnomon_memory_at(&n.of, k)->at_peak_bytes != 0;
        if (!reader->is_wanted[n.of.view] || !n.of.view ||
            n.of.flags & GNOMON_NODE_PART ||
            !(run_has_host(&n) || run_has(n.of.device)))
            continue;
        s->has_others |= s->view && s->view != n.of.view;
        if (!s->view || n.of.view < s->view)
            s->view = n.of.view;
    }
}

/* Whether a node between the two has the name, too: its row has the work already. */
static bool run_is_again(const gnomon_profile *p, uint32_t from, uint32_t to,
                         const char *name)
{
    gnomon_node_info n;
    for (; from != to; from = n.parent)
        if (strcmp(gnomon__node_name(p, from), name) == 0 ||
            gnomon_profile_node(p, from, &n))
            return true;
    return false;
}

/* Work counts in the row of each scope around its launch. */
static void run_read_busy(gnomon__report_rows *r, const gnomon_node_info *node,
                          const gnomon_stage_info *stage)
{
    gnomon_node_info n;
    for (uint32_t i = node->parent; i; i = n.parent) {
        const char *name = gnomon__node_name(r->profile, i);
        if (!run_is_again(r->profile, node->parent, i, name))
            run_times(r, GNOMON__DIFF_BUSY, stage, name, node->device);
        if (gnomon_profile_node(r->profile, i, &n))
            return;
    }
}

/* What a node has of a pool, in the row of that name. */
static void run_memory(gnomon__report_rows *r, const gnomon_node_info *n,
                       const char *name, const gnomon_memory_stats *m)
{
    const gnomon_stage_info stage = run_stage_at(r->profile, n->stage);
    gnomon__cell *cells = run_cells(r, GNOMON__DIFF_MEMORY, &stage, name);
    gnomon__cell_count(&cells[RUN_NUMBER], n->stage);
    gnomon__cell_count(&cells[RUN_SAMPLES], m->allocations);
    gnomon__cell_number(&cells[RUN_SUM], (double)m->allocated_bytes);
    if (!((const run_reader *)r->more)->has_peaks)
        return;
    gnomon__cell_number(&cells[RUN_PEAK], (double)m->at_peak_bytes);
    gnomon__cell_number(&cells[RUN_HELD], (double)m->held_bytes);
}

/* "host/forward", or without a region "host". The pool's own slashes are `_`, so that its
 * name ends at the first one. NULL: no memory. */
static const char *run_pool_name(gnomon__report_rows *r, const char *pool,
                                 const char *region)
{
    const size_t size = strlen(pool);
    const size_t room = size + (region ? strlen(region) : 0) + 2;
    char *text = gnomon__table_take(&r->table, room);
    if (!text)
        return NULL;
    (void)snprintf(text, room, "%s%s%s", pool, region ? "/" : "",
                   region ? region : "");
    for (size_t i = 0; i < size; i++)
        if (text[i] == '/')
            text[i] = '_';
    return text;
}

static void run_read_memory(gnomon__report_rows *r,
                            const gnomon__report_node *n)
{
    gnomon_track_info pool;
    for (size_t i = 0; i < n->of.memory_count; i++) {
        const gnomon_memory_stats *m = gnomon_memory_at(&n->of, i);
        if (gnomon_profile_track(r->profile, m->pool, &pool))
            continue;
        const char *all = run_pool_name(r, pool.name, NULL);
        const char *below = run_pool_name(r, pool.name, n->region.name);
        if (!all || !below)
            r->code = GNOMON_ENOMEM;
        run_memory(r, &n->of, all, m);
        run_memory(r, &n->of, below, m);
    }
}

static void run_read_nodes(gnomon__report_rows *r)
{
    const run_reader *reader = r->more;
    gnomon__report_node n;
    for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++) {
        if (reader->is_wanted[n.of.view]) /* one alone records memory */
            run_read_memory(r, &n);
        if ((n.of.view && n.of.view != reader->stages[n.of.stage].view) ||
            n.of.flags & GNOMON_NODE_PART)
            continue;
        const gnomon_stage_info stage = run_stage_at(r->profile, n.of.stage);
        if (run_has_host(&n))
            run_times(r, GNOMON__DIFF_HOST, &stage, n.region.name, n.of.host);
        run_times(r, GNOMON__DIFF_DEVICE, &stage, n.region.name, n.of.device);
        if (gnomon__work_is_busy(reader->work.work[i]))
            run_read_busy(r, &n.of, &stage);
    }
}

static void run_read(gnomon__report_rows *r)
{
    gnomon_counter_info c;
    gnomon_region_info region;
    run_choose_views(r);
    run_read_nodes(r);
    for (uint32_t i = 1; i <= gnomon_profile_count(r->profile, GNOMON_STAGES);
         i++) {
        const gnomon_stage_info stage = run_stage_at(r->profile, i);
        run_times(r, GNOMON__DIFF_STEPS, &stage, stage.name, stage.steps);
    }
    for (size_t i = 1; !gnomon_profile_counter(r->profile, i, &c); i++) {
        const gnomon_stage_info stage = run_stage_at(r->profile, c.stage);
        if (!c.count || gnomon_profile_region(r->profile, c.region, &region))
            continue;
        gnomon__cell *cells =
            run_cells(r, GNOMON__DIFF_COUNTER, &stage, region.name);
        gnomon__cell_count(&cells[RUN_SAMPLES], c.count);
        gnomon__cell_number(&cells[RUN_SUM], c.sum);
        gnomon__cell_number(&cells[RUN_MIN], c.min);
        gnomon__cell_number(&cells[RUN_MAX], c.max);
        gnomon__cell_number(&cells[RUN_LAST], c.last);
    }
}

static const gnomon__report run_report = {.name = "run",
                                          .columns = run_columns,
                                          .column_count = RUN_COLUMNS,
                                          .read = run_read};

static void run_want_views(const run_reader *r, const char *pattern,
                           const gnomon_profile *p)
{
    gnomon_view_info view;
    for (size_t i = 0; i <= gnomon_profile_count(p, GNOMON_VIEWS); i++)
        r->is_wanted[i] = !i || !pattern || gnomon_profile_view(p, i, &view) ||
                          gnomon__glob(pattern, strlen(pattern), view.words);
}

/* Reads a profile of one run, which must outlive the rows. Of a stage that was recorded in
 * several views, under filters that differ, the first is taken whose words match the
 * pattern (NULL: all do); *other_views is the number of such stages. GNOMON_OK or
 * GNOMON_ENOMEM; free the rows in any case. O(nodes) memory. */
static int run_rows_make(gnomon__report_rows *rows, const gnomon_profile *p,
                         const char *pattern, size_t *other_views)
{
    static const gnomon__table_choice no_groups = {.sort = -1};
    const size_t stages = gnomon_profile_count(p, GNOMON_STAGES) + 1;
    run_reader r = {0};
    int code = gnomon__device_work_make(&r.work, p);
    *rows = (gnomon__report_rows){0};
    r.is_wanted = gnomon__alloc(gnomon_profile_count(p, GNOMON_VIEWS) + 1);
    r.stages = gnomon__alloc(stages * sizeof *r.stages);
    if (!r.is_wanted || !r.stages)
        code = GNOMON_ENOMEM;
    if (!code) {
        run_want_views(&r, pattern, p);
        code = gnomon__report_make(rows, &run_report, &no_groups, &r, p);
    }
    *other_views = 0;
    for (size_t i = 0; !code && i < stages; i++)
        *other_views += r.stages[i].has_others;
    gnomon__device_work_free(&r.work);
    gnomon__free(r.is_wanted);
    gnomon__free(r.stages);
    return code;
}

/* ---- Adding it ---------------------------------------------------------------------- */

/* The row of these names, perhaps a new one; NULL: no memory. */
static gnomon__diff_row *diff_row_of(gnomon__diff *d, const gnomon__cell *from)
{
    gnomon__cell *cells = gnomon__report_row_of(&d->table, 0);
    cells[GNOMON__DIFF_NAME] = from[RUN_NAME];
    cells[GNOMON__DIFF_STAGE] = from[RUN_STAGE];
    cells[GNOMON__DIFF_KIND] = from[RUN_KIND];
    cells[GNOMON__DIFF_ORDINAL] = from[RUN_ORDINAL];
    const uint32_t number = gnomon__report_put(&d->table);
    if (!number ||
        !gnomon__grow_zeroed(&d->rows, &d->room, number, sizeof *d->rows))
        return NULL;
    if (number > d->count) {
        cells = gnomon__cells_of(&d->table.table, number - 1);
        d->rows[d->count++] = (gnomon__diff_row){
            .stage = cells[GNOMON__DIFF_STAGE].text,
            .name = cells[GNOMON__DIFF_NAME].text,
            .kind = (enum gnomon__diff_kind)from[RUN_KIND].count};
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
    const gnomon_stats *s = gnomon__times_of(&from[RUN_TIMES]);
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
        part = (gnomon__diff_part){.calls = (double)from[RUN_SAMPLES].count,
                                   .total = from[RUN_SUM].number,
                                   .min = from[RUN_MIN].number,
                                   .max = from[RUN_MAX].number,
                                   .last = from[RUN_LAST].number};
        half->all.s.count += from[RUN_SAMPLES].count;
    } else if (row->kind == GNOMON__DIFF_MEMORY) {
        const bool has_peak = from[RUN_PEAK].is_there;
        part = (gnomon__diff_part){
            .calls = (double)from[RUN_SAMPLES].count,
            .total = from[RUN_SUM].number,
            .self = has_peak ? from[RUN_HELD].number : (double)NAN,
            .max = has_peak ? from[RUN_PEAK].number : (double)NAN};
        half->all.s.count++;
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
    int code = run_rows_make(&rows, p, d->view, other_views);
    for (size_t i = 0; !code && i < rows.table.row_count; i++)
        code = diff_add_row(d, side, job, gnomon__cells_of(&rows.table, i));
    if (d->jobs[side].jobs <= job)
        d->jobs[side].jobs = job + 1;
    gnomon__report_free(&rows);
    return code;
}
