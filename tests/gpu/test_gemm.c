/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* needs: cublas
 * timeout: 120
 * A product by cuBLAS, which chooses kernels, and may use streams and memory, of
 * its own. */
#include "gpu.h"

#include <cublas_v2.h>

#define SIZE 1024
#define REPETITIONS 20

#define BLAS(call) CHECK_EQ(call, CUBLAS_STATUS_SUCCESS)

static cublasHandle_t blas;
static float *a, *b, *c;

static void multiply(void)
{
    const float one = 1, none = 0;
    BLAS(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, a,
                     SIZE, b, SIZE, &none, c, SIZE));
}

TEST(agrees_with_events)
{
    size_t bytes = (size_t)SIZE * SIZE * sizeof *a;
    event_pair pairs[REPETITIONS];
    double theirs = 0;
    if (!gpu_begin())
        SKIP("no GPU here");
    timed_attach();
    cudaStream_t stream = gpu_stream();
    BLAS(cublasCreate(&blas));
    BLAS(cublasSetStream(blas, stream));
    CUDA(cudaMalloc((void **)&a, bytes));
    CUDA(cudaMalloc((void **)&b, bytes));
    CUDA(cudaMalloc((void **)&c, bytes));
    CUDA(cudaMemset(a, 0, bytes));
    CUDA(cudaMemset(b, 0, bytes));
    for (int i = 0; i < 3; i++)
        multiply();
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < REPETITIONS; i++)
        pairs[i] = pair_create();
    gate_close(stream);
    for (int i = 0; i < REPETITIONS; i++) {
        {
            GNOMON_SCOPE_ON("gemm", stream);
            multiply();
        }
        CUDA(cudaEventRecord(pairs[i].begin, stream));
        multiply();
        CUDA(cudaEventRecord(pairs[i].end, stream));
    }
    CHECK(gate_is_closed(stream));
    gate_open();
    CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i < REPETITIONS; i++) {
        theirs += pair_ns(pairs[i]) / REPETITIONS;
        pair_destroy(pairs[i]);
    }
    gnomon_stats s = device_when("gemm", REPETITIONS);
    printf("%.0f ns, by CUDA's events %.0f ns\n",
           (double)s.total_ns / REPETITIONS, theirs);
    CHECK_AGREES((double)s.total_ns / REPETITIONS, theirs);
    BLAS(cublasDestroy(blas));
    gpu_is_well();
}
