/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gpu: what devices did, for which scopes, and when they were idle. The report is in
 * print/gpu.c. */
#include <stdlib.h>

#include "gnomon/profiler.h"
#include "print/gpu.h"

GNOMON__REPORT_CALLS(gnomon__gpu)

static const gnomon_option_info gpu_options[] = {
    GNOMON__TABLE_OPTION("columns", TEXT, "which columns: a|b, or all"),
    GNOMON__TABLE_OPTION("sort", TEXT, "the column that rows are ordered by"),
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .preset = "10",
     .help = "how many scopes, gaps and steps"},
    GNOMON__TABLE_OPTION("by", TEXT, "by stream (thread), rank or host"),
    GNOMON__TABLE_OPTION("format", TEXT, "text, csv, md or json"),
    {.key = NULL}};

static const gnomon_profiler gpu_reporter = {
    .struct_size = sizeof gpu_reporter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_ACTIVITIES | GNOMON_WANT_EVENTS,
    .name = "gpu",
    .help = "what devices did for which scopes, and when they were idle",
    .options = gpu_options,
    .create = gnomon__gpu_create,
    .summary = gnomon__gpu_summary,
    .destroy = free,
};

GNOMON_PLUGIN(gpu_reporter);
