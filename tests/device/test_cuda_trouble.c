/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * timeout: 300
 * Device times where memory or the system's calls fail, each in turn in a
 * process of its own; and where views come and go, stages end and devices are
 * reset while eight threads mark. Nothing crashes, hangs or leaks, and what is
 * not timed is counted. */
#include "child.h"
#include "fake_cuda.h"
#include "probe_profile.h"
#include "recording_threads.h"
#include "platform/memory.h"
#include "os_calls.h"

#define US 1000u
#define MS 1000000u
#define MOST 2000      /* allocations of a run */
#define HANG_AFTER 200 /* seconds */

static void *context, *stream;

/* ---- A run with a fault ------------------------------------------------------------ */

static int fair(int code)
{
    if (code)
        CHECK(*gnomon_error_text());
    return CHECK(code <= 0);
}

static void *mark_some(void *unused)
{
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "inner %d", i % 2);
        gnomon_region *inner = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
        GNOMON_SCOPE_ON("outer", stream);
        gnomon_device_scope s =
            gnomon_begin_on(inner, gnomon_cuda_device(), stream);
        cuda->launch(stream, (1u << i) * MS);
        gnomon_end_on(s);
        gnomon_step();
    }
    return unused;
}

static void run_all(uint64_t *timed_ones)
{
    fair(gnomon_setup(NULL));
    fair(gnomon_attach(NULL, NULL,
                       "cuda(file=out.txt),simple(file=simple.txt)"));
    fair(gnomon_stage_begin("fit"));
    mark_some(NULL);
    on_thread(mark_some, NULL);
    pass(1000 * MS);
    gnomon_profile *p = NULL;
    *timed_ones = 0;
    if (fair(gnomon_snapshot(&p, "cuda", 0)) && p) {
        fair(gnomon_profile_check(p));
        for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
            gnomon_node_info n;
            if (!gnomon_profile_node(p, i, &n) && n.device &&
                !(n.flags & GNOMON_NODE_PART))
                *timed_ones += n.device->count;
        }
    }
    gnomon_profile_free(p);
    pass(1000 * MS);
    fair(gnomon_stage_end());
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

enum { REACHED = 0, FAILED = 1, NOT_REACHED = 2 };

/* What the run cannot repair: the driver stays unloaded in this process. */
static int loses_the_driver(const char *call)
{
    return call && call[0] == 'd';
}

/* Also this: ends of threads are not seen, and their memory stays. */
static int loses_threads(const char *call)
{
    return call && strcmp(call, "pthread_key_create") == 0;
}

static void be_child(const char *call, uint64_t n, uint64_t many)
{
    uint64_t count;
    *child_path = 0; /* the parent cleans up */
    alarm(HANG_AFTER);
    context = cuda->context(0);
    stream = cuda->stream(context);
    if (call)
        gnomon__test_fail_calls(call, n, many, 0);
    else
        gnomon__test_fail_allocation(n);
    run_all(&count);
    int reached =
        n <= (call ? gnomon__test_calls() : gnomon__test_allocations());
    gnomon__test_fail_calls(NULL, 0, 1, 0);
    gnomon__test_fail_allocation(0);
    uint64_t expected = loses_the_driver(call) ? count : 20;
    run_all(&count);
    CHECK_EQ(count, expected);
    uint64_t heap = gnomon__heap_bytes();
    run_all(&count);
    CHECK_EQ(count, expected);
    if (!loses_threads(call))
        CHECK_EQ(gnomon__heap_bytes(), heap);
    fake_cuda_is_well();
    exit(test_failures ? FAILED : reached ? REACHED : NOT_REACHED);
}

static int run_child(const char *call, uint64_t n, uint64_t many)
{
    int status = -1;
    child_folder();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        freopen("err", "w", stderr);
        be_child(call, n, many);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == FAILED) {
        const int the_run_survives = 0;
        CHECK(the_run_survives);
        fprintf(stderr, "    number %d of %s: status %x\n%s", (int)n,
                call ? call : "allocations", (unsigned)status,
                child_read("err"));
        return FAILED;
    }
    return WEXITSTATUS(status);
}

/* How many there are; of many, each `step`-th fails. */
static uint64_t fail_each(const char *call, uint64_t step)
{
    uint64_t n = 1;
    fake_cuda_use();
    while (n < MOST && !test_failures && run_child(call, n, 1) == REACHED)
        n += step;
    CHECK(n < MOST);
    return n - 1;
}

TEST(no_memory)
{
    CHECK(fail_each(NULL, EACH_RUN) > 20);
}

