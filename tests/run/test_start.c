/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * labels: guest
 * The start of a run. Marks of other threads wait until it is over, whichever call makes
 * it, and are recorded; where it waits for the thread that marks, they wait for a second,
 * and are counted. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gnomon/report.h"
#include "live_profile.h"
#include "recording_threads.h"

#define SCOPES 20

/* ---- Ways to start ------------------------------------------------------------ */

static void by_mark(void)
{
    GNOMON_SCOPE("first");
}

static void by_action(void)
{
    gnomon_start("first");
    gnomon_stop("first");
}

static void by_region(void)
{
    (void)gnomon_region_get("first", NULL, GNOMON_KIND_SCOPE);
}

static void by_name(void)
{
    gnomon_thread_name("first");
}

static void by_step(void)
{
    gnomon_step();
}

static void by_setup(void)
{
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
}

static void by_stage(void)
{
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
}

static void by_configure(void)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, getenv("GNOMON")), GNOMON_OK);
}

LIVE_KEEPER(keeper, "keeper");

static void by_attach(void)
{
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
}

static void by_spec(void)
{
    CHECK(gnomon_spec(NULL, 0) > 0);
}

static void by_snapshot(void)
{
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_snapshot(&p, "tree", 1), GNOMON_OK);
    gnomon_profile_free(p);
}

static void by_metadata(void)
{
    CHECK_EQ(gnomon_metadata("key", "1"), GNOMON_OK);
}

static void by_file_name(void)
{
    char name[64];
    CHECK(gnomon_host_get()->file_name("a-%r", name, sizeof name) > 0);
}

static const struct {
    const char *name;
    void (*start)(void);
} ways[] = {{"a scope", by_mark},       {"an action", by_action},
            {"a region", by_region},    {"a thread's name", by_name},
            {"a step", by_step},        {"setup", by_setup},
            {"stage_begin", by_stage},  {"configure", by_configure},
            {"attach", by_attach},      {"spec", by_spec},
            {"snapshot", by_snapshot},  {"metadata", by_metadata},
            {"file_name", by_file_name}};
#define WAYS (sizeof ways / sizeof *ways)

/* Each in a process of its own, all at once: some wait for a second. */
static void in_each_way(void (*life)(void (*start)(void)))
{
    pid_t children[WAYS];
    for (size_t i = 0; i < WAYS; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        alarm(100);
        life(ways[i].start);
        if (test_failures)
            fprintf(stderr, "    by %s\n", ways[i].name);
        _exit(test_failures != 0);
    }
    for (size_t i = 0; i < WAYS; i++) {
        int status = -1;
        CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
        CHECK_EQ(status, 0);
    }
}

/* ---- A profiler that is slow, or that waits for a thread that marks --------------- */

static void (*in_create)(void), (*in_setup)(void);

static int create(const gnomon_options *options, void **self)
{
    (void)options, (void)self;
    if (in_create)
        in_create();
    return GNOMON_OK;
}

static int set_up(void *self, const gnomon_run_info *run, const char *stage)
{
    (void)self, (void)run, (void)stage;
    if (in_setup)
        in_setup();
    in_setup = NULL; /* not again for a stage */
    return GNOMON_OK;
}

static const gnomon_profiler slow = {.struct_size = sizeof slow,
                                     .abi = GNOMON_ABI,
                                     .name = "slow",
                                     .create = create,
                                     .setup = set_up};

static void *work(void *unused)
{
    for (int i = 0; i < SCOPES; i++) {
        GNOMON_SCOPE("worker");
    }
    for (int i = 0; i < SCOPES; i++) {
        gnomon_start("by name");
        gnomon_stop("by name");
    }
    return unused;
}

/* ---- Marks during a start --------------------------------------------------------- */

static uint32_t is_inside, is_marking;

static void wait_inside(void)
{
    store_release(&is_inside, 1);
    while (!load_acquire(&is_marking))
        usleep(500);
    usleep(20000);
}

static void *work_meanwhile(void *unused)
{
    while (!load_acquire(&is_inside))
        usleep(500);
    store_release(&is_marking, 1);
    gnomon_thread_name("worker's");
    return work(unused);
}

static int is_thread_named(const char *name)
{
    gnomon_profile *p = live_snapshot("tree");
    int is_there = 0;
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_TRACKS); i++) {
        gnomon_track_info t;
        gnomon_profile_track(p, i, &t);
        is_there |= strcmp(t.name, name) == 0;
    }
    gnomon_profile_free(p);
    return is_there;
}

