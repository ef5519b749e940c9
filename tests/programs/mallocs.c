/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes memory by each call of the C library, in scopes named for them. The first word
 * says what else it does: threads, fork, forks, vfork, handler, thread, control, attach, exit;
 * watch: without a preloaded library, while threads take memory; late: the same, of a library
 * that is loaded later. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gnomon/tool.h"

static void *volatile early;
static _Thread_local void *volatile kept; /* no call is left out */

__attribute__((constructor)) static void take_early(void)
{
    early = malloc(77);
}

static void give(void *p)
{
    kept = p;
    free(kept);
}

static void resize(void)
{
    void *p = NULL, *more;
    GNOMON_SCOPE("realloc");
    p = realloc(p, 100); /* 1 taken */
    more = realloc(p, 300);
    errno = 0;
    kept = (void *)(size_t)-4096;
    if (realloc(more, (size_t)kept) || errno != ENOMEM)
        exit(3); /* the block stays */
    if (realloc(more, 0))
        exit(4);
    more = reallocarray(NULL, 3, 7);
    give(more);
    if (reallocarray(NULL, (size_t)kept, 16))
        exit(5);
}

/* Of a sanitizer: what is too large is refused as by the C library, and `keep` keeps. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:detect_leaks=0";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1:report_signal_unsafe=0";
}

static void each_call(void)
{
    void *p;
    {
        GNOMON_SCOPE("malloc");
        errno = 7;
        give(malloc(10));
        give(NULL);
        if (errno != 7)
            exit(6);
    }
    {
        GNOMON_SCOPE("calloc");
        give(calloc(3, 5));
    }
    {
        GNOMON_SCOPE("posix_memalign");
        if (posix_memalign(&p, 64, 1000))
            exit(7);
        give(p);
    }
    {
        GNOMON_SCOPE("aligned");
        give(aligned_alloc(64, 128));
        give(memalign(32, 40));
    }
    resize();
    GNOMON_SCOPE("keep");
    kept = malloc(4321);
}

static void *work(void *unused)
{
    for (int i = 0; i < 25000; i++) {
        GNOMON_SCOPE("work");
        give(malloc((size_t)(i % 50)));
    }
    return unused;
}

static void threads(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, work, NULL))
            exit(8);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
}

static int is_watched;

static void store_watched(int is)
{
    __atomic_store_n(&is_watched, is, __ATOMIC_RELEASE);
}

static void *take_meanwhile(void *unused)
{
    while (!__atomic_load_n(&is_watched, __ATOMIC_ACQUIRE))
        free(strdup("meanwhile"));
    return unused;
}

/* The second call finds nothing new; a detached one marks no more. */
static void watch(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, take_meanwhile, NULL))
            exit(14);
    if (gnomon_attach(NULL, NULL, "memory(format=csv),fork=follow") ||
        gnomon_watch_malloc() || gnomon_attach(NULL, NULL, "-malloc"))
        exit(15);
    {
        GNOMON_SCOPE("detached");
        give(malloc(9));
    }
    if (gnomon_watch_malloc() || gnomon_watch_malloc())
        exit(16);
    store_watched(1);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    GNOMON_SCOPE("text");
    give(strdup("by the C library"));
}

/* Without a second call nothing of the library is marked. */
static void late(void)
{
    void (*taking)(size_t);
    void *library, *symbol;
    if (gnomon_attach(NULL, NULL, "memory(format=csv)") ||
        gnomon_watch_malloc())
        exit(17);
    library = dlopen(TEST_BINARY_DIR "/plugins/taking.so", RTLD_NOW);
    symbol = library ? dlsym(library, "taking") : NULL;
    memcpy(&taking, &symbol, sizeof taking);
    if (!symbol)
        exit(18);
    for (size_t i = 0; i < 2; i++) {
        gnomon_start(i ? "covered" : "loaded");
        taking(500 + i);
        gnomon_stop(i ? "covered" : "loaded");
        if (gnomon_watch_malloc())
            exit(19);
    }
}

