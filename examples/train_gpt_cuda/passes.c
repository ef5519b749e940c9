/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The two ways through the model's blocks, on the GPU: train_gpt/passes.c with
 * cuBLAS for the products and kernels.cu for the rest, marked alike. The trainer
 * and the sampler call them.
 *
 * Invariant: a pass only puts work into the stream; model_forward then waits for
 * its loss, and nothing else in a step waits.
 */
#include <math.h>
#include <string.h>

#include <gnomon.h>
#include <gnomon/cuda.h>

#include "gpu.h"
#include "kernels.h"

/* What the calls of one pass have in common. */
struct pass {
    const struct model *model;
    const struct gpu *gpu;
    int rows, c, heads, size;
};

static struct pass pass_of(const struct model *m)
{
    struct pass p = {m,
                     gpu_of(m),
                     m->batch * m->time,
                     m->config.embedding,
                     m->config.heads,
                     m->config.embedding / m->config.heads};
    return p;
}

static real *weight_of(const struct pass *p, enum parameter_group g, int l)
{
    return model_group(p->model, p->gpu->parameters, g, l);
}

static real *gradient_of(const struct pass *p, enum parameter_group g, int l)
{
    return model_group(p->model, p->model->gradients, g, l);
}

static struct matrix rows_of(const struct pass *p, real *array, int columns)
{
    return matrix_of(array, p->rows, columns);
}

/* ---- Products ------------------------------------------------------------ */

/* cuBLAS sees our rows as columns: each matrix as its transpose. The product's is
 * that of the factors in the other order. */
static int is_plain(struct matrix m)
{
    return m.column_step == 1 && m.row_step >= m.columns;
}

static cublasOperation_t operation_of(struct matrix m)
{
    return is_plain(m) ? CUBLAS_OP_N : CUBLAS_OP_T;
}

static int step_of(struct matrix m)
{
    return (int)(is_plain(m) ? m.row_step : m.column_step);
}

/* c = a b + beta c, and so for `count` of each, so many numbers apart. */
static void multiply(const struct pass *p, struct matrix c, struct matrix a,
                     struct matrix b, real beta, int count,
                     const long long apart[3])
{
    const real one = 1;
    BLAS(cublasSgemmStridedBatched(
        p->gpu->blas, operation_of(b), operation_of(a), (int)c.columns,
        (int)c.rows, (int)a.columns, &one, b.at, step_of(b), apart[2], a.at,
        step_of(a), apart[1], &beta, c.at, step_of(c), apart[0], count));
}

static const long long alone[3];

/* out = in weight + bias + residual; either of the last two may be NULL. */
static void matmul_forward(const struct pass *p, struct matrix out,
                           struct matrix in, struct matrix weight,
                           const real *bias, const real *residual)
{
    GNOMON_FUNCTION();
    if (bias || residual)
        put_start(out.at, bias, residual, (int)out.rows, (int)out.columns,
                  p->gpu->stream);
    multiply(p, out, in, weight, bias || residual ? 1 : 0, 1, alone);
}

/* din = dout weight^T; dweight += in^T dout; dbias += column sums of dout. */
static void matmul_backward(const struct pass *p, struct matrix din,
                            real *dweight, real *dbias, struct matrix dout,
                            struct matrix in, struct matrix weight)
{
    GNOMON_FUNCTION();
    struct matrix sum = matrix_of(dweight, weight.rows, weight.columns);
    multiply(p, din, dout, matrix_transposed(weight), 0, 1, alone);
    multiply(p, sum, matrix_transposed(in), dout, 1, 1, alone);
    if (dbias)
        multiply(p, matrix_of(dbias, 1, dout.columns),
                 matrix_of(p->gpu->ones, 1, dout.rows), dout, 1, 1, alone);
}

/* ---- Layers --------------------------------------------------------------- */

static void layernorm_forward(const struct pass *p, real *out, real *mean,
                              real *rstd, const real *in, const real *gain,
                              const real *bias)
{
    GNOMON_FUNCTION();
    put_layernorm(out, mean, rstd, in, gain, bias, p->rows, p->c,
                  p->gpu->stream);
}

