/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * A process forks while another of its threads starts gnomon: the child has a copy of
 * the lock that this thread holds, and must not wait for it. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording_threads.h"

static uint32_t is_inside, may_go_on;

static void wait_inside(void)
{
    store_release(&is_inside, 1);
    while (!load_acquire(&may_go_on))
        usleep(1000);
}

static void mark_once(void)
{
    GNOMON_SCOPE("mark");
}

/* Whether a child that is forked now gets through its first mark. */
static void check_child(void)
{
    int status = -1;
    pid_t child = fork();
    if (!child) {
        alarm(20);
        mark_once();
        gnomon_stage_begin("of the child");
        mark_once();
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static void fork_amid(void *(*starts)(void *))
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, starts, NULL), 0);
    while (!load_acquire(&is_inside))
        usleep(1000);
    check_child();
    store_release(&may_go_on, 1);
    pthread_join(thread, NULL);
    check_child();
}

static void *make_mark(void *unused)
{
    mark_once();
    return unused;
}

static int create_waiting(const gnomon_options *options, void **self)
{
    (void)options, (void)self;
    wait_inside();
    return GNOMON_OK;
}

static const gnomon_profiler slow = {.struct_size = sizeof slow,
                                     .abi = GNOMON_ABI,
                                     .name = "slow",
                                     .create = create_waiting};

TEST(while_another_thread_reads_the_variable)
{
    setenv("GNOMON", "slow", 1);
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    fork_amid(make_mark);
}

static void *configure_slow(void *unused)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, "slow"), GNOMON_OK);
    return unused;
}

TEST(while_another_thread_configures)
{
    CHECK_EQ(gnomon_host_get()->add_profiler(&slow), GNOMON_OK);
    fork_amid(configure_slow);
}
