/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns the buffer before a file descriptor. After an error nothing more is written. */
#include "run/fd_writer.h"

#include <errno.h>
#include <string.h>

#include "platform/memory.h"
#include "platform/os.h"

static int fd_flush(gnomon__fd_writer *w)
{
    if (!w->why)
        w->why = gnomon__os_write(w->fd, w->bytes, w->used);
    w->used = 0;
    return w->why ? GNOMON_EIO : GNOMON_OK;
}

static int fd_write(const gnomon_writer *writer, const void *bytes, size_t size)
{
    gnomon__fd_writer *w = writer->context;
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

gnomon__fd_writer *gnomon__fd_writer_begin(int fd)
{
    gnomon__fd_writer *w = gnomon__alloc(sizeof *w);
    if (!w)
        return NULL;
    w->writer.struct_size = sizeof w->writer;
    w->writer.write = fd_write;
    w->writer.context = w;
    w->fd = fd;
    return w;
}

int gnomon__fd_writer_end(gnomon__fd_writer *w, int code)
{
    if (!code)
        code = fd_flush(w);
    int why = w->why;
    gnomon__free(w);
    if (code && !why)
        why = code == GNOMON_ENOMEM ? ENOMEM : EFBIG;
    return why;
}
