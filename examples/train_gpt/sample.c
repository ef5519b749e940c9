/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Text from the model, letter by letter; the predict stage calls it. One seed
 * gives one text: the choice reads probabilities on one thread.
 */
#include "trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEMPERATURE 0.8

/* Draws a token from logits. */
static int choose(const real *logits, int count, uint64_t *state)
{
    double weights[256], most = (double)logits[0], sum = 0;
    for (int i = 1; i < count; i++)
        if ((double)logits[i] > most) /* fmax crashes gcc 12 on aarch64 */
            most = (double)logits[i];
    for (int i = 0; i < count; i++) {
        weights[i] = exp(((double)logits[i] - most) / TEMPERATURE);
        sum += weights[i];
    }
    double left = sum * random_unit(state);
    for (int i = 0; i < count - 1; i++) {
        left -= weights[i];
        if (left < 0)
            return i;
    }
    return count - 1;
}

void sample_text(struct trainer *t, const int *prompt, int length, int count,
                 FILE *file)
{
    struct model *model = t->model;
    int block = model->config.block, vocabulary = model->config.vocabulary;
    uint64_t state = t->options->seed + 1;
    int *window = calloc((size_t)block, sizeof *window);
    if (!window) {
        trainer_fail(t, "sampling", "out of memory");
        return;
    }
    memcpy(window, prompt, (size_t)length * sizeof *window);
    for (int i = 0; i < length; i++)
        putc(t->text.bytes[window[i]], file);
    for (int i = 0; i < count; i++) {
        model_forward(model, window, NULL, 1, length);
        int token =
            choose(model_logits(model) + (ptrdiff_t)(length - 1) * vocabulary,
                   vocabulary, &state);
        putc(t->text.bytes[token], file);
        if (length == block)
            memmove(window, window + 1, (size_t)--length * sizeof *window);
        window[length++] = token;
    }
    putc('\n', file);
    fflush(file);
    free(window);
}
