/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Short names of C++ functions. */
#ifndef GNOMON_MARK_PRETTY_H
#define GNOMON_MARK_PRETTY_H

#include <stddef.h>
#include <stdint.h>

/* From a __PRETTY_FUNCTION__ of gcc or clang the qualified name with its
 * template arguments, without the return type and the parameters:
 * "layer<4>::forward". A lambda is named by `line`, a line in it:
 * "layer<4>::forward::lambda at 42". Namespaces and types without a name are
 * "(anonymous)". A text that is none of these stays as it is.
 *
 * As snprintf: writes at most `size` bytes, the last one a NUL, and returns the
 * length of the whole. Takes no memory. */
size_t gnomon__pretty_name(const char *pretty, uint32_t line, char *out,
                           size_t size);

#endif
