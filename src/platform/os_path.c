/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Resolves a path, one part at a time. Called by os_files.c, in control calls.
 *
 * Each folder is opened before its next part is read, and a link is read
 * through the descriptor whose owner was tested: no name is tested first and
 * followed later. */
#include "platform/os_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/memory.h"
#include "platform/os.h"

#define FOLDER (O_PATH | O_DIRECTORY | O_NOFOLLOW)
#define MOST_LINKS 40 /* as the kernel */

/* openat, again after EINTR. */
static int open_in(int folder, const char *name, int flags)
{
    int fd;
    do
        fd = openat(folder, name, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Goes on in `folder` and closes the one before; -1: it was not opened. */
static int enter_folder(gnomon__os_path *p, int folder)
{
    if (folder < 0)
        return errno;
    if (p->folder >= 0)
        (void)close(p->folder);
    p->folder = folder;
    return 0;
}

int gnomon__path_is_foreign(const gnomon__os_path *p, const struct stat *info,
                            mode_t shared)
{
    struct stat folder;
    if (p->folder < 0)
        return 0;
    if (fstat(p->folder, &folder) != 0)
        return 1;
    return (folder.st_mode & shared) && info->st_uid != geteuid() &&
           info->st_uid != folder.st_uid;
}

/* Whether only the kernel can follow the path: the text of such a link is no
 * path. */
static int is_descriptor(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strncmp(path, "/dev/std", 8) == 0)
        return slash == path + 4;
    return (strncmp(path, "/dev/fd/", 8) == 0 ||
            strncmp(path, "/proc/", 6) == 0) &&
           memcmp(slash - 3, "/fd", 3) == 0 && strstr(path, "..") == NULL;
}

/* Puts the text of the link before `rest`, the rest of the path. */
static int follow_link(gnomon__os_path *p, const char *link, const char *rest)
{
    size_t left = strlen(rest) + 1;
    int fd = open_in(p->folder, link, O_PATH | O_NOFOLLOW), error = 0;
    char *end = p->text + sizeof p->text - left;
    struct stat info;
    ssize_t n;
    if (fd < 0)
        return errno;
    memmove(end, rest, left);
    if (fstat(fd, &info) != 0)
        error = errno;
    else if (!S_ISLNK(info.st_mode))
        error = ENOTDIR;
    else if (gnomon__path_is_foreign(p, &info, S_ISVTX | S_IWOTH))
        error = GNOMON__OS_FOREIGN;
    else if (++p->links > MOST_LINKS)
        error = ELOOP;
    else if ((n = readlinkat(fd, "", p->text, PATH_MAX)) <= 0)
        error = n < 0 ? errno : ENOENT;
    else if ((size_t)n + 1 + left > PATH_MAX)
        error = ENAMETOOLONG;
    else {
        p->text[n] = '/';
        memmove(p->text + n + (left > 1), end, left);
        p->name = p->text;
        p->own = p->own < left - 1 ? p->own : left - 1;
    }
    (void)close(fd);
    return error;
}

/* Makes the folder `part`; `rest` is the path below it. */
static int make_folder(gnomon__os_path *p, const char *part, const char *rest)
{
    int error;
    if (*part == '/')
        return GNOMON__OS_IN_ROOT;
    if (mkdirat(p->folder, part, 0777) != 0)
        return errno == EEXIST ? 0 : errno;
    if (p->made_in >= 0)
        return 0;
    p->made_in = open_in(p->folder, ".", FOLDER);
    if (p->made_in < 0) {
        error = errno;
        (void)unlinkat(p->folder, part, AT_REMOVEDIR);
        return error;
    }
    snprintf(p->made, sizeof p->made, "%s/%s", part, rest);
    return 0;
}

static int go_down(gnomon__os_path *p, const char *part)
{
    int next = open_in(p->folder, part, FOLDER);
    if (next < 0 && errno == ENOENT && strlen(p->name) < p->own) {
        int error = make_folder(p, part, p->name);
        if (error != 0)
            return error;
        next = open_in(p->folder, part, FOLDER);
    }
    if (next < 0 && (errno == ENOTDIR || errno == ELOOP))
        return follow_link(p, part, p->name);
    return enter_folder(p, next);
}

/* Goes to the folder of the last part and reads the status of that part. A
 * folder in the root keeps its slash: for an absolute name the descriptor
 * does not matter, and an emulator of processors with a root folder of its
 * own redirects absolute names only. */
static int go_to_end(gnomon__os_path *p)
{
    char *slash;
    size_t root;
    int error = 0;
    memset(&p->status, 0, sizeof p->status);
    for (;;) {
        char *part = p->name;
        root = strspn(part, "/");
        slash = strchr(part + root, '/');
        if (slash != NULL && is_descriptor(part)) {
            (void)close(p->folder);
            p->folder = -1;
            return 0;
        }
        if (strncmp(part, "/proc/", 6) == 0)
            return ENOENT; /* the text of other links there is no path either */
        if (root > 0)
            error = enter_folder(p, open_in(AT_FDCWD, "/", FOLDER));
        if (error != 0 || slash == NULL)
            break;
        p->name = slash + strspn(slash, "/");
        *slash = 0;
        error = go_down(p, part);
        if (error != 0)
            return error;
    }
    p->name += root;
    if (error == 0 && strlen(p->name) > NAME_MAX)
        error = ENAMETOOLONG;
    if (error == 0 &&
        fstatat(p->folder, p->name, &p->status, AT_SYMLINK_NOFOLLOW) != 0 &&
        errno != ENOENT)
        error = errno;
    return error;
}

int gnomon__path_is_stream(const gnomon__os_path *p)
{
    mode_t mode = p->status.st_mode;
    return p->folder < 0 ||
           (mode && !S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode));
}

