/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds one profile to a side of a diff. Its nodes are sorted by row and run, so that each
 * row of a run is summed first, and then added to its job. Takes O(nodes) memory. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "platform/memory.h"
#include "print/device_work.h"
#include "diff/diff_rows.h"
#include "spec/filter.h"

/* What an entity adds, and to which row. Borrows from the profile. */
typedef struct diff_entry {
    gnomon__diff_key key;
    const gnomon_stats *stats; /* NULL: of a counter */
    uint32_t counter;          /* which */
    uint32_t run;
    uint32_t ordinal;
} diff_entry;

/* The state of a stage of a process, after its first node was read. */
typedef struct diff_seen {
    enum gnomon__stage_state state;
    uint32_t view; /* for which that was asked */
    int is_known;
    int is_counted; /* in in_other_views */
} diff_seen;

/* A profile that is being added. */
typedef struct diff_reader {
    gnomon__diff *diff;
    const gnomon_profile *profile;
    enum gnomon__side side;
    diff_entry *entries;
    size_t entry_count;
    size_t *jobs;          /* by run */
    uint32_t view;         /* whose nodes are being read */
    const char *words;     /* of it */
    diff_seen *stages;     /* by stage */
    diff_seen *outside;    /* by run: of what is in no stage */
    unsigned char *is_new; /* by stage: its steps */
    gnomon__device_work work;
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
        if (gnomon__jobs_find(&r->diff->jobs[r->side], &run, &r->jobs[i]))
            return GNOMON_ENOMEM;
    }
    return GNOMON_OK;
}

/* `stage` is zeroes of what is in none. */
static int diff_is_new(diff_reader *r, const gnomon_node_info *node,
                       uint32_t number, const gnomon_stage_info *stage,
                       int *is_new)
{
    diff_seen *of = node->stage ? &r->stages[node->stage] : &r->outside[number];
    int is_taken = of->is_known && of->state == GNOMON__STAGE_NEW;
    if (of->is_known && !r->view) { /* it is of all views */
        *is_new = is_taken;
        return GNOMON_OK;
    }
    if (is_taken && of->view != r->view) { /* a process without uuid or begin */
        r->diff->in_other_views[r->side] += !of->is_counted;
        of->is_counted = 1;
    } else if (!of->is_known || of->view != r->view) {
        gnomon_run_info run;
        gnomon_profile_run(r->profile, number, &run);
        if (gnomon__jobs_see_stage(&r->diff->jobs[r->side], &run,
                                   node->stage ? stage->ordinal : UINT32_MAX,
                                   stage->name, r->words, &of->state))
            return GNOMON_ENOMEM;
        of->view = r->view;
        of->is_known = 1;
        r->diff->doubled[r->side] += of->state == GNOMON__STAGE_SEEN;
        r->diff->in_other_views[r->side] +=
            of->state == GNOMON__STAGE_OTHER_VIEW;
    }
    *is_new = of->state == GNOMON__STAGE_NEW && of->view == r->view;
    return GNOMON_OK;
}

static diff_entry *diff_add_entry(diff_reader *r, enum gnomon__diff_kind kind,
                                  const gnomon_stage_info *stage,
                                  const char *name, uint32_t run)
{
    diff_entry *f = &r->entries[r->entry_count++];
    *f = (diff_entry){.key = {stage->name, name ? name : "", kind},
                      .run = run,
                      .ordinal = stage->ordinal};
    return f;
}

/* Zeroes and no name: there is none. */
static gnomon_stage_info diff_stage(const diff_reader *r, uint32_t number)
{
    gnomon_stage_info stage = {.ordinal = 0};
    if (number)
        gnomon_profile_stage(r->profile, number, &stage);
    if (!stage.name)
        stage.name = "";
    return stage;
}

static int diff_has(const gnomon_stats *stats)
{
    return stats && stats->count;
}

/* ---- Scopes that launched work ---------------------------------------------------- */

/* How many nodes are around one of work that a device was busy with. */
static size_t diff_depth(const gnomon__device_work *w, size_t number)
{
    gnomon_node_info n;
    size_t depth = 0;
    if (!gnomon__work_is_busy(w->work[number]))
        return 0;
    for (; !gnomon_profile_node(w->profile, number, &n) && n.parent;
         number = n.parent)
        depth++;
    return depth;
}

