/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The two ways through the model's blocks, on the processor. The trainer and the
 * sampler call them.
 *
 * Invariant: all that a step touches is allocated once, in passes_create.
 * Backward only adds to gradients; the caller clears them first.
 */
#include "layers.h"

#include <stdlib.h>
#include <string.h>

#include <gnomon.h>

int passes_create(struct model *model)
{
    model->gradients = calloc(model->count, sizeof(real));
    model->memory = calloc(model_lay_out(model, NULL), sizeof(real));
    if (!model->gradients || !model->memory)
        return -1;
    model_lay_out(model, model->memory);
    return 0;
}

void passes_free(struct model *model)
{
    free(model->gradients);
    free(model->memory);
}

void model_clear_gradients(struct model *model)
{
    memset(model->gradients, 0, model->count * sizeof(real));
}

const real *model_logits(const struct model *model)
{
    return model->logits;
}

/* ---- Forward and backward ------------------------------------------------ */

/* What the calls of one pass have in common. */
struct pass {
    const struct model *model;
    ptrdiff_t rows, c;
};

static real *weight_of(const struct pass *pass, enum parameter_group g, int l)
{
    return model_group(pass->model, pass->model->parameters, g, l);
}

static real *gradient_of(const struct pass *pass, enum parameter_group g, int l)
{
    return model_group(pass->model, pass->model->gradients, g, l);
}

/* `array` as rows of `columns` numbers. */
static struct matrix rows_of(const struct pass *pass, real *array,
                             ptrdiff_t columns)
{
    return matrix_of(array, pass->rows, columns);
}

static struct heads heads_of(const struct model *model,
                             const struct layer_state *s)
{
    struct heads heads = {
        model->batch,        model->time,
        model->config.heads, model->config.embedding / model->config.heads,
        s->weights,          model->transposed,
        model->dweights,
    };
    return heads;
}

/* s->middle = s->in + attention(s->norm1) */
static void attention_forward(const struct pass *p, int l)
{
    GNOMON_FUNCTION();
    const struct layer_state *s = &p->model->layers[l];
    struct heads heads = heads_of(p->model, s);
    struct matrix qkv = rows_of(p, s->qkv, 3 * p->c);
    struct matrix sums = rows_of(p, s->heads, p->c);
    matmul_forward(qkv, rows_of(p, s->norm1, p->c),
                   matrix_of(weight_of(p, P_qkv_weight, l), p->c, 3 * p->c),
                   weight_of(p, P_qkv_bias, l), NULL);
    heads_forward(sums, qkv, &heads);
    matmul_forward(rows_of(p, s->middle, p->c), sums,
                   matrix_of(weight_of(p, P_out_weight, l), p->c, p->c),
                   weight_of(p, P_out_bias, l), s->in);
}

/* dnarrow = the gradient of s->norm1, from dstream, that of s->middle */
static void attention_backward(const struct pass *p, int l)
{
    GNOMON_FUNCTION();
    const struct model *m = p->model;
    const struct layer_state *s = &m->layers[l];
    struct heads heads = heads_of(m, s);
    struct matrix dqkv = rows_of(p, m->dwide, 3 * p->c);
    struct matrix dnarrow = rows_of(p, m->dnarrow, p->c);
    matmul_backward(
        dnarrow, gradient_of(p, P_out_weight, l), gradient_of(p, P_out_bias, l),
        rows_of(p, m->dstream, p->c), rows_of(p, s->heads, p->c),
        matrix_of(weight_of(p, P_out_weight, l), p->c, p->c), m->scratch);
    heads_backward(dqkv, dnarrow, rows_of(p, s->qkv, 3 * p->c), &heads);
    matmul_backward(
        dnarrow, gradient_of(p, P_qkv_weight, l), gradient_of(p, P_qkv_bias, l),
        dqkv, rows_of(p, s->norm1, p->c),
        matrix_of(weight_of(p, P_qkv_weight, l), p->c, 3 * p->c), m->scratch);
}

/* out = s->middle + mlp(s->norm2) */
static void mlp_forward(const struct pass *p, int l, real *out)
{
    GNOMON_FUNCTION();
    const struct layer_state *s = &p->model->layers[l];
    struct matrix up = rows_of(p, s->up, 4 * p->c);
    matmul_forward(up, rows_of(p, s->norm2, p->c),
                   matrix_of(weight_of(p, P_up_weight, l), p->c, 4 * p->c),
                   weight_of(p, P_up_bias, l), NULL);
    gelu_forward(s->gelu, s->up, (size_t)(p->rows * 4 * p->c));
    matmul_forward(rows_of(p, out, p->c), rows_of(p, s->gelu, 4 * p->c),
                   matrix_of(weight_of(p, P_down_weight, l), 4 * p->c, p->c),
                   weight_of(p, P_down_bias, l), s->middle);
}

