/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files: writing all of something, publishing a file whole, reading one.
 * Called from control calls and from gnomon's own threads, never from a mark.
 *
 * No signal that a write raises reaches the host, no thread of the host is
 * cancelled in here, and a temporary file is renamed or gone. */
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/memory.h"
#include "platform/os_calls.h"

/* Tried again where a handler of the host's interrupted it. */
static int open_file(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* ---- Writing ------------------------------------------------------------- */

static int write_all(int fd, const char *bytes, size_t size)
{
    struct pollfd ready = {fd, POLLOUT, 0};
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (n == 0) {
            return EIO;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            (void)poll(&ready, 1, -1); /* the host's, set not to block */
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* A closed pipe raises SIGPIPE, the file size limit SIGXFSZ, both on this very
 * thread: held back here, and taken unless they were pending before. */
int gnomon__os_write(int fd, const void *bytes, size_t size)
{
    static const int raised[] = {SIGPIPE, SIGXFSZ};
    static const struct timespec now = {0, 0};
    sigset_t held, before, pending, take;
    int error, cancel;
    size_t i;
    sigemptyset(&held);
    for (i = 0; i < 2; i++)
        sigaddset(&held, raised[i]);
    sigemptyset(&pending);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = pthread_sigmask(SIG_BLOCK, &held, &before);
    if (error != 0) { /* they would reach the host */
        pthread_setcancelstate(cancel, NULL);
        return error;
    }
    sigpending(&pending);
    error = write_all(fd, bytes, size);
    sigemptyset(&take);
    for (i = 0; i < 2; i++)
        if (!sigismember(&pending, raised[i]))
            sigaddset(&take, raised[i]);
    if (error == EPIPE || error == EFBIG)
        while (sigtimedwait(&take, NULL, &now) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_setcancelstate(cancel, NULL);
    return error;
}

/* ---- Publishing ---------------------------------------------------------- */

/* Closes it too: some systems report a full disk only there. */
static int write_and_close(int fd, const void *bytes, size_t size)
{
    int error = gnomon__os_write(fd, bytes, size);
    if (close(fd) != 0 && error == 0 && errno != EINTR)
        error = errno;
    return error;
}

/* What is there to be written to, not replaced: renaming a file over
 * /dev/null, or over the link /dev/stderr, would be the end of it. */
static int is_stream(const char *path)
{
    static const char *const links[] = {"/dev/std", "/dev/fd/", "/proc/"};
    struct stat info;
    size_t i;
    for (i = 0; i < sizeof links / sizeof *links; i++)
        if (strncmp(path, links[i], strlen(links[i])) == 0)
            return 1;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) &&
           !S_ISDIR(info.st_mode);
}

static int write_stream(const char *path, const void *bytes, size_t size)
{
    int fd = open_file(path, O_WRONLY | O_APPEND | O_NOCTTY);
    struct stat info;
    if (fd < 0)
        return errno;
    if (fstat(fd, &info) == 0 && S_ISBLK(info.st_mode)) {
        (void)close(fd); /* somebody's disk */
        return ENOTSUP;
    }
    return write_and_close(fd, bytes, size);
}

/* Makes the directories of `path`, which ends in a file's name. Only opening
 * the last one tells whether that went well: for one that is there some systems
 * say EROFS. Returns why the first one could not be made. */
static int make_directories(char *path)
{
    char *slash = path;
    int error = 0;
    while ((slash = strchr(slash + 1, '/')) != NULL) {
        *slash = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST && error == 0)
            error = errno;
        *slash = '/';
    }
    return error;
}

/* Creates ".NAME.pid.n.tmp" in `directory`, cutting NAME where it is long. */
static int create_temporary(int directory, const char *name,
                            char temporary[NAME_MAX + 1])
{
    static uint32_t counter;
    int tries, fd = -1;
    for (tries = 0; fd < 0 && tries < 100; tries++) {
        snprintf(temporary, NAME_MAX + 1, ".%.200s.%lld.%lu.tmp", name,
                 (long long)gnomon__os_pid(),
                 (unsigned long)add_relaxed(&counter, 1));
        fd = openat(directory, temporary,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST && errno != EINTR)
            break; /* else a name that a process of this pid left behind */
    }
    return fd;
}

static int replace_file(int directory, const char *name, const void *bytes,
                        size_t size)
{
    char temporary[NAME_MAX + 1];
    int error, fd = create_temporary(directory, name, temporary);
    if (fd < 0)
        return errno;
    error = write_and_close(fd, bytes, size);
    if (error == 0 && renameat(directory, temporary, directory, name) != 0)
        error = errno;
    if (error != 0)
        (void)unlinkat(directory, temporary, 0);
    return error;
}

/* `path` is ours to change. */
static int publish_file(char *path, const void *bytes, size_t size)
{
    char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1, *folder = ".";
    int error, directory;
    if (*name == 0)
        return EISDIR;
    error = make_directories(path);
    if (slash == path) {
        folder = "/";
    } else if (slash != NULL) {
        *slash = 0;
        folder = path;
    }
    directory = open_file(folder, O_PATH | O_DIRECTORY);
    if (directory < 0)
        return error != 0 ? error : errno;
    error = replace_file(directory, name, bytes, size);
    (void)close(directory);
    return error;
}

int gnomon__os_publish(const char *path, const void *bytes, size_t size)
{
    int error, cancel;
    char *copy;
    if (*path == 0)
        return ENOENT;
    copy = gnomon__strdup(path);
    if (copy == NULL)
        return ENOMEM;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = is_stream(path) ? write_stream(path, bytes, size)
                            : publish_file(copy, bytes, size);
    pthread_setcancelstate(cancel, NULL);
    gnomon__free(copy);
    return error;
}

/* ---- Reading ------------------------------------------------------------- */

/* Fills `*text`, growing it: a pipe does not say how long it is. */
static int read_all(int fd, size_t limit, char **text)
{
    size_t size = 0, capacity = 0;
    for (;;) {
        ssize_t n;
        if (size == capacity) {
            char *grown;
            capacity = capacity == 0 ? 4096 : capacity * 2;
            grown = gnomon__realloc(*text, capacity + 1);
            if (grown == NULL)
                return ENOMEM;
            *text = grown;
        }
        n = read(fd, *text + size, capacity - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        size += (size_t)n;
        if (size > limit)
            return EFBIG;
        if (n == 0) {
            (*text)[size] = 0;
            return 0;
        }
    }
}

int gnomon__os_is_file(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    return S_ISREG(status.st_mode);
}

int gnomon__os_read_file(const char *path, size_t limit, char **text)
{
    int error, cancel, fd;
    *text = NULL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    fd = open_file(path, O_RDONLY | O_NOCTTY);
    error = fd < 0 ? errno : read_all(fd, limit, text);
    if (fd >= 0)
        (void)close(fd);
    pthread_setcancelstate(cancel, NULL);
    if (error != 0) {
        gnomon__free(*text);
        *text = NULL;
    }
    return error;
}
