/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A character-level GPT in plain C: token and position embeddings, blocks of
 * causal self-attention and a GELU MLP with layer norms before each, a head,
 * cross-entropy. Forward and backward are written by hand.
 *
 * One seed gives one loss on any number of threads: threads share out whole
 * outputs, and each output is one sum in one fixed order.
 */
#ifndef TRAIN_GPT_MODEL_H
#define TRAIN_GPT_MODEL_H

#include <stddef.h>
#include <stdint.h>

/* The tests of gradients compile the model in double. */
#ifdef TRAIN_GPT_DOUBLE
typedef double real;
#define REAL "float64"
#else
typedef float real;
#define REAL "float32"
#endif

/* ---- Matrices ------------------------------------------------------------ */

/* A view of an array as a matrix, which it does not own; steps are in elements. */
struct matrix {
    real *at;
    ptrdiff_t rows, columns;
    ptrdiff_t row_step, column_step;
};

static inline struct matrix matrix_of(real *at, ptrdiff_t rows,
                                      ptrdiff_t columns)
{
    struct matrix m = {at, rows, columns, columns, 1};
    return m;
}

static inline struct matrix matrix_transposed(struct matrix m)
{
    struct matrix t = {m.at, m.columns, m.rows, m.column_step, m.row_step};
    return t;
}

/* ---- The model (model.c) ------------------------------------------------- */

struct model_config {
    int vocabulary, block, layers, heads, embedding;
};

/* Each group of parameters: name, whether every layer has one, whether weight
 * decay applies, and how many numbers it has, in v (vocabulary), t (block) and
 * c (embedding). */
#define PARAMETER_GROUPS(X) \
    X(token_table, 0, 1, (v * c)) \
    X(place_table, 0, 0, (t * c)) \
    X(norm1_gain, 1, 0, c) \
    X(norm1_bias, 1, 0, c) \
    X(qkv_weight, 1, 1, c * 3 * c) \
    X(qkv_bias, 1, 0, 3 * c) \
    X(out_weight, 1, 1, (c * c)) \
    X(out_bias, 1, 0, c) \
    X(norm2_gain, 1, 0, c) \
    X(norm2_bias, 1, 0, c) \
    X(up_weight, 1, 1, c * 4 * c) \
    X(up_bias, 1, 0, 4 * c) \
    X(down_weight, 1, 1, 4 * c * c) \
    X(down_bias, 1, 0, c) \
    X(norm3_gain, 0, 0, c) \
    X(norm3_bias, 0, 0, c) \
    X(head_weight, 0, 1, (c * v))

enum parameter_group {
#define PARAMETER_ENUM(name, layered, decays, size) P_##name,
    PARAMETER_GROUPS(PARAMETER_ENUM) PARAMETER_GROUP_COUNT
#undef PARAMETER_ENUM
};

struct parameter_info {
    const char *name;
    int layered, decays;
    size_t size;  /* of one layer's, where layered */
    size_t count; /* of all layers' */
    size_t first; /* where it begins in a `struct model`'s arrays */
};

/* What one layer keeps from forward for backward. */
struct layer_state {
    real *in, *norm1, *mean1, *rstd1, *qkv, *weights, *heads;
    real *middle, *norm2, *mean2, *rstd2, *up, *gelu;
};

struct model {
    struct model_config config;
    int max_batch;
    int batch, time; /* of the last forward */
    struct parameter_info info[PARAMETER_GROUP_COUNT];
    size_t count; /* of parameters */
    real *parameters, *gradients;
    struct layer_state *layers; /* one more than layers: its `in` is the end */
    real *norm3, *mean3, *rstd3, *logits, *losses;
    real *dstream, *dnarrow, *dwide, *dweights, *transposed, *scratch;
    real
        *memory; /* that all of the above but parameters and gradients lie in */
    void *device; /* for passes that run on a device */
};

/* NULL: out of memory. */
struct model *model_create(struct model_config config, int max_batch);
void model_free(struct model *model);
void model_init(struct model *model, uint64_t seed);

/* Where a group, of a layer if it is layered, begins in one of the arrays. */
real *model_group(const struct model *model, real *array,
                  enum parameter_group group, int layer);

/* Gives every array of a step its place in `base`; returns how many numbers they
 * need. With a NULL base it only counts. */
size_t model_lay_out(struct model *model, real *base);

/* ---- Its passes (passes.c; another file for another device) -------------- */

/* Allocates gradients and everything that model_lay_out places, on the CPU or the
 * device. -1: no memory. Free the model in any case, also if this was not called. */
int passes_create(struct model *model);
void passes_free(struct model *model);

/* `batch` rows of `time` tokens. Leaves probabilities in `logits` and returns
 * the mean loss; with NULL targets leaves logits and returns 0. */
double model_forward(struct model *model, const int *tokens, const int *targets,
                     int batch, int time);

/* Adds to `gradients` those of the last forward's loss, whose tokens and
 * targets are given again. */
void model_backward(struct model *model, const int *tokens, const int *targets);
void model_clear_gradients(struct model *model);

/* The result of the last forward, readable by the process; valid until the next. */
const real *model_logits(const struct model *model);

/* ---- Random numbers ------------------------------------------------------ */

/* SplitMix64: any seed works, and each call changes it. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* In [0, 1). */
static inline double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif
