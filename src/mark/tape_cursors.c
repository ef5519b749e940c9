/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cursors of tapes. A cut notes the place of each thread, so that tree and tape tell stages
 * apart in the same way. record/tape_read.c reads from a cursor on, and moves it. Full
 * blocks before GNOMON__TAPE_WHOLE are given back. Under the lock, which functions of a
 * bit's generation take. */
#include "mark/observer.h"
#include "mark/tape.h"
#include "platform/ticks.h"

/* A late cut moves nothing: the stage that is being reported goes without the thread. */
void gnomon__tape_cut(gnomon__thread *t, uint32_t bit)
{
    gnomon__tape *tape = gnomon__tape_of(t, bit);
    gnomon__tape_cursor *c = &tape->cursors[GNOMON__TAPE_STAGES];
    if (gnomon__segment_settled == gnomon__segment)
        return;
    tape->segment = gnomon__segment;
    tape->cut_at = gnomon__ticks();
    c->to = gnomon__tape_here(tape);
}

/* The first place and moment after the last cut. Those of a thread that was not cut in time
 * come with the next stage, and what began before belongs to this one. */
static gnomon__tape_cursor behind_cut(const gnomon__tape *tape)
{
    const gnomon__tape_cursor *c = &tape->cursors[GNOMON__TAPE_STAGES];
    const int is_on_time = gnomon__tape_is_on_time(tape);
    gnomon__tape_place from = is_on_time ? c->to : c->from;
    return (gnomon__tape_cursor){
        from, from, is_on_time ? tape->cut_at : gnomon__segment_begin, 0};
}

/* Moves a cursor of all threads behind the last cut. */
static void move_behind_cut(uint32_t bit, uint32_t generation,
                            enum gnomon__tape_reader reader)
{
    gnomon__each_thread(t) {
        gnomon__tape *tape = gnomon__tape_with(t, bit, generation);
        if (!tape)
            continue;
        gnomon__tape_cursor to = behind_cut(tape);
        if (!gnomon__tape_is_before(to.from, tape->cursors[reader].from))
            tape->cursors[reader] = to;
    }
}

void gnomon__tape_reported(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    move_behind_cut(bit, generation, GNOMON__TAPE_STAGES);
    gnomon__each_thread(t) {
        gnomon__tape *tape = gnomon__tape_with(t, bit, generation);
        if (tape)
            tape->first_segment = gnomon__segment;
    }
    gnomon__unlock();
}

/* Whether no profile needs anything of the block. */
static int is_over(const gnomon__tape_pool *pool, uint32_t bit, uint32_t at)
{
    const gnomon__tape_block *b = gnomon__tape_block_at(at);
    const gnomon__tape *tape = gnomon__tape_with(
        gnomon__thread_numbered(b->thread), bit, pool->generation);
    return !tape ||
           !gnomon__tape_is_before(tape->cursors[GNOMON__TAPE_WHOLE].from,
                                   gnomon__tape_behind(b));
}

void gnomon__tape_give_over(uint32_t bit)
{
    gnomon__tape_pool *pool = &gnomon__tape_pools[bit];
    while (pool->first && is_over(pool, bit, pool->first))
        gnomon__tape_give(gnomon__tape_unqueue(pool, 0));
    store_relaxed(&pool->freed, pool->freed + 1 ? pool->freed + 1 : 1);
}

void gnomon__tape_over(uint32_t bit, uint32_t generation)
{
    gnomon__lock();
    if (gnomon__tape_pools[bit].generation == generation) {
        move_behind_cut(bit, generation, GNOMON__TAPE_WHOLE);
        gnomon__tape_pools[bit].told[GNOMON__TAPE_WHOLE] =
            gnomon__segment_begin;
        gnomon__tape_give_over(bit);
    }
    gnomon__unlock();
}
