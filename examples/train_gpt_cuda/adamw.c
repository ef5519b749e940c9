/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The optimizer on the GPU. Called by the trainer, once a step; it does not
 * wait for the GPU.
 *
 * Invariant: the moments in `struct adamw` are those of the last adamw_send or
 * adamw_fetch; between them the current ones are on the GPU.
 */
#include "../train_gpt/adamw.h"

#include <math.h>
#include <stdlib.h>

#include <gnomon.h>
#include <gnomon/cuda.h>

#include "gpu.h"
#include "kernels.h"

int adamw_create(struct adamw *optimizer, const struct model *model)
{
    struct adamw fresh = {NULL, NULL, 0.1, 0.9, 0.99, 1e-8, 0};
    *optimizer = fresh;
    optimizer->mean = calloc(model->count, sizeof(real));
    optimizer->square = calloc(model->count, sizeof(real));
    return optimizer->mean && optimizer->square ? 0 : -1;
}

void adamw_free(struct adamw *optimizer)
{
    free(optimizer->mean);
    free(optimizer->square);
    optimizer->mean = NULL;
    optimizer->square = NULL;
}

void clip_gradients(struct model *model, double most)
{
    GNOMON_FUNCTION();
    const struct gpu *gpu = gpu_of(model);
    put_clip(model->gradients, gpu->norm, most, (int)model->count, gpu->stream);
    CUDA(cudaPeekAtLastError());
}

void adamw_step(struct adamw *optimizer, struct model *model, double rate)
{
    GNOMON_FUNCTION();
    const struct gpu *gpu = gpu_of(model);
    double updates = (double)++optimizer->updates;
    struct adamw_numbers numbers = {
        .beta1 = (real)optimizer->beta1,
        .beta2 = (real)optimizer->beta2,
        .unbias1 = (real)(1 / (1 - pow(optimizer->beta1, updates))),
        .unbias2 = (real)(1 / (1 - pow(optimizer->beta2, updates))),
        .epsilon = (real)optimizer->epsilon,
        .rate = (real)rate,
    };
    GNOMON_SCOPE_ON("optimizer", gpu->stream);
    for (int group = 0; group < PARAMETER_GROUP_COUNT; group++) {
        const struct parameter_info *info = &model->info[group];
        numbers.keep = 1;
        if (info->decays)
            numbers.keep = (real)(1 - rate * optimizer->weight_decay);
        put_adamw(gpu->parameters + info->first, gpu->mean + info->first,
                  gpu->square + info->first, model->gradients + info->first,
                  numbers, (int)info->count, gpu->stream);
    }
    CUDA(cudaPeekAtLastError());
}
