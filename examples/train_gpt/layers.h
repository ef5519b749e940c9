/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What passes.c makes the model's passes of, on the processor. */
#ifndef TRAIN_GPT_LAYERS_H
#define TRAIN_GPT_LAYERS_H

#include "model.h"

/* ---- matmul.c ------------------------------------------------------------ */

/* c += a b on the calling thread. The columns of b and c are contiguous. */
void multiply_add(struct matrix c, struct matrix a, struct matrix b);

/* out = in weight + bias + residual; either of the last two may be NULL.
 * `residual` has the layout of `out`, and both are dense. */
void matmul_forward(struct matrix out, struct matrix in, struct matrix weight,
                    const real *bias, const real *residual);

/* din = dout weight^T; dweight += in^T dout; dbias += column sums of dout,
 * unless NULL. `scratch` holds as many numbers as `weight`. */
void matmul_backward(struct matrix din, real *dweight, real *dbias,
                     struct matrix dout, struct matrix in, struct matrix weight,
                     real *scratch);

/* ---- layers.c ---------------------------------------------------------- */

/* Each row is normalized, then scaled by `gain` and shifted by `bias`. Keeps
 * the row's mean and 1 / standard deviation in `mean` and `rstd`. */
void layernorm_forward(struct matrix out, real *mean, real *rstd,
                       struct matrix in, const real *gain, const real *bias);

/* din += ..., dgain += ..., dbias += ... */
void layernorm_backward(struct matrix din, real *dgain, real *dbias,
                        struct matrix dout, struct matrix in, const real *mean,
                        const real *rstd, const real *gain);

/* out = gelu(in), and in backward d = d gelu'(in); tanh's form. */
void gelu_forward(real *out, const real *in, size_t count);
void gelu_backward(real *d, const real *in, size_t count);

/* Row i of out is row tokens[i] of `table` plus row i % time of `places`. */
void embedding_forward(struct matrix out, const int *tokens, int time,
                       const real *table, const real *places);
void embedding_backward(real *dtable, real *dplaces, struct matrix dout,
                        const int *tokens, int time);

/* Turns logits into probabilities in place; `losses` has room for a number a
 * row. Returns the mean of -log p(target). */
double cross_entropy(struct matrix logits, const int *targets, real *losses);

/* Turns probabilities into the gradient of that mean, in place. */
void cross_entropy_backward(struct matrix probabilities, const int *targets);

/* ---- attention.c ------------------------------------------------------- */

/* What heads need besides qkv: each (sequence, head) has its own part. */
struct heads {
    int batch, time, count, size; /* of sequences, tokens, heads, channels */
    real *weights;                /* batch x count x time x time: softmax */
    real *transposed;             /* batch x count x size x time: scratch */
    real *dweights;               /* as weights: scratch of backward */
};

/* Rows of qkv hold queries, keys, values of a token, each count * size wide. */
void heads_forward(struct matrix out, struct matrix qkv,
                   const struct heads *heads);
void heads_backward(struct matrix dqkv, struct matrix dout, struct matrix qkv,
                    const struct heads *heads);

#endif
