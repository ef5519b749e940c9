/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the GPU's passes do beside matrix products. Each call puts one kernel
 * into the stream; all pointers are the device's, all rows dense. */
#ifndef TRAIN_GPT_CUDA_KERNELS_H
#define TRAIN_GPT_CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#define NORM_PARTS 1024 /* sums that a norm is made of */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Layers, as train_gpt/layers.c has them ------------------------------ */

void put_embedding(float *out, const int *tokens, const float *table,
                   const float *places, int rows, int columns, int time,
                   cudaStream_t stream);
void put_embedding_backward(float *dtable, float *dplaces, const float *dout,
                            const int *tokens, int rows, int columns, int time,
                            int vocabulary, cudaStream_t stream);
void put_layernorm(float *out, float *mean, float *rstd, const float *in,
                   const float *gain, const float *bias, int rows, int columns,
                   cudaStream_t stream);
void put_layernorm_backward(float *din, float *dgain, float *dbias,
                            const float *dout, const float *in,
                            const float *mean, const float *rstd,
                            const float *gain, int rows, int columns,
                            cudaStream_t stream);
void put_gelu(float *out, const float *in, int count, cudaStream_t stream);
void put_gelu_backward(float *d, const float *in, int count,
                       cudaStream_t stream);
void put_cross_entropy(float *logits, float *losses, const int *targets,
                       int rows, int columns, cudaStream_t stream);
void put_cross_entropy_backward(float *probabilities, const int *targets,
                                int rows, int columns, cudaStream_t stream);

/* out = bias + residual; either may be NULL. What a product is added to. */
void put_start(float *out, const float *bias, const float *residual, int rows,
               int columns, cudaStream_t stream);

/* ---- Attention: `squares` of time x time numbers each --------------------- */

void put_softmax(float *scores, float scale, int squares, int time,
                 cudaStream_t stream);
void put_softmax_backward(float *d, const float *weights, float scale,
                          int squares, int time, cudaStream_t stream);

/* ---- The optimizer -------------------------------------------------------- */

/* Scales all gradients so that their norm is at most `most`. `parts` has room
 * for NORM_PARTS + 1 numbers. */
void put_clip(float *gradients, double *parts, double most, int count,
              cudaStream_t stream);

struct adamw_numbers {
    float beta1, beta2, unbias1, unbias2, epsilon, rate, keep;
};

void put_adamw(float *parameters, float *mean, float *square,
               const float *gradients, struct adamw_numbers numbers, int count,
               cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
