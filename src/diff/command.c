/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon diff: what changed from A to B, and whether that breaks a gate. Standard
 * output gets the tables and the gates that hold, standard error those that do
 * not. One run is in memory at a time. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "gnomon/tool.h"
#include "spec/options.h"
#include "diff/show.h"
#include "diff/side.h"
#include "diff/gate.h"
#include "command/output.h"
#include "platform/error.h"
#include "platform/memory.h"

/* By gnomon__table_format; the page is none. */
static const char *const diff_formats[] = {"text", "csv",  "md",
                                           "json", "html", NULL};
#define DIFF_HTML 4

/* ---- What was asked for ------------------------------------------------- */

typedef struct diff_request {
    gnomon__gate *gates;
    size_t gate_count;
    const char *view;
    int sort;                /* a word of it; -1: not given */
    gnomon__diff_request of; /* tables */
} diff_request;

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

static int diff_confidence(void *request, const gnomon__cli_option *o,
                           const char *text)
{
    diff_request *r = request;
    return diff_percent(o->name, text, 100, &r->of.confidence);
}

static int is_zero(const char *text)
{
    return text[strspn(text, "0.")] == 0 && *text;
}

/* "3", "3%", "50ns" or "3%+50ns"; "0" is neither of both. */
static int diff_drift(void *request, const gnomon__cli_option *o,
                      const char *text)
{
    diff_request *r = request;
    gnomon__assumptions *assumed = &r->of.assumed;
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
    return diff_percent(o->name, first, 100, &assumed->drift);
}

static int diff_limit(void *request, const gnomon__cli_option *o,
                      const char *text)
{
    diff_request *r = request;
    unsigned long long number;
    if (!gnomon__cli_number(text, &number) || !number) {
        gnomon__log("--%s %s: say a number from 1", o->name, text);
        return 0;
    }
    r->of.choice.limit = (size_t)number;
    return 1;
}

/* The options of a report, but only columns=. */
typedef struct diff_columns {
    gnomon_options base;
    const char *text;
} diff_columns;

static const char *diff_columns_text(const gnomon_options *options,
                                     const char *key)
{
    return strcmp(key, "columns") == 0
               ? ((const diff_columns *)(const void *)options)->text
               : NULL;
}

static int diff_has_wrong_columns;

static void diff_log_columns(const char *line)
{
    gnomon__log("%s", line);
    diff_has_wrong_columns = 1;
}

static int diff_choose_columns(void *request, const gnomon__cli_option *o,
                               const char *text)
{
    diff_request *r = request;
    (void)o;
    const diff_columns asked = {
        {.text = diff_columns_text, .log = diff_log_columns}, text};
    gnomon__table_choice c;
    if (gnomon__table_choose(&c, "diff", gnomon__diff_columns,
                             GNOMON__DIFF_SHOWN, true, &asked.base)) {
        gnomon__log("no memory for the columns");
        return 0;
    }
    free((void *)(size_t)r->of.choice.columns);
    r->of.choice.count = c.count;
    r->of.choice.columns = c.columns;
    return !diff_has_wrong_columns;
}

static int diff_gate(void *request, const gnomon__cli_option *o,
                     const char *text)
{
    diff_request *r = request;
    (void)o;
    return gnomon__gate_parse(&r->gates[r->gate_count++], text) ==
           GNOMON__EXIT_OK;
}

static const gnomon__cli_option diff_options[] = {
    GNOMON__TEXT("gate", 0, "GATE",
                 "exit with 4 where it fails, 5 where it is not sure",
                 .take = diff_gate),
    GNOMON__WORD("metric", "METRIC", gnomon__metric_words,
                 "what tables compare: mean (default), total, calls, ...",
                 GNOMON__TO(diff_request, of.metric)),
    GNOMON__TEXT("stage", 0, "NAME", "only that stage: fit",
                 GNOMON__TO(diff_request, of.stage)),
    GNOMON__WORD("sort", "KEY", gnomon__diff_sort_words,
                 "by change of total (default), change, confidence or name",
                 GNOMON__TO(diff_request, sort)),
    GNOMON__TEXT("limit", 0, "N", "at most N rows of a table",
                 .take = diff_limit),
    GNOMON__TEXT("confidence", 0, "PERCENT",
                 "confidence of intervals and gates: 99.9",
                 .take = diff_confidence),
    GNOMON__TEXT("drift", 0, "DRIFT",
                 "how far one job may be off as a whole: 1.6%+15ns",
                 .take = diff_drift),
    GNOMON__TEXT(
        "view", 0, "WORDS",
        "what was recorded under that filter, schedule or ranks: filter=opt*",
        GNOMON__TO(diff_request, view)),
    GNOMON__TEXT("columns", 0, "NAMES",
                 "columns of tables: calls_a,calls_b or all",
                 .take = diff_choose_columns),
    GNOMON__WORD("as", "KIND", diff_formats,
                 "text (default), csv, md, json or html",
                 GNOMON__TO(diff_request, of.choice.format)),
    GNOMON__FILE("output", 'o', "OUT", "html: the file to write",
                 GNOMON__TO(diff_request, of.page)),
    {.name = NULL}};

