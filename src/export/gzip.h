/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compression by zlib, and what the profiler trace writes by its file's name: in the
 * program and in libgnomon-trace.so. The library writes Chrome's JSON only. */
#ifndef GNOMON_EXPORT_GZIP_H
#define GNOMON_EXPORT_GZIP_H

#include "export/export.h"

/* Whether the build has zlib. */
int gnomon__gzip_is_there(void);

/* Writes a file to `compressed`. GNOMON_OK, or an error code. */
typedef int gnomon__gzip_maker(void *context, const gnomon_writer *compressed);

/* Gives `out` what `make` writes, compressed. The first error, or GNOMON_OK;
 * GNOMON_ENOMEM also where the build has no zlib. The same bytes give the same file, which
 * has no time in it. */
int gnomon__gzip(const gnomon_writer *out, gnomon__gzip_maker *make,
                 void *context);

/* .pftrace and .perfetto-trace are Perfetto's, .gz behind them, or behind any other name,
 * is compressed. NULL: Chrome's JSON as the library has it, or a .gz without zlib. */
const gnomon__exporter *gnomon__trace_form(const char *file);

#endif
