/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every gradient against finite differences: each layer by itself, then each
 * group of the whole model's parameters. The model is compiled in double, where
 * a central difference of 1e-5 is right to about 1e-9; 1e-6 is asked for. Sizes
 * are odd, so that whole tiles and what is left of them both take part.
 */
#include <math.h>

#include "../layers.h"
#include "test.h"

#define TOLERANCE 1e-6
#define NUDGE 1e-5

typedef double loss_function(void);

/* The largest error of `gradient`, relative to its elements and, for tiny ones,
 * to a hundredth of the largest. Long arrays are sampled. */
static double worst_error(loss_function *loss, real *x, const real *gradient,
                          size_t count)
{
    double worst = 0, largest = 1e-9;
    size_t stride = count / 300 + 1;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(gradient[i]));
    for (size_t i = 0; i < count; i += stride) {
        real old = x[i];
        x[i] = old + NUDGE;
        double above = loss();
        x[i] = old - NUDGE;
        double below = loss();
        x[i] = old;
        double slope = (above - below) / (2 * NUDGE);
        double size = fabs(slope) + fabs(gradient[i]) + largest / 100;
        worst = fmax(worst, fabs(slope - gradient[i]) / size);
    }
    return worst;
}

static void check_gradient(const char *what, loss_function *loss, real *x,
                           const real *gradient, size_t count)
{
    double error = worst_error(loss, x, gradient, count);
    if (!CHECK(error < TOLERANCE))
        fprintf(stderr, "    %s: relative error %g\n", what, error);
}

static uint64_t state = 7;

static void fill(real *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = 2 * random_unit(&state) - 1;
}

#define ROWS 21
#define IN 11
#define OUT 19
#define ROOM 4096

/* The layer under test, and the weights that make its output one number. */
static real x[ROOM], y[ROOM], w[ROOM], a[ROOM], b[ROOM], residual[ROOM];
static real dx[ROOM], da[ROOM], db[ROOM], scratch[ROOM];

/* Fresh random inputs, no gradients. */
static void refill(void)
{
    fill(x, ROOM);
    fill(w, ROOM);
    fill(a, ROOM);
    fill(b, ROOM);
    fill(residual, ROOM);
    memset(dx, 0, sizeof dx);
    memset(da, 0, sizeof da);
    memset(db, 0, sizeof db);
}

static double weighed(size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += w[i] * y[i];
    return sum;
}

/* ---- Layers -------------------------------------------------------------- */

static double matmul_loss(void)
{
    matmul_forward(matrix_of(y, ROWS, OUT), matrix_of(x, ROWS, IN),
                   matrix_of(a, IN, OUT), b, residual);
    return weighed(ROWS * OUT);
}

static void run_matmul(void)
{
    refill();
    matmul_loss();
    matmul_backward(matrix_of(dx, ROWS, IN), da, db, matrix_of(w, ROWS, OUT),
                    matrix_of(x, ROWS, IN), matrix_of(a, IN, OUT), scratch);
}

TEST(matmul)
{
    run_matmul();
    check_gradient("input", matmul_loss, x, dx, ROWS * IN);
    check_gradient("weight", matmul_loss, a, da, IN * OUT);
    check_gradient("bias", matmul_loss, b, db, OUT);
    check_gradient("residual", matmul_loss, residual, w, ROWS * OUT);
}

TEST(matmul_is_the_product)
{
    run_matmul();
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < OUT; j++) {
            double sum = b[j] + residual[i * OUT + j];
            for (int k = 0; k < IN; k++)
                sum += x[i * IN + k] * a[k * OUT + j];
            CHECK(fabs(sum - y[i * OUT + j]) < 1e-12);
        }
}

static real mean[ROWS], rstd[ROWS];

static double layernorm_loss(void)
{
    layernorm_forward(matrix_of(y, ROWS, OUT), mean, rstd,
                      matrix_of(x, ROWS, OUT), a, b);
    return weighed(ROWS * OUT);
}

TEST(layernorm)
{
    refill();
    layernorm_loss();
    layernorm_backward(matrix_of(dx, ROWS, OUT), da, db,
                       matrix_of(w, ROWS, OUT), matrix_of(x, ROWS, OUT), mean,
                       rstd, a);
    check_gradient("input", layernorm_loss, x, dx, ROWS * OUT);
    check_gradient("gain", layernorm_loss, a, da, OUT);
    check_gradient("bias", layernorm_loss, b, db, OUT);
}

static double gelu_loss(void)
{
    gelu_forward(y, x, OUT);
    return weighed(OUT);
}

TEST(gelu)
{
    refill();
    for (int i = 0; i < OUT; i++)
        x[i] *= 4;
    memcpy(dx, w, sizeof dx);
    gelu_backward(dx, x, OUT);
    check_gradient("input", gelu_loss, x, dx, OUT);
}

/* Far out it is 0 or x, not NaN. */
TEST(gelu_at_the_ends)
{
    const real in[2] = {-1000, 1000};
    gelu_forward(y, in, 2);
    CHECK(fabs(y[0]) < 1e-12);
    CHECK(fabs(y[1] - 1000) < 1e-9);
    dx[0] = dx[1] = 1;
    gelu_backward(dx, in, 2);
    CHECK(isfinite(dx[0]) && isfinite(dx[1]));
}

