/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files of -o: made beside their name, then renamed. */
#include "cli/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"
#include "platform/error.h"
#include "platform/memory.h"

static enum gnomon_form save_form(const char *path)
{
    size_t n = strlen(path);
    return n >= 5 && strcmp(path + n - 5, ".json") == 0 ? GNOMON_FORM_JSON
                                                        : GNOMON_FORM_FILE;
}

/* GNOMON_OK; or the error, of which errno tells more where it is GNOMON_EIO. */
static int save_stream(const gnomon_profile *p, enum gnomon_form form, FILE *to)
{
    gnomon_writer out = gnomon__cli_writer(to);
    int code = gnomon_profile_write(p, form, &out);
    if (!code && fflush(to) != 0)
        code = GNOMON_EIO;
    return code;
}

static int save_failed(const char *path, int code)
{
    gnomon__log("%s: %s", path,
                code == GNOMON_ENOMEM ? "no memory to write it"
                                      : strerror(errno));
    return GNOMON__EXIT_UNREADABLE;
}

static int save_open(const gnomon_profile *p, const char *path)
{
    FILE *to = fopen(path, "wbe");
    int code;
    if (!to)
        return save_failed(path, GNOMON_EIO);
    code = save_stream(p, save_form(path), to);
    if (fclose(to) != 0)
        code = code ? code : GNOMON_EIO;
    return code ? save_failed(path, code) : GNOMON__EXIT_OK;
}

static int save_beside(const gnomon_profile *p, const char *path, char *name)
{
    int fd = mkostemp(name, O_CLOEXEC), code = GNOMON_EIO;
    FILE *to = fd < 0 ? NULL : fdopen(fd, "wb");
    if (to) {
        code = save_stream(p, save_form(path), to);
        if (fclose(to) != 0)
            code = code ? code : GNOMON_EIO;
    }
    if (!code && rename(name, path) != 0)
        code = GNOMON_EIO;
    if (code) {
        int status = save_failed(path, code);
        if (fd >= 0)
            unlink(name);
        return status;
    }
    return GNOMON__EXIT_OK;
}

int gnomon__cli_save(const gnomon_profile *p, const char *path)
{
    static const char end[] = ".XXXXXX";
    struct stat about;
    char *name;
    size_t size = strlen(path) + sizeof end;
    int status;
    if (strcmp(path, "-") == 0)
        return save_stream(p, GNOMON_FORM_FILE, stdout) ? gnomon__cli_flush()
                                                        : GNOMON__EXIT_OK;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return save_open(p, path);
    name = gnomon__alloc(size);
    if (!name)
        return save_failed(path, GNOMON_ENOMEM);
    snprintf(name, size, "%s%s", path, end);
    status = save_beside(p, path, name);
    gnomon__free(name);
    return status;
}
