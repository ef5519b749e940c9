/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* --as steps: how long steps took, and the last ones. */
#ifndef GNOMON_REPORT_STEPS_H
#define GNOMON_REPORT_STEPS_H

#include "gnomon/profiler.h"

extern const gnomon_profiler gnomon__steps_report;

#endif
