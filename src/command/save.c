/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files of -o: written under a temporary name, then renamed. */
#include "command/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gnomon/profile.h"
#include "command/command.h"
#include "command/output.h"
#include "platform/error.h"
#include "platform/memory.h"

static int save_form(const char *path)
{
    size_t n = strlen(path);
    return n >= 5 && strcmp(path + n - 5, ".json") == 0 ? GNOMON_FORM_JSON
                                                        : GNOMON_FORM_FILE;
}

typedef struct save_request {
    const char *path;
    int form;
    gnomon__cli_maker *maker;
    void *context;
} save_request;

/* GNOMON_OK, or an error code; for GNOMON_EIO errno has the reason. */
static int save_stream(const save_request *r, FILE *to)
{
    gnomon_writer out = gnomon__cli_writer(to);
    int code = r->maker(r->context, r->form, &out);
    if (!code && fflush(to) != 0)
        code = GNOMON_EIO;
    return code;
}

static int save_failed(const char *path, int code)
{
    gnomon__log("%s: %s", path,
                code == GNOMON_EIO     ? strerror(errno)
                : *gnomon_error_text() ? gnomon_error_text()
                                       : gnomon_error_name(code));
    return GNOMON__EXIT_UNREADABLE;
}

/* To standard output. What is wrong with that is said when it is flushed. */
static int save_output(const save_request *r)
{
    const int code = save_stream(r, stdout);
    const int status = code ? gnomon__cli_flush() : GNOMON__EXIT_OK;
    return code && !status ? save_failed("standard output", code) : status;
}

static int save_open(const save_request *r)
{
    FILE *to = fopen(r->path, "wbe");
    int code;
    if (!to)
        return save_failed(r->path, GNOMON_EIO);
    code = save_stream(r, to);
    code = fclose(to) != 0 && !code ? GNOMON_EIO : code;
    return code ? save_failed(r->path, code) : GNOMON__EXIT_OK;
}

static int save_by_rename(const save_request *r, char *name)
{
    int fd = mkostemp(name, O_CLOEXEC), code = GNOMON_EIO;
    FILE *to = fd < 0 ? NULL : fdopen(fd, "wb");
    if (to) {
        code = save_stream(r, to);
        code = fclose(to) != 0 && !code ? GNOMON_EIO : code;
    }
    code = !code && rename(name, r->path) != 0 ? GNOMON_EIO : code;
    if (code) {
        int status = save_failed(r->path, code);
        if (fd >= 0)
            unlink(name);
        return status;
    }
    return GNOMON__EXIT_OK;
}

int gnomon__cli_make(const char *path, gnomon__cli_maker *maker, void *context)
{
    static const char temporary[] = ".gnomon-XXXXXX";
    const save_request r = {path, save_form(path), maker, context};
    struct stat about;
    char *name;
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    int status;
    if (strcmp(path, "-") == 0)
        return save_output(&r);
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return save_open(&r);
    name = gnomon__alloc(folder + sizeof temporary);
    if (!name)
        return save_failed(path, GNOMON_ENOMEM);
    memcpy(name, path, folder);
    strcpy(name + folder, temporary);
    status = save_by_rename(&r, name);
    gnomon__free(name);
    return status;
}

static int save_profile(void *profile, int form, const gnomon_writer *out)
{
    return gnomon_profile_write(profile, form, out);
}

int gnomon__cli_save(const gnomon_profile *profile, const char *path)
{
    return gnomon__cli_make(path, save_profile, (void *)(size_t)profile);
}

/* ---- Bytes in memory -------------------------------------------------------- */

static int memory_write(const gnomon_writer *out, const void *bytes,
                        size_t size)
{
    gnomon__cli_memory *to = out->context;
    if (!gnomon__grow(&to->bytes, &to->room, to->size + size, 1))
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a whole file");
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return GNOMON_OK;
}

gnomon_writer gnomon__cli_memory_writer(gnomon__cli_memory *to)
{
    return (gnomon_writer){.struct_size = sizeof(gnomon_writer),
                           .write = memory_write,
                           .context = to};
}

void gnomon__cli_memory_free(gnomon__cli_memory *m)
{
    gnomon__free(m->bytes);
    *m = (gnomon__cli_memory){0};
}
