/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread draws the bar, so that code that reads needs no calls for it: the system
 * counts the bytes that this process has read.
 *
 * Invariant: under the lock, a bar is on the screen only while `is_shown`. */
#include "command/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MUCH ((uint64_t)16 << 20) /* bytes */
#define MANY 64                   /* files */
#define WIDTH 40

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over;
static pthread_t thread;
static int is_running, is_over, is_shown, is_drawn;
static size_t at, of; /* the file, or what else is counted */
static const char *what = "file";
static unsigned depth; /* of shows without a hide */
static uint64_t read_before, to_read;

/* Bytes that this process has read; 0 where the system does not say. */
static uint64_t bytes_read(void)
{
    uint64_t bytes = 0;
    FILE *io = fopen("/proc/self/io", "re");
    if (io && fscanf(io, "rchar: %" SCNu64, &bytes) != 1)
        bytes = 0;
    if (io)
        fclose(io);
    return bytes;
}

/* Of many things, by their number; of one, by its bytes. */
static double done_part(void)
{
    uint64_t done = bytes_read();
    if (of > 1)
        return (double)(at - 1) / (double)of;
    done = done > read_before ? done - read_before : 0;
    return done > to_read ? 1 : (double)done / (double)to_read;
}

static void draw(void)
{
    char bar[WIDTH + 1];
    double part = done_part();
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)(part * WIDTH));
    bar[WIDTH] = 0;
    fprintf(stderr, "\r%s %3d %%, %s %zu of %zu\033[K", bar, (int)(part * 100),
            what, at, of);
    fflush(stderr);
    is_drawn = 1;
}

static void clear(void)
{
    if (is_drawn)
        fputs("\r\033[K", stderr);
    is_drawn = 0;
}

static void *progress_thread(void *unused)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&lock);
    while (!is_over) {
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&over, &lock, &until);
        if (is_shown && !is_over)
            draw();
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

void gnomon__progress_begin(const gnomon__cli_inputs *in)
{
    const char *term = getenv("TERM");
    struct stat about;
    sigset_t all, before;
    pthread_condattr_t monotonic;
    if (!isatty(STDERR_FILENO) || !term || !*term || !strcmp(term, "dumb"))
        return;
    to_read = 1;
    of = in->count;
    for (size_t i = 0; i < in->count; i++)
        if (stat(in->paths[i], &about) == 0 && S_ISREG(about.st_mode))
            to_read += (uint64_t)about.st_size;
    if (to_read < MUCH && of < MANY)
        return;
    read_before = bytes_read();
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_running = pthread_create(&thread, NULL, progress_thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gnomon__progress_end(void)
{
    if (!is_running)
        return;
    pthread_mutex_lock(&lock);
    is_over = 1;
    clear();
    pthread_cond_signal(&over);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    is_running = 0;
}

void gnomon__progress_show(void)
{
    if (!is_running)
        return;
    pthread_mutex_lock(&lock);
    at += !depth++;
    is_shown = 1;
    pthread_mutex_unlock(&lock);
}

void gnomon__progress_at(const char *thing, size_t number, size_t count)
{
    if (!is_running)
        return;
    pthread_mutex_lock(&lock);
    what = thing;
    at = number;
    of = count;
    depth++;
    is_shown = 1;
    pthread_mutex_unlock(&lock);
}

void gnomon__progress_hide(void)
{
    if (!is_running)
        return;
    pthread_mutex_lock(&lock);
    is_shown = --depth > 0;
    if (!is_shown)
        clear();
    pthread_mutex_unlock(&lock);
}
