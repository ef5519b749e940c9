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

/* ---- Items that begin with their key, each once --------------------------------- */

/* An array of items of `size`, which begin with a key of `key` bytes, a multiple of four
 * without padding; `slots` are of the numbers of these `count` items alone. The number of
 * the item with the key of `item`; where there is none, and there are fewer than `most`,
 * of a copy of that, behind the others. 0: there are so many, or there is no memory.
 * `items` points to a pointer to any type. */
uint32_t gnomon__keyed_at(gnomon__slots *slots, void *items, size_t *room,
                          size_t size, const void *item, size_t key,
                          size_t most);

/* ---- Texts, each once, with what their owner knows of each ---------------------- */

typedef struct gnomon__text_item {
    const char *text; /* the owner's; NULL: not set yet */
    uint32_t number;  /* whatever the owner keeps; 0 at first */
} gnomon__text_item;

/* Zeroes are an empty one. */
typedef struct gnomon__text_table {
    gnomon__slots slots;
    gnomon__text_item *items; /* as many as there are in `slots` */
    size_t room;
} gnomon__text_table;

/* NULL: it is not there. Items move when one is added. */
gnomon__text_item *gnomon__text_find(const gnomon__text_table *t,
                                     const char *text);

/* The same; where it is not there yet, its item is new: the caller sets its text,
 * to a copy that lives as long as `t` is used. NULL: no memory. */
gnomon__text_item *gnomon__text_intern(gnomon__text_table *t, const char *text);

/* All but the texts themselves; what is left is an empty one. */
void gnomon__text_table_free(gnomon__text_table *t);

#endif
