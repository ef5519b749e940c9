/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The text, its two parts, and batches of windows into them. */
#ifndef TRAIN_GPT_DATA_H
#define TRAIN_GPT_DATA_H

#include <stddef.h>
#include <stdint.h>

#include <gnomon.h>

/* A text as tokens: each byte that occurs in it is one. */
struct text {
    int *tokens;
    size_t count;
    size_t split; /* tokens before it train, the rest validate */
    int vocabulary;
    unsigned char bytes[256]; /* of token 0, 1, ... */
};

/* Reads a file; a tenth of it, at its end, is for validation. -1, and one line
 * on stderr: it cannot be read, or is too short for windows of `block`. */
int text_load(struct text *text, const char *path, int block);
void text_free(struct text *text);

/* Windows of tokens, and the same windows one token later, as targets. */
struct batch {
    int *tokens, *targets; /* size x block */
    int size, block;
};

int batch_create(struct batch *batch, int size, int block);
void batch_free(struct batch *batch);
void batch_copy(struct batch *to, const struct batch *from);

/* Draws random windows of the training part. The seed and the number of the step
 * determine the batch. */
void batch_draw(struct batch *batch, const struct text *text, uint64_t seed,
                uint64_t step);

/* Batch `number` of `count`: windows spread evenly over the validation part. */
void batch_spread(struct batch *batch, const struct text *text, int number,
                  int count);

/* ---- The loader: a thread that draws one batch ahead (loader.c) ---------- */

struct loader;

/* Makes a loader for the steps first, first + 1, ... last - 1. NULL: no memory or
 * no thread. */
struct loader *loader_start(const struct text *text, int size, int block,
                            uint64_t seed, uint64_t first, uint64_t last);

/* The batch of the next step; valid until the next call. */
const struct batch *loader_next(struct loader *loader);

/* Ends the thread. NULL is nothing. */
void loader_stop(struct loader *loader);

#endif
