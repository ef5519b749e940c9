/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows and names of files with GNOMON_DISABLE: calls that do nothing. Included by
 * gnomon/report.h; gnomon/disabled.h says what such calls return. */
#ifndef GNOMON_DISABLED_REPORT_H
#define GNOMON_DISABLED_REPORT_H

#include "report.h"

#ifdef GNOMON_DISABLE

GNOMON_BEGIN_DECLS

GNOMON__CALL int gnomon_rows_make(gnomon_rows **out,
                                  const gnomon_profile *profile, int by)
{
    (void)profile;
    (void)by;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_rows_free(gnomon_rows *rows)
{
    (void)rows;
}

GNOMON__CALL size_t gnomon_file_name(const char *pattern, char *buffer,
                                     size_t size)
{
    (void)pattern;
    if (size)
        *buffer = 0;
    return 0;
}

GNOMON_END_DECLS

#endif

#endif
