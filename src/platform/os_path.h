/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a path was resolved to: a name in a folder that is open, so that the
 * file that was tested is the file that is written to, whatever others do to
 * the path meanwhile.
 *
 * In a folder that others may write to, links of strangers are not followed.
 * A stranger is neither this process's user nor the folder's owner. That is
 * the kernel's rule of fs.protected_symlinks, which some machines switch
 * off; here it also holds without a sticky bit. */
#ifndef GNOMON_PLATFORM_OS_PATH_H
#define GNOMON_PLATFORM_OS_PATH_H

#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

typedef struct gnomon__os_path {
    int folder;         /* O_PATH; -1: `name` is the path of a descriptor */
    char *name;         /* in `text`; without a slash where there is a folder */
    struct stat status; /* of the name; st_mode 0: nothing is there */
    /* For resolving: */
    int made_in; /* where the first new folder was made; -1: none */
    int links;   /* followed so far */
    size_t own;  /* bytes of the rest of the path that are from no link */
    char made[PATH_MAX];
    char text[2 * PATH_MAX];
} gnomon__os_path;

/* Resolves `path`; with `makes`, missing folders are made. A link as the
 * last part is followed if it leads to a stream, else it is the result
 * itself. 0, or an errno. In any case *out, which may be NULL, is to be
 * closed. */
int gnomon__path_resolve(gnomon__os_path **out, const char *path, int makes);

/* Whether it is to be written to, not replaced: renaming a file over
 * /dev/null, or over the link /dev/stderr, would destroy it. */
int gnomon__path_is_stream(const gnomon__os_path *p);

/* Whether `info`, which is in the folder, is a stranger's, and the folder's mode
 * has one of the bits of `shared`. */
int gnomon__path_is_foreign(const gnomon__os_path *p, const struct stat *info,
                            mode_t shared);

/* Opens the file of the name; a link in a folder is refused. A descriptor,
 * or -1 and errno. */
int gnomon__path_open(const gnomon__os_path *p, int flags);

/* Closes and frees it. With an `error`, folders that were made are removed,
 * if they are empty. */
void gnomon__path_close(gnomon__os_path *p, int error);

#endif
