/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The layers that are not matrix products: layer norm, GELU, the embeddings,
 * cross-entropy. Called by model.c.
 *
 * Invariant: in forward each thread has its rows. A backward that sums over rows
 * gives each thread its columns, and adds the rows to each in order.
 */
#include "layers.h"

#include <tgmath.h>

#include <gnomon.h>

#define STRIP 16 /* columns that a thread takes at a time */

static ptrdiff_t strip_end(ptrdiff_t first, ptrdiff_t columns)
{
    return first + STRIP < columns ? first + STRIP : columns;
}

void layernorm_forward(struct matrix out, real *mean, real *rstd,
                       struct matrix in, const real *gain, const real *bias)
{
    GNOMON_OP_SCOPE("layernorm_forward", .operation = "layer_norm",
                    GNOMON_INPUTS(GNOMON_TENSOR(REAL, in.rows, in.columns),
                                  GNOMON_TENSOR(REAL, in.columns),
                                  GNOMON_TENSOR(REAL, in.columns)));
    real width = (real)in.columns;
#pragma omp parallel for schedule(static)
    for (ptrdiff_t i = 0; i < in.rows; i++) {
        const real *x = in.at + i * in.row_step;
        real *y = out.at + i * out.row_step;
        real sum = 0, squares = 0;
        for (ptrdiff_t j = 0; j < in.columns; j++)
            sum += x[j];
        real middle = sum / width;
        for (ptrdiff_t j = 0; j < in.columns; j++)
            squares += (x[j] - middle) * (x[j] - middle);
        real scale = 1 / sqrt(squares / width + (real)1e-5);
#pragma omp simd
        for (ptrdiff_t j = 0; j < in.columns; j++)
            y[j] = (x[j] - middle) * scale * gain[j] + bias[j];
        mean[i] = middle;
        rstd[i] = scale;
    }
}

void layernorm_backward(struct matrix din, real *dgain, real *dbias,
                        struct matrix dout, struct matrix in, const real *mean,
                        const real *rstd, const real *gain)
{
    GNOMON_OP_SCOPE("layernorm_backward", .operation = "layer_norm",
                    .flags = GNOMON_OP_BACKWARD,
                    GNOMON_INPUTS(GNOMON_TENSOR(REAL, in.rows, in.columns),
                                  GNOMON_TENSOR(REAL, in.columns),
                                  GNOMON_TENSOR(REAL, in.columns)));
    real width = (real)in.columns;
#pragma omp parallel for schedule(static)
    for (ptrdiff_t i = 0; i < in.rows; i++) {
        const real *x = in.at + i * in.row_step;
        const real *dy = dout.at + i * dout.row_step;
        real *dx = din.at + i * din.row_step;
        real sum = 0, product = 0;
        for (ptrdiff_t j = 0; j < in.columns; j++) {
            sum += gain[j] * dy[j];
            product += gain[j] * dy[j] * (x[j] - mean[i]) * rstd[i];
        }
        sum /= width;
        product /= width;
#pragma omp simd
        for (ptrdiff_t j = 0; j < in.columns; j++)
            dx[j] += rstd[i] * (gain[j] * dy[j] - sum -
                                (x[j] - mean[i]) * rstd[i] * product);
    }
#pragma omp parallel for schedule(static)
    for (ptrdiff_t first = 0; first < in.columns; first += STRIP) {
        ptrdiff_t last = strip_end(first, in.columns);
        for (ptrdiff_t i = 0; i < in.rows; i++) {
            const real *x = in.at + i * in.row_step;
            const real *dy = dout.at + i * dout.row_step;
#pragma omp simd
            for (ptrdiff_t j = first; j < last; j++) {
                dgain[j] += dy[j] * (x[j] - mean[i]) * rstd[i];
                dbias[j] += dy[j];
            }
        }
    }
}

#define GELU_SCALE ((real)0.7978845608028654) /* sqrt(2 / pi) */
#define GELU_CUBE ((real)0.044715)

/* tanh(GELU_SCALE (x + GELU_CUBE x^3)), by one exp: half of tanh's cost. */
static inline real gelu_tanh(real x)
{
    real u = GELU_SCALE * (x + GELU_CUBE * x * x * x);
    return 1 - 2 / (exp(2 * u) + 1);
}

