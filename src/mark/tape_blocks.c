/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory of tapes: blocks of 1 to 64 KiB. A thread's first block is small and comes
 * with its first event; each further one is twice as large. Blocks that are full wait
 * in the queue of their bit (tape_queue.c), where the oldest is used again once there is
 * no other memory (GNOMON__KEEP_LAST). A thread that marks nothing does not keep its
 * block from others then (tape_idle.c).
 *
 * Invariant: under the lock each block is in the queue or is the block of one tape. */
#include "mark/tape.h"

#include <string.h>

#include "mark/observer.h"
#include "mark/upcall.h"
#include "platform/ticks.h"

#define TAPE_LAST_BLOCK 65536u
#define HEAD ((uint32_t)sizeof(gnomon__tape_block))
#define RECORD ((uint32_t)sizeof(gnomon__tape_record))
/* A thread without a block looks for one at each so many marks: those that had all may
 * be idle by now. */
#define TRY_AGAIN 64u

/* No other word of the arena looks like one by chance. */
static uint64_t block_serials = 0x9e3779b900000000u;

gnomon__tape *gnomon__tape_with(const gnomon__thread *t, uint32_t bit,
                                uint32_t generation)
{
    return t && t->states[bit] &&
                   load_relaxed(&t->generations[bit]) == generation
               ? gnomon__tape_of(t, bit)
               : NULL;
}

/* ---- Blocks of a tape -------------------------------------------------------------- */

static void open_block(gnomon__thread *t, gnomon__tape *tape, uint32_t at,
                       uint32_t bytes, uint64_t now)
{
    gnomon__tape_block *b = gnomon__at(t, at);
    store_relaxed(&b->serial, ++block_serials);
    fence_release(); /* the serial before what is written now */
    /* Atomic, as a reader may copy these bytes as records of a larger block. */
    store_relaxed(&b->bytes, bytes);
    store_relaxed(&b->thread, t->number);
    store_relaxed(&b->first, now);
    store_relaxed(&b->place.begin, tape->number);
    store_relaxed(&b->place.ticks, tape->others);
    store_relaxed(&b->place.what, GNOMON__TAPE_PLACE);
    tape->block = at;
    gnomon__tape_pools[tape->bit].open += bytes;
    store_relaxed(&tape->next, at + HEAD);
    tape->end = at + bytes;
}

/* Gives all of a chunk but its first `bytes` to whoever asks next. */
static void split_chunk(uint32_t at, uint32_t size, uint32_t bytes)
{
    for (; size > bytes; size /= 2)
        gnomon__chunk_give(at + size / 2, size / 2);
}

uint32_t gnomon__tape_chunk(uint32_t *bytes)
{
    uint32_t at = 0, size = *bytes;
    for (; size <= TAPE_LAST_BLOCK && !at; size *= 2)
        at = gnomon__chunk_take(size, GNOMON__FOR_EVENTS);
    if (at) {
        split_chunk(at, size / 2, *bytes);
        return at;
    }
    for (size = *bytes; size > GNOMON__TAPE_FIRST_BLOCK && !at;) {
        size /= 2;
        at = gnomon__chunk_take(size, GNOMON__FOR_EVENTS);
    }
    *bytes = size;
    return at;
}

/* Without this, threads that mark little would hold the large blocks of one that marks
 * much. Returns the bytes that are left. */
static uint32_t split_block(uint32_t at, uint32_t bytes)
{
    gnomon__tape_block *b = gnomon__tape_block_at(at);
    uint32_t size = b->bytes;
    if (size <= bytes)
        return size;
    store_relaxed(&b->serial, 0);
    fence_release(); /* before its memory is another's */
    split_chunk(at, size, bytes);
    return bytes;
}

/* The block goes, with what it holds. */
static void overwrite_block(const gnomon__tape_pool *pool, uint32_t bit,
                            uint32_t at)
{
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    gnomon__tape *tape = gnomon__tape_with(gnomon__thread_numbered(b->thread),
                                           bit, pool->generation);
    uint64_t end = gnomon__tape_behind(b).number;
    if (tape && tape->gone < end)
        tape->gone = end;
}

/* The oldest block, or so much of it as is asked for; 0: there is none, or full ones are
 * kept. */
