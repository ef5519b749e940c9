/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The model: its parameters, and the memory for what forward keeps for backward. The
 * trainer calls it. The computations are in passes.c.
 *
 * Invariant: this file does not depend on where the arrays of a step are: on a GPU
 * the passes allocate them. Parameters are made and saved in the host's memory.
 */
#include "model.h"

#include <math.h>
#include <stdlib.h>

static void describe(struct model *model)
{
    size_t v = (size_t)model->config.vocabulary;
    size_t t = (size_t)model->config.block;
    size_t c = (size_t)model->config.embedding;
    const struct parameter_info table[PARAMETER_GROUP_COUNT] = {
#define PARAMETER_INFO(name, layered, decays, size) \
    {#name, layered, decays, size, 0, 0},
        PARAMETER_GROUPS(PARAMETER_INFO)
#undef PARAMETER_INFO
    };
    for (int g = 0; g < PARAMETER_GROUP_COUNT; g++) {
        struct parameter_info *info = &model->info[g];
        *info = table[g];
        info->first = model->count;
        info->count = info->size;
        if (info->layered)
            info->count *= (size_t)model->config.layers;
        model->count += info->count;
    }
}

real *model_group(const struct model *model, real *array,
                  enum parameter_group group, int layer)
{
    const struct parameter_info *info = &model->info[group];
    return array + info->first +
           (info->layered ? (size_t)layer * info->size : 0);
}

/* Takes the next `count` numbers; with a NULL base it only counts them. */
static real *take(real *base, size_t *used, size_t count)
{
    real *at = base ? base + *used : NULL;
    *used += count;
    return at;
}

size_t model_lay_out(struct model *model, real *base)
{
    const struct model_config *g = &model->config;
    size_t used = 0, c = (size_t)g->embedding;
    size_t rows = (size_t)model->max_batch * (size_t)g->block;
    size_t squares = rows * (size_t)g->block * (size_t)g->heads;
    size_t widest =
        4 * c > (size_t)g->vocabulary ? 4 * c : (size_t)g->vocabulary;
    for (int l = 0; l <= g->layers; l++) {
        struct layer_state *s = &model->layers[l];
        s->in = take(base, &used, rows * c);
        if (l == g->layers)
            break;
        s->norm1 = take(base, &used, rows * c);
        s->mean1 = take(base, &used, rows);
        s->rstd1 = take(base, &used, rows);
        s->qkv = take(base, &used, rows * 3 * c);
        s->weights = take(base, &used, squares);
        s->heads = take(base, &used, rows * c);
        s->middle = take(base, &used, rows * c);
        s->norm2 = take(base, &used, rows * c);
        s->mean2 = take(base, &used, rows);
        s->rstd2 = take(base, &used, rows);
        s->up = take(base, &used, rows * 4 * c);
        s->gelu = take(base, &used, rows * 4 * c);
    }
    model->norm3 = take(base, &used, rows * c);
    model->mean3 = take(base, &used, rows);
    model->rstd3 = take(base, &used, rows);
    model->logits = take(base, &used, rows * (size_t)g->vocabulary);
    model->losses = take(base, &used, rows);
    model->dstream = take(base, &used, rows * c);
    model->dnarrow = take(base, &used, rows * c);
    model->dwide = take(base, &used, rows * 4 * c);
    model->dweights = take(base, &used, squares);
    model->transposed = take(base, &used, rows * c);
    model->scratch = take(base, &used, c * widest);
    return used;
}

struct model *model_create(struct model_config config, int max_batch)
{
    struct model *model = calloc(1, sizeof *model);
    if (!model)
        return NULL;
    model->config = config;
    model->max_batch = max_batch;
    describe(model);
    model->parameters = calloc(model->count, sizeof(real));
    model->layers = calloc((size_t)config.layers + 1, sizeof *model->layers);
    if (!model->parameters || !model->layers || passes_create(model)) {
        model_free(model);
        return NULL;
    }
    return model;
}

void model_free(struct model *model)
{
    if (!model)
        return;
    passes_free(model);
    free(model->parameters);
    free(model->layers);
    free(model);
}

void model_init(struct model *model, uint64_t seed)
{
    uint64_t state = seed;
    double calm = 1 / sqrt(2.0 * model->config.layers);
    for (int g = 0; g < PARAMETER_GROUP_COUNT; g++) {
        const struct parameter_info *info = &model->info[g];
        real *p = model->parameters + info->first;
        int gain = g == P_norm1_gain || g == P_norm2_gain || g == P_norm3_gain;
        double spread = info->decays || g == P_place_table ? 0.1 : 0;
        /* Weights that add to the residual stream start smaller. */
        if (g == P_out_weight || g == P_down_weight)
            spread *= calm;
        for (size_t i = 0; i < info->count; i++) {
            double radius = sqrt(-2 * log(1 - random_unit(&state)));
            double angle = 6.283185307179586 * random_unit(&state);
            p[i] = (real)(gain ? 1 : spread * radius * cos(angle));
        }
    }
}
