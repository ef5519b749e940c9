/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that forks, or ends in an unusual way, by its argument; its one
 * profiler reports the number of scopes called "work". */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"

#define THREADS 8
#define EACH 20000

/* A child has one thread only: the parent's other threads are no leaks, and
 * the leak search cannot stop them. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0:atexit_sleep_ms=0";
}

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static int report(void *self, const gnomon_profile *p, const gnomon_writer *out)
{
    unsigned long long sum = 0;
    (void)self;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_region_info r;
        gnomon_profile_node(p, i, &n);
        gnomon_profile_region(p, n.region, &r);
        if (n.host && strcmp(r.name, "work") == 0)
            sum += n.host->count;
    }
    return out->print(out, "report: work %llu\n", sum);
}

static const gnomon_profiler reporter = {
    .struct_size = sizeof reporter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "reporter",
    .summary = report,
};

static void work(long n)
{
    for (long i = 0; i < n; i++) {
        GNOMON_SCOPE("work");
        gnomon_start("action");
        gnomon_stop("action");
        GNOMON_COUNTER("samples", (double)i);
    }
}

static void *work_each(void *unused)
{
    work(EACH);
    return unused;
}

/* In a child: marks and calls of all kinds, none of which may wait, print or
 * record; also regions new to the parent. */
static void be_a_child(void)
{
    work(100);
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("only in children");
        gnomon_step();
        gnomon_thread_name("child");
    }
    if (gnomon_region_get("also only there", NULL, GNOMON_KIND_SCOPE)->mask ||
        gnomon_attach(NULL, NULL, "log") != GNOMON_ESTATE ||
        gnomon_stage_end() != GNOMON_ESTATE ||
        gnomon_thread_stack(0, NULL, 0) > 1000)
        exit(3);
    exit(0); /* with its atexit functions */
}

static int fork_once(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        be_a_child();
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int fork_among_threads(void)
{
    pthread_t threads[THREADS];
    int good = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work_each, NULL);
    for (int i = 0; i < 20; i++)
        good &= fork_once();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return good;
}

static void *fork_often(void *good)
{
    for (int i = 0; i < 20; i++)
        *(int *)good &= fork_once();
    return NULL;
}

/* The forking thread holds no lock of gnomon's; other threads may, at any
 * time. */
static int fork_among_control_calls(void)
{
    pthread_t thread;
    int good = 1;
    pthread_create(&thread, NULL, fork_often, &good);
    for (int i = 0; i < 200; i++) {
        gnomon_attach(NULL, NULL,
                      i & 1 ? "simple(schedule=wait:1/active:1),"
                              "file=/dev/null"
                            : "");
        work(10);
        gnomon_step();
    }
    pthread_join(thread, NULL);
    return good;
}

/* Replaces libc's, which gnomon's threads call as they begin. On request it
 * takes long, like a wait in an allocator. */
static int is_slow, has_begun;

int prctl(int option, ...)
{
    char *name;
    va_list rest;
    va_start(rest, option);
    name = va_arg(rest, char *);
    va_end(rest);
    if (option == PR_SET_NAME && is_slow) {
        usleep(20000);
        __atomic_store_n(&has_begun, 1, __ATOMIC_SEQ_CST);
    }
    return (int)syscall(SYS_prctl, option, name);
}

/* No child has a gnomon thread that is just beginning. */
static int fork_at_once(void)
{
    int status = -1;
    pid_t child;
    is_slow = 1;
    if (gnomon_attach(NULL, NULL, "simple,file=/dev/null") != GNOMON_OK)
        return 0;
    child = fork();
    if (child == 0)
        _exit(!__atomic_load_n(&has_begun, __ATOMIC_SEQ_CST));
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void *leave(void *unused)
{
    (void)unused;
    exit(0);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    pthread_t thread;
    int good = strcmp(word, "at once") == 0 ||
               gnomon_attach(&reporter, NULL, NULL) == GNOMON_OK;
    if (strcmp(word, "child") == 0) {
        work(100);
        good &= fork_once();
        work(23);
    } else if (strcmp(word, "open") == 0) {
        gnomon_start("around");
        GNOMON_SCOPE("work");
        good &= fork_once();
        work(7);
    } else if (strcmp(word, "threads") == 0) {
        good &= fork_among_threads();
    } else if (strcmp(word, "control") == 0) {
        good &= fork_among_control_calls();
    } else if (strcmp(word, "at once") == 0) {
        good = fork_at_once();
    } else if (strcmp(word, "exit") == 0) {
        work(5);
        exit(7);
    } else if (strcmp(word, "_exit") == 0) {
        work(5);
        _exit(8);
    } else if (strcmp(word, "exit in a thread") == 0) {
        work(50);
        pthread_create(&thread, NULL, leave, NULL);
        for (;;)
            pause();
    } else if (strcmp(word, "exit while others mark") == 0) {
        pthread_create(&thread, NULL, leave, NULL);
        for (;;)
            work(1);
    }
    return good ? 0 : 1;
}
