/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libgnomon-malloc.so, which is preloaded: it marks what the process takes from malloc and
 * gives back, in the pool "malloc".
 *
 * What the host may rely on: each call does what the real function does and leaves its
 * errno. No lock is held, so a fork may come at any moment. Nothing is marked by what gnomon
 * calls itself, before the library's constructor has run, or once exit handlers run. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/tool.h"
#include "mark/region.h"
#include "platform/atomic.h"
#include "run/host.h"

#define REAL_LIST(X) \
    X(malloc, void *, (size_t)) \
    X(calloc, void *, (size_t, size_t)) \
    X(realloc, void *, (void *, size_t)) \
    X(free, void, (void *)) \
    X(posix_memalign, int, (void **, size_t, size_t)) \
    X(aligned_alloc, void *, (size_t, size_t)) \
    X(memalign, void *, (size_t, size_t)) \
    X(reallocarray, void *, (void *, size_t, size_t)) \
    X(malloc_usable_size, size_t, (void *))

#define REAL_POINTER(name, type, parameters) \
    static type(*real_##name) parameters;
REAL_LIST(REAL_POINTER)

/* dlsym allocates while the real functions are not known: from here, for good. */
static char early[16384] __attribute__((aligned(16)));
static size_t early_used;

static gnomon_region pool =
    GNOMON_REGION_INIT(GNOMON_KIND_POOL, "malloc", NULL, NULL);
static int is_marking;
static const gnomon_host *owner; /* of the process: another copy's, or ours */
/* Counts how deep the thread is inside of this library. */
static __thread int inside __attribute__((tls_model("initial-exec")));

/* ---- The real functions ---------------------------------------------------------- */

static void find_real(void)
{
    inside++;
#define FIND(name, type, parameters) \
    { \
        void *symbol = dlsym(RTLD_NEXT, #name); \
        type(*found) parameters; \
        memcpy(&found, &symbol, sizeof found); \
        store_release(&real_##name, found); \
    }
    REAL_LIST(FIND)
#undef FIND
    inside--;
}

/* 0: they are just being sought by this thread. */
static inline int has_real(void)
{
    if (likely(load_acquire(&real_malloc_usable_size) != NULL)) /* the last */
        return 1;
    if (inside)
        return 0;
    find_real();
    return 1;
}

static int is_early(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)early < sizeof early;
}

/* Zeroes, with the size before them. */
static void *take_early(size_t bytes)
{
    const size_t room = bytes + 31 < bytes ? 0 : (bytes + 31) & ~(size_t)15;
    const size_t at = room ? add_relaxed(&early_used, room) : sizeof early;
    if (at >= sizeof early || room > sizeof early - at) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(early + at, &bytes, sizeof bytes);
    return early + at + 16;
}

/* ---- Marks ------------------------------------------------------------------------- */

/* Whether gnomon itself, as it marks or reports on this thread, has called. */
static int is_own(void)
{
    return inside || (owner->struct_size > offsetof(gnomon_host, is_inside) &&
                      owner->is_inside());
}

__attribute__((noinline)) static void mark_slow(int kind, const void *pointer,
                                                size_t bytes)
{
    const int kept = errno;
    if (!load_acquire(&is_marking) || is_own())
        return;
    inside++;
    gnomon__pool_mark(&pool, kind, pointer, bytes);
    inside--;
    errno = kept;
}

static inline void mark(int kind, const void *pointer, size_t bytes)
{
    if (unlikely(gnomon__mask(&pool) != 0) && pointer)
        mark_slow(kind, pointer, bytes);
}

static inline void *taken(void *pointer, size_t bytes)
{
    mark(GNOMON_MEMORY_ALLOCATED, pointer, bytes);
    return pointer;
}

static void end_marks(void)
{
    store_release(&is_marking, 0);
}

/* gnomon reads $GNOMON now; its own exit handler comes after ours. */
__attribute__((constructor)) static void begin_marks(void)
{
    (void)has_real();
    inside++;
    owner = gnomon__copy_elect();
    gnomon_pool_reserved(&pool, 0);
    if (atexit(end_marks) == 0)
        store_release(&is_marking, 1);
    inside--;
}

/* ---- The calls -------------------------------------------------------------------------- */

GNOMON_API void *malloc(size_t bytes)
{
    if (unlikely(!has_real()))
        return take_early(bytes);
    return taken(real_malloc(bytes), bytes);
}

GNOMON_API void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (unlikely(!has_real()))
        return __builtin_mul_overflow(count, size, &bytes) ? NULL
                                                           : take_early(bytes);
    return taken(real_calloc(count, size), count * size);
}

GNOMON_API void free(void *pointer)
{
    if (unlikely(is_early(pointer)) || !has_real())
        return;
    mark(GNOMON_MEMORY_FREED, pointer, 0);
    real_free(pointer);
}

static void *move_early(const void *from, size_t bytes)
{
    size_t before;
    void *to = malloc(bytes);
    memcpy(&before, (const char *)from - 16, sizeof before);
    return to ? memcpy(to, from, before < bytes ? before : bytes) : NULL;
}

/* Its free is marked first, as another thread may get the block at once. A block that stays
 * counts as large as the heap has made it. */
GNOMON_API void *realloc(void *pointer, size_t bytes)
{
    if (unlikely(is_early(pointer)))
        return move_early(pointer, bytes);
    if (unlikely(!has_real()))
        return take_early(bytes);
    mark(GNOMON_MEMORY_FREED, pointer, 0);
    void *moved = real_realloc(pointer, bytes);
    if (unlikely(!moved && bytes && pointer))
        (void)taken(pointer, real_malloc_usable_size(pointer));
    return taken(moved, bytes);
}

GNOMON_API void *reallocarray(void *pointer, size_t count, size_t size)
{
    size_t bytes;
    if (!__builtin_mul_overflow(count, size, &bytes))
        return realloc(pointer, bytes);
    errno = ENOMEM;
    return NULL;
}

GNOMON_API int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    if (unlikely(!has_real()))
        return ENOMEM;
    const int status = real_posix_memalign(to, alignment, bytes);
    if (status == 0)
        (void)taken(*to, bytes);
    return status;
}

GNOMON_API void *aligned_alloc(size_t alignment, size_t bytes)
{
    return has_real() ? taken(real_aligned_alloc(alignment, bytes), bytes)
                      : NULL;
}

GNOMON_API void *memalign(size_t alignment, size_t bytes)
{
    return has_real() ? taken(real_memalign(alignment, bytes), bytes) : NULL;
}
