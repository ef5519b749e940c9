/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that trains on a GPU: scopes that launch kernels and copies, on the fake driver
 * at $GNOMON_CUDA_LIBRARY and the fake CUPTI at $GNOMON_CUPTI_LIBRARY, where there is
 * one. Each argument is a call; work=N makes N steps. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cupti/fake_cupti.h"
#include "gnomon.h"
#include "gnomon/cuda.h"

static const fake_cuda *cuda;
static const fake_cupti *cupti;
static fake_place place = {.context_id = 1};

/* As a runtime does: at the first use. */
static void begin_cuda(void)
{
    const char *driver = getenv("GNOMON_CUDA_LIBRARY");
    const char *tool = getenv("GNOMON_CUPTI_LIBRARY");
    void *library = driver ? dlopen(driver, RTLD_NOW) : NULL;
    void *other = tool ? dlopen(tool, RTLD_NOW) : NULL;
    cuda = library ? dlsym(library, "fake_cuda_table") : NULL;
    cupti = other ? dlsym(other, "fake_cupti_table") : NULL;
    if (!cuda)
        exit(2);
    place.context = cuda->context(0);
    place.handle = cuda->stream(place.context);
    cuda->stream_number(place.context, place.handle, 0, &place.stream);
    if (cupti)
        cupti->watch(cuda);
}

static void launch(const char *name, uint64_t ns)
{
    if (cupti)
        cupti->launch(&place, name, ns);
    else
        cuda->launch(place.handle, ns);
}

static void copy(uint64_t bytes)
{
    fake_record r = {.copy = {.kind = FAKE_MEMCPY,
                              .direction = 1,
                              .from = 2,
                              .to = 3,
                              .bytes = bytes,
                              .start = 0,
                              .context = 1,
                              .stream = place.stream}};
    if (!cupti)
        return;
    cupti->begin(FAKE_RUNTIME_API, "cudaMemcpyAsync", place.context);
    cupti->timed_work(&r, 1000);
    cupti->end(0);
}

static void work(int steps)
{
    if (!cuda)
        begin_cuda();
    for (int i = 0; i < steps; i++) {
        {
            GNOMON_SCOPE_ON("train_step", place.handle);
            {
                GNOMON_SCOPE("next_batch");
                copy(4096);
            }
            {
                GNOMON_SCOPE_ON("forward", place.handle);
                launch("gemm", 2000);
                launch("relu", 500);
            }
            launch("adam", 1000);
        }
        gnomon_step();
    }
}

/* Each scope computes as many flops as its kernel takes ns: 100, 200, 300, in turn. */
static void compute(int scopes)
{
    GNOMON_REGION(linear, "linear", NULL);
    gnomon_op_info op = {.struct_size = sizeof op, .operation = "matmul"};
    if (!cuda)
        begin_cuda();
    for (int i = 0; i < scopes; i++) {
        op.flops = 100 * (uint64_t)(i % 3 + 1);
        gnomon_token scope = gnomon_begin_op(&linear, &op);
        launch("gemm", op.flops);
        gnomon_end(scope);
    }
}

/* Graphs of three kernels: CUPTI tells of a graph or of its nodes. */
static void graph(int launches)
{
    if (!cuda)
        begin_cuda();
    const fake_record whole = {.graph = {.kind = FAKE_GRAPH,
                                         .graph = 5,
                                         .context = 1,
                                         .stream = place.stream}};
    const fake_record node = {.kernel = {.kind = FAKE_KERNEL,
                                         .context = 1,
                                         .stream = place.stream,
                                         .graph = 5,
                                         .graph_node = 1,
                                         .name = "node_kernel"}};
    for (int i = 0; i < launches; i++) {
        GNOMON_SCOPE("train_step");
        cupti->begin(FAKE_RUNTIME_API, "cudaGraphLaunch", place.context);
        cupti->timed_work(&whole, 1000);
        for (int k = 0; k < 3 && !cupti->records(FAKE_GRAPH); k++)
            cupti->timed_work(&node, 300);
        cupti->end(0);
    }
}

static void *work_there(void *steps)
{
    gnomon_thread_name("worker");
    work(atoi(steps));
    return NULL;
}

static void thread(char *steps)
{
    pthread_t t;
    if (!cuda)
        begin_cuda();
    if (!pthread_create(&t, NULL, work_there, steps))
        pthread_join(t, NULL);
}

static void fork_off(const char *steps)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        work(atoi(steps));
        exit(0);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", status);
}

/* As CUDA's own exit handler: it is registered when CUDA is first used. */
static void end_cuda(void)
{
    if (cupti)
        cupti->unload();
    cuda->unload();
}

/* Between the last flush of gnomon's and the end of its timers: CUPTI may be gone, CUDA is
 * not. */
static void mark_without_cupti(void)
{
    cupti->unload();
    GNOMON_SCOPE_ON("late", place.handle);
    printf("late\n");
}

static void mark_late(void)
{
    if (!cuda)
        begin_cuda();
    GNOMON_SCOPE_ON("early",
                    place.handle); /* timers' handler comes first, ... */
    atexit(mark_without_cupti);
    launch("first", 1000); /* ... and CUPTI's last: it is called first */
}

static void print_misuse(void)
{
    const char *last;
    printf("misuse %d\n", cuda ? (int)cuda->misuse(&last) : 0);
}

static int call(const char *name, char *value)
{
    if (!strcmp(name, "work"))
        work(atoi(value));
    else if (!strcmp(name, "compute"))
        compute(atoi(value));
    else if (!strcmp(name, "graph"))
        graph(atoi(value));
    else if (!strcmp(name, "thread"))
        thread(value);
    else if (!strcmp(name, "stage"))
        gnomon_stage_begin(value);
    else if (!strcmp(name, "end"))
        gnomon_stage_end();
    else if (!strcmp(name, "endless"))
        launch("endless", UINT64_MAX);
    else if (!strcmp(name, "configure"))
        gnomon_attach(NULL, NULL, value);
    else if (!strcmp(name, "fork"))
        fork_off(value);
    else if (!strcmp(name, "late"))
        mark_late();
    else if (!strcmp(name, "exits")) {
        begin_cuda();
        atexit(end_cuda);
    } else if (!strcmp(name, "misuse"))
        print_misuse();
    else if (!strcmp(name, "subscribers"))
        printf("subscribers %d\n", cupti->subscribers());
    else
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value)
            *value++ = 0;
        int code = call(argv[i], value);
        if (code)
            return code;
    }
    return 0;
}
