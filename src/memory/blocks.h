/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The blocks that are in use, by their pointers: a table that any number of threads add to
 * and take from at once, without a lock. */
#ifndef GNOMON_MEMORY_BLOCKS_H
#define GNOMON_MEMORY_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* A pointer and the id of its pool are one word, the size and the place of the node that
 * allocated it another. */
#define BLOCK_POINTER_BITS 48
#define BLOCK_SIZE_BITS 38
#define BLOCK_NODE_SHIFT 6 /* nodes lie at multiples of 64 */

typedef struct block {
    uint64_t key;   /* pointer << 16 | pool; 0: free */
    uint64_t value; /* size << 26 | node >> 6 */
} block;

/* Adds one. 0: there is no memory. A block of that pointer that was there still comes to
 * *old; else its key is 0. */
int gnomon__block_add(block b, block *old);
/* Takes it away. Its key is 0: it is not there. */
block gnomon__block_take(uint64_t pointer);
/* All of them. What other threads add meanwhile may stay. */
void gnomon__blocks_forget(void);

/* Zeroed memory; NULL: there is none. */
void *gnomon__memory_map(size_t bytes);
void gnomon__memory_unmap(void *at, size_t bytes);

#endif
