/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How far reading is: a bar on standard error, where that is a terminal and
 * there is much to read; nothing anywhere else. */
#ifndef GNOMON_COMMAND_PROGRESS_H
#define GNOMON_COMMAND_PROGRESS_H

#include "command/inputs.h"

/* Of these files, which the bar borrows, until the end. */
void gnomon__progress_begin(const gnomon__cli_inputs *inputs);
void gnomon__progress_end(void);

/* The bar may stand between one of the first two and the last, so that it never
 * stands in a report; they nest. gnomon__cli_load shows that the next file is
 * read; whoever knows better says what is: run 3 of 8. */
void gnomon__progress_show(void);
void gnomon__progress_at(const char *what, size_t at, size_t of);
void gnomon__progress_hide(void);

#endif
