/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The model's memory on the GPU that is not in `struct model`. There the arrays of a
 * step are on the device, and the parameters in the process's memory. */
#ifndef TRAIN_GPT_CUDA_GPU_H
#define TRAIN_GPT_CUDA_GPU_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "../train_gpt/model.h"

struct gpu {
    cudaStream_t stream; /* all work runs on it */
    cublasHandle_t blas;
    real *parameters, *mean, *square; /* those that steps change */
    int *tokens, *targets;
    real *ones;    /* one for each row: a sum over rows is a product */
    double *norm;  /* kernels.h */
    real *fetched; /* logits or losses, in the process's memory */
};

static inline struct gpu *gpu_of(const struct model *model)
{
    return model->device;
}

/* Ends the program with a line if a call fails: no code here can go on without
 * it. */
#define CUDA(call) \
    do { \
        cudaError_t cuda_code = (call); \
        if (cuda_code != cudaSuccess) \
            gpu_fail(#call, cudaGetErrorString(cuda_code)); \
    } while (0)
#define BLAS(call) \
    do { \
        cublasStatus_t blas_code = (call); \
        if (blas_code != CUBLAS_STATUS_SUCCESS) \
            gpu_fail(#call, cublasGetStatusString(blas_code)); \
    } while (0)

void gpu_fail(const char *call, const char *why);

/* The device's memory for `count` numbers of `size` bytes each, all 0. */
void *gpu_take(size_t count, size_t size);

#endif
