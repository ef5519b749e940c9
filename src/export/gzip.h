/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A writer that compresses, by zlib. Without zlib in the build there is none. */
#ifndef GNOMON_EXPORT_GZIP_H
#define GNOMON_EXPORT_GZIP_H

#include "gnomon/profile.h"

typedef struct gnomon__gzip gnomon__gzip;

/* Whether the build has zlib. */
int gnomon__gzip_is_there(void);

/* *writer gives what is written to it to `out`, compressed. NULL: no memory, or no
 * zlib. _end writes the rest, frees it and returns the first error, or GNOMON_OK; NULL:
 * GNOMON_ENOMEM. The same bytes give the same file, which has no time in it. */
gnomon__gzip *gnomon__gzip_begin(const gnomon_writer *out,
                                 gnomon_writer *writer);
int gnomon__gzip_end(gnomon__gzip *g);

#endif
