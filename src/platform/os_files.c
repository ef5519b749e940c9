/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files: publishing one whole, reading one. Called from control calls and from
 * gnomon's own threads, never from a mark.
 *
 * No thread of the host is cancelled in here. A temporary file is renamed or
 * gone, and so are directories that were made for it. */
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* ---- Publishing ---------------------------------------------------------- */

/* Closes it too: some systems report a full disk only there. */
static int close_written(int fd, int error)
{
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

/* Whether it is the host's own file that has come to stand at 2. */
static int is_lost_stderr(int fd)
{
    struct stat info, there;
    return gnomon__os_stderr() < 0 && fstat(fd, &info) == 0 &&
           fstat(2, &there) == 0 && info.st_dev == there.st_dev &&
           info.st_ino == there.st_ino;
}

/* A pipe is opened only where somebody reads it, and then waited for as the
 * host's own writes are. */
static int write_stream(const char *path, gnomon__os_make *make,
                        const void *context)
{
    int fd = open_file(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK);
    struct stat info;
    if (fd < 0)
        return errno;
    if (fstat(fd, &info) == 0 && S_ISBLK(info.st_mode)) {
        (void)close(fd); /* somebody's disk */
        return ENOTSUP;
    }
    if (is_lost_stderr(fd)) {
        (void)close(fd);
        return EBADF;
    }
    (void)fcntl(fd, F_SETFL, O_APPEND);
    return close_written(fd, make(fd, context));
}

/* Where everybody may make links, those of others lead astray: the kernel's
 * rule of fs.protected_symlinks, which some machines leave off. */
static int is_trap(const char *path)
{
    struct stat link, folder;
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - path);
    if (n >= sizeof parent || lstat(path, &link) != 0 || !S_ISLNK(link.st_mode))
        return 0;
    memcpy(parent, path, n);
    const char *rest = slash == NULL ? "." : n == 0 ? "/" : "";
    memcpy(parent + n, rest, strlen(rest) + 1);
    return stat(parent, &folder) == 0 && (folder.st_mode & S_ISVTX) &&
           (folder.st_mode & S_IWOTH) && link.st_uid != geteuid() &&
           link.st_uid != folder.st_uid;
}

static int has_trap(char *path)
{
    char *slash = path;
    int found = 0;
    while (!found && (slash = strchr(slash + 1, '/')) != NULL) {
        *slash = 0;
        found = is_trap(path);
        *slash = '/';
    }
    return found;
}

/* Makes the directories of `path`, which ends in a file's name; *first is the
 * end of the first that was made, or NULL. Only opening the last one tells
 * whether that went well: for one that is there some systems say EROFS.
 * Returns why the first one could not be made. */
static int make_directories(char *path, char **first)
{
    char *slash = path;
    int error = 0;
    *first = NULL;
    while ((slash = strchr(slash + 1, '/')) != NULL) {
        *slash = 0;
        if (mkdir(path, 0777) == 0)
            *first = *first == NULL ? slash : *first;
        else if (errno != EEXIST && error == 0)
            error = errno;
        *slash = '/';
    }
    return error;
}

