/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files: publishing a whole file, appending to one, reading one. Called from
 * control calls and from threads of ours, never from a mark.
 *
 * No thread of the host is cancelled in here. A temporary file is always
 * renamed or removed; directories that were made for it are removed on an
 * error. */
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/memory.h"
#include "platform/os_path.h"

const char *gnomon__os_error_text(int error)
{
    if (error == GNOMON__OS_FOREIGN)
        return "Permission denied (another user's, in a folder that others may "
               "write to)";
    if (error == GNOMON__OS_IN_ROOT)
        return "its first folder is not there, and none is made in /";
    return error == GNOMON__OS_UNREAD ? "nobody reads it" : strerror(error);
}

const char *gnomon__os_error_advice(int error, const char *usual)
{
    if (error == EMFILE)
        return "raise the limit of open files (ulimit -n)";
    return error == EFBIG ? "raise the limit of file sizes (ulimit -f)" : usual;
}

void gnomon__os_note(const char *file, char note, const char *path)
{
    size_t n = path ? strlen(path) : 0, used = 1;
    char *text = gnomon__alloc(PATH_MAX + n + 3);
    int fd = openat(AT_FDCWD, file,
                    O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
                        O_CLOEXEC);
    struct stat info;
    if (text && fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_uid == geteuid()) {
        *text = note;
        if (n && *path != '/' && getcwd(text + 1, PATH_MAX)) {
            used += strlen(text + 1);
            text[used++] = '/';
        }
        if (n)
            memcpy(text + used, path, n);
        text[used + n] = 0;
        (void)gnomon__os_write(fd, text, used + n + 1);
    }
    if (fd >= 0)
        (void)close(fd);
    gnomon__free(text);
}

int gnomon__os_folder(char *out, size_t size)
{
    return getcwd(out, size) ? 0 : -1;
}

int gnomon__os_is_missing(const char *path)
{
    struct stat info;
    return fstatat(AT_FDCWD, path, &info, 0) != 0 && errno == ENOENT;
}

/* ---- Publishing ---------------------------------------------------------- */

/* Closes the file and returns the first error: some systems report a full
 * disk only at close. */
static int close_written(int fd, int error)
{
    if (close(fd) != 0 && error == 0 && errno != EINTR)
        error = errno;
    return error;
}

/* Whether `fd` is a file of the host that got the number 2 after standard
 * error was closed. */
static int is_lost_stderr(int fd)
{
    struct stat info, there;
    return gnomon__os_stderr() < 0 && fstat(fd, &info) == 0 &&
           fstat(2, &there) == 0 && info.st_dev == there.st_dev &&
           info.st_ino == there.st_ino;
}

int gnomon__os_make_folders(const char *path)
{
    gnomon__os_path *p;
    int why = gnomon__path_resolve(&p, path, 1);
    if (p)
        gnomon__path_close(p, why);
    return why;
}

/* Why the open stream must not be written to; 0: it may. The name may stand
 * for another file than when its status was read. */
static int refuse_stream(const gnomon__os_path *p, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return errno;
    if (gnomon__path_is_foreign(p, &info, S_ISVTX | S_IWOTH))
        return GNOMON__OS_FOREIGN;
    if (S_ISBLK(info.st_mode))
        return ENOTSUP; /* a disk */
    if (p->folder >= 0 && S_ISREG(info.st_mode))
        return EACCES;
    return is_lost_stderr(fd) ? EBADF : 0;
}

/* Writes to a stream. A pipe is opened only if it has a reader. It is opened
 * without blocking, so that gnomon__os_write times out if the reader stops. */
