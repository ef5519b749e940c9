/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes memory by mimalloc's own calls, in a scope for each kind. With a word it marks them by
 * request. Linked to mimalloc: it is there only where that is. */
#include <string.h>

#include "gnomon/tool.h"

/* Not by mimalloc.h, which some distributions keep apart. */
void *mi_malloc(size_t), *mi_malloc_small(size_t), *mi_zalloc(size_t);
void *mi_zalloc_small(size_t), *mi_new(size_t), *mi_new_nothrow(size_t);
void *mi_calloc(size_t, size_t), *mi_mallocn(size_t, size_t);
void *mi_new_n(size_t, size_t), *mi_realloc(void *, size_t);
void *mi_rezalloc(void *, size_t), *mi_new_realloc(void *, size_t);
void *mi_reallocf(void *, size_t), *mi_reallocn(void *, size_t, size_t);
void *mi_recalloc(void *, size_t, size_t);
void *mi_realloc_aligned(void *, size_t, size_t);
void *mi_malloc_aligned(size_t, size_t), *mi_zalloc_aligned(size_t, size_t);
void *mi_new_aligned(size_t, size_t);
void *mi_calloc_aligned(size_t, size_t, size_t);
void *mi_aligned_alloc(size_t, size_t), *mi_memalign(size_t, size_t);
int mi_posix_memalign(void **, size_t, size_t);
char *mi_strdup(const char *), *mi_strndup(const char *, size_t);
void mi_free(void *), mi_free_size(void *, size_t);
void mi_free_aligned(void *, size_t);
void mi_free_size_aligned(void *, size_t, size_t);

static void *volatile kept; /* no call is left out */

static void give(void *p)
{
    kept = p;
    mi_free(kept);
}

static void take(void)
{
    GNOMON_SCOPE("take"); /* 9 of 1 to 9 bytes: 45 */
    give(mi_malloc(1));
    give(mi_malloc_small(2));
    give(mi_zalloc(3));
    give(mi_zalloc_small(4));
    give(mi_new(5));
    give(mi_new_nothrow(6));
    give(mi_calloc(1, 7));
    give(mi_mallocn(2, 4));
    give(mi_new_n(3, 3));
}

static int aligned(void)
{
    void *p;
    GNOMON_SCOPE("aligned"); /* 7 of 100: 700 */
    give(mi_malloc_aligned(100, 64));
    give(mi_zalloc_aligned(100, 64));
    mi_free_aligned(mi_new_aligned(100, 64), 64);
    mi_free_size_aligned(mi_calloc_aligned(10, 10, 64), 100, 64);
    mi_free_size(mi_aligned_alloc(4, 100), 100);
    give(mi_memalign(64, 100));
    if (mi_posix_memalign(&p, 64, 100))
        return 1;
    give(p);
    return 0;
}

static int move(void)
{
    void *p = NULL;
    GNOMON_SCOPE("move"); /* 100 + 200 + ... + 700: 2800 */
    p = mi_realloc(p, 100);
    p = mi_rezalloc(p, 200);
    p = mi_new_realloc(p, 300);
    p = mi_reallocf(p, 400);
    p = mi_reallocn(p, 5, 100);
    p = mi_recalloc(p, 6, 100);
    p = mi_realloc_aligned(p, 700, 16);
    kept = (void *)((size_t)-1 / 4);
    if (mi_reallocn(p, (size_t)kept, 8)) /* it stays */
        return 2;
    give(p);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1 &&
        (gnomon_attach(GNOMON_NULL, GNOMON_NULL, "memory(format=csv)") ||
         gnomon_watch_malloc()))
        return 3;
    take();
    const int status = aligned() + move();
    GNOMON_SCOPE("copy"); /* 4 + 3 */
    give(mi_strdup("abc"));
    give(mi_strndup("abc", 2));
    return status;
}