static int diff_words(const gnomon__command *c, diff_request *r, int argc,
                      char **argv)
{
    int status = gnomon__cli_read(c, argc, argv, r);
    if (status != GNOMON__CLI_END)
        return status;
    r->of.diff->view = r->view;
    if (r->sort >= 0)
        r->of.choice.sort = gnomon__diff_sort_columns[r->sort];
    if (r->of.choice.format == DIFF_HTML) {
        r->of.choice.format = GNOMON__TABLE_TEXT;
        r->of.page = r->of.page ? r->of.page : "-";
    } else if (r->of.page) {
        return gnomon__cli_usage(c, "-o is the file of --as html");
    }
    if (argc - optind != 2) {
        return gnomon__cli_usage(
            c, argc - optind < 2 ? "name two sides, A and B"
                                 : "there are more than two sides: a pattern "
                                   "must be quoted");
    }
    return GNOMON__CLI_END;
}

/* ---- The command -------------------------------------------------------- */

/* Whether something is on both sides; else a line has said that nothing is. */
static int diff_has_both(const diff_request *r)
{
    size_t seen = 0;
    for (size_t i = 0; i < r->of.diff->count; i++) {
        const gnomon__diff_row *row = &r->of.diff->rows[i];
        int is_here = !r->of.stage || strcmp(row->stage, r->of.stage) == 0;
        seen += (size_t)is_here;
        if (is_here && row->side[0].all.s.count && row->side[1].all.s.count)
            return 1;
    }
    if (r->of.stage && !seen)
        gnomon__log("nothing to compare: nothing ended in a stage named %s",
                    r->of.stage);
    else
        gnomon__log("nothing to compare: nothing ended on both sides");
    return 0;
}

/* `is_judged`: whether the gates were. Refused ones are not: in JSON they are null, as an
 * empty list would say that none fails. */
static int diff_judge(const diff_request *r, int status, int are_missing,
                      int *is_judged)
{
    *is_judged = 0;
    if (!diff_has_both(r))
        return GNOMON__EXIT_NOTHING;
    if (r->gate_count && status == GNOMON__EXIT_UNREADABLE) {
        gnomon__log("gates are refused: not all of both sides could be read");
        return status;
    }
    if (r->gate_count && are_missing &&
        !gnomon__jobs_same_ranks(&r->of.diff->jobs[0], &r->of.diff->jobs[1])) {
        gnomon__log("gates are refused: ranks are missing, and the jobs do not "
                    "have the same ones");
        return GNOMON__EXIT_NOTHING;
    }
    *is_judged = 1;
    return gnomon__gates_judge(r->gates, r->gate_count, &r->of);
}

static int diff_compare(diff_request *r, char *const *sides)
{
    gnomon__diff *d = r->of.diff;
    int status = GNOMON__EXIT_OK, are_missing = 0, is_judged;
    for (int side = 0; side < 2; side++)
        status = gnomon__cli_worse(
            status, gnomon__diff_read_side(d, (enum gnomon__side)side,
                                           sides[side], &are_missing));
    if (!d->jobs[0].jobs || !d->jobs[1].jobs) {
        if (!status)
            diff_has_both(r);
        return gnomon__cli_worse(status, GNOMON__EXIT_NOTHING);
    }
    int code = gnomon__diff_end(d);
    r->of.names = sides;
    if (!code && !r->of.page)
        code = gnomon__diff_show(&r->of);
    if (code == GNOMON_ENOMEM)
        gnomon__log("no memory for tables");
    if (code)
        return GNOMON__EXIT_UNREADABLE;
    status = gnomon__cli_worse(status,
                               diff_judge(r, status, are_missing, &is_judged));
    if (r->of.page)
        return gnomon__cli_worse(status, gnomon__diff_make_page(&r->of));
    gnomon__diff_show_end(&r->of, is_judged);
    return status;
}

static int diff_run(const gnomon__command *c, int argc, char **argv)
{
    diff_request r = {
        .sort = -1,
        .of = {.metric = -1,
               .choice = {.limit = SIZE_MAX, .sort = GNOMON__DIFF_BY_TOTAL},
               .confidence = 0.999,
               .assumed = {GNOMON__DRIFT, GNOMON__DRIFT_NS},
               .out = gnomon__cli_writer(stdout)}};
    gnomon__gate_lines said = {0};
    int status;
    r.of.said = &said;
    r.gates = gnomon__alloc((size_t)argc * sizeof *r.gates);
    if (!r.gates || gnomon__diff_create(&r.of.diff)) {
        gnomon__log("no memory to compare with");
        status = GNOMON__EXIT_UNREADABLE;
    } else if ((status = diff_words(c, &r, argc, argv)) == GNOMON__CLI_END) {
        status = diff_compare(&r, argv + optind);
    }
    for (size_t i = 0; i < r.gate_count; i++)
        gnomon__gate_free(&r.gates[i]);
    gnomon__free(r.gates);
    for (size_t i = 0; i < said.count; i++)
        gnomon__free(said.at[i].text);
    gnomon__free(said.at);
    free((void *)(size_t)r.of.choice.columns);
    gnomon__diff_free(r.of.diff);
    return status;
}

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
        "METRIC is calls, total, mean, p50, p90, p99, max, min or self; of "
        "times on\n"
        "devices device-mean, ...; of the work of devices by scope busy-total, "
        "...; of\n"
        "steps step-mean, ..., NAME being their stage; of counters "
        "counter-mean, -last,\n"
        "-min, -max or -sum; of memory memory-peak, -held, -allocated or "
        "-allocations,\n"
        "NAME being a pool, or a region in it: host/forward. * and ? in NAME "
        "are any text\n"
        "and any letter. It fails where the change is beyond LIMIT, beyond "
        "ABSOLUTE (else\n"
        "20 ns for each execution), and sure; -5% watches for less. Where a "
        "change is\n"
        "beyond both, but not sure, and no gate fails, the exit status is 5.",
    .options = diff_options,
    .run = diff_run,
    .takes_files = 1,
};
