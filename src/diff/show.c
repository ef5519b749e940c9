/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of two sides as tables, in the order of the run. */
#include "diff/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff/compare.h"
#include "platform/memory.h"

/* What a table of the kind compares: a metric of a kind is of its table alone, and one
 * of the host of all that have it. */
static enum gnomon__metric diff_metric(const gnomon__diff_request *r,
                                       enum gnomon__diff_kind kind)
{
    const gnomon__metric_of *asked =
        &gnomon__metrics[r->metric < 0 ? GNOMON__MEAN : r->metric];
    if (kind == asked->kind)
        return asked->metric;
    if (kind == GNOMON__DIFF_COUNTER)
        return GNOMON__SAMPLES_MEAN;
    return asked->metric == GNOMON__SELF ? GNOMON__MEAN : asked->metric;
}

static int diff_is_shown(const gnomon__diff_request *r,
                         enum gnomon__diff_kind kind)
{
    return r->metric < GNOMON__METRICS ||
           gnomon__metrics[r->metric].kind == kind;
}

static const char *metric_word(enum gnomon__metric metric)
{
    static const char *const of_samples[] = {"mean", "last", "min", "max",
                                             "sum"};
    return metric < GNOMON__METRICS ? gnomon__metric_words[metric]
                                    : of_samples[metric - GNOMON__METRICS];
}

static gnomon__changes_line diff_line(const gnomon__diff_request *r,
                                      const gnomon__diff_row *row)
{
    gnomon__change c = gnomon__compare(r->diff, row, diff_metric(r, row->kind),
                                       r->confidence, &r->assumed);
    gnomon__changes_line line = {.name = row->name,
                                 .values = {c.a, c.b},
                                 .relative = c.relative,
                                 .low = c.low,
                                 .high = c.high,
                                 .confidence = c.confidence};
    for (int side = 0; side < 2; side++) {
        enum gnomon__side which = (enum gnomon__side)side;
        line.calls[side] =
            gnomon__estimate_value(r->diff, row, which, GNOMON__CALLS);
        if (row->kind != GNOMON__DIFF_COUNTER)
            line.total_ns[side] =
                gnomon__estimate_value(r->diff, row, which, GNOMON__TOTAL);
    }
    return line;
}

/* The rows of one stage and kind, which follow one another. */
typedef struct diff_stage {
    gnomon__diff_row **rows;
    size_t count;
    uint32_t ordinal; /* of the stage */
} diff_stage;

static int diff_by_ordinal(const void *left, const void *right)
{
    const diff_stage *a = left, *b = right;
    if (a->ordinal != b->ordinal)
        return a->ordinal < b->ordinal ? -1 : 1;
    int order = strcmp(a->rows[0]->stage, b->rows[0]->stage);
    return order ? order : (int)a->rows[0]->kind - (int)b->rows[0]->kind;
}

/* Tables of one stage stand together: at the first of its rows. */
static void diff_join_ordinals(diff_stage *stages, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t least = UINT32_MAX;
        for (end = i; end < count && strcmp(stages[end].rows[0]->stage,
                                            stages[i].rows[0]->stage) == 0;
             end++)
            if (stages[end].ordinal < least)
                least = stages[end].ordinal;
        for (size_t k = i; k < end; k++)
            stages[k].ordinal = least;
    }
}

/* In the order of the run; at most as many as there are rows. */
static size_t diff_stages(const gnomon__diff_request *r, diff_stage *stages)
{
    gnomon__diff_row **rows = r->diff->rows;
    size_t found = 0;
    for (size_t i = 0; i < r->diff->count; i++) {
        diff_stage *last = found ? &stages[found - 1] : NULL;
        if (r->stage && strcmp(rows[i]->stage, r->stage) != 0)
            continue;
        if (!diff_is_shown(r, rows[i]->kind))
            continue;
        if (!last || last->rows[0]->kind != rows[i]->kind ||
            strcmp(last->rows[0]->stage, rows[i]->stage) != 0) {
            last = &stages[found++];
            *last = (diff_stage){&rows[i], 0, rows[i]->ordinal};
        }
        last->count++;
        if (rows[i]->ordinal < last->ordinal)
            last->ordinal = rows[i]->ordinal;
    }
    diff_join_ordinals(stages, found);
    if (found > 1)
        qsort(stages, found, sizeof *stages, diff_by_ordinal);
    return found;
}

