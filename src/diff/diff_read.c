/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one profile adds to a side of a diff: its nodes, sorted by row and run,
 * so that each row of a run is summed once, before it is one value among those
 * of its job. Takes O(nodes) memory while it reads. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "platform/memory.h"
#include "diff/diff_rows.h"
#include "spec/filter.h"

/* What a node adds, and to which row. Borrows from the profile. */
typedef struct diff_fact {
    const char *stage;
    const char *name;
    const gnomon_stats *host;
    uint32_t run;
    uint32_t ordinal;
} diff_fact;

/* What a stage of a life is, once a node of it was met. */
typedef struct diff_news {
    enum gnomon__lives_news news;
    uint32_t view; /* for which that was asked */
    int is_known;
    int is_told; /* that there is another view */
} diff_news;

/* A profile that is being added. */
typedef struct diff_reader {
    gnomon__diff *diff;
    const gnomon_profile *profile;
    enum gnomon__side side;
    diff_fact *facts;
    size_t fact_count;
    size_t *jobs;       /* by run */
    uint32_t view;      /* whose nodes are being read */
    const char *words;  /* of it */
    diff_news *stages;  /* by stage */
    diff_news *outside; /* by run: of what is in no stage */
} diff_reader;

static bool diff_has_row(uint32_t kind)
{
    return kind == GNOMON_KIND_SCOPE || kind == GNOMON_KIND_FUNCTION ||
           kind == GNOMON_KIND_ACTION || kind == GNOMON_KIND_RANGE;
}

static int diff_read_runs(diff_reader *r)
{
    size_t count = gnomon_profile_count(r->profile, GNOMON_RUNS);
    for (size_t i = 1; i <= count; i++) {
        gnomon_run_info run;
        gnomon_profile_run(r->profile, i, &run);
        if (gnomon__lives_job(&r->diff->lives[r->side], &run, &r->jobs[i]))
            return GNOMON_ENOMEM;
    }
    return GNOMON_OK;
}

/* `stage` is zeroes of what is in none. */
static int diff_read_news(diff_reader *r, const gnomon_node_info *node,
                          uint32_t number, const gnomon_stage_info *stage,
                          int *is_new)
{
    diff_news *of = node->stage ? &r->stages[node->stage] : &r->outside[number];
    int is_taken = of->is_known && of->news == GNOMON__LIVES_NEW;
    if (of->is_known && !r->view) { /* it is of all views */
        *is_new = is_taken;
        return GNOMON_OK;
    }
    if (is_taken &&
        of->view != r->view) { /* a life of which nothing is known */
        r->diff->in_other_views[r->side] += !of->is_told;
        of->is_told = 1;
    } else if (!of->is_known || of->view != r->view) {
        gnomon_run_info run;
        gnomon_profile_run(r->profile, number, &run);
        if (gnomon__lives_stage(&r->diff->lives[r->side], &run,
                                node->stage ? stage->ordinal : UINT32_MAX,
                                stage->name, r->words, &of->news))
            return GNOMON_ENOMEM;
        of->view = r->view;
        of->is_known = 1;
        r->diff->doubled[r->side] += of->news == GNOMON__LIVES_OLD;
        r->diff->in_other_views[r->side] += of->news == GNOMON__LIVES_OTHER;
    }
    *is_new = of->news == GNOMON__LIVES_NEW && of->view == r->view;
    return GNOMON_OK;
}

static int diff_read_node(diff_reader *r, size_t number)
{
    gnomon_node_info node;
    gnomon_region_info region;
    gnomon_track_info track;
    gnomon_stage_info stage = {.ordinal = 0};
    int is_new;
    gnomon_profile_node(r->profile, number, &node);
    if (!node.host || node.host->count == 0 || node.view != r->view)
        return GNOMON_OK;
    gnomon_profile_region(r->profile, node.region, &region);
    gnomon_profile_track(r->profile, node.track, &track);
    if (!diff_has_row(region.kind))
        return GNOMON_OK;
    if (node.stage)
        gnomon_profile_stage(r->profile, node.stage, &stage);
    if (!stage.name)
        stage.name = "";
    if (diff_read_news(r, &node, track.run, &stage, &is_new))
        return GNOMON_ENOMEM;
    if (is_new)
        r->facts[r->fact_count++] =
            (diff_fact){.stage = stage.name,
                        .name = region.name ? region.name : "",
                        .host = node.host,
                        .run = track.run,
                        .ordinal = stage.ordinal};
    return GNOMON_OK;
}

