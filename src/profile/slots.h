/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds items of an array by their content: a hash table of their numbers, from
 * 1; whoever owns the items compares them. */
#ifndef GNOMON_PROFILE_SLOTS_H
#define GNOMON_PROFILE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gnomon__slots_item {
    uint64_t hash;
    uint32_t item; /* 0: free */
} gnomon__slots_item;

/* Zeroes are an empty one. */
typedef struct gnomon__slots {
    gnomon__slots_item *at;
    size_t count, room;
} gnomon__slots;

/* The item of this hash that is the `same` as what is looked for; 0: none. */
uint32_t gnomon__slots_find(const gnomon__slots *s, uint64_t hash,
                            int (*same)(const void *context, uint32_t item,
                                        const void *wanted),
                            const void *context, const void *wanted);

/* Adds one that is not there. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__slots_add(gnomon__slots *s, uint64_t hash, uint32_t item);
/* Room for so many. Likewise. */
int gnomon__slots_reserve(gnomon__slots *s, size_t count);
/* It is empty again, and keeps its room. */
void gnomon__slots_empty(gnomon__slots *s);
void gnomon__slots_free(gnomon__slots *s);

/* A hash of several numbers, one after the other. */
static inline uint64_t gnomon__mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

#endif
