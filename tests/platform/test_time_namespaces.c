/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time namespaces, as containers have them: CLOCK_MONOTONIC is shifted by any
 * amount, and the processor's counter is not. Needs the right to make one.
 * links: static
 * labels: guest */
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>

#include "live_profile.h"
#include "recording_threads.h"
#include "run/host.h"
#include "run/run.h"

LIVE_KEEPER(keeper, "keeper");

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

static int64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Children are born into one that is `seconds` ahead. */
static int make_namespace(const char *seconds)
{
    char text[64];
    int n = snprintf(text, sizeof text, "monotonic %s 0\n", seconds);
    if (unshare(CLONE_NEWTIME))
        return 0;
    int fd = open("/proc/self/timens_offsets", O_WRONLY);
    int is_written = fd >= 0 && write(fd, text, (size_t)n) == n;
    close(fd);
    return is_written;
}

static void mark_work(void)
{
    GNOMON_SCOPE("work");
    usleep(1000);
}

/* In the namespace: converted times follow its clock, and durations are
 * right. */
static int record(void)
{
    gnomon_setup(NULL);
    if (gnomon_attach(&keeper, NULL, NULL))
        return 2;
    mark_work();
    /* Its zero is between these two. */
    int64_t low = monotonic_ns(), zero = (int64_t)gnomon__upcall_host.now_ns();
    int64_t high = monotonic_ns() - zero;
    low -= zero;
    for (int i = 0; i < 20; i++) {
        int64_t before = monotonic_ns();
        int64_t now = (int64_t)gnomon__upcall_host.now_ns();
        int64_t after = monotonic_ns();
        if (now + high < before - 1000000 || now + low > after + 1000000)
            return 3;
        mark_work();
    }
    gnomon_profile *p = live_snapshot("keeper");
    gnomon_node_info n = {0};
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++)
        gnomon_profile_node(p, i, &n);
    int is_right = n.host && n.host->count == 21 &&
                   n.host->total_ns >= 21 * 1000000 &&
                   n.host->total_ns < UINT64_C(100000000000);
    gnomon_profile_free(p);
    return is_right ? 0 : 4;
}

static void born_into(const char *seconds)
{
    int status = 0;
    pid_t maker = fork();
    if (maker == 0) {
        if (!make_namespace(seconds))
            _exit(77);
        pid_t born = fork();
        if (born == 0)
            _exit(record());
        waitpid(born, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 5);
    }
    waitpid(maker, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("this process may make no time namespace");
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
}

TEST(a_clock_that_is_ahead)
{
    born_into("100000");
}

TEST(a_clock_that_is_behind)
{
    born_into("-1000");
}
