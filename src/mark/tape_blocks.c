/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory of tapes: blocks of 1 to 64 KiB. A thread's first block is small and comes
 * with its first event; each further one is twice as large. Blocks that are full wait
 * in the queue of their bit, where the oldest is used again once there is no other
 * memory (GNOMON__KEEP_LAST).
 *
 * Invariant: under the lock each block is in the queue or is the block of one tape. */
#include "mark/tape.h"

#include "mark/observer.h"

#define TAPE_FIRST_BLOCK 1024u
#define TAPE_LAST_BLOCK 65536u
#define HEAD ((uint32_t)sizeof(gnomon__tape_block))
#define RECORD ((uint32_t)sizeof(gnomon__tape_record))

gnomon__tape_pool gnomon__tape_pools[GNOMON__BITS];

/* No other word of the arena looks like one by chance. */
static uint64_t block_serials = 0x9e3779b900000000u;

void gnomon__tape_lose(gnomon__tape_loss *loss, uint64_t count, uint64_t first,
                       uint64_t last)
{
    if (!count)
        return;
    if (!loss->count || first < loss->first)
        store_relaxed(&loss->first, first);
    if (!loss->count || last > loss->last)
        store_relaxed(&loss->last, last);
    store_relaxed(&loss->count, loss->count + count);
}

void gnomon__tapes_lose(gnomon__thread *t, uint32_t tree, uint64_t ticks)
{
    gnomon__each_bit(bit, t->tape_bits & load_relaxed(&t->open_bits)) {
        if (load_relaxed(&gnomon__tape_pools[bit].tree) == tree)
            gnomon__tape_lose(&gnomon__tape_of(t, bit)->lost, 1, ticks, ticks);
    }
}

/* ---- The queue ----------------------------------------------------------------- */

static void queue_block(gnomon__tape_pool *pool, uint32_t at)
{
    store_relaxed(&gnomon__tape_block_at(at)->next, 0);
    if (pool->newest)
        store_relaxed(&gnomon__tape_block_at(pool->newest)->next, at);
    else
        pool->first = at;
    pool->newest = at;
    pool->queued++;
}

static uint32_t unqueue_block(gnomon__tape_pool *pool)
{
    uint32_t at = pool->first;
    pool->first = gnomon__tape_block_at(at)->next;
    pool->newest = pool->first ? pool->newest : 0;
    pool->queued--;
    return at;
}

static void give_block(uint32_t at)
{
    gnomon__tape_block *b = gnomon__tape_block_at(at);
    uint32_t bytes = b->bytes;
    store_relaxed(&b->serial, 0);
    fence_release(); /* before its memory is another's */
    gnomon__chunk_give(at, bytes);
}

/* ---- What a block holds ---------------------------------------------------------- */

/* Events of a full block that began at `until` or later, and so are missed if it goes. */
static uint64_t count_missed(uint32_t at, uint64_t until)
{
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    const gnomon__tape_record *r =
        (const void *)(gnomon__marks_arena.base + at);
    uint64_t n = 0;
    if (!until)
        return b->events;
    if (b->last < until)
        return 0;
    for (uint32_t i = HEAD / RECORD; i < b->used / RECORD;
         i += 1 + GNOMON__TAPE_MORE_OF(r[i].what))
        n += r[i].begin >= until;
    return n;
}

/* The block goes, with what it holds: told to whom it belonged. */
static void overwrite_block(const gnomon__tape_pool *pool, uint32_t bit,
                            uint32_t at)
{
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    gnomon__thread *t = gnomon__thread_numbered(b->thread);
    gnomon__tape *tape = t && t->states[bit] ? gnomon__tape_of(t, bit) : NULL;
    if (tape && t->generations[bit] == pool->generation)
        gnomon__tape_lose(&tape->overwritten, count_missed(at, pool->until),
                          b->first > pool->until ? b->first : pool->until,
                          b->last);
}

/* ---- Blocks of a tape -------------------------------------------------------------- */

/* The tape's block is full. */
static void close_block(gnomon__thread *t, gnomon__tape *tape,
                        gnomon__tape_pool *pool, uint64_t now)
{
    gnomon__tape_block *b = gnomon__at(t, tape->block);
    uint32_t used = tape->next - tape->block;
    b->used = used;
    b->events = (used - HEAD) / RECORD - tape->more;
    b->last = now;
    queue_block(pool, tape->block);
    tape->block = 0;
    store_relaxed(&tape->next, 0);
    tape->end = 0;
}