/* From the last of `path` up to `first`; not those that somebody uses. */
static void remove_directories(char *path, const char *first)
{
    char *end = first == NULL ? NULL : path + strlen(path);
    while (end != NULL && end >= first) {
        *end = 0;
        (void)rmdir(path);
        end = strrchr(path, '/');
    }
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

/* Only where no file is; systems that cannot do this replace it. */
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

static int replace_file(int directory, const char *name, gnomon__os_make *make,
                        const void *context, gnomon__os_file *mine,
                        uint64_t since_unix_ns)
{
    char temporary[NAME_MAX + 1];
    struct stat info;
    int error, fd = create_temporary(directory, name, temporary);
    if (fd < 0)
        return errno;
    error = make(fd, context);
    if (error == 0 && fstat(fd, &info) != 0)
        error = errno;
    error = close_written(fd, error);
    if (error == 0)
        error = rename_to(directory, temporary, name, mine, since_unix_ns);
    if (error != 0)
        (void)unlinkat(directory, temporary, 0);
    else if (mine != NULL)
        *mine = file_of(&info);
    return error;
}

/* `path` is ours to change. */
static int publish_file(char *path, gnomon__os_make *make, const void *context,
                        gnomon__os_file *mine, uint64_t since_unix_ns)
{
    char *slash = strrchr(path, '/'), *first;
    const char *name = slash == NULL ? path : slash + 1, *folder = ".";
    int error, directory;
    if (*name == 0)
        return EISDIR;
    if (has_trap(path))
        return EACCES;
    error = make_directories(path, &first);
    if (slash == path) {
        folder = "/";
    } else if (slash != NULL) {
        *slash = 0;
        folder = path;
    }
    directory = open_file(folder, O_PATH | O_DIRECTORY);
    if (directory >= 0) {
        error =
            replace_file(directory, name, make, context, mine, since_unix_ns);
        (void)close(directory);
    } else if (error == 0) {
        error = errno;
    }
    if (error != 0)
        remove_directories(path, first);
    return error;
}

int gnomon__os_publish_made(const char *path, gnomon__os_make *make,
                            const void *context, gnomon__os_file *mine,
                            uint64_t since_unix_ns)
{
    int error, cancel;
    char *copy;
    if (*path == 0)
        return ENOENT;
    copy = gnomon__strdup(path);
    if (copy == NULL)
        return ENOMEM;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = is_stream(path)
                ? write_stream(path, make, context)
                : publish_file(copy, make, context, mine, since_unix_ns);
    pthread_setcancelstate(cancel, NULL);
    gnomon__free(copy);
    return error;
}

/* What was there before stays as it is, also where this fails. */
static int append_file(int fd, gnomon__os_make *make, const void *context,
                       gnomon__os_file *mine)
{
    struct stat info;
    int error = make(fd, context);
    if (error == 0 && fstat(fd, &info) != 0)
        error = errno;
    if (error != 0)
        (void)!ftruncate(fd, (off_t)mine->size);
    else
        *mine = file_of(&info);
    return error;
}

int gnomon__os_append_made(const char *path, gnomon__os_make *make,
                           const void *context, gnomon__os_file *mine)
{
    int error = ENOENT, cancel, fd;
    struct stat info;
    if (is_stream(path))
        return gnomon__os_publish_made(path, make, context, NULL, 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    fd = open_file(path,
                   O_WRONLY | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &info) == 0) {
        gnomon__os_file there = file_of(&info);
        if (is_same(&there, mine))
            error = append_file(fd, make, context, mine);
    }
    if (fd >= 0)
        error = close_written(fd, error);
    pthread_setcancelstate(cancel, NULL);
    return error;
}

typedef struct known_bytes {
    const void *bytes;
    size_t size;
} known_bytes;

static int make_known(int fd, const void *context)
{
    const known_bytes *known = context;
    return gnomon__os_write(fd, known->bytes, known->size);
}

int gnomon__os_publish(const char *path, const void *bytes, size_t size)
{
    known_bytes known = {bytes, size};
    return gnomon__os_publish_made(path, make_known, &known, NULL, 0);
}

/* ---- Reading ------------------------------------------------------------- */

/* Fills `*text`, growing it: files of /proc do not say how long they are. */
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

int gnomon__os_read_file(const char *path, size_t limit, char **text)
{
    int error, cancel, fd;
    uint64_t size;
    *text = NULL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = gnomon__os_open(path, &fd, &size);
    if (error == 0) {
        error = read_all(fd, limit, text);
        gnomon__os_close(fd);
    }
    pthread_setcancelstate(cancel, NULL);
    if (error != 0) {
        gnomon__free(*text);
        *text = NULL;
    }
    return error;
}
