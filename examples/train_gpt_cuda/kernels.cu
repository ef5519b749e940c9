/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The kernels of train_gpt_cuda. Plain ones: a thread for each row, column or
 * number.
 *
 * Invariant: one thread computes each sum, in the same order as train_gpt's layers;
 * no atomics. So one seed gives one loss. It differs from the CPU's only by the
 * rounding of fused multiplications and of cuBLAS.
 */
#include "kernels.h"

#define THREADS 128

/* Thread i of n. Counts are checked when the model is made: they fit. */
#define EACH(i, n) \
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); \
    if (i >= (n)) \
    return

#define PUT(kernel, n, stream, ...) \
    kernel<<<((n) + THREADS - 1) / THREADS, THREADS, 0, stream>>>(n, \
                                                                  __VA_ARGS__)

/* ---- Embeddings ----------------------------------------------------------- */

static __global__ void embedding(int count, float *out, const int *tokens,
                                 const float *table, const float *places,
                                 int columns, int time)
{
    EACH(i, count);
    int row = i / columns, j = i % columns;
    out[i] =
        table[tokens[row] * columns + j] + places[row % time * columns + j];
}

void put_embedding(float *out, const int *tokens, const float *table,
                   const float *places, int rows, int columns, int time,
                   cudaStream_t stream)
{
    PUT(embedding, rows * columns, stream, out, tokens, table, places, columns,
        time);
}

/* A thread for each number of the table looks for its token in all rows. */
static __global__ void table_backward(int count, float *dtable,
                                      const float *dout, const int *tokens,
                                      int rows, int columns)
{
    EACH(i, count);
    int token = i / columns, j = i % columns;
    float sum = dtable[i];
    for (int row = 0; row < rows; row++)
        if (tokens[row] == token)
            sum += dout[row * columns + j];
    dtable[i] = sum;
}

static __global__ void places_backward(int count, float *dplaces,
                                       const float *dout, int rows, int columns,
                                       int time)
{
    EACH(i, count);
    int j = i % columns;
    float sum = dplaces[i];
    for (int row = i / columns; row < rows; row += time)
        sum += dout[row * columns + j];
    dplaces[i] = sum;
}

void put_embedding_backward(float *dtable, float *dplaces, const float *dout,
                            const int *tokens, int rows, int columns, int time,
                            int vocabulary, cudaStream_t stream)
{
    PUT(table_backward, vocabulary * columns, stream, dtable, dout, tokens,
        rows, columns);
    PUT(places_backward, time * columns, stream, dplaces, dout, rows, columns,
        time);
}

/* ---- Layer norm ------------------------------------------------------------ */

static __global__ void layernorm(int rows, float *out, float *mean, float *rstd,
                                 const float *in, const float *gain,
                                 const float *bias, int columns)
{
    EACH(i, rows);
    const float *x = in + i * columns;
    float *y = out + i * columns;
    float sum = 0, squares = 0;
    for (int j = 0; j < columns; j++)
        sum += x[j];
    float middle = sum / (float)columns;
    for (int j = 0; j < columns; j++)
        squares += (x[j] - middle) * (x[j] - middle);
    float scale = 1 / sqrtf(squares / (float)columns + 1e-5f);
    for (int j = 0; j < columns; j++)
        y[j] = (x[j] - middle) * scale * gain[j] + bias[j];
    mean[i] = middle;
    rstd[i] = scale;
}

void put_layernorm(float *out, float *mean, float *rstd, const float *in,
                   const float *gain, const float *bias, int rows, int columns,
                   cudaStream_t stream)
{
    PUT(layernorm, rows, stream, out, mean, rstd, in, gain, bias, columns);
}

