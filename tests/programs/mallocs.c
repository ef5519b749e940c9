/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes memory by each call of the C library, in scopes named for them. The first word
 * says what else it does: threads, fork, control, attach, exit; watch: without a preloaded
 * library, while threads take memory. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
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
    return "allocator_may_return_null=1";
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
    if (gnomon_attach(NULL, NULL, "memory(format=csv)") ||
        gnomon_watch_malloc() || gnomon_attach(NULL, NULL, "-malloc"))
        exit(15);
    {
        GNOMON_SCOPE("detached");
        give(malloc(9));
    }
    if (gnomon_watch_malloc() || gnomon_watch_malloc())
        exit(16);
    __atomic_store_n(&is_watched, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    GNOMON_SCOPE("text");
    give(strdup("by the C library"));
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
    if (strcmp(what, "exit") == 0 && atexit(at_exit))
        return 13;
    each_call();
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
