/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_REPORT_AVERAGES_REPORT_H
#define GNOMON_REPORT_AVERAGES_REPORT_H

#include "gnomon/profiler.h"

/* --as averages: torch's table of key_averages(). */
extern const gnomon_profiler gnomon__averages_report;

#endif
