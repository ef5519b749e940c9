/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* AddressSanitizer's allocator, which each thread asks for memory as it starts,
 * does not see to it, as libc's does, that a fork leaves none of its locks held:
 * a child that was forked meanwhile waits for ever. So where tests are built with
 * it, a fork waits until the other threads rest, or 10 ms; this is linked to each
 * of them. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether this thread, by the name of its folder, sleeps; or is gone. */
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
