/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon diff: what changed from A to B, and whether that breaks a gate. Standard
 * output gets the tables and the gates that hold, standard error those that do
 * not. One run is in memory at a time. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/changes.h"
#include "command/command.h"
#include "gnomon/profiler.h"
#include "spec/options.h"
#include "diff/side.h"
#include "diff/gate.h"
#include "command/output.h"
#include "platform/error.h"
#include "platform/memory.h"

enum {
    DIFF_GATE,
    DIFF_METRIC,
    DIFF_STAGE,
    DIFF_SORT,
    DIFF_LIMIT,
    DIFF_CONFIDENCE,
    DIFF_DRIFT,
    DIFF_VIEW
};

static const gnomon__cli_option diff_options[] = {
    [DIFF_GATE] = {.name = "gate",
                   .value = "GATE",
                   .help = "exit with 4 where it fails; see above"},
    [DIFF_METRIC] = {.name = "metric",
                     .value = "METRIC",
                     .words = gnomon__metric_words,
                     .help = "what tables compare: mean (else this), total, "
                             "calls, ..."},
    [DIFF_STAGE] = {.name = "stage",
                    .value = "NAME",
                    .help = "that stage alone: fit"},
    [DIFF_SORT] = {.name = "sort",
                   .value = "KEY",
                   .words = gnomon__changes_words,
                   .help = "by change of total (else this), change, "
                           "confidence or name"},
    [DIFF_LIMIT] = {.name = "limit",
                    .value = "N",
                    .help = "the most rows of a table"},
    [DIFF_CONFIDENCE] = {.name = "confidence",
                         .value = "PERCENT",
                         .help = "how sure intervals and gates are: 99.9"},
    [DIFF_DRIFT] = {.name = "drift",
                    .value = "DRIFT",
                    .help = "how far one job may be off as a whole: "
                            "1.6%+15ns"},
    [DIFF_VIEW] = {.name = "view",
                   .value = "WORDS",
                   .help = "what was recorded under that filter, schedule or "
                           "ranks: filter=opt*"},
    {.name = NULL}};

static int diff_run(int argc, char **argv);

const gnomon__command gnomon__command_diff = {
    .name = "diff",
    .operands = "A B",
    .about = "Says what changed from A to B, and keeps gates",
    .more =
        "A and B are each a file, a folder or a quoted pattern: all jobs and "
        "ranks of\n"
        "one side. With several jobs a side, as gnomon run --repeat makes "
        "them, the spread\n"
        "between them is measured; of one job it is assumed, so changes of "
        "less than some\n"
        "7 % are left open.\n"
        "\n"
        "A gate is NAME METRIC LIMIT [ABSOLUTE], and may be given often:\n"
        "  --gate \"optimizer_step mean +5%\"     --gate \"load* p99 +20% "
        "+1ms\"\n"
        "METRIC is calls, total, mean, p50, p90, p99, max or self; of times on "
        "devices\n"
        "device-mean, device-p50, ...; of steps step-mean, ..., NAME being "
        "their stage; of\n"
        "counters counter-mean, -last, -min, -max or -sum. * and ? in NAME are "
        "any text and\n"
        "any letter. It fails where the change is beyond LIMIT, beyond "
        "ABSOLUTE "
        "(else 20 ns\n"
        "for each execution), and sure; -5% watches for less.",
    .options = diff_options,
    .run = diff_run,
    .takes_files = 1,
};

typedef struct diff_request {
    gnomon__gate *gates;
    size_t gate_count;
    const char *stage;
    int metric; /* its word; below 0: none was given */
    enum gnomon__changes_sort sort;
    size_t limit; /* 0: none */
    double confidence;
    gnomon__assumptions assumed;
    gnomon__diff *diff;
    gnomon_writer out;
} diff_request;

/* ---- What was asked for ------------------------------------------------- */

/* A number of percent, as a share, of at least 0 and below `end`. */
static int diff_percent(const char *option, const char *text, double end,
                        double *share)
{
    size_t digits = strspn(text, "0123456789.");
    char *rest;
    double percent = strtod(text, &rest);
    if (digits && rest == text + digits && (!*rest || strcmp(rest, "%") == 0) &&
        percent < end) {
        *share = percent / 100;
        return 1;
    }
    gnomon__log("--%s %s: say a number of percent below %g", option, text, end);
    return 0;
}

static int is_zero(const char *text)
{
    return text[strspn(text, "0.")] == 0 && *text;
}

