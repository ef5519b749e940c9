/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one list of commands. */
#ifndef GNOMON_CLI_COMMANDS_H
#define GNOMON_CLI_COMMANDS_H

#include "command/command.h"

/* All of them, in the order of help; NULL at the end. */
extern const gnomon__command *const gnomon__commands[];

/* The help on all, to standard output. */
void gnomon__help_all(void);

#endif
