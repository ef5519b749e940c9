/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The model's memory on the GPU, and copies to and from it. The model and the
 * optimizer call it.
 *
 * Invariant: everything runs on one stream, so work of a step waits only for the
 * work before it there.
 */
#include "gpu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "../train_gpt/adamw.h"
#include "kernels.h"

void gpu_fail(const char *call, const char *why)
{
    fprintf(stderr, "train_gpt_cuda: %.60s: %s\n", call, why);
    exit(1);
}

void *gpu_take(size_t count, size_t size)
{
    void *at = NULL;
    CUDA(cudaMalloc(&at, count * size));
    CUDA(cudaMemset(at, 0, count * size));
    return at;
}

/* Whether all counts of the kernels fit into an int. */
static int fits(const struct model *model, size_t rows)
{
    size_t wide = 4 * (size_t)model->config.embedding;
    size_t vocabulary = (size_t)model->config.vocabulary;
    size_t most = rows * (wide > vocabulary ? wide : vocabulary);
    if (rows * (size_t)model->config.heads > most)
        most = rows * (size_t)model->config.heads;
    return most < INT_MAX / 2 && model->count < INT_MAX / 2;
}

int passes_create(struct model *model)
{
    struct gpu *gpu = calloc(1, sizeof *gpu);
    size_t rows = (size_t)model->max_batch * (size_t)model->config.block;
    size_t vocabulary = (size_t)model->config.vocabulary;
    if (!gpu)
        return -1;
    model->device = gpu;
    if (!fits(model, rows))
        gpu_fail("the model", "too large for these kernels");
    CUDA(cudaSetDevice(0));
    CUDA(cudaStreamCreateWithFlags(&gpu->stream, cudaStreamNonBlocking));
    BLAS(cublasCreate(&gpu->blas));
    BLAS(cublasSetStream(gpu->blas, gpu->stream));
    BLAS(cublasSetMathMode(gpu->blas, CUBLAS_PEDANTIC_MATH)); /* no TF32 */
    gpu->parameters = gpu_take(model->count, sizeof(real));
    gpu->mean = gpu_take(model->count, sizeof(real));
    gpu->square = gpu_take(model->count, sizeof(real));
    gpu->tokens = gpu_take(rows, sizeof *gpu->tokens);
    gpu->targets = gpu_take(rows, sizeof *gpu->targets);
    gpu->ones = gpu_take(rows, sizeof(real));
    gpu->norm = gpu_take(NORM_PARTS + 1, sizeof *gpu->norm);
    model->gradients = gpu_take(model->count, sizeof(real));
    model->memory = gpu_take(model_lay_out(model, NULL), sizeof(real));
    model_lay_out(model, model->memory);
    gpu->fetched = malloc(rows * vocabulary * sizeof(real));
    if (!gpu->fetched)
        return -1;
    for (size_t i = 0; i < rows; i++)
        gpu->fetched[i] = 1;
    CUDA(cudaMemcpy(gpu->ones, gpu->fetched, rows * sizeof(real),
                    cudaMemcpyHostToDevice));
    /* Work on the default stream ends before that of this stream begins. */
    CUDA(cudaDeviceSynchronize());
    return 0;
}

void passes_free(struct model *model)
{
    struct gpu *gpu = gpu_of(model);
    if (!gpu)
        return;
    free(gpu->fetched);
    CUDA(cudaFree(model->memory));
    CUDA(cudaFree(model->gradients));
    CUDA(cudaFree(gpu->norm));
    CUDA(cudaFree(gpu->ones));
    CUDA(cudaFree(gpu->targets));
    CUDA(cudaFree(gpu->tokens));
    CUDA(cudaFree(gpu->square));
    CUDA(cudaFree(gpu->mean));
    CUDA(cudaFree(gpu->parameters));
    BLAS(cublasDestroy(gpu->blas));
    CUDA(cudaStreamDestroy(gpu->stream));
    free(gpu);
}

void model_clear_gradients(struct model *model)
{
    CUDA(cudaMemsetAsync(model->gradients, 0, model->count * sizeof(real),
                         gpu_of(model)->stream));
}

const real *model_logits(const struct model *model)
{
    struct gpu *gpu = gpu_of(model);
    size_t rows = (size_t)model->batch * (size_t)model->time;
    size_t bytes = rows * (size_t)model->config.vocabulary * sizeof(real);
    CUDA(cudaMemcpyAsync(gpu->fetched, model->logits, bytes,
                         cudaMemcpyDeviceToHost, gpu->stream));
    CUDA(cudaStreamSynchronize(gpu->stream));
    return gpu->fetched;
}

void adamw_send(const struct adamw *optimizer, const struct model *model)
{
    const struct gpu *gpu = gpu_of(model);
    size_t bytes = model->count * sizeof(real);
    CUDA(cudaMemcpyAsync(gpu->parameters, model->parameters, bytes,
                         cudaMemcpyHostToDevice, gpu->stream));
    CUDA(cudaMemcpyAsync(gpu->mean, optimizer->mean, bytes,
                         cudaMemcpyHostToDevice, gpu->stream));
    CUDA(cudaMemcpyAsync(gpu->square, optimizer->square, bytes,
                         cudaMemcpyHostToDevice, gpu->stream));
    CUDA(cudaStreamSynchronize(gpu->stream));
}

void adamw_fetch(const struct adamw *optimizer, const struct model *model)
{
    const struct gpu *gpu = gpu_of(model);
    size_t bytes = model->count * sizeof(real);
    CUDA(cudaMemcpyAsync(model->parameters, gpu->parameters, bytes,
                         cudaMemcpyDeviceToHost, gpu->stream));
    CUDA(cudaMemcpyAsync(optimizer->mean, gpu->mean, bytes,
                         cudaMemcpyDeviceToHost, gpu->stream));
    CUDA(cudaMemcpyAsync(optimizer->square, gpu->square, bytes,
                         cudaMemcpyDeviceToHost, gpu->stream));
    CUDA(cudaStreamSynchronize(gpu->stream));
}
