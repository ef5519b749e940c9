/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The text of Lightning's AdvancedProfiler around the tables of its actions. */
#ifndef GNOMON_PRINT_ADVANCED_H
#define GNOMON_PRINT_ADVANCED_H

#include "print/pstats.h"

/* The title. `stage` is "" without a stage. A report without actions is the title
 * alone, without a line feed. */
int gnomon__advanced_title(const char *stage, const gnomon_writer *out);

/* One action's table: directories stripped, ordered by `key`
 * (gnomon__pstats_key; Lightning's is cumulative time), cut as
 * line_count_restriction says. A rank below 0 is unknown. */
int gnomon__advanced_action(gnomon__pstats *p, const char *action, int32_t rank,
                            int key, const gnomon__restriction *cut,
                            const gnomon__functions *table,
                            const gnomon_writer *out);

#endif