/* dnarrow = the gradient of s->norm2, from dstream, that of the output */
static void mlp_backward(const struct pass *p, int l)
{
    GNOMON_FUNCTION();
    const struct model *m = p->model;
    const struct layer_state *s = &m->layers[l];
    struct matrix dup = rows_of(p, m->dwide, 4 * p->c);
    matmul_backward(
        dup, gradient_of(p, P_down_weight, l), gradient_of(p, P_down_bias, l),
        rows_of(p, m->dstream, p->c), rows_of(p, s->gelu, 4 * p->c),
        matrix_of(weight_of(p, P_down_weight, l), 4 * p->c, p->c), m->scratch);
    gelu_backward(m->dwide, s->up, (size_t)(p->rows * 4 * p->c));
    matmul_backward(
        rows_of(p, m->dnarrow, p->c), gradient_of(p, P_up_weight, l),
        gradient_of(p, P_up_bias, l), dup, rows_of(p, s->norm2, p->c),
        matrix_of(weight_of(p, P_up_weight, l), p->c, 4 * p->c), m->scratch);
}

double model_forward(struct model *m, const int *tokens, const int *targets,
                     int batch, int time)
{
    GNOMON_FUNCTION();
    struct pass pass = {m, (ptrdiff_t)batch * time, m->config.embedding};
    const struct pass *p = &pass;
    int end = m->config.layers;
    m->batch = batch;
    m->time = time;
    embedding_forward(rows_of(p, m->layers[0].in, p->c), tokens, time,
                      weight_of(p, P_token_table, 0),
                      weight_of(p, P_place_table, 0));
    for (int l = 0; l < end; l++) {
        const struct layer_state *s = &m->layers[l];
        layernorm_forward(rows_of(p, s->norm1, p->c), s->mean1, s->rstd1,
                          rows_of(p, s->in, p->c),
                          weight_of(p, P_norm1_gain, l),
                          weight_of(p, P_norm1_bias, l));
        attention_forward(p, l);
        layernorm_forward(rows_of(p, s->norm2, p->c), s->mean2, s->rstd2,
                          rows_of(p, s->middle, p->c),
                          weight_of(p, P_norm2_gain, l),
                          weight_of(p, P_norm2_bias, l));
        mlp_forward(p, l, s[1].in);
    }
    layernorm_forward(rows_of(p, m->norm3, p->c), m->mean3, m->rstd3,
                      rows_of(p, m->layers[end].in, p->c),
                      weight_of(p, P_norm3_gain, 0),
                      weight_of(p, P_norm3_bias, 0));
    struct matrix logits = rows_of(p, m->logits, m->config.vocabulary);
    matmul_forward(
        logits, rows_of(p, m->norm3, p->c),
        matrix_of(weight_of(p, P_head_weight, 0), p->c, m->config.vocabulary),
        NULL, NULL);
    return targets ? cross_entropy(logits, targets, m->losses) : 0;
}

void model_backward(struct model *m, const int *tokens, const int *targets)
{
    GNOMON_FUNCTION();
    struct pass pass = {m, (ptrdiff_t)m->batch * m->time, m->config.embedding};
    const struct pass *p = &pass;
    struct matrix dstream = rows_of(p, m->dstream, p->c);
    struct matrix dnarrow = rows_of(p, m->dnarrow, p->c);
    struct matrix logits = rows_of(p, m->logits, m->config.vocabulary);
    cross_entropy_backward(logits, targets);
    matmul_backward(
        dnarrow, gradient_of(p, P_head_weight, 0), NULL, logits,
        rows_of(p, m->norm3, p->c),
        matrix_of(weight_of(p, P_head_weight, 0), p->c, m->config.vocabulary),
        m->scratch);
    memset(m->dstream, 0, (size_t)(p->rows * p->c) * sizeof(real));
    layernorm_backward(dstream, gradient_of(p, P_norm3_gain, 0),
                       gradient_of(p, P_norm3_bias, 0), dnarrow,
                       rows_of(p, m->layers[m->config.layers].in, p->c),
                       m->mean3, m->rstd3, weight_of(p, P_norm3_gain, 0));
    for (int l = m->config.layers - 1; l >= 0; l--) {
        const struct layer_state *s = &m->layers[l];
        mlp_backward(p, l);
        layernorm_backward(dstream, gradient_of(p, P_norm2_gain, l),
                           gradient_of(p, P_norm2_bias, l), dnarrow,
                           rows_of(p, s->middle, p->c), s->mean2, s->rstd2,
                           weight_of(p, P_norm2_gain, l));
        attention_backward(p, l);
        layernorm_backward(dstream, gradient_of(p, P_norm1_gain, l),
                           gradient_of(p, P_norm1_bias, l), dnarrow,
                           rows_of(p, s->in, p->c), s->mean1, s->rstd1,
                           weight_of(p, P_norm1_gain, l));
    }
    embedding_backward(gradient_of(p, P_token_table, 0),
                       gradient_of(p, P_place_table, 0), dstream, tokens,
                       m->time);
}
