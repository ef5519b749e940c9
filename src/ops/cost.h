/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What an operation computes: floating-point operations and bytes of one execution, by its
 * name, shapes, types and attributes. Pure functions, any thread, no memory.
 *
 * A multiplication and an addition are two operations. Bytes are algorithmic: each
 * operand is read once, and the result written once. docs/profile.md lists the operations
 * that are known, and where the formulas are from. Names are torch's, with or without
 * "aten::", a leading or a trailing "_". */
#ifndef GNOMON_OPS_COST_H
#define GNOMON_OPS_COST_H

#include <stdbool.h>

#include "gnomon/profile.h"

typedef struct gnomon__op_cost {
    uint64_t flops, bytes; /* at most UINT64_MAX */
    bool is_known;         /* false: both are 0 */
    /* Of flops: a weight an element that no one counted, as 20 for an exp. */
    bool is_by_definition;
} gnomon__op_cost;

gnomon__op_cost gnomon__op_cost_of(const gnomon_op_info *op);

/* As torch.profiler's with_flops counts, which leaves out most: 0 for all but aten::mm,
 * addmm, bmm, baddbmm, conv2d, mul and add, the last two by their first operand. */
uint64_t gnomon__torch_flops(const gnomon_op_info *op);

#endif
