/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The built-in profilers, used for their reports alone. */
#ifndef GNOMON_REPORT_PROFILER_H
#define GNOMON_REPORT_PROFILER_H

#include "gnomon/profiler.h"

typedef struct gnomon__cli_profiler {
    const gnomon_profiler *profiler;
    void *self;
} gnomon__cli_profiler;

/* The built-in profiler of this name with these options ("extended=false,limit=3", as in
 * a spec). GNOMON_OK; else one line has said why. End it with _close. */
int gnomon__cli_profiler_open(gnomon__cli_profiler *p, const char *name,
                              const char *options);
void gnomon__cli_profiler_close(gnomon__cli_profiler *p);

#endif