static int diff_print_stage(const gnomon__diff_request *r,
                            const diff_stage *stage,
                            gnomon__changes_line *lines)
{
    enum gnomon__diff_kind kind = stage->rows[0]->kind;
    enum gnomon__metric metric = diff_metric(r, kind);
    gnomon__changes changes = {.stage = stage->rows[0]->stage,
                               .kind = kind,
                               .metric = metric_word(metric),
                               .unit = gnomon__changes_unit_of(kind, metric),
                               .lines = lines,
                               .count = stage->count,
                               .limit = r->limit,
                               .confidence = r->confidence,
                               .sort = r->sort,
                               .form = r->form};
    for (size_t i = 0; i < stage->count; i++)
        lines[i] = diff_line(r, stage->rows[i]);
    return gnomon__changes_print(&changes, &r->out);
}

/* "A: 3 jobs, 24 runs": a run is a rank of a job, with all its attempts. */
static void diff_print_side(const gnomon__diff_request *r,
                            enum gnomon__side side)
{
    size_t jobs = r->diff->jobs[side].jobs;
    size_t runs = r->diff->jobs[side].rank_count;
    r->out.print(&r->out, "%c: %zu job%s, %zu run%s",
                 side == GNOMON__SIDE_A ? 'A' : 'B', jobs, jobs == 1 ? "" : "s",
                 runs, runs == 1 ? "" : "s");
}

static void diff_text_head(const gnomon__diff_request *r)
{
    char drift[GNOMON__CHANGES_TEXT];
    diff_print_side(r, GNOMON__SIDE_A);
    r->out.write(&r->out, "; ", 2);
    diff_print_side(r, GNOMON__SIDE_B);
    r->out.write(&r->out, "\n", 1);
    if (gnomon__diff_is_assumed(r->diff))
        r->out.print(&r->out,
                     "How far jobs differ is assumed: %s. Three jobs a side "
                     "measure it.\n",
                     gnomon__changes_drift(drift, &r->assumed));
    r->out.write(&r->out, "\n", 1);
}

/* {"a": {"jobs": 1, "runs": 8}, ..., "tables": [ */
static void diff_json_head(const gnomon__diff_request *r)
{
    const gnomon_writer *out = &r->out;
    for (int i = 0; i < 2; i++)
        out->print(out, "%s\"%c\": {\"jobs\": %" PRIu32 ", \"runs\": %zu}",
                   i ? ", " : "{", 'a' + i, r->diff->jobs[i].jobs,
                   r->diff->jobs[i].rank_count);
    out->print(out, ", ");
    gnomon__changes_json_number(out, "confidence", r->confidence);
    if (gnomon__diff_is_assumed(r->diff)) {
        out->print(out, ", \"assumed\": {");
        gnomon__changes_json_number(out, "drift", r->assumed.drift);
        out->print(out, ", ");
        gnomon__changes_json_number(out, "drift_ns", r->assumed.drift_ns);
        out->print(out, "}");
    } else {
        out->print(out, ", \"assumed\": null");
    }
    out->print(out, ",\n\"tables\": [");
}

int gnomon__diff_show(const gnomon__diff_request *r)
{
    int is_json = r->form == GNOMON__CHANGES_JSON, code = GNOMON_OK;
    size_t count = r->diff->count, found;
    diff_stage *stages;
    gnomon__changes_line *lines;
    stages = gnomon__alloc((count + 1) * sizeof *stages);
    lines = gnomon__alloc((count + 1) * sizeof *lines);
    if (stages && lines) {
        (is_json ? diff_json_head : diff_text_head)(r);
        found = diff_stages(r, stages);
        for (size_t i = 0; i < found && code == GNOMON_OK; i++) {
            if (is_json)
                r->out.print(&r->out, i ? ",\n" : "\n");
            code = diff_print_stage(r, &stages[i], lines);
        }
        if (is_json)
            r->out.write(&r->out, "]", 1);
    } else {
        code = GNOMON_ENOMEM;
    }
    gnomon__free(stages);
    gnomon__free(lines);
    return code;
}

void gnomon__diff_show_end(const gnomon__diff_request *r, int is_judged)
{
    if (r->form == GNOMON__CHANGES_JSON)
        r->out.print(&r->out, "%s}\n", is_judged ? "" : ",\n\"gates\": null");
}