/* The nodes of a view, at last those of none (0), which go with any; nothing where it
 * is not one that is asked for. */
static int diff_read_view(diff_reader *r, uint32_t number)
{
    size_t nodes = gnomon_profile_count(r->profile, GNOMON_NODES);
    const char *pattern = r->diff->view;
    gnomon_view_info view = {.words = ""};
    int code = GNOMON_OK;
    if (number)
        gnomon_profile_view(r->profile, number, &view);
    r->view = number;
    r->words = view.words;
    if (pattern && number && !gnomon__glob(pattern, strlen(pattern), r->words))
        return GNOMON_OK;
    for (size_t i = 1; i <= nodes && code == GNOMON_OK; i++)
        code = diff_read_node(r, i);
    return code;
}

static int diff_by_row(const void *left, const void *right)
{
    const diff_fact *a = left, *b = right;
    int order = gnomon__diff_order(a->stage, a->name, b->stage, b->name);
    return order ? order : (a->run > b->run) - (a->run < b->run);
}

/* The facts from `first` on that are of one row and run; returns where the next
 * begin. */
static size_t diff_add_facts(diff_reader *r, size_t first, size_t sorted,
                             int *code)
{
    const diff_fact *f = &r->facts[first];
    gnomon__diff_row *row =
        gnomon__diff_row_of(r->diff, sorted, f->stage, f->name);
    gnomon_cell cells[GNOMON__DIFF_CELLS];
    gnomon_stats sum = {.cells = cells};
    size_t at = first;
    if (!row) {
        *code = GNOMON_ENOMEM;
        return at;
    }
    for (; at < r->fact_count && diff_by_row(f, &r->facts[at]) == 0; at++) {
        gnomon__diff_sum(&sum, r->facts[at].host);
        gnomon__diff_spread(r->diff, r->facts[at].host);
        if (r->facts[at].ordinal < row->ordinal)
            row->ordinal = r->facts[at].ordinal;
    }
    sum.cell_count = gnomon__diff_collect(r->diff, cells);
    *code = gnomon__diff_add_run(r->diff, &row->side[r->side], r->jobs[f->run],
                                 &sum);
    return at;
}

static int diff_read(diff_reader *r)
{
    size_t views = gnomon_profile_count(r->profile, GNOMON_VIEWS);
    size_t sorted = r->diff->count;
    int code = diff_read_runs(r);
    for (uint32_t i = 1; i <= views && code == GNOMON_OK; i++)
        code = diff_read_view(r, i);
    if (code == GNOMON_OK)
        code = diff_read_view(r, 0);
    if (r->fact_count > 1)
        qsort(r->facts, r->fact_count, sizeof *r->facts, diff_by_row);
    for (size_t at = 0; at < r->fact_count && code == GNOMON_OK;)
        at = diff_add_facts(r, at, sorted, &code);
    gnomon__diff_sort(r->diff);
    return code;
}

int gnomon__diff_add(gnomon__diff *d, enum gnomon__side side,
                     const gnomon_profile *p)
{
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS) + 1;
    size_t stages = gnomon_profile_count(p, GNOMON_STAGES) + 1;
    size_t nodes = gnomon_profile_count(p, GNOMON_NODES) + 1;
    diff_reader r = {.diff = d, .profile = p, .side = side};
    int code = GNOMON_ENOMEM;
    r.facts = gnomon__alloc(nodes * sizeof *r.facts);
    r.jobs = gnomon__alloc(runs * sizeof *r.jobs);
    r.stages = gnomon__alloc(stages * sizeof *r.stages);
    r.outside = gnomon__alloc(runs * sizeof *r.outside);
    if (r.facts && r.jobs && r.stages && r.outside)
        code = diff_read(&r);
    gnomon__free(r.facts);
    gnomon__free(r.jobs);
    gnomon__free(r.stages);
    gnomon__free(r.outside);
    return code;
}
