/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host with streams of the fake driver at $GNOMON_CUDA_LIBRARY, on the
 * real clock; without it its streams are only numbers. Each argument is a
 * call; work=N is a step of N launches. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda/fake_cuda.h"
#include "gnomon/cuda.h"
#include "gnomon/profile.h"
#include "raw_fork.h"

/* As in forks.c. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0:atexit_sleep_ms=0:die_after_fork=0";
}

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static const fake_cuda *cuda;
static void *context;
static gnomon_cuda_stream stream;

/* Loaded only when needed, so that tests see what gnomon loads. */
static gnomon_cuda_stream make_stream(void)
{
    const char *path = getenv("GNOMON_CUDA_LIBRARY");
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    cuda = library ? dlsym(library, "fake_cuda_table") : NULL;
    if (!cuda)
        return (gnomon_cuda_stream)64;
    context = cuda->context(0);
    return cuda->stream(context);
}

static void launch(uint64_t ns)
{
    if (cuda)
        cuda->launch(stream, ns);
}

static void work(int launches)
{
    stream = stream ? stream : make_stream();
    {
        GNOMON_SCOPE_ON("work", stream);
        for (int i = 0; i < launches; i++) {
            GNOMON_SCOPE_ON("launch", stream);
            launch(100000);
        }
    }
    gnomon_step();
}

static void *work_there(void *launches)
{
    gnomon_thread_name("worker");
    work(atoi(launches));
    return NULL;
}

static void thread(char *launches)
{
    pthread_t t;
    stream = stream ? stream : make_stream();
    if (!pthread_create(&t, NULL, work_there, launches))
        pthread_join(t, NULL);
}

/* The child has a context and a stream of its own. */
static void fork_off(const char *launches)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        stream = NULL;
        work(atoi(launches));
        exit(0);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", status);
}

/* The child marks nothing. */
static void clone_off(void)
{
    int status = -1;
    pid_t child = raw_fork();
    if (child == 0)
        exit(0);
    waitpid(child, &status, 0);
    printf("child %d\n", status);
}

/* How many threads are gnomon's. */
static int own_threads(void)
{
    char path[300], name[32];
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        n += f && fgets(name, sizeof name, f) && !strcmp(name, "gnomon\n");
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return n;
}

/* Waits until none is. */
static void be_alone(void)
{
    for (int i = 0; i < 5000 && own_threads(); i++)
        usleep(1000);
    printf("alone %d\n", own_threads() == 0);
}

/* How many launches the profiler cuda knows the times of. */
static uint64_t launches_read(void)
{
    gnomon_profile *p = NULL;
    uint64_t n = 0;
    if (gnomon_snapshot(&p, "cuda", 0))
        return 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info node;
        gnomon_region_info region;
        if (!gnomon_profile_node(p, i, &node) && node.device &&
            !(node.flags & GNOMON_NODE_PART) &&
            !gnomon_profile_region(p, node.region, &region) &&
            strcmp(region.name, "launch") == 0)
            n += node.device->count;
    }
    gnomon_profile_free(p);
    return n;
}

static void wait_for_launches(uint64_t n)
{
    for (int i = 0; i < 5000 && launches_read() < n; i++)
        usleep(1000);
}

/* Ten lines, and no profiler. */
static void use_timer(void)
{
    gnomon_cuda_timer *timer;
    double ms = -1;
    stream = stream ? stream : make_stream();
    int code = gnomon_cuda_timer_create(&timer);
    if (!code) {
        gnomon_cuda_timer_start(timer, stream);
        launch(3000000);
        gnomon_cuda_timer_stop(timer, stream);
        code = gnomon_cuda_timer_elapsed(timer, &ms);
    }
    gnomon_cuda_timer_destroy(timer);
    if (code)
        printf("timer: %s\n", gnomon_error_text());
    else
        printf("timer: %d\n", ms >= 3);
}

/* How often the name stands among what is mapped. */
static void print_mapped(const char *name)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        n += strstr(line, name) != NULL;
    if (f)
        fclose(f);
    printf("%s %s\n", name, n ? "is mapped" : "is not mapped");
}

static int control(const char *verb, const char *value)
{
    int code = 1;
    if (strcmp(verb, "setup") == 0)
        code = gnomon_setup(NULL);
    else if (strcmp(verb, "teardown") == 0)
        code = gnomon_teardown();
    else if (strcmp(verb, "configure") == 0)
        code = gnomon_attach(NULL, NULL, value);
    else if (strcmp(verb, "stage") == 0)
        code = gnomon_stage_begin(value);
    else if (strcmp(verb, "end") == 0)
        code = gnomon_stage_end();
    if (code < 0)
        printf("%s: %s\n", verb, gnomon_error_text());
    return code <= 0;
}

static int word(const char *verb, char *value)
{
    if (control(verb, value))
        return 1;
    if (strcmp(verb, "work") == 0)
        work(atoi(value));
    else if (strcmp(verb, "thread") == 0)
        thread(value);
    else if (strcmp(verb, "fork") == 0)
        fork_off(value);
    else if (strcmp(verb, "clone") == 0)
        clone_off();
    else if (strcmp(verb, "alone") == 0)
        be_alone();
    else if (strcmp(verb, "read") == 0)
        wait_for_launches(strtoull(value, NULL, 10));
    else if (strcmp(verb, "timer") == 0)
        use_timer();
    else if (strcmp(verb, "mapped") == 0)
        print_mapped(value);
    else if (strcmp(verb, "never") == 0)
        launch(UINT64_MAX);
    else if (strcmp(verb, "hang") == 0 && cuda)
        cuda->hang(*value ? value : NULL); /* of argv: it stays */
    else if (strcmp(verb, "slow") == 0 && cuda)
        cuda->slow("cuEventQuery", (unsigned)atoi(value));
    else if (strcmp(verb, "sleep") == 0)
        usleep(1000u * (unsigned)atoi(value));
    else if (strcmp(verb, "secure") == 0)
        printf("secure %d\n", getauxval(AT_SECURE) != 0);
    else if (strcmp(verb, "misuse") == 0)
        printf("misuse %d\n", (int)cuda->misuse(NULL));
    else if (strcmp(verb, "leave") == 0)
        _exit(0);
    else if (strcmp(verb, "die") == 0)
        raise(SIGTERM);
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '='), none[] = "";
        if (equals)
            *equals = 0;
        if (!word(argv[i], equals ? equals + 1 : none)) {
            fprintf(stderr, "streams: no such word: %s\n", argv[i]);
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
