/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Checkpoint files: written by the ModelCheckpoint callback, read to resume.
 *
 * Layout: the header below, then parameters, first and second moments, then a
 * 64-bit FNV-1a sum over everything before it. Numbers have the machine's byte
 * order, which the magic number shows. A file gets its name when it is complete.
 */
#include "trainer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECKPOINT_MAGIC UINT64_C(0x6770742d636b7031)

struct header {
    uint64_t magic, step, updates;
    int32_t epoch, number_size;
    struct model_config config;
    int32_t reserved;
    unsigned char bytes[256];
};

static struct header header_of(const struct trainer *t)
{
    struct header header;
    memset(&header, 0, sizeof header);
    header.magic = CHECKPOINT_MAGIC;
    header.step = t->step;
    header.updates = t->optimizer.updates;
    header.epoch = t->epoch;
    header.number_size = sizeof(real);
    header.config = t->model->config;
    memcpy(header.bytes, t->text.bytes, sizeof header.bytes);
    return header;
}

static uint64_t add_to_sum(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
    return sum;
}

#define SUM_START UINT64_C(0xcbf29ce484222325)

static int put(FILE *file, uint64_t *sum, const void *data, size_t size)
{
    *sum = add_to_sum(*sum, data, size);
    return fwrite(data, 1, size, file) == size;
}

static int get(FILE *file, uint64_t *sum, void *data, size_t size)
{
    if (fread(data, 1, size, file) != size)
        return 0;
    *sum = add_to_sum(*sum, data, size);
    return 1;
}

int checkpoint_save(const struct trainer *t, const char *path, const char **why)
{
    struct header header = header_of(t);
    size_t bytes = t->model->count * sizeof(real);
    uint64_t sum = SUM_START;
    char part[4096];
    adamw_fetch(&t->optimizer, t->model);
    *why = "the name is too long";
    if ((size_t)snprintf(part, sizeof part, "%s.part", path) >= sizeof part)
        return -1;
    FILE *file = fopen(part, "wb");
    if (!file) {
        *why = strerror(errno);
        return -1;
    }
    int good = put(file, &sum, &header, sizeof header) &&
               put(file, &sum, t->model->parameters, bytes) &&
               put(file, &sum, t->optimizer.mean, bytes) &&
               put(file, &sum, t->optimizer.square, bytes) &&
               fwrite(&sum, sizeof sum, 1, file) == 1 && fflush(file) == 0 &&
               fsync(fileno(file)) == 0;
    int error = errno;
    if (fclose(file) != 0 && good) {
        good = 0;
        error = errno;
    }
    if (good && rename(part, path) == 0)
        return 0;
    *why = strerror(good ? errno : error);
    unlink(part);
    return -1;
}

/* The three arrays: read into new memory, which then replaces the old. */
static int load_numbers(struct trainer *t, FILE *file, uint64_t sum,
                        const char **why)
{
    size_t bytes = t->model->count * sizeof(real);
    unsigned char *all = malloc(3 * bytes);
    uint64_t written;
    *why = "out of memory";
    if (!all)
        return -1;
    int good = get(file, &sum, all, 3 * bytes) &&
               fread(&written, sizeof written, 1, file) == 1 &&
               written == sum && getc(file) == EOF;
    *why = "damaged or cut short";
    if (good) {
        memcpy(t->model->parameters, all, bytes);
        memcpy(t->optimizer.mean, all + bytes, bytes);
        memcpy(t->optimizer.square, all + 2 * bytes, bytes);
        adamw_send(&t->optimizer, t->model);
    }
    free(all);
    return good ? 0 : -1;
}

static int load_from(struct trainer *t, FILE *file, const char **why)
{
    struct header header, ours = header_of(t);
    uint64_t sum = SUM_START, epochs = (uint64_t)t->options->epochs;
    *why = "not a checkpoint of this program and machine";
    if (!get(file, &sum, &header, sizeof header) ||
        header.magic != ours.magic || header.number_size != ours.number_size)
        return -1;
    *why = "of another model: --layers, --heads, --embd, --block and the "
           "text's letters must be the same";
    if (memcmp(&header.config, &ours.config, sizeof ours.config) != 0 ||
        memcmp(header.bytes, ours.bytes, sizeof ours.bytes) != 0)
        return -1;
    *why = "past the end of this run, or of a run with other --steps";
    if (header.epoch < 0 || (uint64_t)header.epoch > epochs ||
        header.step != (uint64_t)header.epoch * (uint64_t)t->options->steps)
        return -1;
    if (load_numbers(t, file, sum, why))
        return -1;
    t->epoch = header.epoch;
    t->step = header.step;
    t->optimizer.updates = header.updates;
    return 0;
}

int checkpoint_load(struct trainer *t, const char *path, const char **why)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        *why = strerror(errno);
        return -1;
    }
    int result = load_from(t, file, why);
    fclose(file);
    return result;
}
