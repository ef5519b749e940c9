/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing to descriptors, and what standard error is. Not called on a mark's
 * hot path.
 *
 * No signal that a write raises reaches the host, no thread of the host is
 * cancelled in here, and nothing is written to a descriptor 2 that has
 * become another file of the host. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/os.h"
#include "platform/os_calls.h"

/* How long a descriptor that does not block may take no byte. */
#define WRITE_PATIENCE_NS 2000000000ull

/* ---- Writing ------------------------------------------------------------- */

/* The timeout is by the clock, as each signal of the host ends a poll. */
static int write_all(int fd, const char *bytes, size_t size)
{
    static uint32_t is_unread; /* standard error: it is not waited for again */
    struct pollfd ready = {fd, POLLOUT, 0};
    uint64_t patience =
        fd == 2 && load_relaxed(&is_unread) ? 0 : WRITE_PATIENCE_NS;
    uint64_t until = 0, now;
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        int why = n == 0 ? EIO : errno; /* nothing written, and no errno */
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
            until = 0;
            if (!patience)
                store_relaxed(&is_unread, 0);
        } else if (why == EAGAIN || why == EWOULDBLOCK) {
            now = gnomon__os_monotonic_ns();
            until = until != 0 ? until : now + patience;
            if (now < until &&
                poll(&ready, 1, (int)((until - now) / 1000000) + 1) != 0)
                continue;
            if (fd == 2)
                store_relaxed(&is_unread, 1);
            return ETIMEDOUT; /* nobody reads */
        } else if (why != EINTR) {
            return why;
        }
    }
    return 0;
}

/* A closed pipe raises SIGPIPE, the limit of file sizes SIGXFSZ, both on the
 * writing thread. They are blocked during the write, and removed after it
 * unless they were pending before. */
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
    cancel = gnomon__os_cancel_off();
    error = pthread_sigmask(SIG_BLOCK, &held, &before);
    if (error != 0) { /* they would reach the host */
        gnomon__os_cancel_back(cancel);
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
    gnomon__os_cancel_back(cancel);
    return error;
}

/* ---- Standard error ------------------------------------------------------ */

/* The file at descriptor 2 when it was first asked for; inode 0: none. */
static uint64_t error_device, error_inode;
static uint32_t error_known;
static uint64_t loaded_unix_ns; /* when the constructor ran; 0: it has not */

/* Whether the regular file at 2 was made by this program, as the host's own is: after
 * this library was loaded, or, where it was loaded late, after the process began. What
 * was made for it, as by a program that starts it with a new file for its errors, may be
 * made in the same tick of the clock of processes. Files have their times by the tick. */
static int is_born_here(void)
{
#ifdef STATX_BTIME
    const uint64_t tick_ns = 10000000;
    struct statx info;
    uint64_t begun = gnomon__os_is_late() ? gnomon__os_begun_unix_ns(0) : 0;
    uint64_t since = begun ? begun + 2 * tick_ns : loaded_unix_ns;
    return since && statx(2, "", AT_EMPTY_PATH, STATX_BTIME, &info) == 0 &&
           (info.stx_mask & STATX_BTIME) &&
           (uint64_t)info.stx_btime.tv_sec * 1000000000u +
                   info.stx_btime.tv_nsec >
               since;
#else
    return 0;
#endif
}

/* Whether the file at 2 is data of the host, which it opened itself, and not standard
 * error. It is data if it closes at an exec, as then it was opened after the last one; or
 * if the host made it and may read it, or made it before this library came late. It is
 * no data if it is opened to append, as a log is, or has no name, as the files in which
 * runners of tests catch messages. */
static int is_hosts(const struct stat *info)
{
    int flags = fcntl(2, F_GETFL);
    return fcntl(2, F_GETFD) == FD_CLOEXEC ||
           (S_ISREG(info->st_mode) && info->st_nlink && !(flags & O_APPEND) &&
            (gnomon__os_is_late() || (flags & O_ACCMODE) == O_RDWR) &&
            is_born_here());
}

static void note_stderr(int is_late)
{
    struct stat info;
    memset(&info, 0, sizeof info);
    if (fstat(2, &info) != 0 && errno != EBADF)
        return; /* not to be known now */
    if (is_late && is_hosts(&info))
        memset(&info, 0, sizeof info);
    store_relaxed(&error_device, (uint64_t)info.st_dev);
    store_relaxed(&error_inode, (uint64_t)info.st_ino);
    store_release(&error_known, 1); /* pairs with gnomon__os_stderr */
}

/* Runs before main if the library is loaded that early: a host that is
 * started without standard error may open a file of its own as 2. If it is
 * loaded later, the host may have done so already. Without $GNOMON it makes no
 * system call. */
__attribute__((constructor)) static void note_stderr_early(void)
{
    int kept_errno = errno;
    loaded_unix_ns = gnomon__os_unix_ns();
    if (getenv("GNOMON") != NULL) /* its value does not matter */
        note_stderr(gnomon__os_is_late());
    errno = kept_errno;
}

/* Whether the host replaced standard error on purpose. A dup2 over it cannot
 * be told from a close and an open. A terminal, /dev/null, and the file that
 * is standard output too are never the host's data. */
static int is_redirected(const struct stat *info)
{
    struct stat output;
    if (fcntl(2, F_GETFD) & FD_CLOEXEC)
        return 0; /* dup2 clears it */
    if (S_ISCHR(info->st_mode))
        return info->st_rdev == makedev(1, 3) || isatty(2);
    return fstat(1, &output) == 0 && output.st_dev == info->st_dev &&
           output.st_ino == info->st_ino;
}

int gnomon__os_stderr(void)
{
    int kept_errno = errno, is_ours;
    struct stat info;
    if (!load_acquire(&error_known))
        note_stderr(1);
    if (fstat(2, &info) != 0)
        is_ours = errno != EBADF; /* the system does not say */
    else
        is_ours = !load_acquire(&error_known) ||
                  (load_relaxed(&error_device) == (uint64_t)info.st_dev &&
                   load_relaxed(&error_inode) == (uint64_t)info.st_ino) ||
                  is_redirected(&info);
    errno = kept_errno;
    return is_ours ? 2 : -1;
}

unsigned gnomon__os_columns(void)
{
    int kept_errno = errno, fd = gnomon__os_stderr();
    struct winsize size = {0};
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size))
        size.ws_col = 0;
    errno = kept_errno;
    return size.ws_col;
}