/* Adds to dstream, and to the gradients of both parameters, from dnarrow. */
static void layernorm_backward(const struct pass *p, enum parameter_group gain,
                               enum parameter_group bias, int l, const real *in,
                               const real *mean, const real *rstd)
{
    GNOMON_FUNCTION();
    put_layernorm_backward(p->model->dstream, gradient_of(p, gain, l),
                           gradient_of(p, bias, l), p->model->dnarrow, in, mean,
                           rstd, weight_of(p, gain, l), p->rows, p->c,
                           p->gpu->stream);
}

/* Channels of part 0, 1, 2 (queries, keys, values) of a sequence's first head;
 * those of the next head are `size` numbers on. */
static struct matrix head_part(const struct pass *p, struct matrix m,
                               int sequence, int part)
{
    m.at += (ptrdiff_t)sequence * p->model->time * m.row_step +
            (ptrdiff_t)part * p->c;
    m.rows = p->model->time;
    m.columns = p->size;
    return m;
}

/* What heads have of `all` in a sequence: a square each. */
static struct matrix square_of(const struct pass *p, real *all, int sequence)
{
    ptrdiff_t time = p->model->time;
    return matrix_of(all + sequence * p->heads * time * time, time, time);
}

static void heads_forward(const struct pass *p, struct matrix out,
                          struct matrix qkv, real *all)
{
    GNOMON_FUNCTION();
    const struct model *m = p->model;
    long long size = p->size, square = (long long)m->time * m->time;
    const long long scores[3] = {square, size, size};
    const long long sums[3] = {size, square, size};
    for (int i = 0; i < m->batch; i++)
        multiply(p, square_of(p, all, i), head_part(p, qkv, i, 0),
                 matrix_transposed(head_part(p, qkv, i, 1)), 0, p->heads,
                 scores);
    put_softmax(all, 1 / sqrtf((real)p->size), m->batch * p->heads, m->time,
                p->gpu->stream);
    for (int i = 0; i < m->batch; i++)
        multiply(p, head_part(p, out, i, 0), square_of(p, all, i),
                 head_part(p, qkv, i, 2), 0, p->heads, sums);
}

static void heads_backward(const struct pass *p, struct matrix dqkv,
                           struct matrix dout, struct matrix qkv, real *all)
{
    GNOMON_FUNCTION();
    const struct model *m = p->model;
    long long size = p->size, square = (long long)m->time * m->time;
    const long long scores[3] = {square, size, size};
    const long long sums[3] = {size, square, size};
    for (int i = 0; i < m->batch; i++) {
        struct matrix weights = square_of(p, all, i);
        struct matrix dsums = head_part(p, dout, i, 0);
        multiply(p, head_part(p, dqkv, i, 2), matrix_transposed(weights), dsums,
                 0, p->heads, sums);
        multiply(p, square_of(p, m->dweights, i), dsums,
                 matrix_transposed(head_part(p, qkv, i, 2)), 0, p->heads,
                 scores);
    }
    put_softmax_backward(m->dweights, all, 1 / sqrtf((real)p->size),
                         m->batch * p->heads, m->time, p->gpu->stream);
    for (int i = 0; i < m->batch; i++) {
        struct matrix d = square_of(p, m->dweights, i);
        multiply(p, head_part(p, dqkv, i, 0), d, head_part(p, qkv, i, 1), 0,
                 p->heads, sums);
        multiply(p, head_part(p, dqkv, i, 1), matrix_transposed(d),
                 head_part(p, qkv, i, 0), 0, p->heads, sums);
    }
}

/* ---- Blocks ---------------------------------------------------------------- */

