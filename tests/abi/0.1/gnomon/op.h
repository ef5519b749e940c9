/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations: what a scope computes, as a matrix product of these shapes. Not
 * included by gnomon.h.
 *
 *     GNOMON_REGION(product, "linear", NULL);
 *     const int64_t a[] = {32, 512}, b[] = {512, 128};
 *     const gnomon_tensor inputs[] = {{sizeof *inputs, 2, "float32", a, NULL},
 *                                     {sizeof *inputs, 2, "float32", b, NULL}};
 *     const gnomon_op_info op = {.struct_size = sizeof op,
 *                                .operation = "matmul", .inputs = inputs,
 *                                .input_count = 2, .flops = 4194304};
 *     gnomon_token scope = gnomon_begin_op(&product, &op);
 *     ...
 *     gnomon_end(scope);
 *
 * Profiles then have a node for each operation of the region, with the operation
 * (gnomon_op_info in gnomon/entities.h) and with what all its executions computed.
 * docs/ops.md shows it, and what reports and other tools make of it.
 */
#ifndef GNOMON_OP_H
#define GNOMON_OP_H

#include "../gnomon.h"
#include "entities.h"

GNOMON_BEGIN_DECLS

/* The region that stands for `region` computing `op`: for gnomon_begin and its
 * like. It has the name, the category and the place of `region`, so filters and
 * reports know it as that; only the operation differs. The same one for the same
 * region and an equal operation: all of it is compared by value.
 *
 * Returns a region that lives as long as the process; never NULL. Where it cannot be
 * made, it is `region` itself, or "(other)" where that is NULL, and gnomon_health
 * counts the cause:
 *   lost_ops     65536 operations of regions are known, or 64 MiB of them, or memory
 *                is out
 *   bad_ops      `op` is NULL, has no struct_size, more than 256 inputs or attributes,
 *                or more than 16 KiB; or `region` is a mark or a counter
 *   bad_regions, reentered
 * What is wrong in a part of it is left out and counted, and the rest stays: an
 * input whose rank is above 64 or whose dims are NULL has rank 0, and an attribute that
 * is no JSON, or has more than 4 KiB, is null (bad_ops); names are made fit as those of
 * regions are (bad_names). Such an operation takes a lock each time.
 * `op` and all that it points to are copied. What a shorter struct does not have is 0.
 * The module of a static region stays mapped.
 * Any thread. It hashes `op` and takes no lock where it has seen that before: 50 ns
 * and more, so keep the result where the operation is always the same. */
GNOMON__CALL gnomon_region *gnomon_op_region(gnomon_region *region,
                                             const gnomon_op_info *op);

/* What a region of gnomon_op_region computes; NULL: it is another region, or NULL.
 * It lives as long as the process. For profilers: a frame's region may be one. Any
 * thread, takes no lock. */
GNOMON__CALL const gnomon_op_info *
gnomon_region_op(const gnomon_region *region);

#ifndef GNOMON_DISABLE
/* The out-of-line half of the call below; do not call. */
GNOMON__SLOW_API gnomon_token gnomon_begin_op_slow(gnomon_region *region,
                                                   const gnomon_op_info *op,
                                                   uint32_t mask);

/* gnomon_begin of the region that gnomon_op_region finds. Off, it does not look at
 * `op`, and costs what gnomon_begin does. */
GNOMON_INLINE gnomon_token gnomon_begin_op(gnomon_region *region,
                                           const gnomon_op_info *op)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_begin_op_slow(region, op, mask);
}
#endif

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#include "disabled_op.h"
#endif

#endif