static __global__ void layernorm_rows(int rows, float *din, const float *dout,
                                      const float *in, const float *mean,
                                      const float *rstd, const float *gain,
                                      int columns)
{
    EACH(i, rows);
    const float *x = in + i * columns;
    const float *dy = dout + i * columns;
    float *dx = din + i * columns;
    float sum = 0, product = 0;
    for (int j = 0; j < columns; j++) {
        sum += gain[j] * dy[j];
        product += gain[j] * dy[j] * (x[j] - mean[i]) * rstd[i];
    }
    sum /= (float)columns;
    product /= (float)columns;
    for (int j = 0; j < columns; j++)
        dx[j] += rstd[i] *
                 (gain[j] * dy[j] - sum - (x[j] - mean[i]) * rstd[i] * product);
}

static __global__ void layernorm_columns(int columns, float *dgain,
                                         float *dbias, const float *dout,
                                         const float *in, const float *mean,
                                         const float *rstd, int rows)
{
    EACH(j, columns);
    float gains = dgain[j], biases = dbias[j];
    for (int i = 0; i < rows; i++) {
        float dy = dout[i * columns + j];
        gains += dy * (in[i * columns + j] - mean[i]) * rstd[i];
        biases += dy;
    }
    dgain[j] = gains;
    dbias[j] = biases;
}

void put_layernorm_backward(float *din, float *dgain, float *dbias,
                            const float *dout, const float *in,
                            const float *mean, const float *rstd,
                            const float *gain, int rows, int columns,
                            cudaStream_t stream)
{
    PUT(layernorm_rows, rows, stream, din, dout, in, mean, rstd, gain, columns);
    PUT(layernorm_columns, columns, stream, dgain, dbias, dout, in, mean, rstd,
        rows);
}

/* ---- GELU ------------------------------------------------------------------- */

#define GELU_SCALE 0.7978845608028654f /* sqrt(2 / pi) */
#define GELU_CUBE 0.044715f

static __device__ float gelu_tanh(float x)
{
    float u = GELU_SCALE * (x + GELU_CUBE * x * x * x);
    return 1 - 2 / (expf(2 * u) + 1);
}

static __global__ void gelu(int count, float *out, const float *in)
{
    EACH(i, count);
    out[i] = 0.5f * in[i] * (1 + gelu_tanh(in[i]));
}

void put_gelu(float *out, const float *in, int count, cudaStream_t stream)
{
    PUT(gelu, count, stream, out, in);
}

static __global__ void gelu_backward(int count, float *d, const float *in)
{
    EACH(i, count);
    float x = in[i];
    float t = gelu_tanh(x);
    float inner = GELU_SCALE * (1 + 3 * GELU_CUBE * x * x);
    d[i] *= 0.5f * (1 + t + x * (1 - t * t) * inner);
}

void put_gelu_backward(float *d, const float *in, int count,
                       cudaStream_t stream)
{
    PUT(gelu_backward, count, stream, d, in);
}

/* ---- Cross-entropy ------------------------------------------------------------ */

static __global__ void cross_entropy(int rows, float *logits, float *losses,
                                     const int *targets, int columns)
{
    EACH(i, rows);
    float *row = logits + i * columns;
    float most = row[0], sum = 0;
    for (int j = 1; j < columns; j++)
        most = row[j] > most ? row[j] : most;
    float goal = row[targets[i]] - most;
    for (int j = 0; j < columns; j++) {
        row[j] = expf(row[j] - most);
        sum += row[j];
    }
    for (int j = 0; j < columns; j++)
        row[j] /= sum;
    losses[i] = logf(sum) - goal;
}

void put_cross_entropy(float *logits, float *losses, const int *targets,
                       int rows, int columns, cudaStream_t stream)
{
    PUT(cross_entropy, rows, stream, logits, losses, targets, columns);
}

static __global__ void cross_entropy_backward(int count, float *probabilities,
                                              const int *targets, int columns,
                                              float scale)
{
    EACH(i, count);
    float p = probabilities[i];
    if (targets[i / columns] == i % columns)
        p -= 1;
    probabilities[i] = p * scale;
}

void put_cross_entropy_backward(float *probabilities, const int *targets,
                                int rows, int columns, cudaStream_t stream)
{
    PUT(cross_entropy_backward, rows * columns, stream, probabilities, targets,
        columns, 1 / (float)rows);
}

