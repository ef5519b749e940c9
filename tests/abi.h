/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checks of offsets, sizes and values while compiling, for test_abi*.c. */
#ifndef GNOMON_TESTS_ABI_H
#define GNOMON_TESTS_ABI_H

#include <stddef.h>

#define AT(type, field, offset) \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define VALUE(name, value) _Static_assert((name) == (value), #name)

#endif
