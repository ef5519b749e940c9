/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that does as its words say, in order:
 *
 *     MODULE       loads it, RTLD_LOCAL, and has it mark twice
 *     self         marks twice itself (HOST_MARKS: it has gnomon)
 *     again        all that marked, once more
 *     new=MODULE   the same in a namespace of its own, and closes it
 *     apart=MODULE the same on a thread of its own
 *     on=MODULE    that module's copy attaches simple
 *     say=MODULE   prints the report as that module's copy gives it
 *     closing=MODULE  loads it, and closes it when somebody is about to keep it
 *                  (HOST_CLOSES)
 *     cycle=N:MODULE  loads it, marks, closes it, N times; prints by how many
 *                     pages it grew after the first tenth
 *     toggle       changes the profilers 100 times, to simple (HOST_MARKS)
 *     own=FILE     from here on descriptor 2 is a new file of the host;
 *                  private=FILE: one that closes at exec
 *     leave        main ends by pthread_exit
 *     race=MODULE,...  loads all, then each marks twice in a thread, at once */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef HOST_MARKS
#include "gnomon.h"

static void toggle(void)
{
    for (int i = 0; i < 100; i++)
        if (gnomon_attach(NULL, NULL, i % 2 ? "simple" : ""))
            exit(6);
}

static void mark_in_host(int times)
{
    for (int i = 0; i < times; i++) {
        GNOMON_SCOPE("host");
        gnomon_start("common");
        gnomon_stop("common");
    }
}
#else
static void toggle(void)
{
}

static void mark_in_host(int times)
{
    (void)times;
}
#endif

#ifdef HOST_CLOSES
static const char *closing_path;
static void *closing;

/* The loader frees a module's name with it. */
static int is_loaders(const char *name, void *module)
{
    struct link_map *map = NULL;
    return !dlinfo(module, RTLD_DI_LINKMAP, &map) && name == map->l_name;
}

/* In place of libc's: modules that the host loads call this one. */
__attribute__((visibility("default"))) void *dlopen(const char *path, int flags)
{
    void *(*libcs)(const char *, int), *symbol = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&libcs, &symbol, sizeof libcs);
    void *gone = closing;
    if (gone && path && (flags & RTLD_NODELETE) &&
        strcmp(path, closing_path) == 0) {
        closing = NULL;
        if (is_loaders(path, gone))
            exit(7);
        dlclose(gone);
    }
    return libcs(path, flags);
}

static void close_when_kept(const char *path)
{
    closing_path = path;
    closing = dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
#else
static void close_when_kept(const char *path)
{
    (void)path;
    exit(6);
}
#endif

static void *open_module(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return module;
}

static void *symbol_of(void *module, const char *name)
{
    void *symbol = dlsym(module, name);
    if (!symbol)
        exit(4);
    return symbol;
}

static void use_module(void *module, int times)
{
    void (*function)(int);
    void *symbol = symbol_of(module, "use");
    memcpy(&function, &symbol, sizeof function);
    function(times);
}

/* Where the libc has namespaces and a free one. */
static void use_elsewhere(const char *path)
{
#ifdef LM_ID_NEWLM
    void *module = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        exit(77);
    use_module(module, 2);
    dlclose(module);
#else
    (void)path;
    exit(77);
#endif
}

static void *use_apart(void *path)
{
    use_elsewhere(path);
    return NULL;
}

static void on_a_thread(char *path)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, use_apart, path))
        exit(7);
    pthread_join(thread, NULL);
}

static void turn_on(const char *path)
{
    int (*configure)(const char *);
    void *symbol = symbol_of(open_module(path), "use_configure");
    memcpy(&configure, &symbol, sizeof configure);
    if (configure("simple"))
        exit(8);
}

static void say(const char *path)
{
    static char text[65536];
    int (*report)(char *);
    void *symbol = symbol_of(open_module(path), "use_text");
    memcpy(&report, &symbol, sizeof report);
    int code = report(text);
    printf("%d\n%s", code, text);
}

static long pages(void)
{
    long size, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &size, &resident) != 2)
        exit(5);
    fclose(f);
    return resident;
}

static void cycle(const char *word)
{
    char *path;
    long times = strtol(word, &path, 10), before = 0;
    for (long i = 0; i < times; i++) {
        void *module = open_module(path + 1);
        use_module(module, 1);
        dlclose(module);
        if (i == times / 10)
            before = pages();
    }
    printf("%ld pages\n", pages() - before);
}

static pthread_barrier_t start;

static void *race_one(void *module)
{
    pthread_barrier_wait(&start);
    use_module(module, 2);
    return NULL;
}

static void race(char *paths)
{
    void *modules[8];
    pthread_t threads[8];
    unsigned n = 0;
    for (char *p = strtok(paths, ","); p && n < 8; p = strtok(NULL, ","))
        modules[n++] = open_module(p);
    pthread_barrier_init(&start, NULL, n);
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, race_one, modules[i]))
            exit(7);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void own(const char *path, int how)
{
    usleep(50000); /* past the tick in which the process began */
    unlink(path);
    close(2);
    if (open(path, how | O_CREAT | O_TRUNC, 0600) != 2 ||
        write(2, "precious", 8) != 8)
        exit(9);
}

static void leave(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* of a process that hangs */
    pthread_exit(NULL);
}

/* Several copies of the library are what is tested here. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_odr_violation=0";
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "say=", 4) == 0)
            say(argv[i] + 4);
        else if (strncmp(argv[i], "new=", 4) == 0)
            use_elsewhere(argv[i] + 4);
        else if (strncmp(argv[i], "apart=", 6) == 0)
            on_a_thread(argv[i] + 6);
        else if (strncmp(argv[i], "on=", 3) == 0)
            turn_on(argv[i] + 3);
        else if (strncmp(argv[i], "closing=", 8) == 0)
            close_when_kept(argv[i] + 8);
        else if (strncmp(argv[i], "cycle=", 6) == 0)
            cycle(argv[i] + 6);
        else if (strcmp(argv[i], "again") == 0)
            for (int k = 1; k < i; k++)
                if (argv[k][0] == '/')
                    use_module(open_module(argv[k]), 1);
                else
                    mark_in_host(strcmp(argv[k], "self") == 0);
        else if (strncmp(argv[i], "race=", 5) == 0)
            race(argv[i] + 5);
        else if (strncmp(argv[i], "own=", 4) == 0)
            own(argv[i] + 4, O_WRONLY);
        else if (strncmp(argv[i], "private=", 8) == 0)
            own(argv[i] + 8, O_WRONLY | O_CLOEXEC);
        else if (strcmp(argv[i], "leave") == 0)
            leave();
        else if (strcmp(argv[i], "toggle") == 0)
            toggle();
        else if (strcmp(argv[i], "self") == 0)
            mark_in_host(2);
        else
            use_module(open_module(argv[i]), 2);
    }
    return 0;
}
