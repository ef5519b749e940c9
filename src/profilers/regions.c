/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* regions: the times of each region, with quantiles. The report is in print/regions.c. */
#include <stdlib.h>

#include "gnomon/profiler.h"
#include "print/regions.h"

GNOMON__REPORT_CALLS(gnomon__regions)

static const gnomon_option_info regions_options[] = {
    GNOMON__TABLE_OPTIONS,
    GNOMON__TABLE_OPTION("by", TEXT, "thread, rank, host, category or file"),
    {.key = NULL}};

static const gnomon_profiler regions = {
    .struct_size = sizeof regions,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "regions",
    .help = "calls, total, self and quantiles of each region",
    .options = regions_options,
    .create = gnomon__regions_create,
    .summary = gnomon__regions_summary,
    .destroy = free,
};

GNOMON_PLUGIN(regions);
