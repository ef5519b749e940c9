/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Several copies of gnomon can be in one process: shared, static, of any
 * version. One of them owns the run. All public functions of the others pass
 * their calls on to it, through the table that plugins get too. run/copies.c
 * elects it. */
#ifndef GNOMON_PLATFORM_OWNER_H
#define GNOMON_PLATFORM_OWNER_H

#include "gnomon/tool.h"
#include "platform/atomic.h"

/* The table of the copy that owns the run, if that is another one; NULL: it
 * is this one. Set once, before this copy's first mark is answered. */
GNOMON__DATA const gnomon_host *gnomon__owner;

/* First in a public function: passes the call on if another copy owns the
 * run. */
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

/* What a copy's ELF note points to, so that copies find each other: an
 * executable exports nothing, and RTLD_LOCAL hides a copy from dlsym. Fields
 * are only ever appended. */
typedef struct gnomon__copy {
    uint32_t struct_size;
    uint32_t abi;
    const char *version;
    const gnomon_host *host;  /* its own table */
    const gnomon_host *owner; /* in the first copy: the winner */
    uint32_t *active_word;    /* written by the owner */
    uint32_t is_awake;        /* it, or another copy, has attached a profiler */
    void (*wake)(void);       /* of another copy; once it is loaded */
    uint32_t is_loaded; /* its constructor has begun. Before that the loader
                               * may still relocate its pointers and calls */
} gnomon__copy;

#endif