/* "3", "3%", "50ns" or "3%+50ns"; "0" is neither of both. */
static int diff_drift(gnomon__assumptions *assumed, const char *text)
{
    const char *plus = strchr(text, '+'), *last = plus ? plus + 1 : text;
    char first[32], why[128];
    int64_t ns;
    if (is_zero(text)) {
        *assumed = (gnomon__assumptions){.drift = 0};
        return 1;
    }
    if (!gnomon__option_parse(GNOMON_OPTION_DURATION, last, &ns, why,
                              sizeof why) &&
        last[strspn(last, "0123456789.")]) {
        assumed->drift_ns = (double)ns;
        if (!plus)
            return 1;
    } else if (plus) {
        gnomon__log("--drift %s: say PERCENT, NS, or both: 1.6%%+15ns", text);
        return 0;
    }
    snprintf(first, sizeof first, "%.*s",
             plus ? (int)(plus - text) : (int)sizeof first, text);
    return diff_percent("drift", first, 100, &assumed->drift);
}

static int diff_limit(diff_request *r, const char *text)
{
    unsigned long long number;
    if (!gnomon__cli_number(text, &number) || !number) {
        gnomon__log("--limit %s: say a number from 1", text);
        return 0;
    }
    r->limit = (size_t)number;
    return 1;
}

static int diff_option(diff_request *r, int option)
{
    switch (option) {
    case DIFF_GATE:
        return gnomon__gate_parse(&r->gates[r->gate_count++], optarg) ==
               GNOMON__EXIT_OK;
    case DIFF_METRIC:
        r->metric = gnomon__cli_word(optarg, gnomon__metric_words);
        return 1;
    case DIFF_STAGE:
        r->stage = optarg;
        return 1;
    case DIFF_SORT:
        r->sort = (enum gnomon__changes_sort)gnomon__cli_word(
            optarg, gnomon__changes_words);
        return 1;
    case DIFF_LIMIT:
        return diff_limit(r, optarg);
    case DIFF_CONFIDENCE:
        return diff_percent("confidence", optarg, 100, &r->confidence);
    case DIFF_VIEW:
        gnomon__diff_view(r->diff, optarg);
        return 1;
    default:
        return diff_drift(&r->assumed, optarg);
    }
}

static int diff_words(diff_request *r, int argc, char **argv)
{
    const gnomon__command *c = &gnomon__command_diff;
    int option;
    while ((option = gnomon__cli_next(c, argc, argv)) >= 0)
        if (!diff_option(r, option))
            return GNOMON__CLI_WRONG;
    if (option != GNOMON__CLI_END)
        return option;
    if (argc - optind != 2) {
        gnomon__cli_usage(c, argc - optind < 2
                                 ? "name two sides, A and B"
                                 : "there are more than two sides: a pattern "
                                   "must be quoted");
        return GNOMON__CLI_WRONG;
    }
    return GNOMON__CLI_END;
}

/* ---- Tables ------------------------------------------------------------- */

/* What a table of the kind compares: a metric of a kind is of its table alone, and one
 * of the host of all that have it. */
