/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where a path leads: to a name in a folder that is open, so that whatever
 * others do to the path meanwhile, what is looked at is what is written to.
 *
 * In a folder that others may write to, links of strangers are not followed: who
 * is neither this process's user nor the folder's owner is a stranger. That is
 * the kernel's rule of fs.protected_symlinks, which some machines leave off, and
 * here it holds without a sticky bit too. */
#ifndef GNOMON_PLATFORM_OS_PATH_H
#define GNOMON_PLATFORM_OS_PATH_H

#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

typedef struct gnomon__os_path {
    int folder;         /* O_PATH; -1: `name` is the path of a descriptor */
    char *name;         /* in `text`; without a slash where there is a folder */
    struct stat status; /* what stands there; st_mode 0: nothing */
    /* Of the walk */
    int made_in; /* the folder of the first that was made; -1: none was */
    int links;   /* followed so far */
    size_t own;  /* of what is left, bytes that come from no link */
    char made[PATH_MAX];
    char text[2 * PATH_MAX];
} gnomon__os_path;

/* Missing folders are made if it `makes`. The last name's link is followed where
 * it leads to a stream, and else is the place itself. 0, or an errno. *out is to
 * be left in any case; it may be NULL. */
int gnomon__path_resolve(gnomon__os_path **out, const char *path, int makes);

/* Whether it is there to be written to, not replaced: renaming a file over
 * /dev/null, or over the link /dev/stderr, would be the end of it. */
int gnomon__path_is_stream(const gnomon__os_path *p);

/* Whether `info`, which is in the folder, is a stranger's, and the folder's mode
 * has one of the bits of `shared`. */
int gnomon__path_is_foreign(const gnomon__os_path *p, const struct stat *info,
                            mode_t shared);

/* Opens what the name stands for; no link, if it is in a folder. A descriptor,
 * or -1 and errno. */
int gnomon__path_open(const gnomon__os_path *p, int flags);

/* With an `error`, folders that were made are removed, but for those in use. */
void gnomon__path_close(gnomon__os_path *p, int error);

#endif
