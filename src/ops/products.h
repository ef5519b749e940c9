/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Operations that are made of products: matrices, convolutions, attention. Each returns
 * false where the shapes are not such an operation's. */
#ifndef GNOMON_OPS_PRODUCTS_H
#define GNOMON_OPS_PRODUCTS_H

#include "ops/operands.h"
#include "ops/cost.h"

/* A[m, k] * B[k, n], where operands before `first` are added: addmm has 1. */
bool gnomon__cost_mm(const gnomon__operands *o, size_t first,
                     gnomon__op_cost *w);
/* With batches that are broadcast, and vectors. */
bool gnomon__cost_matmul(const gnomon__operands *o, gnomon__op_cost *w);
/* x[..., k], weight[n, k], bias. */
bool gnomon__cost_linear(const gnomon__operands *o, gnomon__op_cost *w);
/* A[tokens, k], B[groups, k, n]; the attribute `tokens` lists how many each group has. */
bool gnomon__cost_grouped(const gnomon__operands *o, gnomon__op_cost *w);
/* x[batch, channels, ...], weight, bias; attributes stride, padding, dilation, groups,
 * transposed, output_padding. */
bool gnomon__cost_convolution(const gnomon__operands *o, bool is_transposed,
                              gnomon__op_cost *w);
/* q[..., H, Sq, D], k[..., Hk, Sk, D], v[..., Hk, Sk, Dv]; attributes is_causal, window,
 * and for sequences of several lengths seqlens_q and seqlens_k. */
bool gnomon__cost_attention(const gnomon__operands *o, gnomon__op_cost *w);

/* How many outputs a window of `kernel` has along a dim; 0: none. */
uint64_t gnomon__window_count(uint64_t size, uint64_t kernel, int64_t stride,
                              int64_t padding, int64_t dilation);

#endif
