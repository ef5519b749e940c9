/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles written into memory, in either form. */
#ifndef GNOMON_TESTS_PROFILE_BYTES_H
#define GNOMON_TESTS_PROFILE_BYTES_H

#include <stdlib.h>

#include "gnomon/profile.h"
#include "test.h"

typedef struct bytes {
    char *at;
    size_t size;
    size_t most; /* the write fails past this many bytes; 0: never */
} bytes;

/* The buffer doubles: sanitizers copy at each realloc. */
static inline size_t bytes_room(size_t size)
{
    size_t room = 256;
    while (room < size)
        room *= 2;
    return room;
}

static int bytes_write(const gnomon_writer *w, const void *more, size_t size)
{
    bytes *b = w->context;
    if (b->most && b->size + size > b->most)
        return GNOMON_EIO;
    if (!b->at || b->size + size >= bytes_room(b->size + 1))
        b->at = realloc(b->at, bytes_room(b->size + size + 1));
    memcpy(b->at + b->size, more, size);
    b->size += size;
    b->at[b->size] = 0;
    return GNOMON_OK;
}

/* The copy has the exact size, so that sanitizers see overruns. The caller
 * frees `at`. */
static inline bytes bytes_of(const gnomon_profile *p, const char *form)
{
    bytes b = {NULL, 0, 0};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = bytes_write, .context = &b};
    CHECK_EQ(gnomon_write(p, form, &w), GNOMON_OK);
    b.at = realloc(b.at, b.size + 1);
    return b;
}

static inline int bytes_equal(const bytes *a, const bytes *b)
{
    return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

#endif
