/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon report: prints for files what profilers print live, and tables of its own.
 * Standard output gets only reports, in the order of files and of the stages in them;
 * all other messages go to standard error. One run at a time is in memory, and the sums
 * of stages. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "command/inputs.h"
#include "command/output.h"
#include "page/page.h"
#include "platform/error.h"
#include "report/advice.h"
#include "report/joined.h"
#include "report/plot.h"
#include "report/ranks.h"
#include "report/stages.h"
#include "spec/options.h"

static const char *const report_formats[] = {"text", "csv", "md", "json", NULL};
static const char *const report_groups[] = {"rank",     "host", "thread",
                                            "category", "file", NULL};

typedef struct report_request {
    const char *as;
    gnomon__settings settings; /* of the report itself */
    const char *stage;
    int each;
    int is_page;        /* all of the files as one page, ... */
    const char *output; /* ... in this file; NULL: standard output */
    int is_plot, plot;  /* which of gnomon__plot_words */
    gnomon__cli_profiler profiler;
    gnomon__joined out;
    gnomon__near_stage near; /* to --stage */
    size_t printed;          /* reports */
    int has_rows;            /* one of them has ... */
    int had_rows;            /* ... or would have without the filter */
} report_request;

/* --extended and --no-extended are one. */
static int report_setting(void *request, const gnomon__cli_option *o,
                          const char *value)
{
    report_request *r = request;
    const char *const no = strncmp(o->name, "no-", 3) == 0 ? "false" : NULL;
    if (!gnomon__settings_add(&r->settings, no ? o->name + 3 : o->name,
                              no      ? no
                              : value ? value
                                      : "true"))
        return 1;
    gnomon__log("no memory for the options");
    return 0;
}

static const gnomon__cli_option report_options[] = {
    {.name = "as",
     .value = "KIND",
     .words = gnomon__report_words,
     .is_open = 1,
     GNOMON__TO(report_request, as),
     .help = "which report: simple (default), see above"},
    GNOMON__TEXT("stage", 0, "NAME", "only stages of that name: fit",
                 GNOMON__TO(report_request, stage)),
    GNOMON__FLAG("each", "report each stage by itself",
                 GNOMON__TO(report_request, each)),
    GNOMON__FLAG("extended",
                 "simple: with calls, total and percentage (default)",
                 .take = report_setting),
    GNOMON__FLAG("no-extended", "simple: only mean and total, sorted by mean",
                 .take = report_setting),
    GNOMON__FILE("output", 'o', "OUT", "html: the file to write",
                 GNOMON__TO(report_request, output)),
    GNOMON__FLAG("plot", "steps, counters: drawn, as wide as the terminal",
                 GNOMON__TO(report_request, is_plot)),
    GNOMON__TEXT("columns", 0, "NAMES",
                 "columns of a table: calls,total or all",
                 .take = report_setting),
    GNOMON__TEXT("sort", 0, "KEY", "the column that rows are ordered by",
                 .take = report_setting),
    GNOMON__TEXT("limit", 0, "N", "at most N rows of a table",
                 .take = report_setting),
    GNOMON__TEXT("filter", 0, "NAMES", "only regions that match: opt*|@io",
                 .take = report_setting),
    GNOMON__TEXT("exclude", 0, "NAMES", "no regions that match",
                 .take = report_setting),
    GNOMON__WORD("by", "GROUP", report_groups,
                 "rows of each rank, host, thread, category or file",
                 .take = report_setting),
    GNOMON__WORD("format", "FORMAT", report_formats,
                 "of a table: text (default), csv, md or json",
                 .take = report_setting),
    {.name = NULL}};

static char report_more[4000];

static void report_prepare(void)
{
    gnomon__report_words_make();
    snprintf(report_more, sizeof report_more,
             "KIND is one of these, or a plugin, and may have options as in a "
             "spec:\n--as tree(limit=20).\n\n%s\n"
             "Stages of one name are added up, as by at=end; --each reports "
             "them one by one,\nas the running program does.",
             gnomon__report_help);
}

