/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints the parts of an AdvancedProfiler report. Lightning joins the parts by line
 * feeds and writes none at the end, so each part here begins with the line feed.
 * Called by profilers/advanced.c; pure.
 */
#include "print/advanced.h"

#include <inttypes.h>
#include <string.h>

#include "print/letters.h"

int gnomon__advanced_title(const char *stage, const gnomon_writer *out)
{
    return gnomon__print_title(out, stage, "Profiler Report");
}

int gnomon__advanced_action(gnomon__pstats *p, const char *action, int32_t rank,
                            int key, const gnomon__restriction *cut,
                            const gnomon__functions *table,
                            const gnomon_writer *out)
{
    const gnomon__pstats_query query = {.view = GNOMON__PSTATS_STATS,
                                        .strip_dirs = 1,
                                        .sort = &key,
                                        .sort_keys = 1,
                                        .restrictions = cut,
                                        .restriction_count = 1};
    action = gnomon_shown(out, action);
    out->print(out, "\nProfile stats for: ");
    out->write(out, action, strlen(action));
    if (rank >= 0)
        out->print(out, " rank: %" PRId32, rank);
    out->write(out, "\n", 1);
    return gnomon__pstats_print(p, table, &query, out);
}
