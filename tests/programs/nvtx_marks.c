/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Marks of every kind, for an NVTX tool; each argument is one scene. Error
 * codes of control calls go to stdout. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gnomon.h>
#include <gnomon/cuda.h>

static void control(int code)
{
    if (code)
        printf("%s: %s\n", gnomon_error_name(code), gnomon_error_text());
}

static void nest(void)
{
    GNOMON_SCOPE_IN("compute", "outer");
    for (int i = 0; i < 2; i++) {
        GNOMON_SCOPE_IN("compute", "inner");
        GNOMON_SCOPE_IN("io", "read");
    }
    GNOMON_SCOPE("plain");
}

/* The end of a scope ends what is open in it; actions outlive it. */
static void cross(void)
{
    gnomon_token a =
        gnomon_begin(gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE));
    gnomon_start("first");
    (void)gnomon_begin(gnomon_region_get("b", NULL, GNOMON_KIND_SCOPE));
    gnomon_start("second");
    gnomon_end(a);
    gnomon_stop("first");
    gnomon_stop("second");
}

static void *end_range(void *range)
{
    gnomon_range_end(*(gnomon_range *)range);
    return NULL;
}

static void on_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, argument) == 0)
        pthread_join(thread, NULL);
}

static void *end_scope(void *token)
{
    gnomon_end(*(gnomon_token *)token);
    return NULL;
}

/* "a" ends on another thread while "b" is open inside it. */
static void move(void)
{
    gnomon_token a =
        gnomon_begin(gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE));
    gnomon_token b =
        gnomon_begin(gnomon_region_get("b", NULL, GNOMON_KIND_SCOPE));
    on_thread(end_scope, &a);
    gnomon_end(b);
}

static void wander(void)
{
    gnomon_range same_thread =
        gnomon_range_begin(gnomon_region_get("here", "net", GNOMON_KIND_RANGE));
    gnomon_range other_thread = gnomon_range_begin(
        gnomon_region_get("there", "net", GNOMON_KIND_RANGE));
    on_thread(end_range, &other_thread);
    gnomon_range_end(same_thread);
}

static void facts(void)
{
    GNOMON_MARK("epoch");
    for (int i = 0; i < 2; i++)
        GNOMON_COUNTER("loss", 2.5 - i);
    GNOMON_COUNTER("loss", 0.25); /* another place, the same counter */
    gnomon_mark(gnomon_region_get("saved", "io", GNOMON_KIND_MARK));
}

/* Regions exist as long as the process, and so do their names. */
static char *megabyte(void)
{
    static char name[(1u << 20) + 1];
    memset(name, 'm', sizeof name - 1);
    return name;
}

/* The program's own texts are not registered. */
static void names(void)
{
    static gnomon_region bad_name = GNOMON_REGION_INIT(
        GNOMON_KIND_MARK, "bad \xff \xc3( end", "c\xc3\xa4t \xe2\x82", NULL);
    static gnomon_region none =
        GNOMON_REGION_INIT(GNOMON_KIND_MARK, NULL, NULL, NULL);
    static gnomon_region large =
        GNOMON_REGION_INIT(GNOMON_KIND_MARK, NULL, NULL, NULL);
    char *name = megabyte();
    large.name = name;
    GNOMON_SCOPE("gr\xc3\xb6\xc3\x9f"
                 "e \xe2\x82\xac \xf0\x9f\x8e\x89");
    gnomon_mark(&bad_name);
    gnomon_mark(&none);
    gnomon_mark(&large);
    gnomon_start(name);
    gnomon_stop(name);
    gnomon_start("not \xfe utf-8");
    gnomon_stop("not \xfe utf-8");
    gnomon_mark(gnomon_region_get(name, name, GNOMON_KIND_MARK));
}

