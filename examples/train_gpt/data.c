/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Text from a file, as tokens, and batches of it. Called by the trainer and by
 * the loader's thread; a loaded text is only read.
 *
 * Invariant: a batch depends on the text, the seed and its own number, never on
 * the batches before it; so a resumed run gets the same batches.
 */
#include "data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static int fail(const char *path, const char *why)
{
    fprintf(stderr, "train_gpt: %s: %s\n", path, why);
    return -1;
}

/* All of a file in malloc's memory; NULL and errno. */
static unsigned char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    size_t room = 0;
    *size = 0;
    if (!file)
        return NULL;
    for (;;) {
        if (*size == room) {
            room = room ? 2 * room : 1 << 16;
            unsigned char *more = realloc(bytes, room);
            if (!more)
                break;
            bytes = more;
        }
        size_t got = fread(bytes + *size, 1, room - *size, file);
        *size += got;
        if (got == 0) {
            if (ferror(file))
                break;
            fclose(file);
            return bytes;
        }
    }
    int error = errno;
    fclose(file);
    free(bytes);
    errno = error;
    return NULL;
}

int text_load(struct text *text, const char *path, int block)
{
    size_t size;
    unsigned char *bytes = read_whole(path, &size);
    int token_of[256];
    memset(text, 0, sizeof *text);
    if (!bytes)
        return fail(path, strerror(errno));
    text->count = size;
    text->split = size - size / 10;
    if (size / 10 < (size_t)block + 1) {
        free(bytes);
        return fail(path, "too short: a tenth must hold a block and a letter");
    }
    text->tokens = malloc(size * sizeof *text->tokens);
    if (!text->tokens) {
        free(bytes);
        return fail(path, "out of memory");
    }
    memset(token_of, 0, sizeof token_of);
    for (size_t i = 0; i < size; i++)
        token_of[bytes[i]] = 1;
    for (int byte = 0; byte < 256; byte++) {
        if (!token_of[byte])
            continue;
        text->bytes[text->vocabulary] = (unsigned char)byte;
        token_of[byte] = text->vocabulary++;
    }
    for (size_t i = 0; i < size; i++)
        text->tokens[i] = token_of[bytes[i]];
    free(bytes);
    return 0;
}

void text_free(struct text *text)
{
    free(text->tokens);
    text->tokens = NULL;
}

int batch_create(struct batch *batch, int size, int block)
{
    size_t count = (size_t)size * (size_t)block;
    batch->size = size;
    batch->block = block;
    batch->tokens = calloc(count, sizeof *batch->tokens);
    batch->targets = calloc(count, sizeof *batch->targets);
    return batch->tokens && batch->targets ? 0 : -1;
}

void batch_free(struct batch *batch)
{
    free(batch->tokens);
    free(batch->targets);
    batch->tokens = NULL;
    batch->targets = NULL;
}

void batch_copy(struct batch *to, const struct batch *from)
{
    size_t bytes =
        (size_t)from->size * (size_t)from->block * sizeof *from->tokens;
    memcpy(to->tokens, from->tokens, bytes);
    memcpy(to->targets, from->targets, bytes);
}

static void set_window(struct batch *batch, int row, const int *from)
{
    size_t block = (size_t)batch->block;
    size_t bytes = block * sizeof *from;
    memcpy(batch->tokens + (size_t)row * block, from, bytes);
    memcpy(batch->targets + (size_t)row * block, from + 1, bytes);
}

void batch_draw(struct batch *batch, const struct text *text, uint64_t seed,
                uint64_t step)
{
    uint64_t state = seed;
    state = random_next(&state) ^ (step * UINT64_C(0xd1342543de82ef95));
    size_t starts = text->split - (size_t)batch->block;
    for (int row = 0; row < batch->size; row++)
        set_window(batch, row, text->tokens + random_next(&state) % starts);
}

void batch_spread(struct batch *batch, const struct text *text, int number,
                  int count)
{
    size_t starts = text->count - text->split - (size_t)batch->block;
    size_t windows = (size_t)count * (size_t)batch->size;
    for (int row = 0; row < batch->size; row++) {
        size_t window = (size_t)number * (size_t)batch->size + (size_t)row;
        set_window(batch, row,
                   text->tokens + text->split + window * starts / windows);
    }
}
