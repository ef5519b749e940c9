/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Steps and samples of counters, drawn with block characters. */
#ifndef GNOMON_REPORT_PLOT_H
#define GNOMON_REPORT_PLOT_H

#include "command/inputs.h"
#include "gnomon/profile.h"

/* The words of --as that can be drawn, then NULL. */
extern const char *const gnomon__plot_words[];

/* Draws each file: of `stage` alone, NULL being all. `word` is an index of the words. A
 * gnomon__exit: _NOTHING where nothing is in any. */
int gnomon__plot(const gnomon__cli_inputs *in, int word, const char *stage,
                 const gnomon_writer *out);

#endif
