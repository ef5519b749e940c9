/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of blocks: both calls are on the hot path of a program.
 *
 * Levels of slots, each four times as large as the one before. A pointer's slot is one of
 * eight in a row, in whichever level was the newest when it came. Where these are taken, a
 * level is added; nothing ever moves. So a program that is past its peak makes no system
 * call. The levels below are small, and looked at for a block whose free nobody marked.
 *
 * Invariant: a pointer is given out to one owner, so its slot is written by one thread at
 * a time: from free to BUSY, value, key; and back to free by whoever frees the block. */
#include "memory/blocks.h"

#include <string.h>
#include <sys/mman.h>

#include "platform/atomic.h"

#define FIRST_BITS 12u
#define LEVELS 9u /* 4 GiB of slots in the last one */
#define ROW 8u
#define BUSY 1u /* no pointer */
#define HUGE_BYTES (1u << 22)

static block *levels[LEVELS];
static uint32_t newest;

void *gnomon__memory_map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_BYTES)
        (void)madvise(at, bytes, MADV_HUGEPAGE);
    return at;
}

void gnomon__memory_unmap(void *at, size_t bytes)
{
    (void)munmap(at, bytes);
}

static size_t level_slots(uint32_t level)
{
    return (size_t)1 << (FIRST_BITS + 2 * level);
}

static block *row_of(block *slots, uint32_t level, uint64_t pointer)
{
    const uint64_t hash = (pointer >> 4) * 0x9e3779b97f4a7c15u;
    return &slots[hash >> (64 - FIRST_BITS - 2 * level) & ~(ROW - 1ull)];
}

/* 0: no memory. */
static int add_level(uint32_t level)
{
    block *none = NULL;
    if (level == LEVELS)
        return 0;
    if (!load_acquire(&levels[level])) {
        block *made = gnomon__memory_map(level_slots(level) * sizeof *made);
        if (!made)
            return 0;
        if (!cas_acq_rel(&levels[level], &none, made)) /* another thread's */
            gnomon__memory_unmap(made, level_slots(level) * sizeof *made);
    }
    uint32_t before = level - 1;
    if (level)
        (void)cas_acq_rel(&newest, &before, level);
    return 1;
}

/* Removes the pointer's block, which is here. */
static block take_at(block *at, uint64_t key)
{
    const block found = {key, load_relaxed(&at->value)};
    return cas_acq_rel(&at->key, &key, (uint64_t)0) ? found : (block){0, 0};
}

static block take_from(block *row, uint64_t pointer)
{
    for (uint32_t i = 0; i < ROW; i++) {
        const uint64_t key = load_relaxed(&row[i].key);
        if (key >> 16 == pointer)
            return take_at(&row[i], key);
    }
    return (block){0, 0};
}

/* 0: all of them are taken. The pointer's block, if it is here, comes to *old. */
static int put_into(block *row, const block *b, block *old)
{
    for (;;) {
        uint64_t none = 0;
        block *at = NULL;
        for (uint32_t i = ROW; i--;) {
            const uint64_t key = load_relaxed(&row[i].key);
            if (!key)
                at = &row[i];
            else if (unlikely(key >> 16 == b->key >> 16))
                *old = take_at(at = &row[i], key);
        }
        if (!at)
            return 0;
        if (likely(cas_acq_rel(&at->key, &none, (uint64_t)BUSY))) {
            store_relaxed(&at->value, b->value);
            store_release(&at->key, b->key);
            return 1;
        }
    }
}

/* Of the levels below that one, the newest first. */
static block take_below(uint32_t level, uint64_t pointer)
{
    while (level--) {
        block *slots = load_acquire(&levels[level]);
        const block found =
            slots ? take_from(row_of(slots, level, pointer), pointer)
                  : (block){0, 0};
        if (found.key)
            return found;
    }
    return (block){0, 0};
}

int gnomon__block_add(block b, block *old)
{
    for (;;) {
        const uint32_t level = load_acquire(&newest);
        block *slots = load_acquire(&levels[level]);
        if (likely(slots != NULL &&
                   put_into(row_of(slots, level, b.key >> 16), &b, old))) {
            if (level && !old->key) /* one from before the last growth */
                *old = take_below(level, b.key >> 16);
            return 1;
        }
        if (!add_level(slots ? level + 1 : level))
            return 0;
    }
}

block gnomon__block_take(uint64_t pointer)
{
    return take_below(load_acquire(&newest) + 1, pointer);
}

void gnomon__blocks_forget(void)
{
    for (uint32_t level = 0; level < LEVELS; level++) {
        block *slots = load_acquire(&levels[level]);
        const size_t bytes = level_slots(level) * sizeof *slots;
        if (slots && madvise(slots, bytes, MADV_DONTNEED)) /* it is locked */
            memset(slots, 0, bytes);
    }
}
