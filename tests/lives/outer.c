/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program without gnomon that loads a library with a life in it (host.c):
 *
 *     outer dlopen|dlmopen LIBRARY WORD... */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *nothing(void *unused)
{
    return unused;
}

/* A libc that never began a thread takes locks without atomics, the loader's too, which
 * threads of the other namespace's libc take at the same time. */
static void become_threaded(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int (*life)(int, char **);
    void *library = NULL, *symbol;
    become_threaded();
    if (argc > 2 && strcmp(argv[1], "dlopen") == 0)
        library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
#ifdef LM_ID_NEWLM
    else if (argc > 2)
        library = dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW | RTLD_LOCAL);
#endif
    symbol = library ? dlsym(library, "life") : NULL;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 77;
    }
    memcpy(&life, &symbol, sizeof life);
    return life(argc - 2, argv + 2);
}
