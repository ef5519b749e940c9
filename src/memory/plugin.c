/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What libgnomon-memory.so exports: the profiler `memory`. Once it is loaded the library
 * knows the recorder too, for any other profiler of that view. */
#include "memory/memory.h"

static const gnomon_memory_recorder recorder = {
    .struct_size = sizeof recorder,
    .abi = GNOMON_ABI,
    .mark = gnomon__memory_marked,
    .begin = gnomon__memory_begin,
    .read = gnomon__memory_read,
    .next = gnomon__memory_next,
    .step = gnomon__memory_step,
    .levels = gnomon__memory_levels,
    .lost = gnomon__memory_lost,
};

GNOMON_API gnomon_plugin_entry gnomon_plugin_v1;
const gnomon_profiler *gnomon_plugin_v1(const gnomon_host *host)
{
    return host->abi == GNOMON_ABI &&
                   host->memory_record(&recorder) == GNOMON_OK
               ? gnomon__memory_report
               : NULL;
}
