/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon's effects on a process besides recording: none where $GNOMON is not
 * set, as strace shows; otherwise threads of its own, which take no signal
 * and exist only while a profiler needs them.
 *
 * links: static
 * labels: guest */
#include <dirent.h>

#include "recording_threads.h"

#include "child.h"

/* ---- Off -------------------------------------------------------------------- */

/* Of the test's own threads, which wait for each other. */
static int is_the_tests(const char *call)
{
    return strncmp(call, "futex(", 6) == 0 ||
           strncmp(call, "<... ", 5) ==
               0; /* the end of one that began before */
}

static int strace_runs(void)
{
    const char *const words[] = {"-c", "strace -o .probe true", NULL};
    return child_run("/bin/sh", NULL, words).status == 0;
}

static child_result trace(const char *environment)
{
    const char *const words[] = {
        "-c", "exec strace -f -o .calls " CHILD_PROGRAM("quiet"), NULL};
    return child_run("/bin/sh", environment, words);
}

/* How many system calls between the program's lines are not the test's. */
static int calls_of_ours(int print)
{
    int inside = 0, lines = 0, n = 0;
    char *log = child_read(".calls");
    for (char *line = log ? strtok(log, "\n") : NULL; line;
         line = strtok(NULL, "\n")) {
        char *call = line + strspn(line, "0123456789 ");
        if (strncmp(call, "write(1, \"begin", 15) == 0)
            inside = lines = 1;
        else if (strncmp(call, "write(1, \"end", 13) == 0)
            inside = 0;
        else if (inside && !is_the_tests(call)) {
            n++;
            if (print)
                fprintf(stderr, "    %s\n", line);
        }
    }
    CHECK_EQ(lines, 1);
    CHECK_EQ(inside, 0);
    return n;
}

TEST(unset_no_system_call_is_made)
{
    if (IS_SANITIZED)
        SKIP("a sanitizer makes system calls of its own");
    if (!strace_runs())
        SKIP("strace is not here, or may not trace");
    child_result r = trace(NULL);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "begin\nend\n");
    CHECK_STR(r.err, "");
    CHECK_EQ(calls_of_ours(1), 0);
    r = trace("GNOMON=simple"); /* that the log shows what there is to see */
    CHECK_EQ(r.status, 0);
    CHECK(calls_of_ours(0) > 0);
}

/* ---- Threads of ours -------------------------------------------------------- */

/* How many there are; each must have all signals blocked but those that cannot
 * be, and the C library's own. */
static int threads_of_ours(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    while (tasks && (task = readdir(tasks)) != NULL) {
        char path[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        char *text = child_load(path);
        const char *blocked = text ? strstr(text, "\nSigBlk:\t") : NULL;
        if (blocked && strncmp(text, "Name:\tgnomon", 12) == 0) {
            unsigned long long set = strtoull(blocked + 9, NULL, 16);
            for (int s = 1; s < 64; s++)
                if (s != SIGKILL && s != SIGSTOP && (s < 32 || s > 34) &&
                    !CHECK(set >> (s - 1) & 1))
                    fprintf(stderr, "    signal %d\n", s);
            n++;
        }
        free(text);
    }
    if (tasks)
        closedir(tasks);
    return n;
}

/* As above, once there are some or none: a new thread first sets its name,
 * and is gone when the kernel removes it. */
static int threads_at_last(int some)
{
    for (int i = 0; i < 5000 && (threads_of_ours() > 0) != some; i++)
        usleep(1000);
    return threads_of_ours();
}

TEST(threads_of_ours_take_no_signal_and_end)
{
    setenv("GNOMON", "", 1);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(threads_of_ours(), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(gnomon_attach(NULL, NULL,
                               "simple(schedule=wait:9/active:1,"
                               "file=/dev/null)"),
                 GNOMON_OK);
        CHECK(threads_at_last(1) >= 1); /* arms masks before windows open */
        CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
        CHECK_EQ(threads_at_last(0), 0);
    }
}
