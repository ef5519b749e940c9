/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as two .gnomon files that are merged: a sound file, the same in either
 * order, or an error with a word; and nothing is left in memory.
 * links: testing
 * needs: cli */
#include "fuzz.h"

#include "fuzz_bless.h"
#include "merge/merge.h"
#include "platform/memory.h"
#include "profile/file_write.h"

#define LONGEST 16384

static int input_read(void *context, uint64_t at, void *to, size_t size)
{
    const bytes *b = context;
    CHECK(at + size <= b->size);
    memcpy(to, b->at + at, size);
    return GNOMON_OK;
}

static int input_open(void *context, size_t input, gnomon__source *out)
{
    bytes *b = (bytes *)context + input;
    *out = (gnomon__source){b->size, input_read, b, NULL};
    return GNOMON_OK;
}

static void input_close(void *context, gnomon__source *source)
{
    (void)context;
    (void)source;
}

/* An input that cannot be read is left out. An error code, and then no bytes. */
static int merge_two(bytes *inputs, bytes *out)
{
    const gnomon__merge_inputs from = {2, input_open, input_close, inputs, 0};
    const gnomon_writer to = {
        .struct_size = sizeof to, .write = bytes_write, .context = out};
    gnomon__merge *m;
    gnomon__file_writer w;
    CHECK_EQ(gnomon__merge_create(&m, &from, GNOMON__EVERY_KIND), GNOMON_OK);
    for (size_t i = 0; i < 2; i++)
        if (gnomon__merge_scan(m, i))
            CHECK(*gnomon_error_text());
    int code = gnomon__merge_order(m);
    CHECK_EQ(code, GNOMON_OK);
    gnomon__file_start(&w, &to);
    gnomon__file_shared(&w, &gnomon__merge_shared(m)->m->base);
    for (size_t i = 0; !code && i <= gnomon__merge_count(m); i++) {
        gnomon_profile *p;
        code = i < gnomon__merge_count(m) ? gnomon__merge_run(m, i, &p)
                                          : gnomon__merge_rest(m, &p);
        if (!code)
            gnomon__file_runs(&w, p, NULL);
        CHECK(!code || (code == GNOMON_EINVAL && *gnomon_error_text()));
        gnomon_profile_free(p);
    }
    CHECK_EQ(gnomon__file_finish(&w), GNOMON_OK);
    gnomon__merge_free(m);
    return code;
}

static void try_merge(char *at, size_t size, size_t first)
{
    bytes both[] = {{at, first, 0}, {at + first, size - first, 0}};
    bytes turned[] = {both[1], both[0]}, once = {NULL, 0, 0}, again = once;
    int code = merge_two(both, &once);
    CHECK_EQ(merge_two(turned, &again), code);
    if (!code) {
        gnomon_profile *p = NULL;
        CHECK_EQ(once.size, again.size);
        CHECK(once.size == again.size &&
              memcmp(once.at, again.at, once.size) == 0);
        CHECK_EQ(gnomon_profile_read(&p, once.at, once.size), GNOMON_OK);
        gnomon_profile_free(p);
    }
    free(once.at);
    free(again.at);
}

/* The first three bytes: whether the checksums are to be right, and how long the
 * first file is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size > LONGEST)
        return 0;
    gnomon__heap_start();
    uint64_t before = gnomon__heap_bytes();
    fuzz_begin(data, size);
    char *copy = malloc(size - 3 + 1); /* so that ASan sees its end */
    size_t first = (size_t)data[1] << 8 | data[2], rest = size - 3;
    first = first < rest ? first : rest;
    if (copy) {
        memcpy(copy, data + 3, rest);
        if (data[0] & 1)
            fuzz_bless(copy, first);
        if (data[0] & 2)
            fuzz_bless(copy + first, rest - first);
        try_merge(copy, rest, first);
    }
    free(copy);
    CHECK_EQ(gnomon__heap_bytes(), before);
    return fuzz_end();
}