static const int tokens[6] = {2, 0, 2, 1, 3, 3};

static double embedding_loss(void)
{
    embedding_forward(matrix_of(y, 6, OUT), tokens, 3, a, b);
    return weighed(6 * OUT);
}

TEST(embedding)
{
    refill();
    embedding_backward(da, db, matrix_of(w, 6, OUT), tokens, 3);
    check_gradient("tokens", embedding_loss, a, da, 4 * OUT);
    check_gradient("places", embedding_loss, b, db, 3 * OUT);
}

static double entropy_loss(void)
{
    memcpy(y, x, sizeof y);
    return cross_entropy(matrix_of(y, 6, OUT), tokens, scratch);
}

TEST(cross_entropy)
{
    refill();
    entropy_loss();
    cross_entropy_backward(matrix_of(y, 6, OUT), tokens);
    memcpy(dx, y, sizeof dx);
    check_gradient("logits", entropy_loss, x, dx, 6 * OUT);
}

#define BATCH 2
#define TIME 9
#define HEADS 2
#define SIZE 5
#define WIDE (HEADS * SIZE)

static const struct heads heads = {BATCH, TIME, HEADS, SIZE, a, b, residual};

static double heads_loss(void)
{
    heads_forward(matrix_of(y, BATCH * TIME, WIDE),
                  matrix_of(x, BATCH * TIME, 3 * WIDE), &heads);
    return weighed(BATCH * TIME * WIDE);
}

TEST(attention)
{
    refill();
    heads_loss();
    heads_backward(matrix_of(dx, BATCH * TIME, 3 * WIDE),
                   matrix_of(w, BATCH * TIME, WIDE),
                   matrix_of(x, BATCH * TIME, 3 * WIDE), &heads);
    check_gradient("queries, keys, values", heads_loss, x, dx,
                   BATCH * TIME * 3 * WIDE);
}

TEST(attention_sees_no_future)
{
    real before[WIDE];
    refill();
    heads_loss();
    memcpy(before, y + 4 * WIDE, sizeof before);
    for (int i = 5 * 3 * WIDE; i < TIME * 3 * WIDE; i++)
        x[i] += 1;
    heads_loss();
    CHECK(memcmp(before, y + 4 * WIDE, sizeof before) == 0);
    CHECK(memcmp(before, y + 5 * WIDE, sizeof before) != 0);
}

/* ---- The whole model ----------------------------------------------------- */

#define WINDOWS 3
#define BLOCK 7

static struct model *model;
static int inputs[WINDOWS * BLOCK], targets[WINDOWS * BLOCK];

static double model_loss(void)
{
    return model_forward(model, inputs, targets, WINDOWS, BLOCK);
}

static int make_model(void)
{
    struct model_config config = {13, BLOCK, 2, 3, 12};
    model = model_create(config, WINDOWS);
    if (!CHECK(model != NULL))
        return 0;
    model_init(model, 3);
    /* Biases and gains away from 0 and 1, where errors could hide. */
    for (size_t i = 0; i < model->count; i++)
        model->parameters[i] += 0.2 * (random_unit(&state) - 0.5);
    for (int i = 0; i < WINDOWS * BLOCK; i++) {
        inputs[i] = (int)(random_next(&state) % 13);
        targets[i] = (int)(random_next(&state) % 13);
    }
    model_loss();
    model_backward(model, inputs, targets);
    return 1;
}

TEST(model)
{
    if (!make_model())
        return;
    for (int g = 0; g < PARAMETER_GROUP_COUNT; g++) {
        const struct parameter_info *info = &model->info[g];
        check_gradient(info->name, model_loss, model->parameters + info->first,
                       model->gradients + info->first, info->count);
    }
    model_free(model);
}

TEST(gradients_add_up)
{
    if (!make_model())
        return;
    real *gradient = model_group(model, model->gradients, P_qkv_weight, 1);
    double once = gradient[0];
    model_loss();
    model_backward(model, inputs, targets);
    CHECK(fabs(once) > 1e-9 && fabs(gradient[0] - 2 * once) < 1e-12);
    model_free(model);
}

/* The check itself: a gradient that is a thousandth wrong in one element, or
 * that a layer forgot, does not pass. */
TEST(wrong_gradient_is_found)
{
    run_matmul();
    da[5] *= 1.001;
    CHECK(worst_error(matmul_loss, a, da, IN * OUT) > 10 * TOLERANCE);
    memset(db, 0, sizeof db);
    CHECK(worst_error(matmul_loss, b, db, OUT) > 10 * TOLERANCE);
    if (!make_model())
        return;
    const struct parameter_info *info = &model->info[P_qkv_weight];
    real *gradient = model->gradients + info->first;
    gradient[0] += 0.001;
    CHECK(worst_error(model_loss, model->parameters + info->first, gradient,
                      info->count) > 10 * TOLERANCE);
    model_free(model);
}
