/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calls of heaps that libgnomon-malloc.so stands before: those of the C library, and
 * mimalloc's own. A kind is what a call takes and does, in malloc.c.
 *
 * Not there: mimalloc's heaps (mi_heap_malloc, ...) and offsets (mi_malloc_aligned_at, ...).
 *
 *     malloc.c    what each call does, and what it marks
 *     imports.c   puts them into the import tables of what is loaded */
#ifndef GNOMON_MALLOC_CALLS_H
#define GNOMON_MALLOC_CALLS_H

#include "platform/atomic.h"

/* X(name, kind). Where the library is preloaded, these are found by their names. */
#define GNOMON__LIBC_CALLS(X) \
    X(malloc, TAKE) \
    X(valloc, TAKE) \
    X(pvalloc, TAKE) \
    X(calloc, TAKE_EACH) \
    X(realloc, MOVE) \
    X(reallocarray, MOVE_BY_REALLOC) \
    X(free, GIVE) \
    X(posix_memalign, PUT_ALIGNED) \
    X(aligned_alloc, TAKE_AT) \
    X(memalign, TAKE_AT)

#define GNOMON__MIMALLOC_CALLS(X) \
    X(mi_malloc, TAKE) \
    X(mi_malloc_small, TAKE) \
    X(mi_zalloc, TAKE) \
    X(mi_zalloc_small, TAKE) \
    X(mi_valloc, TAKE) \
    X(mi_pvalloc, TAKE) \
    X(mi_new, TAKE) \
    X(mi_new_nothrow, TAKE) \
    X(mi_calloc, TAKE_EACH) \
    X(mi_mallocn, TAKE_EACH) \
    X(mi_new_n, TAKE_EACH) \
    X(mi_realloc, MOVE) \
    X(mi_rezalloc, MOVE) \
    X(mi_new_realloc, MOVE) \
    X(mi_reallocf, MOVE_OR_GIVE) \
    X(mi_reallocn, MOVE_EACH) \
    X(mi_reallocarray, MOVE_EACH) \
    X(mi_recalloc, MOVE_EACH) \
    X(mi_new_reallocn, MOVE_EACH) \
    X(mi_realloc_aligned, MOVE_ALIGNED) \
    X(mi_rezalloc_aligned, MOVE_ALIGNED) \
    X(mi_malloc_aligned, TAKE_ALIGNED) \
    X(mi_zalloc_aligned, TAKE_ALIGNED) \
    X(mi_new_aligned, TAKE_ALIGNED) \
    X(mi_new_aligned_nothrow, TAKE_ALIGNED) \
    X(mi_calloc_aligned, TAKE_EACH_ALIGNED) \
    X(mi_posix_memalign, PUT_ALIGNED) \
    X(mi_aligned_alloc, TAKE_AT) \
    X(mi_memalign, TAKE_AT) \
    X(mi_strdup, COPY) \
    X(mi_strndup, COPY_SOME) \
    X(mi_free, GIVE) \
    X(mi_free_size, GIVE_OF) \
    X(mi_free_aligned, GIVE_OF) \
    X(mi_free_size_aligned, GIVE_OF_ALIGNED)

/* Only called, or sought to see whose files they are in. */
#define GNOMON__OTHER_CALLS(X) \
    X(malloc_usable_size, ASK) \
    X(mi_usable_size, ASK) \
    X(__asan_init, NONE) \
    X(__tsan_init, NONE) \
    X(__libc_start_main, NONE)

#define GNOMON__CALL_NUMBER(name, kind) GNOMON__AT_##name,
enum gnomon__heap_number {
    GNOMON__LIBC_CALLS(GNOMON__CALL_NUMBER)
        GNOMON__MIMALLOC_CALLS(GNOMON__CALL_NUMBER)
            GNOMON__OTHER_CALLS(GNOMON__CALL_NUMBER) GNOMON__HEAP_COUNT
};

typedef void gnomon__heap_function(void);

typedef struct gnomon__heap_entry {
    const char *name;
    gnomon__heap_function *ours; /* NULL: it is only called */
} gnomon__heap_entry;

extern const gnomon__heap_entry gnomon__heap_calls[GNOMON__HEAP_COUNT];
/* What stands behind ours; NULL: there is none in this process. */
GNOMON__DATA gnomon__heap_function *gnomon__heap_real[GNOMON__HEAP_COUNT];

/* A sanitizer's runtime has a malloc of its own. */
static inline int gnomon__heap_has_sanitizer(void)
{
    return gnomon__heap_real[GNOMON__AT___asan_init] ||
           gnomon__heap_real[GNOMON__AT___tsan_init];
}

/* Finds those that are not known yet: behind ours, where we were preloaded. */
void gnomon__heap_find(void);

/* Puts ours into the import tables of all that is loaded: of the calls that `names` has, as
 * "posix_memalign free", in files whose name begins with `file`; NULL: of all. Not while
 * another thread loads or closes a library. The number of tables that now have ours; below
 * 0: the system does not let a page be written. */
int gnomon__imports_take(const char *file, const char *names);

#endif