static void open_block(gnomon__thread *t, gnomon__tape *tape, uint32_t at,
                       uint32_t bytes, uint64_t now)
{
    gnomon__tape_block *b = gnomon__at(t, at);
    store_relaxed(&b->serial, ++block_serials);
    fence_release(); /* the serial before what is written now */
    b->bytes = bytes;
    b->thread = t->number;
    b->first = now;
    tape->block = at;
    tape->more = 0;
    store_relaxed(&tape->next, at + HEAD);
    tape->end = at + bytes;
}

/* A chunk of at most `bytes`, which it sets. 0: there is no memory. */
static uint32_t take_chunk(uint32_t *bytes)
{
    uint32_t at = 0;
    for (; *bytes >= TAPE_FIRST_BLOCK && !at; *bytes /= 2)
        at = gnomon__chunk_take(*bytes, GNOMON__FOR_EVENTS);
    *bytes *= 2;
    return at;
}

/* The oldest full block; 0: there is none, or full ones are kept. */
static uint32_t take_oldest(gnomon__tape_pool *pool, uint32_t bit,
                            uint32_t *bytes)
{
    if (pool->keep != GNOMON__KEEP_LAST || !pool->first)
        return 0;
    uint32_t at = unqueue_block(pool);
    overwrite_block(pool, bit, at);
    *bytes = gnomon__tape_block_at(at)->bytes;
    return at;
}

static int next_block(gnomon__thread *t, gnomon__tape *tape)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[tape->bit];
    uint64_t now = gnomon__ticks();
    if (pool->generation != tape->generation)
        return 0;
    if (tape->block)
        close_block(t, tape, pool, now);
    uint32_t bytes = tape->bytes, at = take_chunk(&bytes);
    if (!at)
        at = take_oldest(pool, tape->bit, &bytes);
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
        tape->full_at == load_relaxed(&gnomon__tape_pools[tape->bit].freed))
        return 0; /* without the lock, which all that are full would take */
    gnomon__lock();
    int has_room = next_block(t, tape);
    gnomon__unlock();
    return has_room;
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
    tape->bytes = TAPE_FIRST_BLOCK;
    store_release(&t->states[bit], at);
    return 1;
}

/* Full blocks are given back by gnomon__tape_stop. */
void gnomon__tape_drop(gnomon__thread *t, uint32_t bit)
{
    uint32_t at = t->states[bit];
    const gnomon__tape *tape = gnomon__at(t, at);
    if (tape->block)
        give_block(tape->block);
    store_relaxed(&t->states[bit], 0);
    fence_release();
    gnomon__chunk_give(at, (uint32_t)sizeof *tape);
}

/* ---- All of a bit ------------------------------------------------------------------- */

void gnomon__tape_start(uint32_t bit, uint32_t generation, uint32_t tree,
                        uint32_t keep)
{
    gnomon__lock();
    gnomon__tape_pools[bit] = (gnomon__tape_pool){
        .generation = generation, .tree = tree, .keep = keep, .freed = 1};
    gnomon__each_thread(t)
        gnomon__thread_shut(t); /* they look which tape is hot */
    gnomon__unlock();
}

void gnomon__tape_stop(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    while (pool->generation == generation && pool->first)
        give_block(unqueue_block(pool));
    if (pool->generation == generation)
        *pool = (gnomon__tape_pool){0};
    gnomon__unlock();
}

/* Losses that were told are forgotten. A count that the thread itself writes is not
 * reset, but noted. */
static void forget_losses(gnomon__thread *t, const gnomon__tape_pool *pool,
                          uint32_t bit)
{
    if (!t->states[bit] || t->generations[bit] != pool->generation)
        return;
    gnomon__tape *tape = gnomon__tape_of(t, bit);
    tape->overwritten = (gnomon__tape_loss){0};
    tape->told = load_relaxed(&tape->lost.count);
}

void gnomon__tape_taken(uint32_t bit, uint32_t generation, uint64_t until)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    if (pool->generation == generation && until > pool->until) {
        pool->until = until;
        while (pool->first && gnomon__tape_block_at(pool->first)->last < until)
            give_block(unqueue_block(pool));
        store_relaxed(&pool->freed, pool->freed + 1 ? pool->freed + 1 : 1);
        gnomon__each_thread(t)
            forget_losses(t, pool, bit);
    }
    gnomon__unlock();
}

void gnomon__tapes_forget(void)
{
    for (uint32_t bit = 0; bit < GNOMON__BITS; bit++)
        gnomon__tape_pools[bit] = (gnomon__tape_pool){0};
}
