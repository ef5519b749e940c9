/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work of devices with GNOMON_DISABLE: calls that do nothing. Included by
 * gnomon/activity.h; gnomon/disabled.h says what such calls return. */
#ifndef GNOMON_DISABLED_ACTIVITY_H
#define GNOMON_DISABLED_ACTIVITY_H

#include "activity.h"

#ifdef GNOMON_DISABLE

GNOMON_BEGIN_DECLS

GNOMON__CALL int
gnomon_activity_source_add(const gnomon_activity_source *source)
{
    (void)source;
    return GNOMON_OK;
}

GNOMON__CALL int
gnomon_activity_source_remove(const gnomon_activity_source *source)
{
    (void)source;
    return GNOMON_OK;
}

GNOMON__CALL uint64_t gnomon_now_ns(void)
{
    return 0;
}

GNOMON__CALL void gnomon_activity_launched(uint32_t source,
                                           uint64_t correlation)
{
    (void)source;
    (void)correlation;
}

GNOMON__CALL void gnomon_activity_put(uint32_t source,
                                      const gnomon_activity *records,
                                      size_t count)
{
    (void)source;
    (void)records;
    (void)count;
}

GNOMON__CALL void gnomon_activity_lost(uint32_t source, uint64_t count)
{
    (void)source;
    (void)count;
}

GNOMON_END_DECLS

#endif

#endif
