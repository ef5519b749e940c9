/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The list of the built-in profilers. A new one needs its file, which ends in
 * GNOMON_PLUGIN, and two lines here. run/ reads the list when a spec names a profiler.
 */
#include "profilers/table.h"

extern const gnomon_profiler *const gnomon__builtin_passthrough;
extern const gnomon_profiler *const gnomon__builtin_simple;
extern const gnomon_profiler *const gnomon__builtin_advanced;
extern const gnomon_profiler *const gnomon__builtin_regions;
extern const gnomon_profiler *const gnomon__builtin_call_tree;
extern const gnomon_profiler *const gnomon__builtin_links;
extern const gnomon_profiler *const gnomon__builtin_counters;
extern const gnomon_profiler *const gnomon__builtin_step_reporter;
extern const gnomon_profiler *const gnomon__builtin_gap_reporter;
extern const gnomon_profiler *const gnomon__builtin_path_reporter;
extern const gnomon_profiler *const gnomon__builtin_device_times;
extern const gnomon_profiler *const gnomon__builtin_gpu_reporter;
extern const gnomon_profiler *const gnomon__builtin_kernel_reporter;
extern const gnomon_profiler *const gnomon__builtin_cupti_reporter;
extern const gnomon_profiler *const gnomon__builtin_tracer;
extern const gnomon_profiler *const gnomon__builtin_keeper;
extern const gnomon_profiler *const gnomon__builtin_nvtx;
extern const gnomon_profiler *const gnomon__builtin_logger;

const gnomon_profiler *const *const gnomon__profilers[] = {
    &gnomon__builtin_passthrough,
    &gnomon__builtin_simple,
    &gnomon__builtin_advanced,
    &gnomon__builtin_call_tree,
    &gnomon__builtin_regions,
    &gnomon__builtin_links,
    &gnomon__builtin_counters,
    &gnomon__builtin_step_reporter,
    &gnomon__builtin_gap_reporter,
    &gnomon__builtin_path_reporter,
    &gnomon__builtin_device_times,
    &gnomon__builtin_gpu_reporter,
    &gnomon__builtin_kernel_reporter,
    &gnomon__builtin_cupti_reporter,
    &gnomon__builtin_tracer,
    &gnomon__builtin_keeper,
    &gnomon__builtin_nvtx,
    &gnomon__builtin_logger,
    NULL,
};
