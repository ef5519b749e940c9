/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of two sides. Called by the program, one thread at a time. What a run has of a row
 * is added up first, and then added to the job's part.
 *
 * Invariant: the n-th row is that of the n-th row of the table, before that is ordered,
 * and a side's parts add up to its sums. Between runs no row has anything in `now`. */
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

/* What each stage has of memory is no row of the comparison. */
static bool diff_is_whole(gnomon__report_rows *r, gnomon__cell *cells)
{
    (void)r;
    return !cells[GNOMON__DIFF_NUMBER].count;
}

static const gnomon__report diff_report = {
    .name = "diff",
    .columns = gnomon__diff_columns,
    .column_count = GNOMON__DIFF_COLUMNS,
    .finish = diff_is_whole,
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
    for (size_t i = 0; i < d->count; i++) {
        gnomon__sum_free(&d->rows[i].times);
        for (int side = 0; side < 2; side++) {
            gnomon__free(d->rows[i].side[side].parts);
            gnomon__sum_free(&d->rows[i].side[side].all);
        }
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

/* A run that is being read. */
typedef struct run_reader {
    gnomon__diff *diff;
    const gnomon_profile *p;
    gnomon__device_work work;
    unsigned char *is_wanted; /* by view; what is of none always is */
    struct run_stage {        /* by stage; first what is of none */
        uint32_t view;        /* whose nodes are taken; 0: those of no view */
        uint32_t has_others;
    } * stages;
    bool has_peaks; /* of memory: older files and torch's sessions have none */
    char *name;     /* of a row of memory */
    size_t name_room;
    int code;              /* GNOMON_OK, or an error */
    uint32_t last;         /* number of the row that it met last; 0: none */
    gnomon__diff_row none; /* what is read without memory */
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

/* The row of these names, perhaps a new one, until the next call. `is_apart`: other stages
 * of the name have rows of their own. */
static gnomon__diff_row *run_row(run_reader *r, enum gnomon__diff_kind kind,
                                 uint32_t stage, const char *name,
                                 bool is_apart)
{
    gnomon__diff *d = r->diff;
    gnomon_stage_info s = {.ordinal = 0};
    if (stage)
        gnomon_profile_stage(r->p, stage, &s);
    gnomon__cell *cells = gnomon__report_row_of(&d->table, 0);
    gnomon__cell_text(&cells[GNOMON__DIFF_NAME], name ? name : "");
    gnomon__cell_text(&cells[GNOMON__DIFF_STAGE], s.name ? s.name : "");
    gnomon__cell_count(&cells[GNOMON__DIFF_KIND], kind);
    gnomon__cell_count(&cells[GNOMON__DIFF_NUMBER], is_apart ? stage : 0);
    gnomon__cell_count(&cells[GNOMON__DIFF_ORDINAL], s.ordinal);
    const uint32_t number = gnomon__report_put(&d->table);
    if (!number ||
        !gnomon__grow_zeroed(&d->rows, &d->room, number, sizeof *d->rows)) {
        r->code = GNOMON_ENOMEM;
        return &r->none;
    }
    for (; d->count < number; d->count++) {
        cells = gnomon__cells_of(&d->table.table, d->count);
        d->rows[d->count] = (gnomon__diff_row){
            .stage = cells[GNOMON__DIFF_STAGE].text,
            .name = cells[GNOMON__DIFF_NAME].text,
            .kind = (enum gnomon__diff_kind)cells[GNOMON__DIFF_KIND].count,
            .whole = (uint32_t)d->count + 1};
    }
    gnomon__diff_row *row = &d->rows[number - 1];
    if (!row->is_met) {
        row->is_met = true;
        row->next = r->last;
        r->last = number;
    }
    return row;
}

static void run_times(run_reader *r, enum gnomon__diff_kind kind,
                      uint32_t stage, const char *name,
                      const gnomon_stats *times)
{
    if (run_has(times) &&
        gnomon__sum_add(&run_row(r, kind, stage, name, false)->times, times))
        r->code = GNOMON_ENOMEM;
}

/* The first of the wanted views that has nodes of a stage. */
static void run_choose_views(run_reader *r)
{
    gnomon__report_node n;
    for (size_t i = 1; gnomon__report_node_at(r->p, i, &n); i++) {
        struct run_stage *s = &r->stages[n.of.stage];
        for (size_t k = 0; k < n.of.memory_count; k++)
            r->has_peaks |= gnomon_memory_at(&n.of, k)->at_peak_bytes != 0;
        if (!r->is_wanted[n.of.view] || !n.of.view ||
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
static void run_read_busy(run_reader *r, const gnomon_node_info *node)
{
    gnomon_node_info n;
    for (uint32_t i = node->parent; i; i = n.parent) {
        const char *name = gnomon__node_name(r->p, i);
        if (!run_is_again(r->p, node->parent, i, name))
            run_times(r, GNOMON__DIFF_BUSY, node->stage, name, node->device);
        if (gnomon_profile_node(r->p, i, &n))
            return;
    }
}

/* What a node has of a pool, in the row of that name. Peaks of several stages do not add
 * up. */
static void run_memory(run_reader *r, const gnomon_node_info *n,
                       const char *name, const gnomon_memory_stats *m)
{
    const uint32_t whole =
        run_row(r, GNOMON__DIFF_MEMORY, n->stage, name, false)->whole;
    gnomon__diff_row *row =
        run_row(r, GNOMON__DIFF_MEMORY, n->stage, name, true);
    row->whole = whole;
    row->now.runs = 1;
    row->now.calls += (double)m->allocations;
    row->now.total += (double)m->allocated_bytes;
    row->now.self += r->has_peaks ? (double)m->held_bytes : (double)NAN;
    row->now.max += r->has_peaks ? (double)m->at_peak_bytes : (double)NAN;
}

/* "host/forward", or without a region "host". The pool's own slashes are `_`, so that its
 * name ends at the first one. Until the next one; NULL: no memory. */
static const char *run_pool_name(run_reader *r, const char *pool,
                                 const char *region)
{
    const size_t size = strlen(pool);
    const size_t room = size + (region ? strlen(region) : 0) + 2;
    if (!gnomon__grow(&r->name, &r->name_room, room, 1)) {
        r->code = GNOMON_ENOMEM;
        return NULL;
    }
    (void)snprintf(r->name, room, "%s%s%s", pool, region ? "/" : "",
                   region ? region : "");
    for (size_t i = 0; i < size; i++)
        if (r->name[i] == '/')
            r->name[i] = '_';
    return r->name;
}

static void run_read_memory(run_reader *r, const gnomon__report_node *n)
{
    gnomon_track_info pool;
    for (size_t i = 0; i < n->of.memory_count; i++) {
        const gnomon_memory_stats *m = gnomon_memory_at(&n->of, i);
        if (gnomon_profile_track(r->p, m->pool, &pool))
            continue;
        run_memory(r, &n->of, run_pool_name(r, pool.name, NULL), m);
        run_memory(r, &n->of, run_pool_name(r, pool.name, n->region.name), m);
    }
}

static void run_read_nodes(run_reader *r)
{
    gnomon__report_node n;
    for (size_t i = 1; gnomon__report_node_at(r->p, i, &n); i++) {
        if (r->is_wanted[n.of.view]) /* one alone records memory */
            run_read_memory(r, &n);
        if ((n.of.view && n.of.view != r->stages[n.of.stage].view) ||
            n.of.flags & GNOMON_NODE_PART)
            continue;
        if (run_has_host(&n))
            run_times(r, GNOMON__DIFF_HOST, n.of.stage, n.region.name,
                      n.of.host);
        run_times(r, GNOMON__DIFF_DEVICE, n.of.stage, n.region.name,
                  n.of.device);
        if (gnomon__work_is_busy(r->work.work[i]))
            run_read_busy(r, &n.of);
    }
}

/* The last value is that of the last track. */
static void run_counter(run_reader *r, const gnomon_counter_info *c,
                        const char *name)
{
    gnomon__diff_part *now =
        &run_row(r, GNOMON__DIFF_COUNTER, c->stage, name, false)->now;
    if (!(now->runs > 0 && now->min < c->min))
        now->min = c->min;
    if (!(now->runs > 0 && c->max < now->max))
        now->max = c->max;
    now->runs = 1;
    now->calls += (double)c->count;
    now->total += c->sum;
    now->last = c->last;
}

static void run_read(run_reader *r)
{
    gnomon_counter_info c;
    gnomon_region_info region;
    gnomon_stage_info stage;
    run_choose_views(r);
    run_read_nodes(r);
    for (uint32_t i = 1; !gnomon_profile_stage(r->p, i, &stage); i++)
        run_times(r, GNOMON__DIFF_STEPS, i, stage.name, stage.steps);
    for (size_t i = 1; !gnomon_profile_counter(r->p, i, &c); i++)
        if (c.count && !gnomon_profile_region(r->p, c.region, &region))
            run_counter(r, &c, region.name);
}

static void run_want_views(const run_reader *r, const char *pattern,
                           const gnomon_profile *p)
{
    gnomon_view_info view;
    for (size_t i = 0; i <= gnomon_profile_count(p, GNOMON_VIEWS); i++)
        r->is_wanted[i] = !i || !pattern || gnomon_profile_view(p, i, &view) ||
                          gnomon__glob(pattern, strlen(pattern), view.words);
}

/* ---- Adding it ---------------------------------------------------------------------- */

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

/* What the run has of a row goes to the job's part. */
static int diff_end_row(gnomon__diff *d, gnomon__diff_row *row,
                        enum gnomon__side side, uint32_t job)
{
    const size_t at = job % GNOMON__DIFF_PARTS;
    const gnomon_stats *s = &row->times.s;
    gnomon__diff_half *half = &d->rows[row->whole - 1].side[side];
    gnomon__diff_part part = row->now;
    if (s->count)
        part = (gnomon__diff_part){.calls = (double)s->count,
                                   .total = (double)s->total_ns,
                                   .self = (double)s->self_ns,
                                   .min = (double)s->min_ns,
                                   .max = (double)s->max_ns};
    else if (part.runs == 0)
        return GNOMON_OK;
    if (!gnomon__grow_zeroed(&half->parts, &half->part_room, at + 1,
                             sizeof *half->parts))
        return GNOMON_ENOMEM;
    if (at >= half->part_count)
        half->part_count = at + 1;
    if (row->kind == GNOMON__DIFF_COUNTER)
        half->all.s.count =
            (uint64_t)fmin((double)half->all.s.count + part.calls, 0x1p63);
    else if (row->kind == GNOMON__DIFF_MEMORY)
        half->all.s.count++;
    for (int q = 0; s->count && q < GNOMON__QUANTILES; q++)
        part.quantiles[q] = gnomon_quantile(s, gnomon__quantiles[q]);
    diff_add_part(&half->parts[at], &part);
    const int code = s->count ? gnomon__sum_add(&half->all, s) : GNOMON_OK;
    gnomon__sum_free(&row->times);
    row->times = (gnomon__sum){.room = 0};
    row->now = (gnomon__diff_part){.runs = 0};
    return code;
}

int gnomon__diff_add(gnomon__diff *d, enum gnomon__side side, uint32_t job,
                     const gnomon_profile *p, size_t *other_views)
{
    const size_t stages = gnomon_profile_count(p, GNOMON_STAGES) + 1;
    run_reader r = {.diff = d, .p = p};
    r.code = gnomon__device_work_make(&r.work, p);
    r.is_wanted = gnomon__alloc(gnomon_profile_count(p, GNOMON_VIEWS) + 1);
    r.stages = gnomon__alloc(stages * sizeof *r.stages);
    if (!r.is_wanted || !r.stages)
        r.code = GNOMON_ENOMEM;
    if (!r.code) {
        run_want_views(&r, d->view, p);
        run_read(&r);
    }
    *other_views = 0;
    for (size_t i = 0; !r.code && i < stages; i++)
        *other_views += r.stages[i].has_others;
    for (; !r.code && r.last; r.last = d->rows[r.last - 1].next) {
        d->rows[r.last - 1].is_met = false;
        r.code = diff_end_row(d, &d->rows[r.last - 1], side, job);
    }
    if (d->jobs[side].jobs <= job)
        d->jobs[side].jobs = job + 1;
    gnomon__device_work_free(&r.work);
    gnomon__free(r.is_wanted);
    gnomon__free(r.stages);
    gnomon__free(r.name);
    gnomon__sum_free(&r.none.times);
    return r.code;
}