/* s->middle = s->in + attention(s->norm1) */
static void attention_forward(const struct pass *p, int l)
{
    GNOMON_FUNCTION();
    const struct layer_state *s = &p->model->layers[l];
    struct matrix qkv = rows_of(p, s->qkv, 3 * p->c);
    struct matrix sums = rows_of(p, s->heads, p->c);
    matmul_forward(p, qkv, rows_of(p, s->norm1, p->c),
                   matrix_of(weight_of(p, P_qkv_weight, l), p->c, 3 * p->c),
                   weight_of(p, P_qkv_bias, l), NULL);
    heads_forward(p, sums, qkv, s->weights);
    matmul_forward(p, rows_of(p, s->middle, p->c), sums,
                   matrix_of(weight_of(p, P_out_weight, l), p->c, p->c),
                   weight_of(p, P_out_bias, l), s->in);
}

/* dnarrow = the gradient of s->norm1, from dstream, that of s->middle */
static void attention_backward(const struct pass *p, int l)
{
    GNOMON_FUNCTION();
    const struct model *m = p->model;
    const struct layer_state *s = &m->layers[l];
    struct matrix dqkv = rows_of(p, m->dwide, 3 * p->c);
    struct matrix dnarrow = rows_of(p, m->dnarrow, p->c);
    matmul_backward(p, dnarrow, gradient_of(p, P_out_weight, l),
                    gradient_of(p, P_out_bias, l), rows_of(p, m->dstream, p->c),
                    rows_of(p, s->heads, p->c),
                    matrix_of(weight_of(p, P_out_weight, l), p->c, p->c));
    heads_backward(p, dqkv, dnarrow, rows_of(p, s->qkv, 3 * p->c), s->weights);
    matmul_backward(p, dnarrow, gradient_of(p, P_qkv_weight, l),
                    gradient_of(p, P_qkv_bias, l), dqkv,
                    rows_of(p, s->norm1, p->c),
                    matrix_of(weight_of(p, P_qkv_weight, l), p->c, 3 * p->c));
}

