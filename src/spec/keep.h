/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The option keep= of profilers that want single executions: which of them stay where
 * not all do. A pure function. */
#ifndef GNOMON_SPEC_KEEP_H
#define GNOMON_SPEC_KEEP_H

#include <stddef.h>
#include <stdint.h>

enum gnomon__keep_mode {
    GNOMON__KEEP_LAST,  /* new ones replace the oldest */
    GNOMON__KEEP_FIRST, /* new ones are lost while memory is full */
    GNOMON__KEEP_STREAM /* likewise, but they are given away meanwhile */
};

/* The most that `keep=Nsteps` takes. */
#define GNOMON__KEEP_MOST_STEPS 65536u

typedef struct gnomon__keep {
    uint32_t mode;
    uint32_t steps; /* of GNOMON__KEEP_LAST: only of so many; 0: no limit */
} gnomon__keep;

/* Parses "last", "first", "stream", "8steps". `can_stream`: the profiler takes what is
 * given away. GNOMON_OK, or GNOMON_EINVAL, with `why` in a line and *out for
 * "last". */
int gnomon__keep_parse(gnomon__keep *out, const char *text, int can_stream,
                       char *why, size_t size);

#endif
