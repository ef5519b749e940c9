/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A writer to a file descriptor, which collects small writes: fd_writer.c. */
#ifndef GNOMON_RUN_FD_WRITER_H
#define GNOMON_RUN_FD_WRITER_H

#include "gnomon/profile.h"

typedef struct gnomon__fd_writer {
    gnomon_writer writer; /* first; its context is all of this */
    int fd, why;          /* the first errno */
    size_t used;
    char bytes[(size_t)64 << 10];
} gnomon__fd_writer;

/* NULL: no memory. */
gnomon__fd_writer *gnomon__fd_writer_begin(int fd);
/* Writes the rest, unless `code`, of whoever wrote to it, is an error. Frees it. 0, or an
 * errno. */
int gnomon__fd_writer_end(gnomon__fd_writer *w, int code);

#endif
