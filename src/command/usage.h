/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the table of a command says of it, to standard output. */
#ifndef GNOMON_COMMAND_USAGE_H
#define GNOMON_COMMAND_USAGE_H

#include "command/command.h"

void gnomon__help_command(const gnomon__command *command);

/* "  --limit N", padded; options in help and the man page. */
void gnomon__help_option(char *text, int size, const gnomon__cli_option *o);

/* What a command's operands FILE... are; NULL: it has others. */
const char *gnomon__help_files(const gnomon__command *command);

#endif
