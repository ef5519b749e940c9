/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The arena that all marks write to, and its chunks. A chunk that is given back joins
 * free ones of its size beside it, goes to a list, and is reused, whole or in parts. Any
 * thread; the lists are under the lock. A chunk is zeroed when it is taken again, not when
 * it is given back, as a reader may still read what it held before. */
#include "mark/arena.h"

#include "mark/thread.h"

gnomon__arena gnomon__marks_arena;
uint32_t gnomon__reserved_bytes;
int (*gnomon__chunks_short)(uint32_t bytes, int can_do_without);

static uint32_t chunk_lists[32]; /* free chunks by log2 of their size */

/* The parent's arena stays mapped: the child may be inside a mark. */
void gnomon__chunks_forget(void)
{
    gnomon__marks_arena = (gnomon__arena){0};
    store_relaxed(&gnomon__reserved_bytes, 0);
    for (uint32_t i = 0; i < 32; i++)
        chunk_lists[i] = 0;
}

/* A chunk's size is rounded up to a power of two, so it may be given back
 * with any size that rounds to the same power. */
static uint32_t log2_of(uint32_t bytes)
{
    return 32u - (uint32_t)__builtin_clz(bytes - 1);
}

/* A free chunk, on a list of its size. The lists are under the lock. */
typedef struct free_chunk {
    uint32_t next; /* 0: none */
} free_chunk;

static free_chunk *free_at(uint32_t chunk)
{
    return (void *)(gnomon__marks_arena.base + chunk);
}

static uint32_t take_listed(uint32_t log2)
{
    uint32_t chunk = chunk_lists[log2];
    if (chunk)
        chunk_lists[log2] = free_at(chunk)->next;
    return chunk;
}

static void list_chunk(uint32_t chunk, uint32_t log2)
{
    store_relaxed(&free_at(chunk)->next, chunk_lists[log2]);
    chunk_lists[log2] = chunk;
}

#define LOOKS 64u /* at so many chunks, as a mark waits for it */

/* A free chunk of this size before or behind `chunk`. 0: none among the last given. */
static uint32_t take_neighbour(uint32_t chunk, uint32_t log2)
{
    const uint32_t size = 1u << log2;
    uint32_t at = chunk_lists[log2], before = 0, looks = LOOKS;
    while (at && at + size != chunk && chunk + size != at) {
        if (!--looks)
            return 0;
        before = at;
        at = free_at(at)->next;
    }
    if (at && before)
        store_relaxed(&free_at(before)->next, free_at(at)->next);
    else if (at)
        chunk_lists[log2] = free_at(at)->next;
    return at;
}

#define TAPE_LOG2 16u /* a tape's blocks are at most so large */

/* Two of a size that lie side by side are one: else what was split for threads that mark
 * little would be small for ever. */
static void list_joined(uint32_t chunk, uint32_t log2)
{
    uint32_t neighbour;
    for (; log2 < TAPE_LOG2 && (neighbour = take_neighbour(chunk, log2)) != 0;
         log2++)
        chunk = neighbour < chunk ? neighbour : chunk;
    list_chunk(chunk, log2);
}

/* A free chunk, or a part of a larger one, as tapes that are over leave large ones. Events
 * leave to trees those that no tape had. */
static uint32_t take_free(uint32_t log2, enum gnomon__need need)
{
    const uint32_t most = need == GNOMON__FOR_EVENTS ? TAPE_LOG2 : 31;
    uint32_t chunk = 0, of = log2;
    while (!(chunk = take_listed(of)) && of < most)
        of++;
    while (chunk && of > log2) {
        of--;
        list_chunk(chunk + (1u << of), of);
    }
    return chunk;
}

/* From what no chunk was taken from yet, and so zeroed; 0: none is left for that. */
static uint32_t take_new(uint32_t bytes, enum gnomon__need need)
{
    static const uint32_t parts[] = {[GNOMON__FOR_EVENTS] = 4,
                                     [GNOMON__FOR_LATER] = 16,
                                     [GNOMON__FOR_PATHS] = 16,
                                     [GNOMON__FOR_SUMS] = 32};
    gnomon__arena *arena = &gnomon__marks_arena;
    uint64_t kept = 0;
    if (need != GNOMON__FOR_OTHER)
        kept =
            load_relaxed(&gnomon__reserved_bytes) + arena->size / parts[need];
    if (load_relaxed(&arena->used) + (uint64_t)bytes + kept > arena->size)
        return 0;
    return gnomon__arena_take(arena, bytes);
}

/* Whether there is memory for this, apart from what is new: with `bytes` a chunk is freed
 * for it. Under the lock. */
static int may_take(uint32_t bytes, enum gnomon__need need)
{
    int can_do_without = need == GNOMON__FOR_LATER || need == GNOMON__FOR_SUMS;
    if (!gnomon__chunks_short || !(bytes || can_do_without))
        return !bytes;
    return gnomon__chunks_short(bytes, can_do_without);
}

#ifdef GNOMON_TESTING
uint64_t gnomon__test_event_bytes = UINT64_MAX;

/* Under the lock. */
static int has_event_bytes(uint32_t log2, enum gnomon__need need)
{
    const uint64_t bytes = 1u << log2;
    if (need != GNOMON__FOR_EVENTS)
        return 1;
    if (bytes > gnomon__test_event_bytes)
        return 0;
    gnomon__test_event_bytes -= bytes;
    return 1;
}
#else
#define has_event_bytes(log2, need) 1
#endif

uint32_t gnomon__chunk_take(uint32_t bytes, enum gnomon__need need)
{
    uint32_t log2 = log2_of(bytes);
    gnomon__lock();
    const int has_bytes = has_event_bytes(log2, need);
    uint32_t chunk = has_bytes && may_take(0, need) ? take_free(log2, need) : 0;
    gnomon__unlock();
    if (!has_bytes)
        return 0;
    if (!chunk) {
        chunk = take_new(1u << log2, need);
        if (chunk || need == GNOMON__FOR_EVENTS)
            return chunk;
        gnomon__lock();
        if (may_take(1u << log2, need))
            chunk = take_free(log2, need);
        gnomon__unlock();
    }
    if (chunk && need != GNOMON__FOR_EVENTS) {
        /* Atomic, as a reader of the tree that had it before may still read
         * it. */
        uint64_t *words =
            (uint64_t *)(void *)(gnomon__marks_arena.base + chunk);
        for (uint32_t i = 0; i < (1u << log2) / 8; i++)
            store_relaxed(&words[i], 0);
    }
    return chunk;
}

void gnomon__chunk_give(uint32_t chunk, uint32_t bytes)
{
    gnomon__lock();
    list_joined(chunk, log2_of(bytes));
    gnomon__unlock();
}
