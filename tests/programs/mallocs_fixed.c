/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program at a fixed address that has the addresses of malloc and free, as Debian's Python:
 * its jumps to them stand for the calls in all of the process. With a spec it asks for marks
 * before it has called memalign itself, which a library has. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/tool.h"

static void *(*const take)(size_t) = malloc;
static void *(*const take_at)(size_t, size_t) = memalign;
static void (*const give)(void *) = free;

static int ask(const char *spec)
{
    void (*taking)(size_t);
    void *library = dlopen(TEST_BINARY_DIR "/plugins/taking.so", RTLD_LAZY);
    void *symbol = library ? dlsym(library, "taking") : NULL;
    memcpy(&taking, &symbol, sizeof taking);
    if (!symbol)
        return 2;
    taking(400); /* the library has sought them */
    if (gnomon_attach(NULL, NULL, spec))
        return 3;
    gnomon_start("library");
    taking(401);
    void *(*volatile taker)(size_t, size_t) = take_at;
    free(taker(16, 402));
    gnomon_stop("library");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && *argv[1])
        return ask(argv[1]);
    void *(*volatile taker)(size_t) = take;
    void (*volatile giver)(void *) = give;
    gnomon_start("fixed");
    giver(taker(1234));
    gnomon_stop("fixed");
    return 0;
}