static enum gnomon__metric diff_metric(const diff_request *r,
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

static int diff_is_shown(const diff_request *r, enum gnomon__diff_kind kind)
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

static gnomon__changes_line diff_line(const diff_request *r,
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
    const gnomon__diff_row *const *rows;
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
static size_t diff_stages(const diff_request *r, diff_stage *stages)
{
    const gnomon__diff_row *const *rows;
    size_t count, found = 0;
    rows = gnomon__diff_rows(r->diff, &count);
    for (size_t i = 0; i < count; i++) {
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

static int diff_print_stage(const diff_request *r, const diff_stage *stage,
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
                               .sort = r->sort};
    for (size_t i = 0; i < stage->count; i++)
        lines[i] = diff_line(r, stage->rows[i]);
    return gnomon__changes_print(&changes, &r->out);
}

/* "A: 3 jobs, 24 runs": a run is a rank of a job, with all its attempts. */
static void diff_print_side(const diff_request *r, enum gnomon__side side)
{
    size_t jobs = gnomon__diff_jobs(r->diff, side);
    size_t runs = gnomon__diff_runs(r->diff, side);
    r->out.print(&r->out, "%c: %zu job%s, %zu run%s",
                 side == GNOMON__SIDE_A ? 'A' : 'B', jobs, jobs == 1 ? "" : "s",
                 runs, runs == 1 ? "" : "s");
}

static int diff_print(const diff_request *r)
{
    size_t count, found;
    diff_stage *stages;
    gnomon__changes_line *lines;
    char drift[GNOMON__CHANGES_TEXT];
    int code = GNOMON_OK;
    gnomon__diff_rows(r->diff, &count);
    stages = gnomon__alloc((count + 1) * sizeof *stages);
    lines = gnomon__alloc((count + 1) * sizeof *lines);
    if (stages && lines) {
        diff_print_side(r, GNOMON__SIDE_A);
        r->out.write(&r->out, "; ", 2);
        diff_print_side(r, GNOMON__SIDE_B);
        r->out.write(&r->out, "\n", 1);
        if (gnomon__diff_is_assumed(r->diff))
            r->out.print(
                &r->out,
                "How far jobs differ is assumed: %s. Three jobs a side "
                "measure it.\n",
                gnomon__changes_drift(drift, &r->assumed));
        r->out.write(&r->out, "\n", 1);
        found = diff_stages(r, stages);
        for (size_t i = 0; i < found && code == GNOMON_OK; i++)
            code = diff_print_stage(r, &stages[i], lines);
    } else {
        code = GNOMON_ENOMEM;
    }
    gnomon__free(stages);
    gnomon__free(lines);
    return code;
}

/* ---- The command -------------------------------------------------------- */

/* Whether something is on both sides; else a line has said that nothing is. */
static int diff_has_both(const diff_request *r)
{
    const gnomon__diff_row *const *rows;
    size_t count, seen = 0;
    rows = gnomon__diff_rows(r->diff, &count);
    for (size_t i = 0; i < count; i++) {
        int is_here = !r->stage || strcmp(rows[i]->stage, r->stage) == 0;
        seen += (size_t)is_here;
        if (is_here && rows[i]->side[0].all.count && rows[i]->side[1].all.count)
            return 1;
    }
    if (r->stage && !seen)
        gnomon__log("nothing to compare: nothing ended in a stage named %s",
                    r->stage);
    else
        gnomon__log("nothing to compare: nothing ended on both sides");
    return 0;
}

static int diff_compare(diff_request *r, char *const *sides)
{
    int status = gnomon__diff_read_side(r->diff, GNOMON__SIDE_A, sides[0]);
    int code, are_missing;
    status = gnomon__cli_worse(
        status, gnomon__diff_read_side(r->diff, GNOMON__SIDE_B, sides[1]));
    are_missing = gnomon__diff_tell_ranks(r->diff, GNOMON__SIDE_A, "A");
    are_missing |= gnomon__diff_tell_ranks(r->diff, GNOMON__SIDE_B, "B");
    if (!gnomon__diff_jobs(r->diff, GNOMON__SIDE_A) ||
        !gnomon__diff_jobs(r->diff, GNOMON__SIDE_B)) {
        if (!status)
            diff_has_both(r);
        return gnomon__cli_worse(status, GNOMON__EXIT_NOTHING);
    }
    code = diff_print(r);
    if (code == GNOMON_ENOMEM)
        gnomon__log("no memory for tables");
    if (code)
        return GNOMON__EXIT_UNREADABLE;
    if (!diff_has_both(r))
        return gnomon__cli_worse(status, GNOMON__EXIT_NOTHING);
    if (r->gate_count && status == GNOMON__EXIT_UNREADABLE) {
        gnomon__log("gates are refused: not all of both sides could be read");
        return status;
    }
    if (r->gate_count && are_missing && !gnomon__diff_same_ranks(r->diff)) {
        gnomon__log("gates are refused: ranks are missing, and the jobs do not "
                    "have the same ones");
        return gnomon__cli_worse(status, GNOMON__EXIT_NOTHING);
    }
    return gnomon__cli_worse(
        status, gnomon__gates_judge(r->gates, r->gate_count, r->diff, r->stage,
                                    r->confidence, &r->assumed, &r->out));
}

static int diff_run(int argc, char **argv)
{
    diff_request r = {.metric = -1,
                      .confidence = 0.999,
                      .assumed = {GNOMON__DRIFT, GNOMON__DRIFT_NS},
                      .out = gnomon__cli_writer(stdout)};
    int status;
    r.gates = gnomon__alloc((size_t)argc * sizeof *r.gates);
    if (!r.gates || gnomon__diff_create(&r.diff)) {
        gnomon__log("no memory to compare with");
        status = GNOMON__EXIT_UNREADABLE;
    } else if ((status = diff_words(&r, argc, argv)) != GNOMON__CLI_END) {
        status = gnomon__cli_over(status);
    } else {
        status = diff_compare(&r, argv + optind);
    }
    for (size_t i = 0; i < r.gate_count; i++)
        gnomon__gate_free(&r.gates[i]);
    gnomon__free(r.gates);
    gnomon__diff_free(r.diff);
    return status;
}