/* ---- What was asked for ---------------------------------------------------------- */

static int report_plot_words(const gnomon__command *c, report_request *r)
{
    r->plot = gnomon__cli_word(r->as, gnomon__plot_words);
    if (r->plot >= 0 && !r->settings.count && !r->each && !r->output)
        return GNOMON__CLI_END;
    return gnomon__cli_usage(
        c, "--plot is of --as steps or counters, and of --stage");
}

/* It is of all stages and ranks. */
static int report_advice_words(const gnomon__command *c,
                               const report_request *r)
{
    if (!r->stage && !r->each && !r->profiler.filter)
        return GNOMON__CLI_END;
    return gnomon__cli_usage(
        c, "--as advice takes no --stage, --each or --filter");
}

/* The page has choices of its own. */
static int report_page_words(const gnomon__command *c, report_request *r)
{
    r->is_page = 1;
    if (!r->settings.count && !r->stage && !r->each)
        return GNOMON__CLI_END;
    return gnomon__cli_usage(c, "--as html takes no option but -o");
}

/* Reads the command line. */
static int report_words(const gnomon__command *c, report_request *r, int argc,
                        char **argv)
{
    int status = gnomon__cli_read(c, argc, argv, r);
    if (status != GNOMON__CLI_END)
        return status;
    if (optind == argc)
        return gnomon__cli_usage(c, "no file is named");
    if (r->is_plot)
        return report_plot_words(c, r);
    if (gnomon__same_word(r->as, "html"))
        return report_page_words(c, r);
    if (r->output)
        return gnomon__cli_usage(c, "-o is the file of --as html");
    if (gnomon__cli_profiler_open(&r->profiler, r->as, &r->settings))
        return GNOMON__EXIT_USAGE;
    return r->profiler.report == &gnomon__advice ? report_advice_words(c, r)
                                                 : status;
}

/* ---- Reports ---------------------------------------------------------------------- */

/* Without step times a profile has the last steps, and a sum of ranks has none. */
static void report_log_steps(const char *path, const gnomon_profile *p)
{
    gnomon_stage_info s;
    size_t kept = gnomon_profile_count(p, GNOMON_STEPS);
    if (gnomon_profile_count(p, GNOMON_STEP_TIMES) ||
        gnomon_profile_stage(p, 1, &s) != GNOMON_OK || !s.steps ||
        s.steps->count <= kept)
        return;
    char kept_text[64] = "which of its steps were slow is not in it";
    if (kept)
        snprintf(kept_text, sizeof kept_text,
                 "only its last %zu steps are in it", kept);
    gnomon__log("%s: %s: GNOMON=steps keeps the slowest", path, kept_text);
}

/* Rows are of ranks or hosts, or how the ranks compare is below the sum of them. */
static int report_one(report_request *r, const char *path, const char *view,
                      const gnomon_profile *p, gnomon__cli_stage *stage)
{
    const gnomon__cli_profiler *kind = &r->profiler;
    const gnomon_writer *out = &r->out.base;
    gnomon__report_rows *rows = stage->rows.of ? &stage->rows : NULL;
    const int is_apart = rows && gnomon__is_apart(kind);
    const int has_rows =
        is_apart ? stage->has_rows : gnomon__report_has_rows(kind, p);
    r->had_rows |=
        kind->filter &&
        (has_rows || gnomon__report_has_kinds(kind, stage->left_out));
    if (kind->report && kind->report->compares_ranks && !rows) {
        gnomon__log("%s: it has one rank only", path);
        return GNOMON_OK;
    }
    r->has_rows |= has_rows;
    r->printed++;
    gnomon__joined_next(&r->out, path, view, (uint32_t)stage->rank_count,
                        kind->is_table);
    int code = rows ? gnomon__report_end(rows, p) : GNOMON_OK;
    if (!code)
        code = is_apart ? gnomon__report_put_all(rows, out)
                        : kind->profiler->summary(kind->self, p, out);
    if (!code && gnomon__wants(kind, GNOMON_WANT_STEPS) && !stage->has_times)
        report_log_steps(path, p);
    if (code || !rows || is_apart || !r->out.is_text ||
        gnomon__wants(kind, GNOMON_WANT_STEPS))
        return code;
    gnomon__cli_end_line();
    out->write(out, "\n", 1);
    rows->table.is_part = true;
    return gnomon__report_put_all(rows, out);
}