/* Two operations of one region, a range, and a scope without one. */
static void compute(void)
{
    GNOMON_REGION(linear, "linear", GNOMON_NULL);
    static const int64_t dims[] = {8, 64, 32}, strides[] = {64, 1};
    const gnomon_tensor inputs[] = {
        {sizeof *inputs, 2, "float32", dims, strides},
        {sizeof *inputs, 2, "float32", dims + 1, GNOMON_NULL},
        {sizeof *inputs, 0, "a \"b\"", GNOMON_NULL, GNOMON_NULL}};
    const gnomon_attribute attributes[] = {
        {sizeof *attributes, 0, "transpose", "[false, true]"},
        {sizeof *attributes, 0, "eps", "1e-5"}};
    gnomon_op_info op = {.struct_size = sizeof op,
                         .operation = "matmul",
                         .inputs = inputs,
                         .input_count = 2,
                         .flops = 32768,
                         .bytes = 10240};
    for (int i = 0; i < 2; i++)
        gnomon_end(gnomon_begin_op(&linear, &op));
    op.flags = GNOMON_OP_BACKWARD;
    op.input_count = 3;
    op.attributes = attributes;
    op.attribute_count = 2;
    op.flops = UINT64_MAX;
    gnomon_end(gnomon_begin_op(&linear, &op));
    gnomon_end(gnomon_begin(&linear));
    op = (gnomon_op_info){.struct_size = sizeof op, .operation = "relu"};
    gnomon_range_end(gnomon_range_begin(gnomon_op_region(&linear, &op)));
}

static void *named_thread(void *name)
{
    gnomon_thread_name(name);
    GNOMON_SCOPE("work");
    return NULL;
}

static void name_threads(void)
{
    static char loader[] = "loader";
    gnomon_thread_name("trainer");
    gnomon_stream_name(gnomon_cuda_device(), (void *)0x70, "compute");
    gnomon_stream_name(gnomon_cuda_device(), (void *)0x80, NULL);
    gnomon_stream_name(NULL, NULL, "none");
    on_thread(named_thread, loader);
}

#define THREADS 8
static pthread_barrier_t together;

static void *crowd_thread(void *number)
{
    char name[32];
    pthread_barrier_wait(&together);
    for (int i = 0; i < 100; i++) {
        GNOMON_SCOPE("shared");
        snprintf(name, sizeof name, "name %d",
                 i); /* all threads mark it at once */
        gnomon_token t =
            gnomon_begin(gnomon_region_get(name, "crowd", GNOMON_KIND_SCOPE));
        GNOMON_COUNTER("crowd", i);
        gnomon_end(t);
        gnomon_start("action");
        gnomon_stop("action");
    }
    return number;
}

static void crowd(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, crowd_thread, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void fork_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        GNOMON_SCOPE("child");
        gnomon_start("in the child");
        gnomon_stop("in the child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    GNOMON_SCOPE("parent");
}

/* A scope that is open when its profiler is detached, and one after it is
 * attached again. */
static void detach(void)
{
    GNOMON_SCOPE("before");
    gnomon_start("open");
    control(gnomon_attach(NULL, NULL, ""));
    gnomon_stop("open");
    {
        GNOMON_SCOPE("between");
    }
    control(gnomon_attach(NULL, NULL, getenv("GNOMON")));
    GNOMON_SCOPE("after");
    GNOMON_SCOPE("before");
}

static void masks(void)
{
    static gnomon_region region =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "asked", NULL, NULL);
    gnomon_token token = gnomon_begin(&region);
    printf("gate %x mask %x token %x\n", (unsigned)gnomon_enabled,
           (unsigned)region.mask, (unsigned)token);
    gnomon_end(token);
}

static void keep_errno(void)
{
    errno = 77;
    nest();
    facts();
    gnomon_step();
    printf("errno %d\n", errno);
}

static const struct {
    const char *word;
    void (*play)(void);
} scenes[] = {
    {"nest", nest},   {"cross", cross},      {"wander", wander},
    {"facts", facts}, {"names", names},      {"threads", name_threads},
    {"crowd", crowd}, {"fork", fork_child},  {"detach", detach},
    {"masks", masks}, {"errno", keep_errno}, {"step", gnomon_step},
    {"move", move},   {"compute", compute},
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strncmp(word, "load=", 5) == 0 && !dlopen(word + 5, RTLD_NOW))
            puts(dlerror());
        if (strncmp(word, "stage=", 6) == 0)
            control(gnomon_stage_begin(word + 6));
        else if (strcmp(word, "end") == 0)
            control(gnomon_stage_end());
        else if (strcmp(word, "configure") == 0)
            control(gnomon_attach(NULL, NULL, ""));
        for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++)
            if (strcmp(word, scenes[k].word) == 0)
                scenes[k].play();
    }
    return 0;
}
