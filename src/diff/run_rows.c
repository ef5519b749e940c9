/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "diff/run_rows.h"

#include <string.h>

#include "gnomon.h"
#include "platform/memory.h"
#include "print/devices.h"
#include "spec/filter.h"

static const gnomon__column run_columns[GNOMON__RUN_COLUMNS] = {
    [GNOMON__RUN_NAME] = GNOMON__COLUMN("name", "", TEXT, SHOWN, KEY),
    [GNOMON__RUN_STAGE] = GNOMON__COLUMN("stage", "", TEXT, SHOWN, KEY),
    [GNOMON__RUN_KIND] = GNOMON__COLUMN("kind", "", ID, SHOWN, KEY),
    [GNOMON__RUN_ORDINAL] = GNOMON__COLUMN("ordinal", "", ID, SHOWN, LEAST),
    [GNOMON__RUN_TIMES] = GNOMON__COLUMN("times", "", TEXT, SHOWN, TIMES),
    [GNOMON__RUN_SAMPLES] = GNOMON__COLUMN("samples", "", COUNT, SHOWN, SUM),
    [GNOMON__RUN_SUM] = GNOMON__COLUMN("sum", "", NUMBER, SHOWN, SUM),
    [GNOMON__RUN_MIN] = GNOMON__COLUMN("min", "", NUMBER, SHOWN, LEAST),
    [GNOMON__RUN_MAX] = GNOMON__COLUMN("max", "", NUMBER, SHOWN, MOST),
    [GNOMON__RUN_LAST] = GNOMON__COLUMN("last", "", NUMBER, SHOWN, LAST),
};

/* A run that is being read. */
typedef struct run_reader {
    gnomon__device_work work;
    unsigned char *is_wanted; /* by view; what is of none always is */
    struct run_stage {        /* by stage; first what is of none */
        uint32_t view;        /* whose nodes are taken; 0: those of no view */
        uint32_t has_others;
    } * stages;
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
    gnomon__cell_text(&cells[GNOMON__RUN_NAME], name ? name : "");
    gnomon__cell_text(&cells[GNOMON__RUN_STAGE], stage->name);
    gnomon__cell_count(&cells[GNOMON__RUN_KIND], kind);
    gnomon__cell_count(&cells[GNOMON__RUN_ORDINAL], stage->ordinal);
    return cells;
}

static void run_times(gnomon__report_rows *r, enum gnomon__diff_kind kind,
                      const gnomon_stage_info *stage, const char *name,
                      const gnomon_stats *times)
{
    if (run_has(times))
        gnomon__cell_times(&run_cells(r, kind, stage, name)[GNOMON__RUN_TIMES],
                           times);
}

/* Of the views that are wanted the first one that has nodes of a stage. */
static void run_choose_views(gnomon__report_rows *r)
{
    run_reader *reader = r->more;
    gnomon__report_node n;
    for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++) {
        struct run_stage *s = &reader->stages[n.of.stage];
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

static void run_read_nodes(gnomon__report_rows *r)
{
    const run_reader *reader = r->more;
    gnomon__report_node n;
    for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++) {
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
        gnomon__cell_count(&cells[GNOMON__RUN_SAMPLES], c.count);
        gnomon__cell_number(&cells[GNOMON__RUN_SUM], c.sum);
        gnomon__cell_number(&cells[GNOMON__RUN_MIN], c.min);
        gnomon__cell_number(&cells[GNOMON__RUN_MAX], c.max);
        gnomon__cell_number(&cells[GNOMON__RUN_LAST], c.last);
    }
}

static const gnomon__report run_report = {.name = "run",
                                          .columns = run_columns,
                                          .column_count = GNOMON__RUN_COLUMNS,
                                          .read = run_read};

static void run_want_views(const run_reader *r, const char *pattern,
                           const gnomon_profile *p)
{
    gnomon_view_info view;
    for (size_t i = 0; i <= gnomon_profile_count(p, GNOMON_VIEWS); i++)
        r->is_wanted[i] = !i || !pattern || gnomon_profile_view(p, i, &view) ||
                          gnomon__glob(pattern, strlen(pattern), view.words);
}

int gnomon__run_rows_make(gnomon__report_rows *rows, const gnomon_profile *p,
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