/* Between two stages a run has an unnamed one. Without marks it has no live report, so
 * it gets none here. */
static int report_is_gap(const gnomon_profile *p)
{
    gnomon_stage_info s;
    return gnomon_profile_stage(p, 1, &s) == GNOMON_OK && !*s.name &&
           s.ordinal > 1 && s.begin_ns == s.end_ns;
}

/* Logged, because the output of profilers does not show it. */
static void report_log_count(const char *path, const gnomon_profile *p)
{
    gnomon_stage_info s;
    if (gnomon_profile_stage(p, 1, &s) == GNOMON_OK && s.count > 1)
        gnomon__log("%s: %s is %" PRIu32 " stages added up", path,
                    *s.name ? s.name : "the report without a name", s.count);
}

/* The words of the view that a report is of, where there are several. */
static const char *report_view(const gnomon__cli_stages *stages, size_t which,
                               const gnomon_profile *p)
{
    gnomon_view_info view;
    if (!stages->has_views)
        return NULL;
    if (gnomon_profile_view(p, stages->at[which].key.view, &view) != GNOMON_OK)
        return "not known";
    return *view.words ? view.words : "all marks";
}

static int report_stage(report_request *r, const char *path,
                        gnomon__cli_stages *stages, size_t which)
{
    gnomon_profile *p;
    int code = gnomon__cli_stage_take(&stages->at[which], &p);
    if (code)
        return code;
    if (r->stage || stages->count == 1 || !report_is_gap(p))
        code = report_one(r, path, report_view(stages, which, p), p,
                          &stages->at[which]);
    if (!code)
        code = gnomon__profile_failed(p);
    if (!code && !r->profiler.is_table)
        report_log_count(path, p);
    gnomon_profile_free(p);
    return code;
}

static int report_group(report_request *r, gnomon__gather *g,
                        const gnomon__cli_group *group, int has_title)
{
    const char *path = g->in->paths[group->input];
    gnomon__cli_stages stages;
    const gnomon_writer *out = &r->out.to;
    if (has_title && r->out.is_text) {
        gnomon__cli_end_line();
        out->print(out, "%s==> ", r->printed ? "\n" : "");
        gnomon__cli_put(out, path, 0);
        if (group->ranks > 1)
            out->print(out, " and %zu rank%s more", group->ranks - 1,
                       group->ranks == 2 ? "" : "s");
        out->print(out, " <==\n");
    }
    const gnomon__stages_choice choice = {
        .name = r->stage,
        .near = &r->near,
        .each = r->each || gnomon__wants(&r->profiler, GNOMON_WANT_EVENTS),
        .of = &r->profiler};
    int code = gnomon__cli_stages_read(&stages, g, group, &choice);
    int status = gnomon__cli_notes_print(&stages.notes, path);
    for (size_t i = 0; !code && i < stages.count; i++)
        code = report_stage(r, path, &stages, i);
    if (code && !ferror(stdout)) /* its error is logged at the end */
        gnomon__log("%s: %s", path,
                    *gnomon_error_text() ? gnomon_error_text()
                                         : "no memory for its report");
    gnomon__cli_stages_free(&stages);
    return code ? GNOMON__EXIT_UNREADABLE : status;
}

