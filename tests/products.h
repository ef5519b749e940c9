/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An operation of a region "linear", for tests of what scopes compute. */
#ifndef GNOMON_TESTS_PRODUCTS_H
#define GNOMON_TESTS_PRODUCTS_H

#include "gnomon.h"
#include "marks.h"

static gnomon_region product =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "linear", "layers", "forward");

/* A matrix product; each call has structs and texts of its own. */
typedef struct product_op {
    gnomon_tensor inputs[2];
    gnomon_attribute attributes[1];
    gnomon_op_info op;
    int64_t dims[4], strides[2];
    char texts[4][16];
} product_op;

static inline product_op *product_of(product_op *p)
{
    static const char *const texts[] = {"matmul", "float32", "transpose",
                                        "[false, true]"};
    memset(p, 0, sizeof *p);
    memcpy(p->dims, (int64_t[]){32, 512, 512, 128}, sizeof p->dims);
    memcpy(p->strides, (int64_t[]){512, 1}, sizeof p->strides);
    for (int i = 0; i < 4; i++)
        strcpy(p->texts[i], texts[i]);
    for (uint32_t i = 0; i < 2; i++)
        p->inputs[i] = (gnomon_tensor){.struct_size = sizeof *p->inputs,
                                       .rank = 2,
                                       .dtype = p->texts[1],
                                       .dims = p->dims + (size_t)2 * i};
    p->inputs[0].strides = p->strides;
    p->attributes[0] = (gnomon_attribute){.struct_size = sizeof *p->attributes,
                                          .key = p->texts[2],
                                          .json = p->texts[3]};
    p->op = (gnomon_op_info){.struct_size = sizeof p->op,
                             .flags = GNOMON_OP_FLOPS_GIVEN,
                             .operation = p->texts[0],
                             .inputs = p->inputs,
                             .input_count = 2,
                             .attributes = p->attributes,
                             .attribute_count = 1,
                             .flops = 4194304,
                             .bytes = 344064};
    return p;
}

static inline gnomon_region *region_of(const product_op *p)
{
    return gnomon_op_region(&product, &p->op);
}

#endif
