/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The report of the profiler `cuda`, which `cupti` prints where it has no records. */
#ifndef GNOMON_PROFILERS_CUDA_REPORT_H
#define GNOMON_PROFILERS_CUDA_REPORT_H

#include "gnomon/profiler.h"

/* As a profiler's callbacks. Without create, `self` is NULL: then options have their
 * presets. */
int gnomon__cuda_create(const gnomon_options *options, void **self);
int gnomon__cuda_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out);

#endif
