/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values by a key, such as the instance of an execution, in one sorted array.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_KEYED_H
#define GNOMON_PRINT_KEYED_H

#include <stddef.h>
#include <stdint.h>

typedef struct gnomon__keyed {
    uint64_t key, value;
    uint32_t more;
} gnomon__keyed;

/* By key, then value, then `more`. */
void gnomon__keyed_sort(gnomon__keyed *at, size_t count);

/* The first one of the key, which the others follow; NULL: there is none. */
const gnomon__keyed *gnomon__keyed_find(const gnomon__keyed *at, size_t count,
                                        uint64_t key);

#endif
