/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/commands.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "platform/error.h"

extern const gnomon__command gnomon__command_cat;
extern const gnomon__command gnomon__command_completion;
extern const gnomon__command gnomon__command_diff;
extern const gnomon__command gnomon__command_help;
extern const gnomon__command gnomon__command_info;
extern const gnomon__command gnomon__command_merge;
extern const gnomon__command gnomon__command_report;
extern const gnomon__command gnomon__command_run;

const gnomon__command *const gnomon__commands[] = {
    &gnomon__command_report,     &gnomon__command_info, &gnomon__command_cat,
    &gnomon__command_merge,      &gnomon__command_diff, &gnomon__command_run,
    &gnomon__command_completion, &gnomon__command_help, NULL,
};

#define COMMANDS (sizeof gnomon__commands / sizeof *gnomon__commands)

const gnomon__command *gnomon__command_find(const char *name)
{
    const char *known[COMMANDS] = {NULL};
    for (size_t i = 0; i + 1 < COMMANDS; i++) {
        known[i] = gnomon__commands[i]->name;
        if (strcmp(known[i], name) == 0)
            return gnomon__commands[i];
    }
    if (access(name, F_OK) == 0)
        gnomon__log("'%s' is a file, no command: gnomon report %s", name, name);
    else
        (void)gnomon__cli_no_word("command", name, known);
    return NULL;
}
