/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels: kernels, copies and calls by name. The report is in print/kernels.c. */
#include <stdlib.h>

#include "gnomon/profiler.h"
#include "print/kernels.h"

GNOMON__REPORT_CALLS(gnomon__kernels)

static const gnomon_option_info kernels_options[] = {
    GNOMON__TABLE_OPTION("columns", TEXT, "which columns: a|b, or all"),
    GNOMON__TABLE_OPTION("sort", TEXT, "the column that rows are ordered by"),
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .preset = "20",
     .help = "the most rows of each table"},
    GNOMON__TABLE_OPTION("by", TEXT, "by stream (thread), rank or host"),
    GNOMON__TABLE_OPTION("format", TEXT, "text, csv, md or json"),
    {.key = NULL}};

static const gnomon_profiler kernel_reporter = {
    .struct_size = sizeof kernel_reporter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_ACTIVITIES,
    .name = "kernels",
    .help = "kernels, copies and calls of devices by name",
    .options = kernels_options,
    .create = gnomon__kernels_create,
    .summary = gnomon__kernels_summary,
    .destroy = free,
};

GNOMON_PLUGIN(kernel_reporter);
