/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What docs/cuda.md calls of CUDA's runtime, for machines without a toolkit. */
#ifndef CUDA_RUNTIME_API_H
#define CUDA_RUNTIME_API_H

#include <stddef.h>

#define cudaMemcpyHostToDevice 1

typedef struct CUstream_st *cudaStream_t;

int cudaMalloc(void **memory, size_t size);
int cudaStreamCreate(cudaStream_t *stream);
int cudaStreamSynchronize(cudaStream_t stream);
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind,
                    cudaStream_t stream);
int cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream);

#endif
