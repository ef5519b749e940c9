/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Attaching with GNOMON_DISABLE: calls that do nothing. Included by
 * gnomon/profiler.h; gnomon/disabled.h says what such calls return. */
#ifndef GNOMON_DISABLED_PROFILER_H
#define GNOMON_DISABLED_PROFILER_H

#include "profiler.h"

#ifdef GNOMON_DISABLE

GNOMON_BEGIN_DECLS

GNOMON__CALL int gnomon_fail(int code, const char *text)
{
    (void)text;
    return code;
}

GNOMON__CALL int gnomon_fail_n(int code, const char *text, size_t length)
{
    (void)length;
    return gnomon_fail(code, text);
}

GNOMON__CALL void gnomon_log(const char *line)
{
    (void)line;
}

GNOMON__CALL int gnomon_attach(const gnomon_profiler *profiler, void *self,
                               const char *options)
{
    (void)profiler;
    (void)self;
    (void)options;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_attach_n(const gnomon_profiler *profiler, void *self,
                                 const char *options, size_t length)
{
    (void)length;
    return gnomon_attach(profiler, self, options);
}

GNOMON__CALL int gnomon_detach(const gnomon_profiler *profiler, void *self)
{
    (void)profiler;
    (void)self;
    return GNOMON_ENOENT; /* nothing is attached */
}

GNOMON__CALL int gnomon_register(const gnomon_profiler *profiler)
{
    (void)profiler;
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_summary(const char *profiler, const gnomon_writer *out)
{
    (void)profiler;
    (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_summary_n(const char *profiler, size_t length,
                                  const gnomon_writer *out)
{
    (void)length;
    return gnomon_summary(profiler, out);
}

GNOMON_END_DECLS

#endif

#endif
