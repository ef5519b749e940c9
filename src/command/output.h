/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the program's text goes: standard output, and colour on terminals. */
#ifndef GNOMON_COMMAND_OUTPUT_H
#define GNOMON_COMMAND_OUTPUT_H

#include <stdio.h>

#include "gnomon/writer.h"

/* A writer to a stream; `context` is the FILE. Its write returns GNOMON_EIO
 * after an error and notes nothing else: the stream does. */
gnomon_writer gnomon__cli_writer(FILE *to);

/* Ends a line that was begun on standard output by its writer. */
void gnomon__cli_end_line(void);

/* Flushes standard output. A gnomon__exit: _UNREADABLE and one line where not
 * all of it could be written; a reader that went away is no line, and ends the
 * program as SIGPIPE does. */
int gnomon__cli_flush(void);

/* Escapes for a terminal; "" where it is none, or $NO_COLOR or TERM=dumb says
 * that none are wanted. */
const char *gnomon__cli_bold(FILE *to);
const char *gnomon__cli_plain(FILE *to);

#endif
