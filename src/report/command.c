/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon report: what profilers print live, and the program's own tables, of
 * files. Standard output gets reports alone, in the order of files and of the
 * stages in them; whatever else there is to say goes to standard error. One run
 * is in memory at a time, and the sums of stages. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "command/inputs.h"
#include "command/output.h"
#include "report/profiler.h"
#include "command/progress.h"
#include "report/rows.h"
#include "report/stages.h"
#include "report/tables.h"
#include "command/text.h"
#include "platform/error.h"
#include "print/pstats.h"
#include "spec/suggest.h"

enum report_kind {
    REPORT_SIMPLE,
    REPORT_ADVANCED,
    REPORT_STEPS,
    REPORT_CUDA, /* the last one that is a profiler */
    REPORT_THREADS,
    REPORT_JSON
};
static const char *const report_kinds[] = {
    [REPORT_SIMPLE] = "simple", [REPORT_ADVANCED] = "advanced",
    [REPORT_CUDA] = "cuda",     [REPORT_THREADS] = "threads",
    [REPORT_STEPS] = "steps",   [REPORT_JSON] = "json",
    [REPORT_JSON + 1] = NULL};

enum {
    REPORT_AS,
    REPORT_STAGE,
    REPORT_EACH,
    REPORT_EXTENDED,
    REPORT_NO_EXTENDED,
    REPORT_SORT,
    REPORT_LIMIT
};

static const gnomon__cli_option report_options[] = {
    [REPORT_AS] = {.name = "as",
                   .value = "KIND",
                   .words = report_kinds,
                   .help = "simple (else this), advanced, steps, cuda, "
                           "threads or json"},
    [REPORT_STAGE] = {.name = "stage",
                      .value = "NAME",
                      .help = "stages of that name alone: fit"},
    [REPORT_EACH] = {.name = "each",
                     .help = "each stage by itself, not those of a name "
                             "added up"},
    [REPORT_EXTENDED] = {.name = "extended",
                         .help = "simple: with calls, total and percentage "
                                 "(else this)"},
    [REPORT_NO_EXTENDED] = {.name = "no-extended",
                            .help = "simple: mean and total alone, by mean"},
    [REPORT_SORT] = {.name = "sort",
                     .value = "KEY",
                     .help = "the order of rows; see above"},
    [REPORT_LIMIT] = {.name = "limit",
                      .value = "N",
                      .help = "the most rows of a table"},
    {.name = NULL}};

static int report_run(int argc, char **argv);

const gnomon__command gnomon__command_report = {
    .name = "report",
    .operands = "FILE...",
    .about = "Prints the reports of profiles",
    .more =
        "simple, advanced, steps and cuda are what profilers of these names "
        "print of a\n"
        "stage; threads has a table for each thread, and json the rows of "
        "simple with\n"
        "their quantiles, for scripts, in ns. Stages of one name are added "
        "up, as by\n"
        "at=end; --each has them one after the other, as they came live.\n"
        "\n"
        "Keys of --sort:\n"
        "  simple         total, mean, calls, name\n"
        "  advanced       those of pstats: cumulative, time, calls, pcalls, "
        "name, ...\n"
        "  threads, json  total, self, mean, calls, name, min, p50, p90, p99, "
        "max\n"
        "\n"
        "FILE is a .gnomon file or its JSON form, - for standard input, a "
        "pattern, or\n"
        "a folder: all .gnomon and .gnomon.json in it.",
    .options = report_options,
    .run = report_run,
    .takes_files = 1,
};

typedef struct report_request {
    int kind; /* report_kind */
    const char *stage, *sort;
    int each;
    int extended; /* -1: not said */
    gnomon__table_request table;
    gnomon__cli_profiler profiler; /* of simple, advanced and cuda */
    gnomon_writer out;
    char near[128]; /* the stage's name that may be meant; "": none */
    size_t distance;
    size_t printed; /* reports */
    int has_rows;   /* one of them has */
} report_request;

/* ---- What was asked for ---------------------------------------------------------- */

static int report_sort_word(report_request *r)
{
    static const char *const simple_keys[] = {"total", "mean", "calls", "name",
                                              NULL};
    const char *const *words = r->kind == REPORT_SIMPLE ? simple_keys
                               : r->kind == REPORT_ADVANCED
                                   ? gnomon__pstats_keys
                                   : gnomon__cli_row_keys;
    if (!r->sort)
        return GNOMON__EXIT_OK;
    r->table.key = gnomon__cli_word(r->sort, words);
    if (r->table.key >= 0)
        r->sort = words[r->table.key]; /* as it is spelled */
    if (r->table.key >= 0 ||
        (r->kind == REPORT_ADVANCED && gnomon__pstats_key(r->sort) >= 0))
        return GNOMON__EXIT_OK;
    return gnomon__cli_no_word("word for --sort", r->sort, words);
}

