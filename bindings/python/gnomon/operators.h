/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What operators.cpp, which is compiled against the torch that is installed, calls in the
 * package's own library. Any thread; Python's lock is not needed. */
#ifndef GNOMON_OPERATORS_H
#define GNOMON_OPERATORS_H

#include "gnomon.h"

/* An open scope. Token 0: nobody records it. */
typedef struct gnomon_operator {
    gnomon_token token;
    const void *thread;
    uint32_t position;
} gnomon_operator;

typedef struct gnomon_operator_calls {
    /* Not 0: somebody records, and torch's own session is not open for us. */
    int (*is_on)(void);
    gnomon_region *(*region)(const char *name);
    gnomon_operator (*begin)(gnomon_region *region, const gnomon_op_info *op);
    void (*end)(const gnomon_operator *open);
    /* The open scope is the forward operation of torch's number on a thread, or one of
     * backward that the last one of that number made. */
    void (*forward)(uint64_t thread, uint64_t number);
    void (*backward)(uint64_t thread, uint64_t number);
    /* Pools of memory. All but pool() take no lock. */
    gnomon_region *(*pool)(const char *name);
    void (*allocated)(gnomon_region *pool, const void *pointer, uint64_t bytes);
    void (*freed)(gnomon_region *pool, const void *pointer);
    void (*reserved)(gnomon_region *pool, uint64_t bytes);
    void (*exhausted)(gnomon_region *pool, uint64_t bytes);
} gnomon_operator_calls;

#endif
