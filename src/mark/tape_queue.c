/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The queue of a bit's full blocks, the oldest first. Under the lock. */
#include "mark/tape.h"
#include "platform/process.h"

#define LOOKS 64u /* at so many blocks, as a mark waits for it */

gnomon__tape_pool gnomon__tape_pools[GNOMON__BITS] GNOMON__OF_PROCESS;

static void queue_last(gnomon__tape_pool *pool, uint32_t at)
{
    store_relaxed(&gnomon__tape_block_at(at)->next, 0);
    if (pool->newest)
        store_relaxed(&gnomon__tape_block_at(pool->newest)->next, at);
    else
        pool->first = at;
    pool->newest = at;
}

static void queue_first(gnomon__tape_pool *pool, uint32_t at)
{
    store_relaxed(&gnomon__tape_block_at(at)->next, pool->first);
    pool->newest = pool->first ? pool->newest : at;
    pool->first = at;
}

uint32_t gnomon__tape_unqueue(gnomon__tape_pool *pool, uint32_t bytes)
{
    uint32_t at = pool->first, before = 0, looks = 0;
    while (at && gnomon__tape_block_at(at)->bytes < bytes) {
        before = at;
        at = ++looks < LOOKS ? gnomon__tape_block_at(at)->next : 0;
    }
    if (!at)
        return 0;
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    if (before)
        store_relaxed(&gnomon__tape_block_at(before)->next, b->next);
    else
        pool->first = b->next;
    pool->newest = pool->newest == at ? before : pool->newest;
    pool->queued -= b->bytes;
    return at;
}

void gnomon__tape_give(uint32_t at)
{
    gnomon__tape_block *b = gnomon__tape_block_at(at);
    uint32_t bytes = b->bytes;
    store_relaxed(&b->serial, 0);
    fence_release(); /* before its memory is another's */
    gnomon__chunk_give(at, bytes);
}

gnomon__tape_place gnomon__tape_here(const gnomon__tape *tape)
{
    gnomon__tape_place here = {load_relaxed(&tape->number),
                               load_relaxed(&tape->others), 0};
    if (!tape->block)
        return here;
    const gnomon__tape_block *b = gnomon__tape_block_at(tape->block);
    uint32_t used =
        load_relaxed(&tape->next) - tape->block - (uint32_t)sizeof *b;
    here.number += used / (uint32_t)sizeof(gnomon__tape_record) -
                   (here.others - b->place.ticks);
    return here;
}

void gnomon__tape_close(gnomon__tape *tape, gnomon__tape_pool *pool,
                        uint64_t last, int is_oldest)
{
    gnomon__tape_block *b = gnomon__tape_block_at(tape->block);
    uint32_t used = load_relaxed(&tape->next) - tape->block;
    uint64_t number = gnomon__tape_here(tape).number;
    store_relaxed(&b->used, used);
    store_relaxed(&b->events, (uint32_t)(number - tape->number));
    store_relaxed(&b->last, last);
    store_relaxed(&tape->number, number);
    if (is_oldest)
        queue_first(pool, tape->block);
    else
        queue_last(pool, tape->block);
    pool->open -= b->bytes;
    pool->queued += b->bytes;
    pool->unswept += b->bytes;
    tape->block = 0;
    store_relaxed(&tape->next, 0);
    tape->end = 0;
}