/* The words as a profiler's options. */
static int report_profiler(report_request *r, const char *limit)
{
    char words[256] = "";
    size_t n = 0;
    if (r->extended >= 0)
        n += (size_t)snprintf(words + n, sizeof words - n, "extended=%s,",
                              r->extended ? "true" : "false");
    if (r->sort)
        n += (size_t)snprintf(words + n, sizeof words - n, "sort=%.64s,",
                              r->sort);
    if (limit)
        n += (size_t)snprintf(
            words + n, sizeof words - n, "%s=%.64s,",
            r->kind == REPORT_ADVANCED ? "line_count_restriction" : "limit",
            limit);
    if (n)
        words[n - 1] = 0;
    return gnomon__cli_profiler_open(&r->profiler, report_kinds[r->kind], words)
               ? GNOMON__EXIT_USAGE
               : GNOMON__EXIT_OK;
}

static int report_words(report_request *r, int argc, char **argv)
{
    const gnomon__command *c = &gnomon__command_report;
    const char *limit = NULL;
    unsigned long long number;
    int option;
    while ((option = gnomon__cli_next(c, argc, argv)) >= 0) {
        if (option == REPORT_AS)
            r->kind = gnomon__cli_word(optarg, report_kinds);
        else if (option == REPORT_STAGE)
            r->stage = optarg;
        else if (option == REPORT_EACH)
            r->each = 1;
        else if (option == REPORT_SORT)
            r->sort = optarg;
        else if (option == REPORT_LIMIT)
            limit = optarg;
        else
            r->extended = option == REPORT_EXTENDED;
    }
    if (option != GNOMON__CLI_END)
        return option;
    if (optind == argc) {
        gnomon__cli_usage(c, "no file is named");
        return GNOMON__CLI_WRONG;
    }
    if (limit && (!gnomon__cli_number(limit, &number) || !number)) {
        gnomon__log("--limit %s: say a number from 1", limit);
        return GNOMON__CLI_WRONG;
    }
    r->table.limit = limit ? (size_t)number : SIZE_MAX;
    if (r->extended >= 0 && r->kind != REPORT_SIMPLE) {
        gnomon__log("--extended and --no-extended are of --as simple");
        return GNOMON__CLI_WRONG;
    }
    if ((limit || r->sort) && r->kind == REPORT_CUDA) {
        gnomon__log("--limit and --sort are not of --as cuda");
        return GNOMON__CLI_WRONG;
    }
    if (r->sort && r->kind == REPORT_STEPS) {
        gnomon__log("--sort is not of --as steps");
        return GNOMON__CLI_WRONG;
    }
    if (report_sort_word(r) ||
        (r->kind <= REPORT_CUDA && report_profiler(r, limit)))
        return GNOMON__CLI_WRONG;
    return GNOMON__CLI_END;
}

/* ---- Reports ---------------------------------------------------------------------- */

static int report_has_rows(const report_request *r, const gnomon_profile *p)
{
    gnomon_node_info n;
    gnomon_stage_info stage;
    if (r->kind == REPORT_STEPS)
        return gnomon_profile_count(p, GNOMON_STEPS) > 0 ||
               (gnomon_profile_stage(p, 1, &stage) == GNOMON_OK &&
                stage.steps && stage.steps->count > 0);
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++)
        if (gnomon_profile_node(p, i, &n) == GNOMON_OK && n.host &&
            n.host->count)
            return 1;
    return 0;
}

static int report_one(report_request *r, const char *path,
                      const gnomon_profile *p, const gnomon__rank_table *ranks)
{
    int code;
    r->has_rows |= report_has_rows(r, p);
    if (r->kind == REPORT_JSON) {
        r->out.print(&r->out, r->printed++ ? ",\n" : "[");
        return gnomon__table_json(p, path, ranks, &r->table, &r->out);
    }
    if (r->printed++) {
        gnomon__cli_end_line();
        if (r->kind >= REPORT_THREADS)
            r->out.write(&r->out, "\n", 1);
    }
    if (r->kind == REPORT_THREADS)
        code = gnomon__table_threads(p, &r->table, &r->out);
    else
        code = r->profiler.profiler->summary(r->profiler.self, p, &r->out);
    if (code || !ranks->runs || r->kind == REPORT_STEPS)
        return code;
    gnomon__cli_end_line();
    r->out.write(&r->out, "\n", 1);
    return gnomon__rank_table_print(ranks, r->table.limit, &r->out);
}

/* Between the end of one stage and the begin of the next a run has a stage, too;
 * where nothing was marked in it, nothing is reported live. */
static int report_is_gap(const gnomon_profile *p)
{
    gnomon_stage_info s;
    return gnomon_profile_stage(p, 1, &s) == GNOMON_OK && !*s.name &&
           s.ordinal > 1 && s.begin_ns == s.end_ns;
}

/* What profilers print does not say it. */
static void report_tell_count(const char *path, const gnomon_profile *p)
{
    gnomon_stage_info s;
    if (gnomon_profile_stage(p, 1, &s) == GNOMON_OK && s.count > 1)
        gnomon__log("%s: %s is %" PRIu32 " stages added up", path,
                    *s.name ? s.name : "the report without a name", s.count);
}