/* Forks while threads take memory, which children do too. */
static void forks(void)
{
    pthread_t t[2];
    int status;
    store_watched(0);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, take_meanwhile, NULL))
            exit(20);
    for (int i = 0; i < 40; i++) {
        GNOMON_SCOPE("forks");
        pid_t child = fork();
        give(malloc(32));
        if (child == 0)
            _exit(0);
        if (waitpid(child, &status, 0) != child || status)
            exit(21);
    }
    store_watched(1);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

/* Its child has this process's memory, and so its marks. */
static void forks_by_vfork(void)
{
    int status;
    GNOMON_SCOPE("vfork");
    pid_t child = vfork();
    if (child == 0) {
        give(malloc(22));
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status)
        exit(22);
    give(malloc(23));
}

static void take_in_handler(int number)
{
    const int before = errno;
    GNOMON_SCOPE("handler");
    give(malloc((size_t)number));
    if (errno != before)
        _exit(23);
}

static void *send_signals(void *to)
{
    for (int i = 0; i < 300; i++)
        (void)pthread_kill(*(pthread_t *)to, SIGUSR1);
    store_watched(1);
    return NULL;
}

/* Handlers that interrupt marks at any place, but not the heap. */
static void handle(void)
{
    struct sigaction action = {.sa_handler = take_in_handler};
    pthread_t self = pthread_self(), t;
    store_watched(0);
    if (sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1) ||
        pthread_create(&t, NULL, send_signals, &self))
        exit(24);
    while (!__atomic_load_n(&is_watched, __ATOMIC_ACQUIRE)) {
        GNOMON_SCOPE("spin");
    }
    pthread_join(t, NULL);
}

static pthread_key_t key;
static char rounds[5];

/* Again and again: gnomon's own end of the thread comes between. */
static void end_thread(void *round)
{
    GNOMON_SCOPE("ending");
    give(malloc(64));
    if (round < (void *)&rounds[4])
        (void)pthread_setspecific(key, (char *)round + 1);
}

static void *begin_thread(void *unused)
{
    (void)pthread_setspecific(key, rounds);
    GNOMON_SCOPE("thread");
    give(malloc(65));
    return unused;
}

static void end_threads(void)
{
    pthread_t t;
    if (pthread_key_create(&key, end_thread))
        exit(25);
    for (int i = 0; i < 10; i++)
        if (pthread_create(&t, NULL, begin_thread, NULL) ||
            pthread_join(t, NULL))
            exit(26);
}

/* What gnomon itself takes, here for its calls, reports and files, is not marked. */
static void control(void)
{
    GNOMON_SCOPE("control");
    if (gnomon_attach(NULL, NULL, "+simple(as=more)") ||
        gnomon_attach(NULL, NULL, "-more"))
        exit(10);
    if (gnomon_stage_begin("fit") || gnomon_stage_end())
        exit(11);
    GNOMON_SCOPE("after");
    give(malloc(6));
}

/* Before the report, and after it. */
static void at_exit(void)
{
    GNOMON_SCOPE("handler");
    give(malloc(66));
}

__attribute__((destructor)) static void at_end(void)
{
    GNOMON_SCOPE("end");
    give(calloc(1, 88));
    give(early);
}

int main(int argc, char **argv)
{
    int status = 0;
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "attach") == 0 &&
        gnomon_attach(NULL, NULL, "memory(format=csv)"))
        return 12;
    if (strncmp(what, "watch", 5) == 0) {
        watch();
        what += 5;
    }
    if (strcmp(what, "late") == 0)
        late();
    if (strcmp(what, "exit") == 0 && atexit(at_exit))
        return 13;
    each_call();
    if (strcmp(what, "forks") == 0)
        forks();
    if (strcmp(what, "vfork") == 0)
        forks_by_vfork();
    if (strcmp(what, "handler") == 0)
        handle();
    if (strcmp(what, "thread") == 0)
        end_threads();
    if (strcmp(what, "threads") == 0)
        threads();
    if (strcmp(what, "control") == 0)
        control();
    if (strcmp(what, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            GNOMON_SCOPE("child");
            give(malloc(55));
            return 0;
        }
        if (waitpid(child, &status, 0) != child)
            return 9;
    }
    return status != 0;
}
