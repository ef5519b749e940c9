/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns the buffer before a file descriptor. After an error nothing more is written. */
#include "run/fd_writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/memory.h"
#include "platform/os.h"

typedef struct fd_writer {
    gnomon_writer writer; /* first; its context is all of this */
    int fd, why;          /* the first errno */
    size_t used;
    char bytes[(size_t)64 << 10];
} fd_writer;

static int fd_flush(fd_writer *w)
{
    if (!w->why)
        w->why = gnomon__os_write(w->fd, w->bytes, w->used);
    w->used = 0;
    return w->why ? GNOMON_EIO : GNOMON_OK;
}

static int fd_write(const gnomon_writer *writer, const void *bytes, size_t size)
{
    fd_writer *w = writer->context;
    if (size > sizeof w->bytes - w->used && fd_flush(w))
        return GNOMON_EIO;
    if (size > sizeof w->bytes) {
        w->why = gnomon__os_write(w->fd, bytes, size);
        return w->why ? GNOMON_EIO : GNOMON_OK;
    }
    memcpy(w->bytes + w->used, bytes, size);
    w->used += size;
    return GNOMON_OK;
}

static int fd_print(const gnomon_writer *writer, const char *format, ...)
    GNOMON_PRINTF(2, 3);

static int fd_print(const gnomon_writer *writer, const char *format, ...)
{
    char brief[512], *text = brief;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(brief, sizeof brief, format, arguments);
    if (n >= (int)sizeof brief) {
        text = gnomon__alloc((size_t)n + 1);
        if (text)
            vsnprintf(text, (size_t)n + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
    int code = n < 0  ? GNOMON_EINVAL
               : text ? fd_write(writer, text, (size_t)n)
                      : GNOMON_ENOMEM;
    if (text != brief)
        gnomon__free(text);
    return code;
}

int gnomon__fd_make(int fd, const void *job)
{
    const gnomon__fd_job *what = job;
    fd_writer *w = gnomon__alloc(sizeof *w);
    if (!w)
        return ENOMEM;
    w->writer = (gnomon_writer){.struct_size = sizeof w->writer,
                                .write = fd_write,
                                .print = fd_print,
                                .context = w};
    w->fd = fd;
    int code = what->make(what->context, &w->writer);
    if (what->code)
        *what->code = w->why ? GNOMON_OK : code;
    if (!code)
        code = fd_flush(w);
    int why = w->why;
    gnomon__free(w);
    if (code && !why)
        why = code == GNOMON_ENOMEM ? ENOMEM : EFBIG;
    return why;
}
