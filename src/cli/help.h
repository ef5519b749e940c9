/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the table of commands says of itself, to standard output. */
#ifndef GNOMON_CLI_HELP_H
#define GNOMON_CLI_HELP_H

#include "cli/command.h"

/* Of the whole program, and of one command. */
void gnomon__help_all(void);
void gnomon__help_command(const gnomon__command *command);

/* The man page, gnomon(1), in roff. */
void gnomon__help_man(void);

/* "  --limit N", padded; options in help and the man page. */
void gnomon__help_option(char *text, int size, const gnomon__cli_option *o);

#endif
