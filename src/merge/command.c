/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon merge: many files as one, run after run, in the memory of one run. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "merge/align.h"
#include "merge/gather.h"
#include "command/inputs.h"
#include "command/output.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/model.h"
#include "spec/names.h"

typedef struct merge_job {
    const char *to, *align;
    gnomon__gather g;
    gnomon__aligned *aligned; /* or NULL */
} merge_job;

static const char *const align_words[] = {"collectives", "hosts", NULL};

static const gnomon__cli_option merge_options[] = {
    GNOMON__FILE("output", 'o', "OUT", "the file to write (required)",
                 GNOMON__TO(merge_job, to)),
    GNOMON__WORD("align", "BY", align_words,
                 "one time for all ranks, by collectives, by the "
                 "region BY, or by hosts",
                 GNOMON__TO(merge_job, align), .is_open = 1),
    {.name = NULL}};

static void show_run(size_t number, size_t count)
{
    gnomon__progress_at("run", number, count);
}

/* JSON has all entities of a kind together: it needs the memory of all runs. */
static int merge_make(void *context, int form, const gnomon_writer *out)
{
    const merge_job *job = context;
    gnomon__export_memory memory = {0};
    const gnomon_writer keep = gnomon__export_to_memory(&memory);
    gnomon_profile *p = NULL;
    const int is_kept = form != GNOMON__FORM_FILE;
    int code = gnomon__merge_write(job->g.merge, is_kept ? &keep : out,
                                   job->aligned, show_run);
    gnomon__progress_hide();
    if (!code && is_kept)
        code = gnomon_profile_read(&p, memory.text, memory.size);
    free(memory.text);
    if (!code && is_kept)
        code = gnomon__profile_write(p, form, out);
    gnomon_profile_free(p);
    return code;
}

/* A name that is mistyped, or files without events, would look like success. */
static void note_unaligned(const merge_job *job)
{
    const char *by = job->align;
    size_t compared = 0;
    for (size_t i = 0; i < gnomon__merge_count(job->g.merge); i++) {
        if (job->aligned[i].fit.count)
            return;
        compared += job->aligned[i].to != i;
    }
    if (compared && strcmp(by, "hosts") != 0)
        gnomon__log("--align %s: no two ranks have single executions of %s; "
                    "files have them of trace",
                    by, strcmp(by, "collectives") == 0 ? by : "that name");
}

/* 0: the error is logged. */
static int align_runs(merge_job *job)
{
    const char *name =
        strcmp(job->align, "collectives") == 0 ? NULL : job->align;
    if (gnomon__align(&job->aligned, job->g.merge, name)) {
        gnomon__log("%s", gnomon_error_text());
        return 0;
    }
    gnomon__align_notes(job->aligned, job->g.merge);
    note_unaligned(job);
    return 1;
}

static int merge_all(merge_job *job)
{
    gnomon__gather_notes(&job->g);
    if (job->align && !align_runs(job))
        return GNOMON__EXIT_UNREADABLE;
    int status = gnomon__cli_make(job->to, merge_make, job);
    return gnomon__cli_worse(status, gnomon__gather_damage(&job->g));
}

static int merge_inputs(merge_job *job, const gnomon__cli_inputs *in)
{
    gnomon__progress_begin(in);
    int status = gnomon__gather_begin(&job->g, in, GNOMON__EVERY_KIND, 0);
    if (job->g.merge && !gnomon__merge_count(job->g.merge)) {
        gnomon__log("nothing to merge");
        status = gnomon__cli_worse(status, GNOMON__EXIT_NOTHING);
    } else if (job->g.merge) {
        status = gnomon__cli_worse(status, merge_all(job));
    }
    gnomon__progress_end();
    gnomon__free(job->aligned);
    gnomon__gather_end(&job->g);
    return status;
}

static int merge_command(const gnomon__command *c, int argc, char **argv)
{
    gnomon__cli_inputs in = {0};
    merge_job job = {.to = NULL};
    int status = gnomon__cli_read(c, argc, argv, &job);
    if (status != GNOMON__CLI_END)
        return status;
    if (!job.to || optind == argc)
        return gnomon__cli_usage(c, job.to ? "no file is named"
                                           : "-o says which file to make");
    status = gnomon__cli_expand(&in, argv + optind);
    if (in.count)
        status = gnomon__cli_worse(status, merge_inputs(&job, &in));
    gnomon__cli_inputs_free(&in);
    return status;
}

const gnomon__command gnomon__command_merge = {
    .name = "merge",
    .operands = "FILE...",
    .about = "Makes one file of many, of all ranks or all stages",
    .more = "OUT ending in .json is JSON. In any order and grouping the same "
            "files give the\n"
            "same bytes. Ranks that are missing, there twice or were restarted "
            "are named.\n"
            "\n"
            "Without --align ranks keep the times of the clocks of their "
            "hosts. With it\n"
            "clocks are compared by collectives, or by the region BY, which "
            "nobody leaves\n"
            "before all have entered. A line for each rank says what was "
            "added to its\n"
            "clock, and how far off it may be.",
    .options = merge_options,
    .run = merge_command,
    .takes_files = 1,
};
