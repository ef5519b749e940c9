/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The report of the profiler `kernels`, which `cupti` prints too. */
#ifndef GNOMON_PROFILERS_KERNELS_REPORT_H
#define GNOMON_PROFILERS_KERNELS_REPORT_H

#include "gnomon/profiler.h"

/* As a profiler's callbacks. Without create, `self` is NULL: then options have their
 * presets. */
int gnomon__kernels_create(const gnomon_options *options, void **self);
int gnomon__kernels_summary(void *self, const gnomon_profile *profile,
                            const gnomon_writer *out);

#endif
