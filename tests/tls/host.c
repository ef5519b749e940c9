/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* host MODULE EATER... : a program without gnomon.
 *
 * Loads copies of each EATER until the static TLS area is full, then loads MODULE, and
 * calls its marked() for 1000 rounds on each of three threads: the main thread, one that
 * was started before MODULE was loaded, and a new one. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t loaded;
static void (*marked)(int);

static int copy(const char *from, const char *to)
{
    char bytes[4096];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    while (out != NULL && (n = fread(bytes, 1, sizeof bytes, in)) > 0)
        fwrite(bytes, 1, n, out);
    if (in != NULL)
        fclose(in);
    return out != NULL && fclose(out) == 0;
}

/* Loads copies until the loader says that the static TLS area is full. Returns whether it
 * did. */
static int use_up(const char *eater)
{
    char folder[] = "/tmp/gnomon_tls_XXXXXX", path[64];
    int n, full = 0;
    if (mkdtemp(folder) == NULL)
        return 0;
    for (n = 0; n < 4096 && !full; n++) {
        snprintf(path, sizeof path, "%s/%d.so", folder, n);
        if (!copy(eater, path))
            break;
        if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL) {
            const char *why = dlerror();
            full = strstr(why, "static TLS") != NULL;
            if (!full)
                fprintf(stderr, "host: %s\n", why);
        }
        unlink(path);
        if (!full && n == 4095)
            fprintf(stderr, "host: 4096 eaters are not enough\n");
    }
    rmdir(folder);
    return full;
}

static void *early(void *unused)
{
    pthread_barrier_wait(&loaded);
    marked(1000);
    return unused;
}

static void *late(void *unused)
{
    marked(1000);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *module, *symbol;
    int i;
    if (argc < 2)
        return 2;
    pthread_barrier_init(&loaded, NULL, 2);
    if (pthread_create(&thread, NULL, early, NULL) != 0)
        return 2;
    for (i = 2; i < argc; i++)
        if (!use_up(argv[i]))
            return 2;
    module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    symbol = module != NULL ? dlsym(module, "marked") : NULL;
    if (symbol == NULL) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 1;
    }
    memcpy(&marked, &symbol, sizeof marked);
    pthread_barrier_wait(&loaded);
    pthread_join(thread, NULL);
    marked(1000);
    if (pthread_create(&thread, NULL, late, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    return 0;
}
