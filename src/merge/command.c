/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon merge: many files as one, run after run, in the memory of one run. */
#include <getopt.h>

#include "command/command.h"
#include "merge/gather.h"
#include "command/progress.h"
#include "command/save.h"
#include "platform/error.h"

enum { MERGE_OUTPUT };

static const gnomon__cli_option merge_options[] = {
    [MERGE_OUTPUT] = {.name = "output",
                      .letter = 'o',
                      .kind = GNOMON__VALUE_FILE,
                      .value = "OUT",
                      .help = "the file to write (required)"},
    {.name = NULL}};

static int merge_command(int argc, char **argv);

const gnomon__command gnomon__command_merge = {
    .name = "merge",
    .operands = "FILE...",
    .about = "Makes one file of many, of all ranks or all stages",
    .more = "OUT ending in .json is JSON. In any order and grouping the same "
            "files give the\n"
            "same bytes. Ranks that are missing, there twice or were restarted "
            "are named.\n"
            "\n"
            "FILE is a .gnomon file or its JSON form, - for standard input, a "
            "pattern, or\n"
            "a folder: all .gnomon and .gnomon.json in it.",
    .options = merge_options,
    .run = merge_command,
    .takes_files = 1,
};

static void show_run(size_t number, size_t count)
{
    gnomon__progress_at("run", number, count);
}

static int merge_to_file(gnomon__gather *g, const gnomon_writer *out)
{
    int code = gnomon__merge_write(g->merge, out, show_run);
    gnomon__progress_hide();
    return code;
}

/* JSON has all entities of a kind together: it needs the memory of all runs. */
static int merge_make(void *context, int form, const gnomon_writer *out)
{
    gnomon__cli_memory memory = {0};
    const gnomon_writer keep = gnomon__cli_memory_writer(&memory);
    gnomon_profile *p = NULL;
    if (form == GNOMON_FORM_FILE)
        return merge_to_file(context, out);
    int code = merge_to_file(context, &keep);
    if (!code)
        code = gnomon_profile_read(&p, memory.bytes, memory.size);
    gnomon__cli_memory_free(&memory);
    if (!code)
        code = gnomon_profile_write(p, form, out);
    gnomon_profile_free(p);
    return code;
}

static int merge_inputs(const gnomon__cli_inputs *in, const char *to)
{
    gnomon__gather g;
    gnomon__progress_begin(in);
    int status = gnomon__gather_begin(&g, in, GNOMON__EVERY_KIND, 0);
    if (g.merge && !gnomon__merge_count(g.merge)) {
        gnomon__log("nothing to merge");
        status = gnomon__cli_worse(status, GNOMON__EXIT_NOTHING);
    } else if (g.merge) {
        gnomon__gather_notes(&g);
        status =
            gnomon__cli_worse(status, gnomon__cli_make(to, merge_make, &g));
        status = gnomon__cli_worse(status, gnomon__gather_damage(&g));
    }
    gnomon__progress_end();
    gnomon__gather_end(&g);
    return status;
}

static int merge_command(int argc, char **argv)
{
    const gnomon__command *c = &gnomon__command_merge;
    gnomon__cli_inputs in = {0};
    const char *to = NULL;
    int option, status;
    while ((option = gnomon__cli_next(c, argc, argv)) >= 0)
        to = optarg;
    if (option != GNOMON__CLI_END)
        return gnomon__cli_over(option);
    if (!to || optind == argc)
        return gnomon__cli_usage(c, to ? "no file is named"
                                       : "-o says which file to make");
    status = gnomon__cli_expand(&in, argv + optind);
    if (in.count)
        status = gnomon__cli_worse(status, merge_inputs(&in, to));
    gnomon__cli_inputs_free(&in);
    return status;
}
