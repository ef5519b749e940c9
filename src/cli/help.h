/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the table of commands says of them all, to standard output. */
#ifndef GNOMON_CLI_HELP_H
#define GNOMON_CLI_HELP_H

void gnomon__help_all(void);

/* The man page, gnomon(1), in roff. */
void gnomon__help_man(void);

#endif
