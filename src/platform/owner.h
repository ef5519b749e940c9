/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Several copies of gnomon can meet in one process: shared, static, of any
 * version. One of them owns the run; all public functions of the others hand on
 * to it, through the table that plugins get too. run/copies.c elects it. */
#ifndef GNOMON_PLATFORM_OWNER_H
#define GNOMON_PLATFORM_OWNER_H

#include "gnomon/profiler.h"
#include "platform/atomic.h"

/* The table of the copy that owns the process, where that is another one. Set
 * once, before this copy's first mark is answered; NULL: it is this one. */
extern const gnomon_host *gnomon__owner;

/* First in a public function: what another copy owns is done there. */
#define GNOMON__FORWARD(call) \
    do { \
        const gnomon_host *gnomon__to = load_acquire(&gnomon__owner); \
        if (unlikely(gnomon__to != NULL)) \
            return gnomon__to->call; \
    } while (0)

/* The same in a function that returns nothing. */
#define GNOMON__FORWARD_VOID(call) \
    do { \
        const gnomon_host *gnomon__to = load_acquire(&gnomon__owner); \
        if (unlikely(gnomon__to != NULL)) { \
            gnomon__to->call; \
            return; \
        } \
    } while (0)

/* What a copy's ELF note leads to, so that copies find each other: an executable
 * exports nothing, and RTLD_LOCAL hides a copy from dlsym. Fields are only ever
 * appended. */
typedef struct gnomon__copy {
    uint32_t struct_size;
    uint32_t abi;
    const char *version;
    const gnomon_host *host;  /* its own table */
    const gnomon_host *owner; /* of the first copy alone: who won; else NULL */
    uint32_t *active_mask; /* its gnomon_enabled, which the owner writes */
    uint32_t is_awake;     /* it, or another copy, has attached a profiler */
    void (*wake)(void);    /* of another copy; may be called at any time */
} gnomon__copy;

#endif
