/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Operations with GNOMON_DISABLE: calls that do nothing. Included by gnomon/op.h;
 * gnomon/disabled.h says what such calls return. */
#ifndef GNOMON_DISABLED_OP_H
#define GNOMON_DISABLED_OP_H

#include "op.h"

#ifdef GNOMON_DISABLE

GNOMON_BEGIN_DECLS

GNOMON__CALL gnomon_region *gnomon_op_region(gnomon_region *region,
                                             const gnomon_op_info *op)
{
    (void)op;
    return region;
}

GNOMON__CALL const gnomon_op_info *gnomon_region_op(const gnomon_region *region)
{
    (void)region;
    return GNOMON_NULL;
}

/* As in gnomon/disabled.h: arguments are compiled, but not evaluated. */
GNOMON_INLINE gnomon_token gnomon_begin_op(gnomon_region *region,
                                           const gnomon_op_info *op)
{
    (void)region;
    (void)op;
    return 0;
}

#define gnomon_op_region(region, op) \
    gnomon__no_region(1 ? GNOMON_NULL : gnomon_op_region(region, op))
#define gnomon_begin_op(region, op) \
    gnomon__no_token(1 ? 0 : gnomon_begin_op(region, op))

GNOMON_END_DECLS

#endif

#endif
