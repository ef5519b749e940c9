/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The option keep= of profilers that want single executions: which of them stay where
 * not all do. A pure function. */
#ifndef GNOMON_SPEC_KEEP_H
#define GNOMON_SPEC_KEEP_H

#include <stddef.h>
#include <stdint.h>

enum gnomon__keep_mode {
    GNOMON__KEEP_LAST, /* new ones replace the oldest */
    GNOMON__KEEP_FIRST /* new ones are lost while memory is full */
};

typedef struct gnomon__keep {
    uint32_t mode;
} gnomon__keep;

/* Parses "last" or "first". GNOMON_OK, or GNOMON_EINVAL, with `why` in a line and *out
 * for "last". */
int gnomon__keep_parse(gnomon__keep *out, const char *text, char *why,
                       size_t size);

#endif