static uint32_t take_oldest(const gnomon__thread *t, gnomon__tape_pool *pool,
                            uint32_t bit, uint32_t *bytes)
{
    if (pool->keep != GNOMON__KEEP_LAST)
        return 0;
    if (!pool->first || gnomon__tapes_are_due(pool))
        gnomon__tapes_sweep(t, pool, bit, 1);
    if (!pool->first)
        return 0;
    uint32_t at = gnomon__tape_unqueue(pool, 0);
    overwrite_block(pool, bit, at);
    *bytes = split_block(at, *bytes);
    return at;
}

static int next_block(gnomon__thread *t, gnomon__tape *tape)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[tape->bit];
    uint64_t now = gnomon__ticks();
    if (pool->generation != tape->generation)
        return 0;
    if (tape->block)
        gnomon__tape_close(tape, pool, now, 0);
    uint32_t bytes = tape->bytes, at = gnomon__tape_chunk(&bytes);
    if (at && gnomon__tapes_are_due(pool))
        gnomon__tapes_sweep(t, pool, tape->bit, 0);
    bytes = at ? bytes : tape->bytes;
    if (!at)
        at = take_oldest(t, pool, tape->bit, &bytes);
    tape->full_at = at ? 0 : pool->freed;
    if (!at)
        return 0;
    open_block(t, tape, at, bytes, now);
    if (tape->bytes < TAPE_LAST_BLOCK)
        tape->bytes *= 2;
    return 1;
}

int gnomon__tape_room(gnomon__thread *t, gnomon__tape *tape, uint32_t more)
{
    if (tape->block && tape->end - tape->next >= (1 + more) * RECORD)
        return 1;
    if (tape->full_at &&
        tape->full_at == load_relaxed(&gnomon__tape_pools[tape->bit].freed) &&
        ++tape->refused % TRY_AGAIN)
        return 0; /* without the lock, which all that are full would take */
    gnomon__lock();
    int has_room = next_block(t, tape);
    int wakes = gnomon__tape_is_full(&gnomon__tape_pools[tape->bit], has_room);
    /* Who marks little needs none. */
    if (has_room && tape->end - tape->block == TAPE_LAST_BLOCK)
        wakes |= gnomon__tape_wants_pages();
    gnomon__unlock();
    if (wakes)
        gnomon__upcall_wake();
    return has_room;
}

/* The tape's block is full, and it needs no other one yet. */
static void leave_block(gnomon__tape *tape)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[tape->bit];
    if (pool->generation == tape->generation)
        gnomon__tape_close(tape, pool, gnomon__ticks(), 0);
    gnomon__unlock();
}

void gnomon__tape_gap(gnomon__thread *t, gnomon__tape *tape, uint64_t when)
{
    if (tape->block && gnomon__tape_has_room(tape)) {
        gnomon__tape_write(t, tape, when, 0, GNOMON__TAPE_GAP);
        return;
    }
    if (tape->block)
        leave_block(tape);
    gnomon__tape_skip(tape);
}

void gnomon__tapes_lose(gnomon__thread *t, uint32_t tree, uint64_t ticks)
{
    gnomon__each_bit(bit, t->tape_bits & load_relaxed(&t->open_bits)) {
        if (load_relaxed(&gnomon__tape_pools[bit].tree) == tree)
            gnomon__tape_gap(t, gnomon__tape_of(t, bit), ticks);
    }
}

int gnomon__tape_adopt(gnomon__thread *t, uint32_t bit, uint32_t generation)
{
    uint32_t at =
        gnomon__chunk_take((uint32_t)sizeof(gnomon__tape), GNOMON__FOR_PATHS);
    if (!at)
        return 0;
    gnomon__tape *tape = gnomon__at(t, at);
    tape->bit = bit;
    tape->generation = generation;
    tape->bytes = GNOMON__TAPE_FIRST_BLOCK;
    for (int i = 0; i < GNOMON__TAPE_READERS; i++)
        tape->cursors[i].from_at = gnomon__tape_pools[bit].told[i];
    tape->cursors[GNOMON__TAPE_STAGES].from_at = t->segment_begin;
    tape->began = gnomon__ticks();
    tape->segment = tape->first_segment = t->segment;
    store_release(&t->states[bit], at);
    return 1;
}

/* Full blocks are given back by gnomon__tape_stop. */
void gnomon__tape_drop(gnomon__thread *t, uint32_t bit)
{
    uint32_t at = t->states[bit];
    const gnomon__tape *tape = gnomon__at(t, at);
    if (tape->block) {
        if (gnomon__tape_pools[bit].generation == tape->generation)
            gnomon__tape_pools[bit].open -= tape->end - tape->block;
        gnomon__tape_give(tape->block);
    }
    store_relaxed(&t->states[bit], 0);
    fence_release();
    gnomon__chunk_give(at, (uint32_t)sizeof *tape);
}

