/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libgnomon-malloc.so marks what the process takes from malloc and gives back, in the pool
 * "malloc": preloaded, from the start; as the plugin `malloc`, once it is attached.
 *
 * What the host may rely on: each call does what the real function does and leaves its
 * errno. No lock is held, so a fork may come at any moment. Nothing is marked by what gnomon
 * calls itself, before the library's constructor has run, or once exit handlers run. */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "malloc/calls.h"
#include "mark/region.h"
#include "platform/atomic.h"
#include "run/host.h"

gnomon__heap_function *gnomon__heap_real[GNOMON__HEAP_COUNT];
static int has_real, is_preloaded;

/* The real function, as one of this type. */
#define REAL(name, type, ...) \
    ((type(*)(__VA_ARGS__))gnomon__heap_real[GNOMON__AT_##name])

/* dlsym allocates while the real functions are not known: from here, for good. */
static char early[16384] __attribute__((aligned(16)));
static size_t early_used;

static gnomon_region pool =
    GNOMON_REGION_INIT(GNOMON_KIND_POOL, "malloc", NULL, NULL);
/* How many want marks; exit handlers end them. */
static int wanted_by, is_over;
static const gnomon_host *owner; /* of the process: another copy's, or ours */
/* Counts how deep the thread is inside of this library. */
static __thread int inside __attribute__((tls_model("initial-exec")));

/* ---- The real functions ---------------------------------------------------------- */

static gnomon__heap_function *found_in(void *scope, int i)
{
    gnomon__heap_function *found;
    void *symbol = dlsym(scope, gnomon__heap_calls[i].name);
    memcpy(&found, &symbol, sizeof found); /* ISO C has no such cast */
    return found;
}

/* Of one call the program may have the address, and stand for it itself; not of all. */
void gnomon__heap_find(void)
{
    inside++;
    for (int i = 0; i < GNOMON__HEAP_COUNT; i++)
        is_preloaded |= gnomon__heap_calls[i].ours &&
                        found_in(RTLD_DEFAULT, i) == gnomon__heap_calls[i].ours;
    for (int i = 0; i < GNOMON__HEAP_COUNT; i++)
        if (!gnomon__heap_real[i])
            store_release(&gnomon__heap_real[i],
                          found_in(is_preloaded ? RTLD_NEXT : RTLD_DEFAULT, i));
    store_release(&has_real, 1);
    inside--;
}

/* 0: they are just being sought by this thread. */
static inline int is_ready(void)
{
    if (likely(load_acquire(&has_real)))
        return 1;
    if (inside)
        return 0;
    gnomon__heap_find();
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
    const size_t at = room && room <= sizeof early
                          ? add_relaxed(&early_used, room)
                          : sizeof early;
    if (at >= sizeof early || room > sizeof early - at) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(early + at, &bytes, sizeof bytes);
    return early + at + 16;
}

/* ---- Marks ------------------------------------------------------------------------- */

__attribute__((noinline)) static void mark_slow(int kind, const void *pointer,
                                                size_t bytes)
{
    const int kept = errno;
    if (!load_acquire(&wanted_by) || load_acquire(&is_over) || inside)
        return;
    inside++; /* before gnomon is asked: its words of a new thread may come from malloc */
    if (!owner->is_inside()) /* gnomon itself, as it marks or reports here */
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
    store_release(&is_over, 1);
}

/* ---- The calls -------------------------------------------------------------------------- */

#define TAKE(name, size) \
    static void *our_##name(size_t bytes) \
    { \
        if (unlikely(!is_ready())) \
            return take_early(bytes); \
        return taken(REAL(name, void *, size_t)(bytes), bytes); \
    }

#define TAKE_EACH(name, size) \
    static void *our_##name(size_t count, size_t each) \
    { \
        size_t bytes; \
        const int is_too_much = __builtin_mul_overflow(count, each, &bytes); \
        if (unlikely(!is_ready())) \
            return is_too_much ? NULL : take_early(bytes); \
        return taken(REAL(name, void *, size_t, size_t)(count, each), bytes); \
    }

#define TAKE_AT(name, size) \
    static void *our_##name(size_t alignment, size_t bytes) \
    { \
        return is_ready() ? taken(REAL(name, void *, size_t, \
                                       size_t)(alignment, bytes), \
                                  bytes) \
                          : NULL; \
    }

#define TAKE_ALIGNED(name, size) \
    static void *our_##name(size_t bytes, size_t alignment) \
    { \
        return taken(REAL(name, void *, size_t, size_t)(bytes, alignment), \
                     bytes); \
    }

#define TAKE_EACH_ALIGNED(name, size) \
    static void *our_##name(size_t count, size_t each, size_t alignment) \
    { \
        return taken(REAL(name, void *, size_t, size_t, size_t)(count, each, \
                                                                alignment), \
                     count * each); \
    }

#define PUT_ALIGNED(name, size) \
    static int our_##name(void **to, size_t alignment, size_t bytes) \
    { \
        if (unlikely(!is_ready())) \
            return ENOMEM; \
        const int status = \
            REAL(name, int, void **, size_t, size_t)(to, alignment, bytes); \
        if (status == 0) \
            (void)taken(*to, bytes); \
        return status; \
    }

#define COPY(name, size) \
    static char *our_##name(const char *text) \
    { \
        char *copy = REAL(name, char *, const char *)(text); \
        return copy ? taken(copy, strlen(copy) + 1) : NULL; \
    }

#define COPY_SOME(name, size) \
    static char *our_##name(const char *text, size_t most) \
    { \
        char *copy = REAL(name, char *, const char *, size_t)(text, most); \
        return copy ? taken(copy, strlen(copy) + 1) : NULL; \
    }

#define GIVE(name, size) \
    static void our_##name(void *pointer) \
    { \
        if (unlikely(is_early(pointer)) || !is_ready()) \
            return; \
        mark(GNOMON_MEMORY_FREED, pointer, 0); \
        REAL(name, void, void *)(pointer); \
    }

#define GIVE_OF(name, size) \
    static void our_##name(void *pointer, size_t of) \
    { \
        mark(GNOMON_MEMORY_FREED, pointer, 0); \
        REAL(name, void, void *, size_t)(pointer, of); \
    }

#define GIVE_OF_ALIGNED(name, size) \
    static void our_##name(void *pointer, size_t of, size_t alignment) \
    { \
        mark(GNOMON_MEMORY_FREED, pointer, 0); \
        REAL(name, void, void *, size_t, size_t)(pointer, of, alignment); \
    }

/* A block that stays counts as large as the heap has made it. */
static void *moved(void *from, void *to, size_t bytes, int size_call)
{
    if (unlikely(!to && bytes && from))
        (void)taken(from,
                    ((size_t(*)(void *))gnomon__heap_real[size_call])(from));
    return taken(to, bytes);
}

static void *move_early(const void *from, size_t bytes);

/* Its free is marked first, as another thread may get the block at once. */
#define MOVE(name, size) \
    static void *our_##name(void *pointer, size_t bytes) \
    { \
        if (unlikely(is_early(pointer))) \
            return move_early(pointer, bytes); \
        if (unlikely(!is_ready())) \
            return take_early(bytes); \
        mark(GNOMON_MEMORY_FREED, pointer, 0); \
        return moved(pointer, \
                     REAL(name, void *, void *, size_t)(pointer, bytes), \
                     bytes, GNOMON__AT_##size); \
    }

#define MOVE_OR_GIVE(name, size) \
    static void *our_##name(void *pointer, size_t bytes) \
    { \
        mark(GNOMON_MEMORY_FREED, pointer, 0); \
        return taken(REAL(name, void *, void *, size_t)(pointer, bytes), \
                     bytes); \
    }

#define MOVE_EACH(name, size) \
    static void *our_##name(void *pointer, size_t count, size_t each) \
    { \
        size_t bytes; \
        if (__builtin_mul_overflow(count, each, &bytes)) /* it stays */ \
            return REAL(name, void *, void *, size_t, size_t)(pointer, count, \
                                                              each); \
        mark(GNOMON_MEMORY_FREED, pointer, 0); \
        return moved( \
            pointer, \
            REAL(name, void *, void *, size_t, size_t)(pointer, count, each), \
            bytes, GNOMON__AT_##size); \
    }

#define MOVE_ALIGNED(name, size) \
    static void *our_##name(void *pointer, size_t bytes, size_t alignment) \
    { \
        mark(GNOMON_MEMORY_FREED, pointer, 0); \
        return moved(pointer, \
                     REAL(name, void *, void *, size_t, \
                          size_t)(pointer, bytes, alignment), \
                     bytes, GNOMON__AT_##size); \
    }

/* The C library's own may call realloc, which is ours. */
#define MOVE_BY_REALLOC(name, size) \
    static void *our_##name(void *pointer, size_t count, size_t each) \
    { \
        size_t bytes; \
        if (!__builtin_mul_overflow(count, each, &bytes)) \
            return our_realloc(pointer, bytes); \
        errno = ENOMEM; \
        return NULL; \
    }

#define LIBC(name, kind) kind(name, malloc_usable_size)
#define MIMALLOC(name, kind) kind(name, mi_usable_size)
GNOMON__LIBC_CALLS(LIBC)
GNOMON__MIMALLOC_CALLS(MIMALLOC)

static void *move_early(const void *from, size_t bytes)
{
    size_t before;
    void *to = our_malloc(bytes);
    memcpy(&before, (const char *)from - 16, sizeof before);
    return to ? memcpy(to, from, before < bytes ? before : bytes) : NULL;
}

#define OURS(name, kind) {#name, (gnomon__heap_function *)our_##name},
#define ONLY_CALLED(name, kind) {#name, NULL},
const gnomon__heap_entry gnomon__heap_calls[GNOMON__HEAP_COUNT] = {
    GNOMON__LIBC_CALLS(OURS) GNOMON__MIMALLOC_CALLS(OURS)
        GNOMON__OTHER_CALLS(ONLY_CALLED)};

/* What a preloaded library stands before by name. */
#define BY_NAME(name, kind) \
    GNOMON_API __typeof__(our_##name) name __attribute__((alias("our" \
                                                                "_" #name)));
GNOMON__LIBC_CALLS(BY_NAME)

/* ---- Who wants it --------------------------------------------------------------------- */

static void begin(void)
{
    static int has_begun;
    inside++;
    if (!has_begun++) {
        if (atexit(end_marks))
            store_release(&is_over, 1);
        if (gnomon__heap_has_sanitizer())
            owner->log(
                "malloc: this program has a sanitizer: what that or the "
                "C library takes is not marked, nor what a program takes "
                "that contains it");
    }
    (void)add_release(&wanted_by, 1);
    inside--;
}

/* gnomon reads $GNOMON now; its own exit handler comes after ours. */
__attribute__((constructor)) static void begin_preloaded(void)
{
    if (!is_ready() || !is_preloaded)
        return;
    inside++;
    owner = gnomon__copy_elect();
    gnomon_pool_reserved(&pool, 0);
    inside--;
    begin();
    (void)gnomon__imports_take(NULL, NULL);
}

static int malloc_create(const gnomon_options *options, void **self)
{
    const char *why = "there is no library of that name", *file;
    file = options->text(options, "in");
    (void)self;
    gnomon__heap_find();
    const int tables =
        gnomon__imports_take(file, options->text(options, "calls"));
    if (tables > 0)
        begin();
    else if (tables < 0)
        why = "the system lets no import table be written";
    return tables > 0 ? GNOMON_OK
                      : owner->fail(GNOMON_ENOENT, why, GNOMON_TO_NUL);
}

static void malloc_destroy(void *self)
{
    (void)self;
    (void)sub_release(&wanted_by, 1);
}

static const gnomon_option_info options[] = {
    {.struct_size = sizeof *options,
     .type = GNOMON_OPTION_TEXT,
     .key = "in",
     .help = "only in libraries whose names begin so"},
    {.type = GNOMON_OPTION_TEXT,
     .key = "calls",
     .help = "only these, as 'posix_memalign free'"},
    {.key = NULL},
};

static const gnomon_profiler profiler = {
    .struct_size = sizeof profiler,
    .abi = GNOMON_ABI,
    .name = "malloc",
    .help = "marks what is taken from malloc and given back, for `memory`",
    .options = options,
    .create = malloc_create,
    .destroy = malloc_destroy,
};

/* Our copy of gnomon will join the one that loads us, with its first mark. */
GNOMON_API gnomon_plugin_entry gnomon_plugin_v1;
const gnomon_profiler *gnomon_plugin_v1(const gnomon_host *host)
{
    if (host->abi != GNOMON_ABI)
        return NULL;
    owner = host;
    return &profiler;
}
