/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A dlsym that takes memory, as some C libraries' does: a preloaded library that seeks the
 * real malloc by it gets memory when it has none to give. Prints what went wrong. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
static char *volatile kept; /* taken while nothing real was known */
static char *volatile moved;
static const char *volatile wrong;

#define MUST(condition) \
    do { \
        if (!(condition)) \
            wrong = #condition; \
    } while (0)

static void take(void)
{
    const volatile size_t much = SIZE_MAX - 8, more = 1u << 20;
    void *aligned = NULL;
    char *p = malloc(10), *q = calloc(3, 5);
    MUST(p && q && ((uintptr_t)p & 15) == 0 && ((uintptr_t)q & 15) == 0);
    MUST(q && q[0] == 0 && q[14] == 0);
    memcpy(p, "0123456789", 10);
    memcpy(q, "abc", 4);
    errno = 0;
    MUST(!malloc(much) && errno == ENOMEM);
    MUST(!malloc(more) && !calloc(much, 2));
    MUST(posix_memalign(&aligned, 64, 64) == ENOMEM && !memalign(64, 64));
    kept = p;
    moved = q;
    free(malloc(1));
}

/* By other names, as the next file after this one is the library that asks. */
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static void *real_of(const char *name)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {{"malloc", (void (*)(void))__libc_malloc},
               {"calloc", (void (*)(void))__libc_calloc},
               {"realloc", (void (*)(void))__libc_realloc},
               {"free", (void (*)(void))__libc_free}};
    void *found = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0)
            memcpy(&found, &all[i].function, sizeof found);
    return found;
}

__attribute__((visibility("default"))) void *dlsym(void *restrict handle,
                                                   const char *restrict name)
{
    static void *(*real)(void *, const char *);
    void *found = real_of(name);
    if (!real) {
        void *at = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        memcpy(&real, &at, sizeof real);
        if (!real)
            _Exit(77);
    }
    if (!kept && found)
        take();
    return handle == RTLD_NEXT && found ? found : real(handle, name);
}

int main(void)
{
    char *p;
    MUST(kept && memcmp(kept, "0123456789", 10) == 0);
    p = realloc(kept, 20); /* from now on it is the heap's */
    MUST(p && p != kept && memcmp(p, "0123456789", 10) == 0);
    free(p);
    free(moved);
    MUST(memcmp(moved, "abc", 4) == 0); /* it stays */
    if (wrong)
        puts(wrong);
    return wrong != NULL;
}
#else
int main(void)
{
    return 77;
}
#endif