/* Files with ranks of one job get one report together; any other file gets its own. */
static int report_files(report_request *r, const gnomon__cli_inputs *in)
{
    const uint32_t kinds = gnomon__report_kinds(&r->profiler);
    /* Single executions are those of one run; and a plugin's rows have no runs. */
    const int is_alone = gnomon__wants(&r->profiler, GNOMON_WANT_EVENTS) ||
                         (r->profiler.by && !r->profiler.report);
    gnomon__gather g;
    gnomon__cli_groups groups = {0};
    int status = gnomon__gather_begin(&g, in, kinds, 1);
    if (g.merge && in->count > 1)
        gnomon__gather_notes(&g);
    if (g.merge &&
        gnomon__cli_groups_find(&groups, &g, is_alone) != GNOMON_OK) {
        gnomon__log("%s", gnomon_error_text());
        status = GNOMON__EXIT_UNREADABLE;
    }
    for (size_t i = 0; i < groups.count && !ferror(stdout); i++)
        status = gnomon__cli_worse(
            status, report_group(r, &g, &groups.at[i], groups.count > 1));
    if (g.merge)
        status = gnomon__cli_worse(status, gnomon__gather_damage(&g));
    gnomon__cli_groups_free(&groups);
    gnomon__gather_end(&g);
    return status;
}

static int report_nothing(const report_request *r)
{
    /* Without scopes, too, there may be counters and memory. */
    const char *const if_empty =
        r->profiler.report && !(r->profiler.report->reads & GNOMON__READS_LINKS)
            ? r->profiler.report->if_empty
            : NULL;
    if (r->stage && !r->printed && *r->near.name)
        gnomon__log("nothing to report: no stage is named '%s': did you mean "
                    "'%s'?",
                    r->stage, r->near.name);
    else if (r->stage && !r->printed)
        gnomon__log("nothing to report: no stage is named '%s'; gnomon info "
                    "lists them",
                    r->stage);
    else if (!r->has_rows && r->had_rows)
        gnomon__log("nothing to report: the filter leaves out all that ended");
    else if (!r->has_rows && if_empty)
        gnomon__log("nothing to report: %s", if_empty);
    else if (!r->has_rows)
        gnomon__log("nothing to report: no %s ended",
                    gnomon__wants(&r->profiler, GNOMON_WANT_STEPS) ? "step"
                                                                   : "scope");
    else
        return GNOMON__EXIT_OK;
    return GNOMON__EXIT_NOTHING;
}

static int report_run(const gnomon__command *c, int argc, char **argv)
{
    report_request r = {.as = "simple"};
    gnomon__cli_inputs in = {0};
    int status = report_words(c, &r, argc, argv);
    gnomon__settings_free(&r.settings);
    if (status != GNOMON__CLI_END) {
        gnomon__cli_profiler_close(&r.profiler);
        return status;
    }
    const gnomon_writer out = gnomon__cli_writer(stdout);
    gnomon__joined_begin(&r.out, r.profiler.format, &out);
    status = gnomon__cli_expand(&in, argv + optind);
    gnomon__progress_begin(&in);
    if (in.count && r.is_page)
        status = gnomon__cli_worse(
            status, gnomon__page_make(&in, r.output ? r.output : "-"));
    else if (in.count && r.is_plot)
        status =
            gnomon__cli_worse(status, gnomon__plot(&in, r.plot, r.stage, &out));
    else if (in.count && r.profiler.report == &gnomon__advice)
        status = gnomon__cli_worse(
            status, gnomon__advice_print(&in, r.profiler.self, &r.out));
    else if (in.count)
        status = gnomon__cli_worse(status, report_files(&r, &in));
    gnomon__progress_end();
    gnomon__joined_end(&r.out);
    if (!status && !r.is_page && !r.is_plot &&
        r.profiler.report != &gnomon__advice)
        status = report_nothing(&r);
    gnomon__cli_profiler_close(&r.profiler);
    gnomon__cli_inputs_free(&in);
    return status;
}

const gnomon__command gnomon__command_report = {
    .name = "report",
    .operands = "FILE...",
    .about = "Prints the reports of profiles",
    .more = report_more,
    .options = report_options,
    .run = report_run,
    .prepare = report_prepare,
    .takes_files = 1,
};
