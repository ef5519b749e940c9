/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The version of these headers; gnomon_version() is that of the library which is
 * loaded. The two may differ: see GNOMON_ABI. */
#ifndef GNOMON_VERSION_H
#define GNOMON_VERSION_H

#define GNOMON_VERSION_MAJOR 0
#define GNOMON_VERSION_MINOR 1
#define GNOMON_VERSION_PATCH 0
#define GNOMON_VERSION "0.1.0"

/* The generation of all binary interfaces: regions, profilers, the host table,
 * profiles. Within one generation structs only grow at their ends and say their
 * size, and no exported function goes or changes: so old and new modules work
 * together. A module of another generation is refused, with a line that says
 * so. */
#define GNOMON_ABI 1

#endif
