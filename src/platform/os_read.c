/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading files that may be large. Never called by a thread that marks. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/os.h"
#include "platform/os_calls.h"

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
