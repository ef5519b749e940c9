/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_BENCH_GPU_CHAINS_H
#define GNOMON_BENCH_GPU_CHAINS_H

#include <cuda_runtime_api.h>

/* Measures what timing takes of `stream` between kernels that follow each other, and
 * prints it. Not 0: a call of CUDA failed. */
int chains_explain(cudaStream_t stream);

#endif
