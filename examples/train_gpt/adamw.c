/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The optimizer. Called by the trainer, once a step.
 *
 * Invariant: the norm is one sum on one thread, in double, in the order of the
 * parameters; the update of a parameter uses no other one.
 */
#include "adamw.h"

#include <math.h>
#include <stdlib.h>

#include <gnomon.h>

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
    double sum = 0;
    for (size_t i = 0; i < model->count; i++)
        sum += (double)model->gradients[i] * (double)model->gradients[i];
    double norm = sqrt(sum);
    if (norm > most) {
        real scale = (real)(most / norm);
        for (size_t i = 0; i < model->count; i++)
            model->gradients[i] *= scale;
    }
}

void adamw_step(struct adamw *optimizer, struct model *model, double rate)
{
    GNOMON_OP_SCOPE("adamw_step", .operation = "adamw",
                    GNOMON_INPUTS(GNOMON_TENSOR(REAL, (int64_t)model->count)));
    double updates = (double)++optimizer->updates;
    real beta1 = (real)optimizer->beta1, beta2 = (real)optimizer->beta2;
    real unbias1 = (real)(1 / (1 - pow(optimizer->beta1, updates)));
    real unbias2 = (real)(1 / (1 - pow(optimizer->beta2, updates)));
    real epsilon = (real)optimizer->epsilon, step = (real)rate;

    for (int group = 0; group < PARAMETER_GROUP_COUNT; group++) {
        const struct parameter_info *info = &model->info[group];
        real keep = 1;
        if (info->decays)
            keep = (real)(1 - rate * optimizer->weight_decay);
        real *p = model->parameters + info->first;
        const real *g = model->gradients + info->first;
        real *m = optimizer->mean + info->first;
        real *s = optimizer->square + info->first;
        for (size_t i = 0; i < info->count; i++) {
            m[i] = beta1 * m[i] + (1 - beta1) * g[i];
            s[i] = beta2 * s[i] + (1 - beta2) * g[i] * g[i];
            real size = (real)sqrt((double)(s[i] * unbias2)) + epsilon;
            p[i] = keep * p[i] - step * m[i] * unbias1 / size;
        }
    }
}

/* Steps are made on the device that has the parameters and moments. */
void adamw_send(const struct adamw *optimizer, const struct model *model)
{
    (void)optimizer;
    (void)model;
}

void adamw_fetch(const struct adamw *optimizer, const struct model *model)
{
    (void)optimizer;
    (void)model;
}