/* Whether a node between the two has the name, too: its row has the work already. */
static bool diff_is_again(const gnomon_profile *p, uint32_t from, uint32_t to,
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
static void diff_add_busy(diff_reader *r, const gnomon_node_info *node,
                          const gnomon_stage_info *stage, uint32_t run)
{
    gnomon_node_info n;
    for (uint32_t i = node->parent; i; i = n.parent) {
        const char *name = gnomon__node_name(r->profile, i);
        if (!diff_is_again(r->profile, node->parent, i, name))
            diff_add_entry(r, GNOMON__DIFF_BUSY, stage, name, run)->stats =
                node->device;
        if (gnomon_profile_node(r->profile, i, &n))
            return;
    }
}

static int diff_read_node(diff_reader *r, size_t number)
{
    gnomon_node_info node;
    gnomon_region_info region;
    gnomon_track_info track;
    int is_new;
    gnomon_profile_node(r->profile, number, &node);
    if (node.view != r->view || node.flags & GNOMON_NODE_PART ||
        (!diff_has(node.host) && !diff_has(node.device)))
        return GNOMON_OK;
    gnomon_profile_region(r->profile, node.region, &region);
    gnomon_profile_track(r->profile, node.track, &track);
    int has_host = diff_has(node.host) && diff_has_row(region.kind);
    if (!has_host && !diff_has(node.device))
        return GNOMON_OK;
    const gnomon_stage_info stage = diff_stage(r, node.stage);
    if (diff_is_new(r, &node, track.run, &stage, &is_new))
        return GNOMON_ENOMEM;
    if (is_new && has_host)
        diff_add_entry(r, GNOMON__DIFF_HOST, &stage, region.name, track.run)
            ->stats = node.host;
    if (is_new && diff_has(node.device))
        diff_add_entry(r, GNOMON__DIFF_DEVICE, &stage, region.name, track.run)
            ->stats = node.device;
    if (is_new && diff_has(node.device) &&
        gnomon__work_is_busy(r->work.work[number]))
        diff_add_busy(r, &node, &stage, track.run);
    return GNOMON_OK;
}

/* Steps and counters, which are of no view, of stages that were not there. */
static int diff_read_stage(diff_reader *r, uint32_t number, uint32_t run,
                           int *is_new)
{
    const gnomon_stage_info stage = diff_stage(r, number);
    enum gnomon__stage_state state;
    gnomon_run_info info;
    gnomon_profile_run(r->profile, run, &info);
    if (gnomon__jobs_see_stage(&r->diff->jobs[r->side], &info,
                               number ? stage.ordinal : UINT32_MAX, stage.name,
                               NULL, &state))
        return GNOMON_ENOMEM;
    *is_new = state == GNOMON__STAGE_NEW;
    if (*is_new && diff_has(stage.steps))
        diff_add_entry(r, GNOMON__DIFF_STEPS, &stage, stage.name, run)->stats =
            stage.steps;
    return GNOMON_OK;
}

static int diff_read_counter(diff_reader *r, uint32_t number)
{
    gnomon_counter_info c;
    gnomon_region_info region;
    gnomon_track_info track;
    int is_new = 1;
    gnomon_profile_counter(r->profile, number, &c);
    gnomon_profile_track(r->profile, c.track, &track);
    gnomon_profile_region(r->profile, c.region, &region);
    if (!c.count)
        return GNOMON_OK;
    if (c.stage)
        is_new = r->is_new[c.stage];
    else if (!r->outside[track.run].is_known) {
        if (diff_read_stage(r, 0, track.run, &is_new))
            return GNOMON_ENOMEM;
        r->outside[track.run] = (diff_seen){
            is_new ? GNOMON__STAGE_NEW : GNOMON__STAGE_SEEN, r->view, 1, 0};
    } else {
        is_new = r->outside[track.run].state == GNOMON__STAGE_NEW;
    }
    const gnomon_stage_info stage = diff_stage(r, c.stage);
    if (is_new)
        diff_add_entry(r, GNOMON__DIFF_COUNTER, &stage, region.name, track.run)
            ->counter = number;
    return GNOMON_OK;
}

static int diff_read_others(diff_reader *r)
{
    int code = GNOMON_OK;
    gnomon_stage_info stage;
    for (uint32_t i = 1; !code && !gnomon_profile_stage(r->profile, i, &stage);
         i++) {
        int is_new;
        code = diff_read_stage(r, i, stage.run, &is_new);
        r->is_new[i] = (unsigned char)(!code && is_new);
    }
    size_t counters = gnomon_profile_count(r->profile, GNOMON_COUNTERS);
    for (uint32_t i = 1; !code && i <= counters; i++)
        code = diff_read_counter(r, i);
    return code;
}

/* Reads the nodes of a view; 0: of none, which go with any view. Does nothing if the view
 * is not wanted. */
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
    const diff_entry *a = left, *b = right;
    int order = gnomon__diff_order(&a->key, &b->key);
    return order ? order : (a->run > b->run) - (a->run < b->run);
}

