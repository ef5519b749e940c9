/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the profiler trace writes, by its file's name. It is in libgnomon-trace.so and
 * not in the library, which writes Chrome's JSON only. */
#ifndef GNOMON_EXPORT_TRACE_FORMS_H
#define GNOMON_EXPORT_TRACE_FORMS_H

#include "export/export.h"

/* .pftrace and .perfetto-trace are Perfetto's, .gz behind them, or behind any other name,
 * is compressed. NULL: Chrome's JSON as the library has it, or a .gz without zlib. */
const gnomon__exporter *gnomon__trace_form(const char *file);

#endif
