/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The version of these headers. The library's own is gnomon_version(). */
#ifndef GNOMON_VERSION_H
#define GNOMON_VERSION_H

#define GNOMON_VERSION_MAJOR 0
#define GNOMON_VERSION_MINOR 1
#define GNOMON_VERSION_PATCH 0
#define GNOMON_VERSION "0.1.0"

/* The generation of every binary interface here: regions, the profiler vtable,
 * the host table, profiles. Within one generation structs only grow at their
 * end and say their size, so old and new work together; another is refused. */
#define GNOMON_ABI 1

#endif
