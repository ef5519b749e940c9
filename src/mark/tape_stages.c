/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which of a tape's records the profile of a stage has: those between two places, up to
 * the cut of their thread, so that tree and tape tell stages apart in the same way. Under
 * the lock. */
#include "mark/observer.h"
#include "mark/tape.h"

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
    if (!t->states[bit] || t->generations[bit] != pool->generation)
        return;
    gnomon__tape *tape = gnomon__tape_of(t, bit);
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