/* ---- For events of devices ---------------------------------------------------------- */

int gnomon__tapes_keep(uint32_t bits, uint32_t mode)
{
    int is_any = 0;
    gnomon__lock();
    gnomon__each_bit(bit, bits)
        is_any |= gnomon__tape_pools[bit].keep == mode;
    gnomon__unlock();
    return is_any;
}

/* The oldest full block of a ring that has `bytes` or more, of which nothing is left;
 * 0: there is none. */
static uint32_t oldest_of(uint32_t bit, uint32_t *bytes)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    uint32_t at = pool->generation && pool->keep == GNOMON__KEEP_LAST
                      ? gnomon__tape_unqueue(pool, *bytes)
                      : 0;
    if (!at)
        return 0;
    overwrite_block(pool, bit, at);
    *bytes = gnomon__tape_block_at(at)->bytes;
    store_relaxed(&gnomon__tape_block_at(at)->serial, 0);
    fence_release(); /* before its memory is another's */
    return at;
}

uint32_t gnomon__tapes_oldest(uint32_t bits, uint32_t *bytes)
{
    uint32_t at = 0;
    *bytes = 0;
    gnomon__lock();
    gnomon__each_bit(bit, bits)
        at = at ? at : oldest_of(bit, bytes);
    gnomon__unlock();
    return at;
}

/* Trees need little beside a ring, and lose whole threads without it; what the ring loses
 * is old. An eighth of all memory stays its own. What can do without memory, as it then
 * only gets coarser, leaves it a quarter. Blocks smaller than what is needed stay too:
 * chunks do not grow together. */
static int shrink_ring(uint32_t bytes, int can_do_without)
{
    uint64_t stays = gnomon__marks_arena.size / (can_do_without ? 4 : 8);
    uint32_t at = 0;
    for (uint32_t bit = 0; !at && bit < GNOMON__BITS; bit++) {
        gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
        int has_more = pool->queued + pool->open > stays;
        if (!bytes && pool->is_shrunk && !has_more)
            return 0;
        if (!bytes || !has_more || pool->keep != GNOMON__KEEP_LAST)
            continue;
        if (!pool->first)
            gnomon__tapes_sweep(NULL, pool, bit, 1);
        at = oldest_of(bit, &bytes);
        pool->is_shrunk = 1;
    }
    if (at)
        gnomon__chunk_give(at, bytes);
    return at != 0 || !bytes;
}

/* ---- All of a bit ------------------------------------------------------------------- */

/* Word by word, as a mark under way may still read `tree` and `freed`. */
static void set_pool(gnomon__tape_pool *pool, uint32_t generation,
                     uint32_t tree, uint32_t keep)
{
    pool->generation = generation;
    store_relaxed(&pool->tree, tree);
    pool->keep = keep;
    store_relaxed(&pool->freed, 0u);
    pool->first = pool->newest = pool->is_shrunk = 0;
    pool->queued = pool->open = pool->unswept = 0;
    pool->since = 0;
    memset(pool->told, 0, sizeof pool->told);
}

void gnomon__tape_start(uint32_t bit, uint32_t generation, uint32_t tree,
                        uint32_t keep)
{
    gnomon__lock();
    gnomon__chunks_short = shrink_ring;
    set_pool(&gnomon__tape_pools[bit], generation, tree, keep);
    store_relaxed(&gnomon__tape_pools[bit].freed, 1u);
    gnomon__each_thread(t)
        gnomon__thread_shut(t); /* they look which tape is hot */
    gnomon__unlock();
}

void gnomon__tape_stop(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    while (pool->generation == generation && pool->first)
        gnomon__tape_give(gnomon__tape_unqueue(pool, 0));
    if (pool->generation == generation)
        set_pool(pool, 0, 0, 0);
    gnomon__tape_stream_over();
    gnomon__unlock();
}

void gnomon__tape_expire(uint32_t bit, uint32_t generation, uint64_t since)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    if (pool->generation == generation && since > pool->since) {
        pool->since = since;
        while (pool->first &&
               gnomon__tape_block_at(pool->first)->last < since) {
            uint32_t at = gnomon__tape_unqueue(pool, 0);
            overwrite_block(pool, bit, at);
            gnomon__tape_give(at);
        }
    }
    gnomon__unlock();
}
