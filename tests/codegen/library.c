/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The symbols that the sites need, for check.py without --shared or --static. What the
 * functions do makes no difference, because nothing is run. */
#include "gnomon.h"

uint32_t gnomon_enabled = GNOMON_MASK_UNSEEN;

gnomon_token gnomon_begin_slow(gnomon_region *region, uint32_t mask)
{
    return region->mask & mask;
}

gnomon_token gnomon_begin_op_slow(gnomon_region *region,
                                  const gnomon_op_info *op, uint32_t mask)
{
    return region->mask & mask & op->flags;
}

void gnomon_end_slow(gnomon_token token)
{
    (void)token;
}

void gnomon_start_slow(const char *name)
{
    (void)name;
}

void gnomon_stop_slow(const char *name)
{
    (void)name;
}

gnomon_range gnomon_range_begin_slow(gnomon_region *region, uint32_t mask)
{
    return region->mask & mask;
}

void gnomon_range_end_slow(gnomon_range range)
{
    (void)range;
}

void gnomon_counter_slow(gnomon_region *region, uint32_t mask, double value)
{
    (void)region;
    (void)mask;
    (void)value;
}

void gnomon_mark_slow(gnomon_region *region, uint32_t mask)
{
    (void)region;
    (void)mask;
}

void gnomon_step_slow(uint64_t number, int given)
{
    (void)number;
    (void)given;
}
