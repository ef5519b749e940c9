/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What workers of data loaders did. */
#ifndef GNOMON_REPORT_LOADERS_H
#define GNOMON_REPORT_LOADERS_H

#include "gnomon/tool.h"

extern const gnomon_profiler *const gnomon__loaders_profiler;
extern const gnomon_profiler *const gnomon__workers_profiler;

#endif
