/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libc's heap, in which one allocation fails and all are counted: for what does not
 * allocate through platform/memory.h. Include it once in a program. MALLOC_IS_OURS is 0
 * where a sanitizer has the heap. */
#ifndef GNOMON_TESTS_FAILING_MALLOC_H
#define GNOMON_TESTS_FAILING_MALLOC_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "sanitizer.h"

static uint64_t malloc_failing; /* the one that fails, from 1; 0: none does */
static uint64_t malloc_calls, malloc_bytes;
static int64_t malloc_live; /* blocks */

/* From now on, also calls and bytes are counted. */
static inline void malloc_fail(uint64_t n)
{
    malloc_failing = n;
    malloc_calls = malloc_bytes = 0;
}

#if !IS_SANITIZED && defined(__GLIBC__)
#define MALLOC_IS_OURS 1
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

static int malloc_fails(size_t size)
{
    malloc_bytes += size;
    if (++malloc_calls != malloc_failing)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    void *block = malloc_fails(size) ? NULL : __libc_malloc(size);
    malloc_live += block != NULL;
    return block;
}

void *calloc(size_t count, size_t size)
{
    void *block =
        malloc_fails(count * size) ? NULL : __libc_calloc(count, size);
    malloc_live += block != NULL;
    return block;
}

void *realloc(void *old, size_t size)
{
    void *block = malloc_fails(size) ? NULL : __libc_realloc(old, size);
    malloc_live += block != NULL && !old;
    return block;
}

void free(void *block)
{
    malloc_live -= block != NULL;
    __libc_free(block);
}
#else
#define MALLOC_IS_OURS 0
#endif

#endif