static void mark_meanwhile(void (*start)(void))
{
    pthread_t thread;
    in_create = wait_inside;
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    CHECK_EQ(pthread_create(&thread, NULL, work_meanwhile, NULL), 0);
    start();
    pthread_join(thread, NULL);
    CHECK_EQ(live_count_of("tree", "worker"), SCOPES);
    CHECK_EQ(live_count_of("tree", "by name"), SCOPES);
    CHECK(is_thread_named("worker's"));
    live_check_no_trouble();
}

TEST(marks_wait_while_a_profiler_that_comes_first_is_made)
{
    setenv("GNOMON", "slow,tree(file=/dev/null)", 1);
    in_each_way(mark_meanwhile);
}

/* The first one records already, and the third one must not miss what it records. */
TEST(marks_wait_while_a_profiler_that_comes_later_is_made)
{
    setenv("GNOMON",
           "simple(file=/dev/null,exclude=x),slow,tree(file=/dev/null)", 1);
    in_each_way(mark_meanwhile);
}

/* A child that has started anew. */
static void mark_in_child(void (*start)(void))
{
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    by_mark();
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        mark_meanwhile(start == by_setup ? by_setup : by_mark);
        _exit(test_failures != 0);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

TEST(marks_wait_in_a_child_that_follows)
{
#if IS_TSAN
    SKIP("the sanitizer starts no thread in a child of threads");
#endif
    setenv("GNOMON", "slow,tree(file=/dev/null),fork=follow", 1);
    in_each_way(mark_in_child);
}

/* ---- A start that waits for a thread that marks ------------------------------------- */

static void join_a_worker(void)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, work, NULL), 0);
    pthread_join(thread, NULL);
}

/* All of the worker's marks are counted, here or there. */
static void check_counts(void)
{
    uint64_t recorded = (uint64_t)live_count_of("tree", "worker") +
                        (uint64_t)live_count_of("tree", "by name");
    uint64_t stops = SCOPES, marks = 2 * SCOPES;
    CHECK_EQ(recorded, 0);
    CHECK_EQ(live_health().reentered, marks + stops);
    work(NULL);
    CHECK_EQ(live_count_of("tree", "worker"), SCOPES);
    CHECK_EQ(live_health().reentered, marks + stops);
}

static void join_in_create(void (*start)(void))
{
    in_create = join_a_worker;
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    start();
    check_counts();
}

TEST(create_may_join_a_thread_that_marks)
{
    setenv("GNOMON", "slow,tree(file=/dev/null)", 1);
    in_each_way(join_in_create);
}

static void join_in_setup(void (*start)(void))
{
    in_setup = join_a_worker;
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    start();
    check_counts();
}

TEST(setup_may_join_a_thread_that_marks)
{
    setenv("GNOMON", "slow,tree(file=/dev/null)", 1);
    in_each_way(join_in_setup);
}

static void join_in_constructor(void (*start)(void))
{
    if (start == by_configure)
        return; /* it says that this file is no plugin */
    start();
    check_counts();
}

TEST(a_plugin_s_constructor_may_join_a_thread_that_marks)
{
    char address[32];
    uintptr_t at;
    void (*join)(void) = join_a_worker;
    memcpy(&at, &join, sizeof at);
    snprintf(address, sizeof address, "%llx", (unsigned long long)at);
    setenv("IN_CONSTRUCTOR", address, 1);
    setenv("GNOMON",
           TEST_BINARY_DIR "/plugins/constructor.so,tree(file=/dev/null)", 1);
    in_each_way(join_in_constructor);
}

/* A control call of the joined thread is told so. */
static int stage_code = 1;

static void *begin_stage(void *unused)
{
    stage_code = gnomon_stage_begin("worker's");
    return unused;
}

static void join_a_stage(void)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, begin_stage, NULL), 0);
    pthread_join(thread, NULL);
}

static void join_control(void (*start)(void))
{
    in_create = join_a_stage;
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    start();
    CHECK_EQ(stage_code, GNOMON_EBUSY);
    CHECK_EQ(gnomon_stage_begin("after"), GNOMON_OK);
}

TEST(create_may_join_a_thread_that_begins_a_stage)
{
    setenv("GNOMON", "slow,tree(file=/dev/null)", 1);
    in_each_way(join_control);
}
