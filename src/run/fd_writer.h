/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A writer to a file descriptor, which collects small writes: fd_writer.c. */
#ifndef GNOMON_RUN_FD_WRITER_H
#define GNOMON_RUN_FD_WRITER_H

#include "gnomon/profile.h"

typedef struct gnomon__fd_job {
    int (*make)(void *context, const gnomon_writer *out);
    void *context;
    int *
        code; /* its code, GNOMON_OK where an errno says more; NULL: not wanted */
} gnomon__fd_job;

/* A gnomon__os_make, whose context is such a job: has it made. */
int gnomon__fd_make(int fd, const void *job);

#endif
