/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The list of the built-in profilers. A new one needs its file, which ends in
 * GNOMON_PLUGIN or GNOMON__REPORT_PROFILER, and its word here. run/ reads the list when a
 * spec names a profiler.
 */
#include "profilers/table.h"

/* clang-format off */
#define PROFILERS(of) \
    of(passthrough) of(simple_profiler) of(advanced_profiler) \
    of(tree_profiler) of(regions_profiler) of(links_profiler) \
    of(counters_profiler) of(steps_profiler) of(gaps_profiler) \
    of(critical_profiler) of(cuda_profiler) of(gpu_profiler) \
    of(kernels_profiler) of(cupti_reporter) of(tracer) of(keeper) \
    of(nvtx) of(logger)
/* clang-format on */

#define PROFILER_IS_THERE(word) \
    extern const gnomon_profiler *const gnomon__builtin_##word;
#define PROFILER_IN_LIST(word) &gnomon__builtin_##word,

PROFILERS(PROFILER_IS_THERE)

const gnomon_profiler *const *const gnomon__profilers[] = {
    PROFILERS(PROFILER_IN_LIST) NULL};