void gelu_forward(real *out, const real *in, size_t count)
{
    GNOMON_OP_SCOPE("gelu_forward", .operation = "gelu",
                    GNOMON_INPUTS(GNOMON_TENSOR(REAL, (int64_t)count)));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        out[i] = (real)0.5 * in[i] * (1 + gelu_tanh(in[i]));
    }
}

void gelu_backward(real *d, const real *in, size_t count)
{
    GNOMON_OP_SCOPE("gelu_backward", .operation = "gelu",
                    .flags = GNOMON_OP_BACKWARD,
                    GNOMON_INPUTS(GNOMON_TENSOR(REAL, (int64_t)count)));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        real x = in[i];
        real t = gelu_tanh(x);
        real inner = GELU_SCALE * (1 + 3 * GELU_CUBE * x * x);
        d[i] *= (real)0.5 * (1 + t + x * (1 - t * t) * inner);
    }
}

void embedding_forward(struct matrix out, const int *tokens, int time,
                       const real *table, const real *places)
{
    GNOMON_FUNCTION();
#pragma omp parallel for schedule(static)
    for (ptrdiff_t i = 0; i < out.rows; i++) {
        const real *token = table + tokens[i] * out.columns;
        const real *place = places + i % time * out.columns;
        for (ptrdiff_t j = 0; j < out.columns; j++)
            out.at[i * out.row_step + j] = token[j] + place[j];
    }
}

void embedding_backward(real *dtable, real *dplaces, struct matrix dout,
                        const int *tokens, int time)
{
    GNOMON_FUNCTION();
#pragma omp parallel for schedule(static)
    for (ptrdiff_t first = 0; first < dout.columns; first += STRIP) {
        ptrdiff_t last = strip_end(first, dout.columns);
        for (ptrdiff_t i = 0; i < dout.rows; i++) {
            const real *dy = dout.at + i * dout.row_step;
            real *token = dtable + tokens[i] * dout.columns;
            real *place = dplaces + i % time * dout.columns;
            for (ptrdiff_t j = first; j < last; j++) {
                token[j] += dy[j];
                place[j] += dy[j];
            }
        }
    }
}

double cross_entropy(struct matrix logits, const int *targets, real *losses)
{
    GNOMON_OP_SCOPE(
        "cross_entropy", .operation = "cross_entropy",
        GNOMON_INPUTS(GNOMON_TENSOR(REAL, logits.rows, logits.columns),
                      GNOMON_TENSOR("int32", logits.rows)));
#pragma omp parallel for schedule(static)
    for (ptrdiff_t i = 0; i < logits.rows; i++) {
        real *row = logits.at + i * logits.row_step;
        real most = row[0], sum = 0;
        for (ptrdiff_t j = 1; j < logits.columns; j++)
            most = row[j] > most ? row[j] : most;
        real goal = row[targets[i]] - most;
        for (ptrdiff_t j = 0; j < logits.columns; j++) {
            row[j] = exp(row[j] - most);
            sum += row[j];
        }
        for (ptrdiff_t j = 0; j < logits.columns; j++)
            row[j] /= sum;
        losses[i] = log(sum) - goal;
    }
    double total = 0;
    for (ptrdiff_t i = 0; i < logits.rows; i++)
        total += (double)losses[i];
    return total / (double)logits.rows;
}

void cross_entropy_backward(struct matrix probabilities, const int *targets)
{
    GNOMON_OP_SCOPE("cross_entropy_backward", .operation = "cross_entropy",
                    .flags = GNOMON_OP_BACKWARD,
                    GNOMON_INPUTS(GNOMON_TENSOR(REAL, probabilities.rows,
                                                probabilities.columns),
                                  GNOMON_TENSOR("int32", probabilities.rows)));
    real scale = 1 / (real)probabilities.rows;
#pragma omp parallel for schedule(static)
    for (ptrdiff_t i = 0; i < probabilities.rows; i++) {
        real *row = probabilities.at + i * probabilities.row_step;
        row[targets[i]] -= 1;
        for (ptrdiff_t j = 0; j < probabilities.columns; j++)
            row[j] *= scale;
    }
}