static int write_stream(const gnomon__os_path *p, gnomon__os_make *make,
                        const void *context)
{
    int error, fd;
    if (gnomon__path_is_foreign(p, &p->status, S_ISVTX | S_IWOTH))
        return GNOMON__OS_FOREIGN;
    fd = gnomon__path_open(p, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return errno;
    error = refuse_stream(p, fd);
    if (error == 0 && (error = make(fd, context)) == ETIMEDOUT)
        error = GNOMON__OS_UNREAD;
    return close_written(fd, error);
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

static gnomon__os_file file_of(const struct stat *info)
{
    gnomon__os_file file = {(uint64_t)info->st_dev, (uint64_t)info->st_ino,
                            (uint64_t)info->st_size};
    return file;
}

static int is_same(const gnomon__os_file *a, const gnomon__os_file *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size;
}

/* The kernel's own time is that of its last tick, up to 10 ms ago: by it, a file
 * could seem older than who began before it was written. */
static void note_time(int fd)
{
    uint64_t now = gnomon__os_unix_ns();
    const struct timespec times[2] = {
        {0, UTIME_OMIT},
        {(time_t)(now / 1000000000u), (long)(now % 1000000000u)}};
    (void)futimens(fd, times);
}

/* Renames if no file has the name; systems that cannot test this replace the
 * file. */
static int rename_anew(int directory, const char *from, const char *to)
{
    if (syscall(SYS_renameat2, directory, from, directory, to,
                1u /* RENAME_NOREPLACE */) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    return renameat(directory, from, directory, to) == 0 ? 0 : errno;
}

static int rename_to(int directory, const char *from, const char *to,
                     const gnomon__os_file *mine, uint64_t since_unix_ns)
{
    struct stat info;
    if (mine != NULL) {
        if (fstatat(directory, to, &info, AT_SYMLINK_NOFOLLOW) != 0)
            return rename_anew(directory, from, to);
        gnomon__os_file there = file_of(&info);
        uint64_t changed = (uint64_t)info.st_mtim.tv_sec * 1000000000u +
                           (uint64_t)info.st_mtim.tv_nsec;
        if (S_ISREG(info.st_mode) && changed > since_unix_ns &&
            !is_same(&there, mine))
            return EEXIST;
    }
    return renameat(directory, from, directory, to) == 0 ? 0 : errno;
}

/* Whether the file is a stranger's in a sticky folder: there the kernel lets
 * only root replace it. */
static int is_anothers(const gnomon__os_path *p, const gnomon__os_file *mine)
{
    gnomon__os_file there = file_of(&p->status);
    return p->status.st_mode && (mine == NULL || !is_same(&there, mine)) &&
           gnomon__path_is_foreign(p, &p->status, S_ISVTX);
}

static int replace_file(const gnomon__os_path *p, gnomon__os_make *make,
                        const void *context, gnomon__os_file *mine,
                        uint64_t since_unix_ns)
{
    char temporary[NAME_MAX + 1];
    struct stat info;
    int error, fd;
    if (is_anothers(p, mine))
        return GNOMON__OS_FOREIGN;
    fd = create_temporary(p->folder, p->name, temporary);
    if (fd < 0)
        return errno;
    error = make(fd, context);
    note_time(fd);
    if (error == 0 && fstat(fd, &info) != 0)
        error = errno;
    error = close_written(fd, error);
    if (error == 0)
        error = rename_to(p->folder, temporary, p->name, mine, since_unix_ns);
    if (error != 0)
        (void)unlinkat(p->folder, temporary, 0);
    else if (mine != NULL)
        *mine = file_of(&info);
    return error;
}

int gnomon__os_publish_made(const char *path, gnomon__os_make *make,
                            const void *context, gnomon__os_file *mine,
                            uint64_t since_unix_ns)
{
    gnomon__os_path *p;
    int error, cancel;
    cancel = gnomon__os_cancel_off();
    error = gnomon__path_resolve(&p, path, 1);
    if (error == 0)
        error = gnomon__path_is_stream(p)
                    ? write_stream(p, make, context)
                    : replace_file(p, make, context, mine, since_unix_ns);
    gnomon__path_close(p, error);
    gnomon__os_cancel_back(cancel);
    return error;
}

/* Appends; on an error the file is cut back to its old size. */
static int append_file(int fd, gnomon__os_make *make, const void *context,
                       gnomon__os_file *mine)
{
    struct stat info;
    int error = make(fd, context);
    note_time(fd);
    if (error == 0 && fstat(fd, &info) != 0)
        error = errno;
    if (error != 0)
        (void)!ftruncate(fd, (off_t)mine->size);
    else
        *mine = file_of(&info);
    return error;
}

static int append_at(const gnomon__os_path *p, gnomon__os_make *make,
                     const void *context, gnomon__os_file *mine)
{
    struct stat info;
    int error = ENOENT;
    int fd = gnomon__path_open(p, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return ENOENT;
    if (fstat(fd, &info) == 0) {
        gnomon__os_file there = file_of(&info);
        if (is_same(&there, mine))
            error = append_file(fd, make, context, mine);
    }
    return close_written(fd, error);
}

int gnomon__os_append_made(const char *path, gnomon__os_make *make,
                           const void *context, gnomon__os_file *mine)
{
    gnomon__os_path *p;
    int error = ENOENT, cancel;
    cancel = gnomon__os_cancel_off();
    if (gnomon__path_resolve(&p, path, 0) == 0)
        error = gnomon__path_is_stream(p) ? write_stream(p, make, context)
                                          : append_at(p, make, context, mine);
    gnomon__path_close(p, 0);
    gnomon__os_cancel_back(cancel);
    return error;
}

/* ---- Reading ------------------------------------------------------------- */

/* Fills `*text`, growing it: files of /proc do not say how long they are. */
static int read_all(int fd, size_t limit, char **text)
{
    size_t size = 0, room = 0;
    for (;;) {
        ssize_t n;
        if (size + 1 >= room && !gnomon__grow(text, &room, size + 4096, 1))
            return ENOMEM;
        n = read(fd, *text + size, room - size - 1);
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

int gnomon__os_read_file(const char *path, size_t limit, char **text)
{
    int error, cancel, fd;
    uint64_t size;
    *text = NULL;
    cancel = gnomon__os_cancel_off();
    error = gnomon__os_open(path, &fd, &size);
    if (error == 0) {
        error = read_all(fd, limit, text);
        gnomon__os_close(fd);
    }
    gnomon__os_cancel_back(cancel);
    if (error != 0) {
        gnomon__free(*text);
        *text = NULL;
    }
    return error;
}

/* ---- Large files ---------------------------------------------------------------- */

/* Reading files that may be large. Never called by a thread that marks. */

int gnomon__os_open(const char *path, int *fd, uint64_t *size)
{
    struct stat info;
    /* O_NONBLOCK: a pipe would wait for its writer. */
    do
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0)
        return errno;
    int error = fstat(*fd, &info) != 0 ? errno : 0;
    if (!error && !S_ISREG(info.st_mode))
        error = S_ISDIR(info.st_mode) ? EISDIR : ESPIPE;
    if (error)
        (void)close(*fd);
    else
        *size = (uint64_t)info.st_size;
    return error;
}

int gnomon__os_read_at(int fd, uint64_t at, void *bytes, size_t size)
{
    char *to = bytes;
    while (size) {
        ssize_t n = pread(fd, to, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        to += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

int gnomon__os_open_again(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void gnomon__os_close(int fd)
{
    (void)close(fd);
}

/* ---- Descriptors, and standard error -------------------------------------------- */

/* Writing to descriptors, and what standard error is. Not called on a mark's
 * hot path.
 *
 * No signal that a write raises reaches the host, no thread of the host is
 * cancelled in here, and nothing is written to a descriptor 2 that has
 * become another file of the host. */

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
