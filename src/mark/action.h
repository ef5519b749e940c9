/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Actions: the names that a thread started, and the table from the pointer
 * of a name to its action. Only the thread itself reads and writes them
 * (action.c). */
#ifndef GNOMON_MARK_ACTION_H
#define GNOMON_MARK_ACTION_H

#include <stdint.h>

#include "gnomon.h"
#include "platform/atomic.h"

/* One name that the thread started: where its open execution is. */
typedef struct gnomon__action {
    gnomon_region *region;
    uint64_t
        token; /* 0: not open; with GNOMON__TOKEN_BELOW_OTHER: not recorded */
    uint32_t depth; /* of "(other)": further names open under it */
    uint32_t next;  /* list of all of the thread's, newest first */
    uint32_t offs;  /* gnomon__observer_offs when it was started */
    /* Offset of the action that followed it last time, both of names to which the
     * thread's table did not lead; 0: none yet. */
    uint32_t follows;
} gnomon__action;

/* A pointer that was given as a name, and the text that it pointed to. */
typedef struct gnomon__slot {
    const char *pointer;
    const char *text;
    uint32_t action;
    uint32_t reserved;
} gnomon__slot;

#define GNOMON__SLOTS 512 /* a power of two */

typedef struct gnomon__actions {
    gnomon__slot *slots; /* gnomon__no_slots before the first name */
    uint32_t list;       /* offset of the newest, ... */
    uint32_t room;       /* ... and how many more there is room for behind it */
    uint32_t pages;      /* offset: where pages of ids are; 0: none yet */
    uint32_t last;       /* offset of the last one to which no slot led */
} gnomon__actions;

/* The empty table of all threads that have started no name.
 * gnomon__slots_clear fills it before the first state is made, under the
 * lock. */
GNOMON__DATA gnomon__slot gnomon__no_slots[GNOMON__SLOTS];
void gnomon__slots_clear(gnomon__slot *slots);

static inline uint32_t gnomon__slot_of(const char *name)
{
    uintptr_t p = (uintptr_t)name;
    return (uint32_t)((p ^ (p >> 9)) >> 1) & (GNOMON__SLOTS - 1);
}

#endif
