/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The heads of causal self-attention, between the two matrix products that
 * model.c does around them.
 *
 * Invariant: one thread computes a (sequence, head) from its queries to its outputs,
 * and writes only to that head's numbers.
 */
#include "layers.h"

#include <string.h>
#include <tgmath.h>

#include <gnomon.h>

/* A head's channels of part 0, 1, 2 (queries, keys, values) of a sequence. */
static struct matrix head_part(struct matrix qkv, const struct heads *heads,
                               int sequence, int head, int part)
{
    struct matrix m = qkv;
    m.at += (ptrdiff_t)sequence * heads->time * qkv.row_step +
            ((ptrdiff_t)part * heads->count + head) * heads->size;
    m.rows = heads->time;
    m.columns = heads->size;
    return m;
}

static struct matrix square_of(real *all, const struct heads *heads, int index)
{
    ptrdiff_t time = heads->time;
    return matrix_of(all + index * time * time, time, time);
}

static void clear(struct matrix m)
{
    for (ptrdiff_t i = 0; i < m.rows; i++)
        memset(m.at + i * m.row_step, 0, (size_t)m.columns * sizeof *m.at);
}

/* A dense transposed copy, since products want contiguous columns. */
static struct matrix turn(real *at, struct matrix m)
{
    struct matrix t = matrix_of(at, m.columns, m.rows);
    for (ptrdiff_t i = 0; i < m.rows; i++)
        for (ptrdiff_t j = 0; j < m.columns; j++)
            t.at[j * t.row_step + i] = m.at[i * m.row_step + j];
    return t;
}

/* Row t of `scores` over the tokens 0 .. t; those after it get 0. */
static void softmax_causal(struct matrix scores, real scale)
{
    for (ptrdiff_t t = 0; t < scores.rows; t++) {
        real *row = scores.at + t * scores.row_step;
        real most = row[0], sum = 0;
        for (ptrdiff_t s = 1; s <= t; s++)
            most = row[s] > most ? row[s] : most;
        for (ptrdiff_t s = 0; s <= t; s++) {
            row[s] = exp(scale * (row[s] - most));
            sum += row[s];
        }
        for (ptrdiff_t s = 0; s <= t; s++)
            row[s] /= sum;
        for (ptrdiff_t s = t + 1; s < scores.columns; s++)
            row[s] = 0;
    }
}

/* From the gradient of the weights to that of the scores, in place. */
static void softmax_backward(struct matrix d, struct matrix weights, real scale)
{
    for (ptrdiff_t t = 0; t < d.rows; t++) {
        real *row = d.at + t * d.row_step;
        const real *w = weights.at + t * weights.row_step;
        real sum = 0;
        for (ptrdiff_t s = 0; s <= t; s++)
            sum += w[s] * row[s];
        for (ptrdiff_t s = 0; s < d.columns; s++)
            row[s] = scale * w[s] * (row[s] - sum);
    }
}

/* Queries, keys or values, as an operation has them. All pairs of tokens are computed, also
 * those that the causal mask leaves out. */
#define PART_OF(heads) \
    GNOMON_TENSOR(REAL, (heads)->batch, (heads)->count, (heads)->time, \
                  (heads)->size)

/* Of one of the products; backward has four, as the weights are kept. */
static uint64_t product_flops(const struct heads *heads)
{
    const uint64_t all = (uint64_t)heads->batch * (uint64_t)heads->count;
    return 2 * all * (uint64_t)heads->size * (uint64_t)heads->time *
           (uint64_t)heads->time;
}

void heads_forward(struct matrix out, struct matrix qkv,
                   const struct heads *heads)
{
    GNOMON_OP_SCOPE(
        "heads_forward", .operation = "attention",
        GNOMON_INPUTS(PART_OF(heads), PART_OF(heads), PART_OF(heads)));
    int all = heads->batch * heads->count;
    real scale = 1 / sqrt((real)heads->size);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < all; i++) {
        int sequence = i / heads->count, head = i % heads->count;
        struct matrix queries = head_part(qkv, heads, sequence, head, 0);
        struct matrix keys = head_part(qkv, heads, sequence, head, 1);
        struct matrix values = head_part(qkv, heads, sequence, head, 2);
        struct matrix sums = head_part(out, heads, sequence, head, 0);
        struct matrix weights = square_of(heads->weights, heads, i);
        real *scratch =
            heads->transposed + (ptrdiff_t)i * heads->size * heads->time;

        clear(weights);
        multiply_add(weights, queries, turn(scratch, keys));
        softmax_causal(weights, scale);
        clear(sums);
        multiply_add(sums, weights, values);
    }
}

void heads_backward(struct matrix dqkv, struct matrix dout, struct matrix qkv,
                    const struct heads *heads)
{
    GNOMON_OP_SCOPE(
        "heads_backward", .operation = "attention",
        .flags = GNOMON_OP_BACKWARD | GNOMON_OP_FLOPS_GIVEN,
        .flops = 4 * product_flops(heads),
        GNOMON_INPUTS(PART_OF(heads), PART_OF(heads), PART_OF(heads)));
    int all = heads->batch * heads->count;
    real scale = 1 / sqrt((real)heads->size);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < all; i++) {
        int sequence = i / heads->count, head = i % heads->count;
        struct matrix queries = head_part(qkv, heads, sequence, head, 0);
        struct matrix keys = head_part(qkv, heads, sequence, head, 1);
        struct matrix values = head_part(qkv, heads, sequence, head, 2);
        struct matrix dqueries = head_part(dqkv, heads, sequence, head, 0);
        struct matrix dkeys = head_part(dqkv, heads, sequence, head, 1);
        struct matrix dvalues = head_part(dqkv, heads, sequence, head, 2);
        struct matrix dsums = head_part(dout, heads, sequence, head, 0);
        struct matrix weights = square_of(heads->weights, heads, i);
        struct matrix d = square_of(heads->dweights, heads, i);
        real *scratch =
            heads->transposed + (ptrdiff_t)i * heads->size * heads->time;

        clear(dvalues);
        multiply_add(dvalues, matrix_transposed(weights), dsums);
        clear(d);
        multiply_add(d, dsums, turn(scratch, values));
        softmax_backward(d, weights, scale);
        clear(dqueries);
        multiply_add(dqueries, d, keys);
        clear(dkeys);
        multiply_add(dkeys, matrix_transposed(d), queries);
    }
}
