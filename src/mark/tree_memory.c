/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory of a thread's call tree: chunks of the arena, which it gives back all at
 * once. On the owning thread with its word odd, or under the lock. */
#include "mark/tree.h"

#define FIRST_CHUNK 2048u /* the tree itself, its hash, the root, a few nodes */
#define LAST_CHUNK 16384u
#define SPARE_CHUNK 1024u
#define CHUNK_HEAD 64u

typedef struct chunk_head {
    uint32_t below;
    uint32_t bytes;
} chunk_head;

_Static_assert(CHUNK_HEAD + sizeof(gnomon__tree) +
                       sizeof(uint32_t) * GNOMON__FIRST_INDEX +
                       3 * sizeof(gnomon__node) <=
                   FIRST_CHUNK,
               "a thread's first paths need no second chunk");

/* 0: no memory. */
static uint32_t own_chunk(gnomon__thread *t, gnomon__tree *tree, uint32_t bytes,
                          enum gnomon__need need)
{
    uint32_t at = gnomon__chunk_take(bytes, need);
    if (!at)
        return 0;
    *(chunk_head *)gnomon__at(t, at) = (chunk_head){tree->chunks, bytes};
    return tree->chunks = at;
}

static int add_chunk(gnomon__thread *t, gnomon__tree *tree, uint32_t bytes,
                     enum gnomon__need need)
{
    uint32_t at = own_chunk(t, tree, bytes, need);
    if (!at)
        return 0;
    tree->free = at + CHUNK_HEAD;
    tree->free_end = at + bytes;
    return 1;
}

static uint32_t small_chunk(uint32_t bytes)
{
    uint32_t chunk = SPARE_CHUNK;
    while (chunk < bytes + CHUNK_HEAD)
        chunk *= 2;
    return chunk;
}

/* Memory reserved for "(other)" nodes is used for nothing else. */
static uint32_t take_spare(gnomon__thread *t, gnomon__tree *tree,
                           uint32_t bytes)
{
    if (tree->spare_end - tree->spare < bytes) {
        uint32_t chunk = small_chunk(bytes);
        uint32_t at = own_chunk(t, tree, chunk, GNOMON__FOR_OTHER);
        if (!at)
            return 0;
        tree->spare = at + CHUNK_HEAD;
        tree->spare_end = at + chunk;
    }
    uint32_t at = tree->spare;
    tree->spare += bytes;
    return at;
}

/* Adds a chunk. 0: no memory, except what is reserved for "(other)". */
static int make_room(gnomon__thread *t, gnomon__tree *tree, uint32_t bytes,
                     enum gnomon__need need)
{
    uint32_t least = small_chunk(bytes), next = tree->next_bytes;
    while (next > least && !add_chunk(t, tree, next, GNOMON__FOR_LATER))
        next /= 2;
    if (next > least) {
        tree->next_bytes = next < LAST_CHUNK ? 2 * next : next;
        return 1;
    }
    return add_chunk(t, tree, least,
                     need == GNOMON__FOR_OTHER ? GNOMON__FOR_PATHS : need);
}

uint32_t gnomon__tree_take(gnomon__thread *t, gnomon__tree *tree,
                           uint32_t bytes, enum gnomon__need need)
{
    if (tree->free_end - tree->free < bytes) {
        gnomon__guard();
        int has_room = make_room(t, tree, bytes, need);
        uint32_t spare = has_room || need != GNOMON__FOR_OTHER
                             ? 0
                             : take_spare(t, tree, bytes);
        gnomon__unguard();
        if (!has_room)
            return spare;
    }
    uint32_t at = tree->free;
    tree->free += bytes;
    return at;
}

uint32_t gnomon__tree_make(gnomon__thread *t)
{
    uint32_t chunk = gnomon__chunk_take(FIRST_CHUNK, GNOMON__FOR_PATHS);
    if (!chunk)
        return 0;
    uint32_t at = chunk + CHUNK_HEAD;
    gnomon__tree *tree = gnomon__at(t, at);
    ((chunk_head *)gnomon__at(t, chunk))->bytes = FIRST_CHUNK;
    tree->chunks = chunk;
    tree->free_end = chunk + FIRST_CHUNK;
    tree->free = at + (((uint32_t)sizeof *tree + 63) & ~63u);
    tree->next_bytes = 2 * FIRST_CHUNK;
    tree->cursor.pending = GNOMON__NO_CELL;
    return at;
}

/* The first chunk is given back last, as the tree itself is in it. */
void gnomon__tree_give(gnomon__thread *t, const gnomon__tree *tree)
{
    for (uint32_t chunk = tree->chunks; chunk;) {
        chunk_head head = *(chunk_head *)gnomon__at(t, chunk);
        gnomon__chunk_give(chunk, head.bytes);
        chunk = head.below;
    }
}