/* What --stage may have meant. */
static void report_offer(report_request *r, const char *name)
{
    gnomon__suggestion s = gnomon__suggest(r->stage);
    if (*r->near)
        s.distance = r->distance;
    gnomon__suggest_offer(&s, name);
    if (!s.best)
        return;
    r->distance = s.distance;
    snprintf(r->near, sizeof r->near, "%s", name);
}

static int report_stage(report_request *r, const char *path,
                        gnomon__cli_stages *stages, size_t which)
{
    gnomon_profile *p;
    int code = gnomon__cli_stage_take(&stages->at[which], &p);
    if (code)
        return code;
    if (r->stage || stages->count == 1 || !report_is_gap(p))
        code = report_one(r, path, p, &stages->at[which].ranks);
    if (!code && r->kind <= REPORT_CUDA)
        report_tell_count(path, p);
    gnomon_profile_free(p);
    return code;
}

static int report_group(report_request *r, gnomon__gather *g,
                        const gnomon__cli_group *group, int has_title)
{
    const char *path = g->in->paths[group->input];
    gnomon__cli_stages stages;
    if (has_title && r->kind != REPORT_JSON) {
        gnomon__cli_end_line();
        r->out.print(&r->out, "%s==> ", r->printed ? "\n" : "");
        gnomon__cli_put(&r->out, path, 0);
        if (group->count > 1)
            r->out.print(&r->out, " and %zu rank%s more", group->count - 1,
                         group->count == 2 ? "" : "s");
        r->out.print(&r->out, " <==\n");
    }
    int code = gnomon__cli_stages_read(&stages, g, group, r->stage, r->each);
    for (size_t i = 0; !code && i < stages.name_count; i++)
        if (r->stage)
            report_offer(r, stages.names[i]);
    gnomon__cli_notes_print(&stages.notes, path);
    for (size_t i = 0; !code && i < stages.count; i++)
        code = report_stage(r, path, &stages, i);
    if (code && !ferror(stdout)) /* whose error is told at the end */
        gnomon__log("%s: %s", path,
                    *gnomon_error_text() ? gnomon_error_text()
                                         : "no memory for its report");
    gnomon__cli_stages_free(&stages);
    return code ? GNOMON__EXIT_UNREADABLE : GNOMON__EXIT_OK;
}

/* Files that hold ranks of one job are one report; whatever else is apart. */
static int report_files(report_request *r, const gnomon__cli_inputs *in)
{
    const uint32_t kinds =
        GNOMON__EVERY_KIND & ~(1u << GNOMON_EVENTS) & ~(1u << GNOMON_LINKS);
    gnomon__gather g;
    gnomon__cli_groups groups = {0};
    int status = gnomon__gather_begin(&g, in, kinds, 1);
    if (g.merge && in->count > 1)
        gnomon__gather_notes(&g);
    if (g.merge && gnomon__cli_groups_find(&groups, &g) != GNOMON_OK) {
        gnomon__log("%s", gnomon_error_text());
        status = GNOMON__EXIT_UNREADABLE;
    }
    for (size_t i = 0; i < groups.count && !ferror(stdout); i++)
        status = gnomon__cli_worse(
            status, report_group(r, &g, &groups.at[i], groups.count > 1));
    if (g.merge)
        gnomon__gather_damage(&g);
    gnomon__cli_groups_free(&groups);
    gnomon__gather_end(&g);
    return status;
}

static int report_nothing(const report_request *r)
{
    if (r->stage && !r->printed && *r->near)
        gnomon__log("nothing to report: no stage is named '%s': did you mean "
                    "'%s'?",
                    r->stage, r->near);
    else if (r->stage && !r->printed)
        gnomon__log("nothing to report: no stage is named '%s'; gnomon info "
                    "lists them",
                    r->stage);
    else if (!r->has_rows)
        gnomon__log("nothing to report: no %s ended",
                    r->kind == REPORT_STEPS ? "step" : "scope");
    else
        return GNOMON__EXIT_OK;
    return GNOMON__EXIT_NOTHING;
}

static int report_run(int argc, char **argv)
{
    report_request r = {.extended = -1, .out = gnomon__cli_writer(stdout)};
    gnomon__cli_inputs in = {0};
    int status = report_words(&r, argc, argv);
    if (status != GNOMON__CLI_END)
        return gnomon__cli_over(status);
    status = gnomon__cli_expand(&in, argv + optind);
    gnomon__progress_begin(&in);
    if (in.count)
        status = gnomon__cli_worse(status, report_files(&r, &in));
    gnomon__progress_end();
    if (r.kind == REPORT_JSON && r.printed)
        r.out.print(&r.out, "]\n");
    if (!status)
        status = report_nothing(&r);
    gnomon__cli_profiler_close(&r.profiler);
    gnomon__cli_inputs_free(&in);
    return status;
}
