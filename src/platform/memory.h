/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon's own memory: a heap that is never the host's malloc where mimalloc is
 * there, and one mapped arena for all that training threads write.
 *
 * Heap: any thread. Nothing on a training thread's hot path uses it. The first
 * allocation may load mimalloc, which takes the loader's lock: a thread inside
 * dlopen that marks would wait for ours while it holds the loader's. So whoever
 * allocates under a lock has called gnomon__heap_start before it took it. */
#ifndef GNOMON_PLATFORM_MEMORY_H
#define GNOMON_PLATFORM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Chooses mimalloc or libc, once; else one load. Hold no lock. */
void gnomon__heap_start(void);

/* For our own program, which has no host: libc's heap, which gives large
 * blocks back to the system. Before anything is allocated. */
void gnomon__heap_use_libc(void);

/* Zeroed memory, or NULL. */
void *gnomon__alloc(size_t bytes);
/* Grows or shrinks; new bytes are not zeroed. NULL: `memory` is unchanged. */
void *gnomon__realloc(void *memory, size_t bytes);
void gnomon__free(void *memory);
char *gnomon__strdup(const char *text);
char *gnomon__strndup(const char *text, size_t length);

/* Makes *items, a pointer to any type, hold at least `need` items of `size`
 * bytes; *room is how many it holds. The size doubles, so adding one at a
 * time costs O(1) each. New items are not zeroed. 0: no memory, and nothing
 * changed. */
int gnomon__grow(void *items, size_t *room, size_t need, size_t size);
/* The same, and what is new is zeroed. */
int gnomon__grow_zeroed(void *items, size_t *room, size_t need, size_t size);

/* Bytes of the heap in use by gnomon: what was asked for, and 16 a block. */
uint64_t gnomon__heap_bytes(void);
/* "mimalloc 2.0.9" or "libc". */
const char *gnomon__heap_name(void);

/* ---- The arena ------------------------------------------------------------
 * One mapping; everything in it is named by its offset in bytes, so that the
 * same bytes can one day lie in a file. Offset 0 is "none". Never freed, never
 * moved; its owner hands out pieces and recycles them. */
typedef struct gnomon__arena {
    char *base;
    uint32_t size; /* the budget: at most 4 GiB less one page */
    uint32_t used; /* atomic */
} gnomon__arena;

/* Maps a budget of `bytes`, or half of it, and so on down to 1 MiB, as there is
 * address space; under a limit no more than a quarter of it. GNOMON_OK, or GNOMON_ENOMEM. */
int gnomon__arena_map(gnomon__arena *arena, uint64_t bytes);

/* The offset of `bytes` zeroed bytes aligned to 64, or 0 when the budget is
 * spent. Any thread, no lock. */
uint32_t gnomon__arena_take(gnomon__arena *arena, uint32_t bytes);

/* ---- With GNOMON_TESTING -------------------------------------------------- */

/* Fails the n-th allocation from now on, once (1: the next); 0: none. Counts
 * heap, arena and mapped pages alike. */
void gnomon__test_fail_allocation(uint64_t n);
/* Allocations since then. */
uint64_t gnomon__test_allocations(void);
/* Counts one; whether it is the one that fails. */
int gnomon__test_allocation_fails(void);

#endif
