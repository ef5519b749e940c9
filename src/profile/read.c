/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where profiles are read from: memory, or a file of the system's. */
#include <errno.h>
#include <string.h>

#include "platform/error.h"
#include "platform/os.h"
#include "profile/file_read.h"

static int read_memory_at(void *context, uint64_t at, void *bytes, size_t size)
{
    memcpy(bytes, (const char *)context + at, size);
    return GNOMON_OK;
}

int gnomon_profile_read(gnomon_profile **out, const void *bytes, size_t size)
{
    const gnomon__source from = {size, read_memory_at, (void *)(size_t)bytes,
                                 NULL};
    if (!out)
        return gnomon__fail(GNOMON_EINVAL, "nowhere to put a profile");
    *out = NULL;
    if (!bytes && size)
        return gnomon__fail(GNOMON_EINVAL, "no bytes to read a profile from");
    return gnomon__read_file(out, &from);
}

static int read_file_at(void *context, uint64_t at, void *bytes, size_t size)
{
    const int *fd = context;
    int error = gnomon__os_read_at(*fd, at, bytes, size);
    return error ? gnomon__fail(GNOMON_EIO, "%s", strerror(error)) : GNOMON_OK;
}

static int hold_file(void *context)
{
    const int *fd = context;
    return gnomon__os_open_again(*fd);
}

int gnomon_profile_load(gnomon_profile **out, const char *path)
{
    int fd = -1;
    gnomon__source from = {0, read_file_at, &fd, hold_file};
    gnomon__fail_clear();
    if (!out)
        return gnomon__fail(GNOMON_EINVAL, "nowhere to put a profile");
    *out = NULL;
    if (!path)
        return gnomon__fail(GNOMON_EINVAL, "no file to read a profile from");
    int cancel = gnomon__os_cancel_off();
    int error = gnomon__os_open(path, &fd, &from.size), code;
    if (error) {
        code = gnomon__fail(error == ENOENT ? GNOMON_ENOENT : GNOMON_EIO, "%s",
                            strerror(error));
    } else {
        code = gnomon__read_file(out, &from);
        gnomon__os_close(fd);
    }
    gnomon__os_cancel_back(cancel);
    return code ? gnomon__fail_in_file(code, path) : GNOMON_OK;
}
