/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cuda: how long scopes on streams were on their stream. The report is in print/cuda.c. */
#include <stdlib.h>

#include "gnomon/profiler.h"
#include "print/cuda.h"

GNOMON__REPORT_CALLS(gnomon__stream_times)

/* A limit makes it a table, too. */
static int cuda_create(const gnomon_options *options, void **self)
{
    int code = gnomon__stream_times_create(options, self);
    gnomon__table_choice *choice = *self;
    if (!code)
        choice->is_table |= choice->limit != SIZE_MAX;
    return code;
}

/* `wait` is read by whoever calls summary: run/summary.c. */
static const gnomon_option_info device_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "wait",
     .type = GNOMON_OPTION_DURATION,
     .preset = "1s",
     .help = "at a stage's end, the longest wait for the device"},
    GNOMON__TABLE_OPTION("columns", TEXT, "which columns: a|b, or all"),
    GNOMON__TABLE_OPTION("sort", TEXT, "the column that rows are ordered by"),
    GNOMON__TABLE_OPTION("limit", INTEGER, "the most rows; else all"),
    GNOMON__TABLE_OPTION("format", TEXT, "text, csv, md or json"),
    GNOMON__TABLE_OPTION("by", TEXT, "thread, rank, host, category or file"),
    {.key = NULL}};

static const gnomon_profiler device_times = {
    .struct_size = sizeof device_times,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE,
    .name = "cuda",
    .help = "what scopes on streams (GNOMON_SCOPE_ON) took on the device",
    .options = device_options,
    .create = cuda_create,
    .summary = gnomon__stream_times_summary,
    .destroy = free,
};

GNOMON_PLUGIN(device_times);
