/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Publishes bytes that are in memory. */
#ifndef PUBLISH_H
#define PUBLISH_H

#include "platform/os.h"

typedef struct published_bytes {
    const void *bytes;
    size_t size;
} published_bytes;

static inline int make_published(int fd, const void *context)
{
    const published_bytes *p = context;
    return gnomon__os_write(fd, p->bytes, p->size);
}

static inline int publish_bytes(const char *path, const void *bytes,
                                size_t size)
{
    published_bytes p = {bytes, size};
    return gnomon__os_publish_made(path, make_published, &p, NULL, 0);
}

#endif