/* ---- Products and attention ----------------------------------------------------- */

static __global__ void start(int count, float *out, const float *bias,
                             const float *residual, int columns)
{
    EACH(i, count);
    out[i] = (bias ? bias[i % columns] : 0) + (residual ? residual[i] : 0);
}

void put_start(float *out, const float *bias, const float *residual, int rows,
               int columns, cudaStream_t stream)
{
    PUT(start, rows * columns, stream, out, bias, residual, columns);
}

/* Row t of a square over the tokens 0 .. t; those after it get 0. */
static __global__ void softmax(int rows, float *scores, float scale, int time)
{
    EACH(i, rows);
    float *row = scores + (size_t)i * time;
    int t = i % time;
    float most = row[0], sum = 0;
    for (int s = 1; s <= t; s++)
        most = row[s] > most ? row[s] : most;
    for (int s = 0; s <= t; s++) {
        row[s] = expf(scale * (row[s] - most));
        sum += row[s];
    }
    for (int s = 0; s <= t; s++)
        row[s] /= sum;
    for (int s = t + 1; s < time; s++)
        row[s] = 0;
}

void put_softmax(float *scores, float scale, int squares, int time,
                 cudaStream_t stream)
{
    PUT(softmax, squares * time, stream, scores, scale, time);
}

static __global__ void softmax_backward(int rows, float *d,
                                        const float *weights, float scale,
                                        int time)
{
    EACH(i, rows);
    float *row = d + (size_t)i * time;
    const float *w = weights + (size_t)i * time;
    float sum = 0;
    for (int s = 0; s <= i % time; s++)
        sum += w[s] * row[s];
    for (int s = 0; s < time; s++)
        row[s] = scale * w[s] * (row[s] - sum);
}

void put_softmax_backward(float *d, const float *weights, float scale,
                          int squares, int time, cudaStream_t stream)
{
    PUT(softmax_backward, squares * time, stream, d, weights, scale, time);
}

/* ---- The optimizer --------------------------------------------------------------- */

static __global__ void add_squares(int parts, double *sums,
                                   const float *gradients, int count)
{
    EACH(i, parts);
    double sum = 0;
    for (int k = i; k < count; k += parts)
        sum += (double)gradients[k] * (double)gradients[k];
    sums[i] = sum;
}

/* The factor for gradients, stored after the sums. */
static __global__ void find_scale(int one, double *sums, double most)
{
    EACH(i, one);
    double sum = 0;
    for (int k = 0; k < NORM_PARTS; k++)
        sum += sums[k];
    double norm = sqrt(sum);
    sums[NORM_PARTS + i] = norm > most ? most / norm : 1;
}

static __global__ void scale_all(int count, float *gradients,
                                 const double *scale)
{
    EACH(i, count);
    gradients[i] *= (float)*scale;
}

void put_clip(float *gradients, double *parts, double most, int count,
              cudaStream_t stream)
{
    PUT(add_squares, NORM_PARTS, stream, parts, gradients, count);
    PUT(find_scale, 1, stream, parts, most);
    PUT(scale_all, count, stream, gradients, parts + NORM_PARTS);
}

static __global__ void adamw(int count, float *parameters, float *mean,
                             float *square, const float *gradients,
                             struct adamw_numbers n)
{
    EACH(i, count);
    float g = gradients[i];
    float m = n.beta1 * mean[i] + (1 - n.beta1) * g;
    float s = n.beta2 * square[i] + (1 - n.beta2) * g * g;
    float size = (float)sqrt((double)(s * n.unbias2)) + n.epsilon;
    mean[i] = m;
    square[i] = s;
    parameters[i] = n.keep * parameters[i] - n.rate * m * n.unbias1 / size;
}

void put_adamw(float *parameters, float *mean, float *square,
               const float *gradients, struct adamw_numbers numbers, int count,
               cudaStream_t stream)
{
    PUT(adamw, count, stream, parameters, mean, square, gradients, numbers);
}
