/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the table of commands says of them all, to standard output. */
#ifndef GNOMON_CLI_HELP_H
#define GNOMON_CLI_HELP_H

#include "command/command.h"

void gnomon__help_all(const gnomon__command *const *all);

/* The man page, gnomon(1), in roff. */
void gnomon__help_man(const gnomon__command *const *all);

#endif
