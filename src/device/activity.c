/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sources of work that is over. */
#include "gnomon/activity.h"

int gnomon_activity_source_add(const gnomon_activity_source *source)
{
    (void)source;
    return GNOMON_OK;
}

int gnomon_activity_source_remove(const gnomon_activity_source *source)
{
    (void)source;
    return GNOMON_OK;
}

void gnomon_activity_launched(uint32_t source, uint64_t correlation)
{
    (void)source;
    (void)correlation;
}

void gnomon_activity_put(uint32_t source, const gnomon_activity *records,
                         size_t count)
{
    (void)source;
    (void)records;
    (void)count;
}

void gnomon_activity_lost(uint32_t source, uint64_t count)
{
    (void)source;
    (void)count;
}
