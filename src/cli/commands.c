/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/commands.h"

#include <stddef.h>

extern const gnomon__command gnomon__command_cat;
extern const gnomon__command gnomon__command_completion;
extern const gnomon__command gnomon__command_diff;
extern const gnomon__command gnomon__command_export;
extern const gnomon__command gnomon__command_help;
extern const gnomon__command gnomon__command_info;
extern const gnomon__command gnomon__command_merge;
extern const gnomon__command gnomon__command_report;
extern const gnomon__command gnomon__command_run;
extern const gnomon__command gnomon__command_schedule;

const gnomon__command *const gnomon__commands[] = {
    &gnomon__command_report,
    &gnomon__command_info,
    &gnomon__command_cat,
    &gnomon__command_export,
    &gnomon__command_merge,
    &gnomon__command_diff,
    &gnomon__command_run,
    &gnomon__command_schedule,
    &gnomon__command_completion,
    &gnomon__command_help,
    NULL,
};
