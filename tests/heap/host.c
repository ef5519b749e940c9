/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that uses gnomon: host OWNER HEAP
 *
 * Its malloc must belong to OWNER (a part of the module's name: libc.so,
 * libmimalloc) before gnomon allocates and after, and gnomon's heap must be
 * HEAP: "mimalloc", if that is in the process then, or "libc". It says what is
 * wrong and exits with 1. Built against the shared library, the static one, and
 * both again with a mimalloc of its own. */
#include <dlfcn.h>
#include <gnomon.h>
#include <gnomon/tool.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(int ok, const char *what)
{
    if (!ok)
        fprintf(stderr, "host: %s\n", what);
    failures += !ok;
}

static int is_mapped(const char *name)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        found |= strstr(line, name) != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

static void check_owner(const char *owner)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "free",
                                        "posix_memalign"};
    void *(*linked)(size_t) =
        malloc; /* as the linker binds this program's calls */
    size_t i;
    Dl_info info;
    void *address;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        address = dlsym(RTLD_DEFAULT, names[i]);
        if (address == NULL || dladdr(address, &info) == 0 ||
            strstr(info.dli_fname, owner) == NULL) {
            check(0, names[i]);
            fprintf(stderr, "    is not of %s\n", owner);
        }
    }
    memcpy(&address, &linked, sizeof address);
    check(dladdr(address, &info) != 0 && strstr(info.dli_fname, owner) != NULL,
          "malloc as linked is another's");
}

/* Allocations of both, in turn, and a thread's end with both. */
static void *work(void *seed)
{
    unsigned i, n = *(unsigned *)seed;
    char name[64];
    void *kept[16] = {0};
    for (i = 0; i < 2000; i++) {
        char *block = malloc(i % 3000 + 1);
        snprintf(name, sizeof name, "region %u of %u", i % 100, n);
        if (gnomon_metadata(name, "\"kept in gnomon's heap\"") != 0 ||
            block == NULL)
            return seed;
        memset(block, (int)n, i % 3000 + 1);
        free(kept[i % 16]);
        kept[i % 16] = block;
    }
    for (i = 0; i < 16; i++)
        free(kept[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    unsigned seeds[4], i;
    gnomon_health health = {.struct_size = sizeof health};
    void *before = malloc(100), *result;
    int wants_mimalloc;
    if (argc != 3)
        return 2;
    wants_mimalloc = strcmp(argv[2], "mimalloc") == 0;
    check_owner(argv[1]);
    if (strstr(argv[1], "mimalloc") == NULL)
        check(!is_mapped("libmimalloc"), "mimalloc is here before its use");
    gnomon_health_get(&health);
    check(health.heap_bytes == 0, "gnomon allocated before its use");
    for (i = 0; i < 4; i++) {
        seeds[i] = i;
        pthread_create(&threads[i], NULL, work, &seeds[i]);
    }
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        check(result == NULL, "an allocation failed");
    }
    check_owner(argv[1]);
    check(is_mapped("libmimalloc") == wants_mimalloc,
          wants_mimalloc ? "mimalloc is not used" : "mimalloc is here");
    gnomon_health_get(&health);
    check(health.heap_bytes > 10000 && health.heap_bytes < 100000000,
          "the footprint is not told");
    free(realloc(before, 100000));
    return failures != 0;
}
