/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Streams: full blocks are given away while threads mark (run/streams.c). A thread never
 * waits for that: without memory its events are lost, and counted. */
#include "mark/observer.h"
#include "mark/tape.h"
#include "mark/upcall.h"
#include "platform/process.h"

enum { STREAMS_WAIT, STREAMS_ARE_FULL, STREAMS_HAVE_NO_ROOM };

static uint32_t streams_state GNOMON__OF_PROCESS; /* written under the lock */

int gnomon__tapes_are_full(void)
{
    return load_relaxed(&streams_state) != STREAMS_WAIT;
}

void gnomon__tape_stream_over(void)
{
    for (uint32_t bit = 0; bit < GNOMON__BITS; bit++)
        if (gnomon__tape_pools[bit].keep == GNOMON__KEEP_STREAM)
            return;
    store_relaxed(&streams_state, STREAMS_WAIT);
}

int gnomon__tape_is_full(const gnomon__tape_pool *pool, int has_room)
{
    uint32_t was = streams_state;
    if (pool->keep != GNOMON__KEEP_STREAM)
        return 0;
    if (!has_room)
        store_relaxed(&streams_state, STREAMS_HAVE_NO_ROOM);
    else if (pool->queued >= gnomon__marks_arena.size / 4 && !was)
        store_relaxed(&streams_state, STREAMS_ARE_FULL);
    return was != load_relaxed(&streams_state);
}

void gnomon__tapes_fill(void)
{
    if (gnomon__tapes_are_full())
        return;
    gnomon__lock();
    int wakes = streams_state == STREAMS_WAIT;
    if (wakes)
        store_relaxed(&streams_state, STREAMS_ARE_FULL);
    gnomon__unlock();
    if (wakes)
        gnomon__upcall_wake();
}

uint64_t gnomon__tape_gather(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    int is_it = pool->generation == generation;
    if (is_it && streams_state == STREAMS_HAVE_NO_ROOM)
        gnomon__tapes_sweep(NULL, pool, bit, 1);
    store_relaxed(&streams_state, STREAMS_WAIT);
    uint64_t bytes = is_it ? pool->queued : 0;
    gnomon__unlock();
    return bytes;
}

void gnomon__tape_streamed(uint32_t bit, uint32_t generation, size_t count)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    if (pool->generation == generation) {
        while (count-- && pool->first)
            gnomon__tape_give(gnomon__tape_unqueue(pool, 0));
        store_relaxed(&pool->freed, pool->freed + 1 ? pool->freed + 1 : 1);
    }
    gnomon__unlock();
}
