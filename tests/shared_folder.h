/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Folders that others may write to, and what they put there. */
#ifndef GNOMON_TESTS_SHARED_FOLDER_H
#define GNOMON_TESTS_SHARED_FOLDER_H

#include <fcntl.h>
#include <sys/stat.h>

#include "child.h"
#include "publish.h"
#include "test.h"

#define STRANGER 12345
#define OWNER 12346

static inline int publish(const char *path)
{
    return publish_bytes(path, "report", 6);
}

static inline void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* 0: only root gives files away. */
static inline int give(const char *path, uid_t user)
{
    return lchown(path, user, user) == 0;
}

static inline void make_folder(const char *path, mode_t mode)
{
    CHECK_EQ(mkdir(path, 0777) | chmod(path, mode), 0);
}

static inline int is_link(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

#endif