/* The last part is a link: goes on to the stream that it leads to, if it
 * does; else back to the link. */
static int go_to_stream(gnomon__os_path *p)
{
    char name[NAME_MAX + 1];
    struct stat link = p->status;
    int error = 0, folder = open_in(p->folder, ".", FOLDER);
    if (folder < 0)
        return errno;
    strcpy(name, p->name);
    p->own = 0;
    while (error == 0 && p->folder >= 0 && S_ISLNK(p->status.st_mode)) {
        error = follow_link(p, p->name, "");
        error = error != 0 ? error : go_to_end(p);
    }
    if (error == 0 && gnomon__path_is_stream(p)) {
        (void)close(folder);
        return 0;
    }
    p->name = strcpy(p->text, name);
    p->status = link;
    return enter_folder(p, folder);
}

int gnomon__path_resolve(gnomon__os_path **out, const char *path, int makes)
{
    size_t n = strlen(path);
    gnomon__os_path *p = NULL;
    int error = n == 0               ? ENOENT
                : n >= PATH_MAX      ? ENAMETOOLONG
                : path[n - 1] == '/' ? EISDIR
                                     : 0;
    if (error == 0 && (p = gnomon__alloc(sizeof *p)) == NULL)
        error = ENOMEM;
    *out = p;
    if (error != 0)
        return error;
    p->folder = p->made_in = -1;
    p->links = 0;
    p->own = makes ? n : 0;
    p->name = memcpy(p->text, path, n + 1);
    error =
        enter_folder(p, open_in(AT_FDCWD, *path == '/' ? "/" : ".", FOLDER));
    error = error != 0 ? error : go_to_end(p);
    return error == 0 && S_ISLNK(p->status.st_mode) ? go_to_stream(p) : error;
}

int gnomon__path_open(const gnomon__os_path *p, int flags)
{
    return p->folder < 0 ? open_in(AT_FDCWD, p->name, flags)
                         : open_in(p->folder, p->name, flags | O_NOFOLLOW);
}

/* Removes the folders that were made, the last one first. */
static void remove_folders(gnomon__os_path *p)
{
    char *slash;
    while ((slash = strrchr(p->made, '/')) != NULL) {
        *slash = 0;
        (void)unlinkat(p->made_in, p->made, AT_REMOVEDIR);
    }
}

void gnomon__path_close(gnomon__os_path *p, int error)
{
    if (p == NULL)
        return;
    if (p->made_in >= 0) {
        if (error != 0)
            remove_folders(p);
        (void)close(p->made_in);
    }
    if (p->folder >= 0)
        (void)close(p->folder);
    gnomon__free(p);
}
