/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The findings of advice (advice/findings.h) as a report. */
#ifndef GNOMON_REPORT_ADVICE_H
#define GNOMON_REPORT_ADVICE_H

#include "advice/findings.h"
#include "command/inputs.h"
#include "print/rows.h"
#include "report/joined.h"

/* The report of one profile. */
extern const gnomon__report gnomon__advice;
extern const gnomon_profiler *const gnomon__advice_profiler;

/* The report of all files together. `self` is the profiler's. A gnomon__exit. */
int gnomon__advice_print(const gnomon__cli_inputs *in, const void *self,
                         gnomon__joined *out);

#endif