TEST(no_driver_can_be_loaded)
{
    CHECK(fail_each("dlopen", 1) >= 1);
}

TEST(no_thread)
{
    CHECK(fail_each("pthread_create", 1) >= 1);
}

/* The next thread's timers try again to register for the process's end. */
TEST(no_thread_end_can_be_observed)
{
    uint64_t count;
    fake_cuda_use();
    child_folder();
    context = cuda->context(0);
    stream = cuda->stream(context);
    gnomon__test_fail_calls("atexit", 2, 1, 0); /* the first is the run's */
    run_all(&count);
    CHECK_EQ(count, 20);
    CHECK_EQ(gnomon__test_calls(), 3);
    gnomon__test_fail_calls(NULL, 0, 1, 0);
    fake_cuda_is_well();
}

/* A symbol that is not found is a call that the driver lacks. */
TEST(no_symbol)
{
    CHECK(fail_each("dlsym", 1) >= 23);
}

/* Calls that a run does not make cannot fail. */
TEST(a_call_fails_for_good)
{
    int reached = 0;
    const char *name;
    fake_cuda_use();
    for (size_t i = 0; (name = gnomon__test_call_name(i)) && !test_failures;
         i++)
        reached += run_child(name, 1, UINT64_MAX) == REACHED;
    CHECK(reached > 15);
}

/* ---- Threads ------------------------------------------------------------------------- */

static int stop;
static uint64_t marks_made;

static void *mark_until_stop(void *number)
{
    char name[16];
    cuda->current(context);
    void *own = cuda->stream(context);
    snprintf(name, sizeof name, "t%d", *(int *)number);
    gnomon_region *region = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    uint64_t *marks = calloc(1, sizeof *marks);
    for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++*marks) {
        GNOMON_SCOPE_ON("outer", own);
        cuda->launch(own, 1 * US);
        gnomon_device_scope s = gnomon_begin_on(region, gnomon_cuda_device(),
                                                *marks % 2 ? own : stream);
        cuda->launch(own, 1 * US);
        if (*marks % 64)
            gnomon_end_on(s);
        else
            gnomon_end(s.token); /* left to the reader's end */
        if (*marks % 16 == 0)
            gnomon_step();
        pass(10 * US);
        __atomic_add_fetch(&marks_made, 1, __ATOMIC_RELAXED);
    }
    return marks;
}

static const gnomon_profiler few = {.struct_size = sizeof few,
                                    .abi = GNOMON_ABI,
                                    .wants =
                                        GNOMON_WANT_TREE | GNOMON_WANT_DEVICE,
                                    .name = "few"};

static void turn(int i)
{
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&few, NULL, "filter=t1|t2"), GNOMON_OK);
    usleep(500);
    gnomon_profile_free(profile_of("timed", 0));
    if (i % 3 == 0)
        gnomon_stage_begin("again");
    if (i % 5 == 0)
        CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    gnomon_profile_free(profile_of("few", 0));
    CHECK_EQ(gnomon_detach(&few, NULL), GNOMON_OK);
    if (i % 5)
        CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    if (i % 3 == 0)
        gnomon_stage_end();
}

static void come_and_go(int turns)
{
    pthread_t threads[8];
    int numbers[8];
    uint64_t marks = 0;
    fake_cuda_use();
    context = cuda->context(0);
    stream = cuda->stream(context);
    for (int i = 0; i < 8; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, mark_until_stop, &numbers[i]);
    }
    for (int i = 0; i < turns; i++)
        turn(i);
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    uint64_t before = __atomic_load_n(&marks_made, __ATOMIC_RELAXED);
    while (__atomic_load_n(&marks_made, __ATOMIC_RELAXED) < before + 100)
        usleep(500); /* some begin and end from here on */
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 8; i++) {
        void *its;
        pthread_join(threads[i], &its);
        marks += *(uint64_t *)its;
        free(its);
    }
    pass(1000 * MS);
    gnomon_profile *p = profile_of("timed", 0);
    CHECK(marks > 0 && calls_of(p, "outer") > 0);
    CHECK(device_of(p, "outer").count <= calls_of(p, "outer"));
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    CHECK_EQ(health_now().timers_failed, 0);
    fake_cuda_is_well();
}

/* A round is slow: the reader's passes, four of which it waits for, query
 * streams that eight threads fill. */
TEST(soak_views_come_and_go)
{
    come_and_go((int)live_times(IS_SLOW ? 30 : 10, 5000));
}