/* A run's samples of a counter, on all its tracks; the last of each of these. */
static void diff_add_up(const diff_reader *r, uint32_t number, uint64_t *count,
                        gnomon__diff_samples *to)
{
    gnomon_counter_info c;
    gnomon_profile_counter(r->profile, number, &c);
    if (!*count || c.min < to->low)
        to->low = c.min;
    if (!*count || c.max > to->high)
        to->high = c.max;
    to->sum += c.sum;
    to->last = c.last;
    *count += c.count;
}

/* The entries from `first` on that are of one row and run; returns where the next
 * begin. */
static size_t diff_add_entries(diff_reader *r, size_t first, size_t sorted,
                               int *code)
{
    const diff_entry *f = &r->entries[first];
    gnomon__diff_row *row = gnomon__diff_row_of(r->diff, sorted, &f->key);
    gnomon__sum sum = {.room = 0};
    gnomon__diff_samples samples = {.sum = 0};
    uint64_t count = 0;
    size_t at = first;
    if (!row) {
        *code = GNOMON_ENOMEM;
        return at;
    }
    gnomon__diff_half *half = &row->side[r->side];
    for (;
         !*code && at < r->entry_count && diff_by_row(f, &r->entries[at]) == 0;
         at++) {
        if (r->entries[at].ordinal < row->ordinal)
            row->ordinal = r->entries[at].ordinal;
        if (r->entries[at].stats)
            *code = gnomon__sum_add(&sum, r->entries[at].stats);
        else
            diff_add_up(r, r->entries[at].counter, &count, &samples);
    }
    if (!*code)
        *code = f->stats ? gnomon__diff_add_run(half, r->jobs[f->run], &sum.s)
                         : gnomon__diff_add_samples(half, r->jobs[f->run],
                                                    count, &samples);
    gnomon__sum_free(&sum);
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
    memset(r->outside, 0,
           (gnomon_profile_count(r->profile, GNOMON_RUNS) + 1) *
               sizeof *r->outside);
    if (code == GNOMON_OK)
        code = diff_read_others(r);
    if (r->entry_count > 1)
        qsort(r->entries, r->entry_count, sizeof *r->entries, diff_by_row);
    for (size_t at = 0; at < r->entry_count && code == GNOMON_OK;)
        at = diff_add_entries(r, at, sorted, &code);
    gnomon__diff_sort(r->diff);
    return code;
}

int gnomon__diff_add(gnomon__diff *d, enum gnomon__side side,
                     const gnomon_profile *p)
{
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS) + 1;
    size_t stages = gnomon_profile_count(p, GNOMON_STAGES) + 1;
    size_t entries = 2 * gnomon_profile_count(p, GNOMON_NODES) + runs + stages +
                     gnomon_profile_count(p, GNOMON_COUNTERS);
    diff_reader r = {.diff = d, .profile = p, .side = side};
    int code = gnomon__device_work_make(&r.work, p);
    for (size_t i = 1; !code && i <= r.work.nodes; i++)
        entries += diff_depth(&r.work, i);
    r.entries = gnomon__alloc(entries * sizeof *r.entries);
    r.is_new = gnomon__alloc(stages);
    r.jobs = gnomon__alloc(runs * sizeof *r.jobs);
    r.stages = gnomon__alloc(stages * sizeof *r.stages);
    r.outside = gnomon__alloc(runs * sizeof *r.outside);
    if (!r.entries || !r.is_new || !r.jobs || !r.stages || !r.outside)
        code = GNOMON_ENOMEM;
    if (!code)
        code = diff_read(&r);
    gnomon__device_work_free(&r.work);
    gnomon__free(r.entries);
    gnomon__free(r.jobs);
    gnomon__free(r.stages);
    gnomon__free(r.outside);
    gnomon__free(r.is_new);
    return code;
}
