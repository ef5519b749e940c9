/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What fuzz targets share: the entry that libFuzzer and replay.c call, an input
 * read as numbers, and the CHECKs of test.h, which here end the process so that
 * the input is kept. Include it first. */
#ifndef GNOMON_TESTS_FUZZ_H
#define GNOMON_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int fuzz_no_main(int argc, char **argv);
#define main fuzz_no_main /* test.h brings one */
#include "test.h"
#undef main

/* Whether inputs of the corpus are run, each once, not those that libFuzzer makes. */
#ifdef FUZZ_BY_LIBFUZZER
#define FUZZ_IS_REPLAY 0
#else
#define FUZZ_IS_REPLAY 1
#endif

static const uint8_t *fuzz_data;
static size_t fuzz_left;

static inline void fuzz_begin(const uint8_t *data, size_t size)
{
    fuzz_data = data;
    fuzz_left = size;
}

/* The next byte; 0 past the end. */
static inline uint32_t fuzz_byte(void)
{
    if (!fuzz_left)
        return 0;
    fuzz_left--;
    return *fuzz_data++;
}

static inline uint64_t fuzz_number(void)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n = n << 8 | fuzz_byte();
    return n;
}

/* Copies the next text, which ends with a NUL or with the input. */
static inline const char *fuzz_text(char *buffer, size_t size)
{
    size_t n = 0;
    uint32_t c;
    while (fuzz_left && (c = fuzz_byte()) != 0)
        if (n + 1 < size)
            buffer[n++] = (char)c;
    buffer[n] = 0;
    return buffer;
}

static inline int fuzz_end(void)
{
    (void)test_last; /* no TEST is here */
    if (test_failures)
        abort();
    return 0;
}

#endif
