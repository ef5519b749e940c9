/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How far reading is: a bar on standard error, where that is a terminal and
 * there is much to read; nothing anywhere else. */
#ifndef GNOMON_COMMAND_PROGRESS_H
#define GNOMON_COMMAND_PROGRESS_H

#include "command/inputs.h"

/* Of these files, which the bar borrows, until the end. */
void gnomon__progress_begin(const gnomon__cli_inputs *inputs);
void gnomon__progress_end(void);

/* The bar is drawn only between _show or _at and _hide, so that it is never inside a
 * report; the calls nest. _show counts one file more; _at says what is read: run 3 of
 * 8. */
void gnomon__progress_show(void);
void gnomon__progress_at(const char *what, size_t at, size_t of);
void gnomon__progress_hide(void);

#endif