/* out = s->middle + mlp(s->norm2) */
static void mlp_forward(const struct pass *p, int l, real *out)
{
    GNOMON_FUNCTION();
    const struct layer_state *s = &p->model->layers[l];
    matmul_forward(p, rows_of(p, s->up, 4 * p->c), rows_of(p, s->norm2, p->c),
                   matrix_of(weight_of(p, P_up_weight, l), p->c, 4 * p->c),
                   weight_of(p, P_up_bias, l), NULL);
    put_gelu(s->gelu, s->up, p->rows * 4 * p->c, p->gpu->stream);
    matmul_forward(p, rows_of(p, out, p->c), rows_of(p, s->gelu, 4 * p->c),
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
    matmul_backward(p, dup, gradient_of(p, P_down_weight, l),
                    gradient_of(p, P_down_bias, l),
                    rows_of(p, m->dstream, p->c), rows_of(p, s->gelu, 4 * p->c),
                    matrix_of(weight_of(p, P_down_weight, l), 4 * p->c, p->c));
    put_gelu_backward(m->dwide, s->up, p->rows * 4 * p->c, p->gpu->stream);
    matmul_backward(
        p, rows_of(p, m->dnarrow, p->c), gradient_of(p, P_up_weight, l),
        gradient_of(p, P_up_bias, l), dup, rows_of(p, s->norm2, p->c),
        matrix_of(weight_of(p, P_up_weight, l), p->c, 4 * p->c));
}

/* ---- Forward and backward ---------------------------------------------------- */

static void put_forward(const struct pass *p, int has_targets)
{
    const struct model *m = p->model;
    int end = m->config.layers, vocabulary = m->config.vocabulary;
    GNOMON_SCOPE_ON("forward", p->gpu->stream);
    put_embedding(
        m->layers[0].in, p->gpu->tokens, weight_of(p, P_token_table, 0),
        weight_of(p, P_place_table, 0), p->rows, p->c, m->time, p->gpu->stream);
    for (int l = 0; l < end; l++) {
        const struct layer_state *s = &m->layers[l];
        layernorm_forward(p, s->norm1, s->mean1, s->rstd1, s->in,
                          weight_of(p, P_norm1_gain, l),
                          weight_of(p, P_norm1_bias, l));
        attention_forward(p, l);
        layernorm_forward(p, s->norm2, s->mean2, s->rstd2, s->middle,
                          weight_of(p, P_norm2_gain, l),
                          weight_of(p, P_norm2_bias, l));
        mlp_forward(p, l, s[1].in);
    }
    layernorm_forward(p, m->norm3, m->mean3, m->rstd3, m->layers[end].in,
                      weight_of(p, P_norm3_gain, 0),
                      weight_of(p, P_norm3_bias, 0));
    matmul_forward(p, rows_of(p, m->logits, vocabulary),
                   rows_of(p, m->norm3, p->c),
                   matrix_of(weight_of(p, P_head_weight, 0), p->c, vocabulary),
                   NULL, NULL);
    if (has_targets)
        put_cross_entropy(m->logits, m->losses, p->gpu->targets, p->rows,
                          vocabulary, p->gpu->stream);
    CUDA(cudaPeekAtLastError());
}

static double mean_loss(const struct pass *p)
{
    real *losses = p->gpu->fetched;
    double total = 0;
    CUDA(cudaMemcpyAsync(losses, p->model->losses,
                         (size_t)p->rows * sizeof(real), cudaMemcpyDeviceToHost,
                         p->gpu->stream));
    CUDA(cudaStreamSynchronize(p->gpu->stream));
    for (int i = 0; i < p->rows; i++)
        total += (double)losses[i];
    return total / p->rows;
}

double model_forward(struct model *m, const int *tokens, const int *targets,
                     int batch, int time)
{
    GNOMON_FUNCTION();
    m->batch = batch;
    m->time = time;
    struct pass pass = pass_of(m);
    size_t bytes = (size_t)pass.rows * sizeof *tokens;
    CUDA(cudaMemcpyAsync(pass.gpu->tokens, tokens, bytes,
                         cudaMemcpyHostToDevice, pass.gpu->stream));
    if (targets)
        CUDA(cudaMemcpyAsync(pass.gpu->targets, targets, bytes,
                             cudaMemcpyHostToDevice, pass.gpu->stream));
    put_forward(&pass, targets != NULL);
    return targets ? mean_loss(&pass) : 0;
}

/* Tokens and targets are still where forward put them. */
void model_backward(struct model *m, const int *tokens, const int *targets)
{
    GNOMON_FUNCTION();
    struct pass pass = pass_of(m);
    const struct pass *p = &pass;
    int vocabulary = m->config.vocabulary;
    (void)tokens;
    (void)targets;
    GNOMON_SCOPE_ON("backward", p->gpu->stream);
    put_cross_entropy_backward(m->logits, p->gpu->targets, p->rows, vocabulary,
                               p->gpu->stream);
    matmul_backward(
        p, rows_of(p, m->dnarrow, p->c), gradient_of(p, P_head_weight, 0), NULL,
        rows_of(p, m->logits, vocabulary), rows_of(p, m->norm3, p->c),
        matrix_of(weight_of(p, P_head_weight, 0), p->c, vocabulary));
    CUDA(cudaMemsetAsync(m->dstream, 0, (size_t)(p->rows * p->c) * sizeof(real),
                         p->gpu->stream));
    layernorm_backward(p, P_norm3_gain, P_norm3_bias, 0,
                       m->layers[m->config.layers].in, m->mean3, m->rstd3);
    for (int l = m->config.layers - 1; l >= 0; l--) {
        const struct layer_state *s = &m->layers[l];
        mlp_backward(p, l);
        layernorm_backward(p, P_norm2_gain, P_norm2_bias, l, s->middle,
                           s->mean2, s->rstd2);
        attention_backward(p, l);
        layernorm_backward(p, P_norm1_gain, P_norm1_bias, l, s->in, s->mean1,
                           s->rstd1);
    }
    put_embedding_backward(gradient_of(p, P_token_table, 0),
                           gradient_of(p, P_place_table, 0), m->dstream,
                           p->gpu->tokens, p->rows, p->c, m->time, vocabulary,
                           p->gpu->stream);
    CUDA(cudaPeekAtLastError());
}
