/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What profiles have of tapes, and need no more. The profile of a stage has what lies
 * between two places of a tape, up to the cut of its thread, so that tree and tape tell
 * stages apart in the same way; other ones have what began in a time. Under the lock,
 * which functions of the second kind take. */
#include "mark/observer.h"
#include "mark/tape.h"
#include "platform/ticks.h"

/* ---- Stages: between two places ------------------------------------------------------ */

void gnomon__tape_cut(gnomon__thread *t, uint32_t bit)
{
    gnomon__tape *tape = gnomon__tape_of(t, bit);
    gnomon__tape_stage *stage = &tape->stage;
    tape->is_late = gnomon__segment_settled == gnomon__segment;
    stage->until_at = tape->is_late ? gnomon__segment_begin : gnomon__ticks();
    stage->until = gnomon__tape_here(tape);
    tape->late = GNOMON__TAPE_LATE_UNKNOWN;
    tape->lost_at_cut = load_relaxed(&tape->lost.count);
    gnomon__tape_lose(&tape->unreported, tape->newer.count, tape->newer.first,
                      tape->newer.last);
    tape->newer = (gnomon__tape_loss){0};
}

/* What threads lost since the profiles were made is left for the next stage's. */
static void forget_reported(gnomon__thread *t, const gnomon__tape_pool *pool,
                            uint32_t bit)
{
    gnomon__tape *tape = gnomon__tape_with(t, bit, pool->generation);
    if (!tape)
        return;
    if (!gnomon__tape_is_on_time(t, tape)) {
        tape->stage.from_at = gnomon__segment_begin;
        return;
    }
    tape->lost_reported = tape->lost_at_cut;
    tape->unreported = (gnomon__tape_loss){0};
    tape->stage.from = tape->stage.until;
    tape->stage.from_at = tape->stage.until_at;
}

void gnomon__tape_reported(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    if (pool->generation == generation)
        gnomon__each_thread(t)
            forget_reported(t, pool, bit);
    gnomon__unlock();
}

/* ---- Other profiles: what began in a time -------------------------------------------- */

/* Losses that were told are forgotten. A count that the thread itself writes is not
 * reset, but noted. */
static void forget_losses(const gnomon__tape_pool *pool, uint32_t bit)
{
    gnomon__each_thread(t) {
        gnomon__tape *tape = gnomon__tape_with(t, bit, pool->generation);
        if (!tape)
            continue;
        tape->overwritten = (gnomon__tape_loss){0};
        tape->told = load_relaxed(&tape->lost.count);
    }
}

/* Whether the oldest block has nothing that the profile of a later stage may have. */
static int is_oldest_over(const gnomon__tape_pool *pool, uint32_t bit,
                          uint64_t until)
{
    const gnomon__tape_block *b = gnomon__tape_block_at(pool->first);
    const gnomon__thread *t = gnomon__thread_numbered(b->thread);
    const gnomon__tape *tape = gnomon__tape_with(t, bit, pool->generation);
    return b->last < until && (!tape || gnomon__tape_is_on_time(t, tape));
}

void gnomon__tape_give_until(uint32_t bit, uint64_t until)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    pool->until = until;
    while (pool->first && is_oldest_over(pool, bit, until))
        gnomon__tape_give(gnomon__tape_unqueue(pool, 0));
    store_relaxed(&pool->freed, pool->freed + 1 ? pool->freed + 1 : 1);
}

/* What a block of the tape holds from before `until`, and no profile took, counts as
 * overwritten. */
static void lose_events(const gnomon__tape_pool *pool, gnomon__tape *tape,
                        uint32_t at, uint32_t used, uint64_t until)
{
    if (tape && at)
        gnomon__tape_lose(&tape->overwritten,
                          gnomon__tape_count(at, used, pool->until, until),
                          gnomon__tape_block_at(at)->first, until);
}

static void lose_blocks(const gnomon__tape_pool *pool, uint32_t bit,
                        uint64_t until)
{
    const gnomon__tape_block *b;
    gnomon__tape *tape;
    for (uint32_t at = pool->first; at; at = b->next) {
        b = gnomon__tape_block_at(at);
        tape = gnomon__tape_with(gnomon__thread_numbered(b->thread), bit,
                                 pool->generation);
        lose_events(pool, tape, at, b->used, until);
    }
    gnomon__each_thread(t)
        if ((tape = gnomon__tape_with(t, bit, pool->generation)) != NULL)
            lose_events(pool, tape, tape->block,
                        load_acquire(&tape->next) - tape->block, until);
}

void gnomon__tape_over(uint32_t bit, uint32_t generation, uint64_t until,
                       int is_told)
{
    gnomon__lock();
    const gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    if (pool->generation == generation && until > pool->until) {
        if (is_told)
            forget_losses(pool, bit);
        else
            lose_blocks(pool, bit, until);
        gnomon__tape_give_until(bit, until);
    }
    gnomon__unlock();
}
