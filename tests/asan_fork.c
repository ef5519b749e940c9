/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* AddressSanitizer's allocator may hold a lock while the process forks. Each
 * thread takes that lock as it starts, and nothing resets it in the child,
 * as libc does with malloc's: the child would wait for ever. So in tests
 * built with it a fork waits until each other thread sleeps, or has run for so long
 * that its start is over. On a busy machine a new thread may have to wait for that;
 * after 10 s something else is wrong (10 ms where the kernel does not say how long it
 * ran). This file is linked to each of them. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STARTED_NS 3000000

/* The first line of a file of a thread, named by its folder in /proc; "": none. */
static const char *line_of(const char *thread, const char *name, char line[256])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/%s", thread, name);
    FILE *f = fopen(path, "r");
    line[0] = 0;
    if (f && !fgets(line, 256, f))
        line[0] = 0;
    if (f)
        fclose(f);
    return line;
}

/* Whether this thread sleeps, has ended, or started long ago. */
static int rests(const char *thread)
{
    char line[256];
    const char *name_end = strrchr(line_of(thread, "stat", line), ')');
    if (!name_end || name_end[2] == 'S')
        return 1;
    line_of(thread, "schedstat", line); /* its time on a processor */
    return strtoull(line, NULL, 10) > STARTED_NS;
}

static int others_rest(void)
{
    DIR *threads = opendir("/proc/self/task");
    int all = 1;
    for (struct dirent *d; threads && all && (d = readdir(threads)) != NULL;)
        all = d->d_name[0] == '.' || atoi(d->d_name) == gettid() ||
              rests(d->d_name);
    if (threads)
        closedir(threads);
    return all;
}

static void settle(void)
{
    int most = access("/proc/self/schedstat", R_OK) == 0 ? 20000 : 20;
    for (int i = 0; i < most && !others_rest(); i++)
        usleep(500);
}

static __attribute__((constructor)) void settle_before_forks(void)
{
    pthread_atfork(settle, NULL, NULL);
}
