/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* AddressSanitizer's allocator may hold a lock while the process forks. Each
 * thread takes that lock as it starts, and nothing resets it in the child,
 * as libc does with malloc's: the child would wait for ever. So in tests
 * built with it a fork waits until the other threads sleep, or 10 ms. This
 * file is linked to each of them. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether this thread, named by its folder in /proc, sleeps or has ended. */
static int rests(const char *thread)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
    FILE *f = fopen(path, "r");
    if (!f)
        return 1;
    char *read = fgets(line, sizeof line, f);
    fclose(f);
    const char *name_end = read ? strrchr(line, ')') : NULL;
    return !name_end || name_end[2] == 'S';
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
    for (int i = 0; i < 20 && !others_rest(); i++)
        usleep(500);
}

static __attribute__((constructor)) void settle_before_forks(void)
{
    pthread_atfork(settle, NULL, NULL);
}
