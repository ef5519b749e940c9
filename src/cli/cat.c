/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon cat: a profile in its other form. Each file is read, written and freed
 * before the next one. */
#include <getopt.h>
#include <stdio.h>

#include "gnomon/profile.h"
#include "command/command.h"
#include "command/inputs.h"
#include "command/output.h"
#include "platform/error.h"

static const gnomon__cli_option cat_options[] = {
    GNOMON__FILE("output", 'o', "OUT",
                 "write this file, in the form of its name"),
    {.name = NULL}};

static int cat_one(const char *path, const char *to)
{
    gnomon_writer out = gnomon__cli_writer(stdout);
    gnomon_profile *p;
    int status = GNOMON__EXIT_OK;
    if (gnomon__cli_load(path, &p))
        return GNOMON__EXIT_UNREADABLE;
    if (to)
        status = gnomon__cli_save(p, to);
    else if (gnomon_write(p, "json", &out))
        status = GNOMON__EXIT_UNREADABLE;
    if (status && !to && !ferror(stdout)) /* its error is logged at the end */
        gnomon__log("%s: no memory to write it", path);
    /* Losses of a run are in the output. */
    status = gnomon__cli_worse(status, gnomon__cli_log_damage(path, p));
    gnomon_profile_free(p);
    return status;
}

static int cat_run(const gnomon__command *c, int argc, char **argv)
{
    gnomon__cli_inputs in = {0};
    const char *to = NULL;
    int status = gnomon__cli_read(c, argc, argv, &to);
    if (status != GNOMON__CLI_END)
        return status;
    if (optind == argc)
        return gnomon__cli_usage(c, "no file is named");
    status = gnomon__cli_expand(&in, argv + optind);
    if (to && in.count > 1)
        status = gnomon__cli_usage(c, "-o takes one file; gnomon merge makes "
                                      "one of many");
    else
        for (size_t i = 0; i < in.count && !ferror(stdout); i++)
            status = gnomon__cli_worse(status, cat_one(in.paths[i], to));
    gnomon__cli_inputs_free(&in);
    return status;
}

const gnomon__command gnomon__command_cat = {
    .name = "cat",
    .operands = "FILE...",
    .about = "Prints profiles as JSON, or writes them as JSON or .gnomon",
    .more = "With -o the name of OUT says its form: .json is JSON, all else is "
            ".gnomon.\n"
            "From .gnomon to JSON and back nothing is lost.",
    .options = cat_options,
    .run = cat_run,
    .takes_files = 1,
};
