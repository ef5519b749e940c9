/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks of threads that mark nothing. Such a block is not full, so it is not in the
 * queue, and what is in it may be older than all that is.
 *
 * A sweep notes how far each thread has written, and so since when at least it is idle.
 * A sweep comes each time that a sixteenth of all memory was written, and costs O(threads)
 * then. Where memory is full, it moves blocks with nothing newer than the queue's first
 * one in front of that.
 *
 * Only its thread writes into a block, without the lock. So the thread is shut first, as
 * for a cut (outside.c): after the barrier a thread that is outside of marks takes the
 * lock before it writes again. One that is inside a mark keeps its block. */
#include "mark/observer.h"
#include "mark/tape.h"
#include "platform/ticks.h"
#include "platform/os.h"

/* Which blocks a sweep takes. */
typedef struct tape_sweep {
    gnomon__tape_pool *pool;
    const gnomon__thread *self;
    uint32_t bit;
    uint32_t idle, others;
    uint64_t now;
    uint64_t idle_until; /* of threads idle since this moment or earlier, ... */
    uint64_t opened_until; /* ... or opened then or earlier; 0: none */
    uint64_t ages;         /* sum of those of `others` */
} tape_sweep;

/* The thread's tape, if it has a block; NULL: it has not. */
static gnomon__tape *swept_tape(const tape_sweep *s, const gnomon__thread *t)
{
    if (t == s->self || !t->states[s->bit] ||
        load_relaxed(&t->generations[s->bit]) != s->pool->generation)
        return NULL;
    gnomon__tape *tape = gnomon__tape_of(t, s->bit);
    return tape->block ? tape : NULL;
}

static void note_tape(tape_sweep *s, gnomon__tape *tape)
{
    uint64_t opened = gnomon__tape_block_at(tape->block)->first;
    uint32_t next = load_relaxed(&tape->next);
    if (tape->noted != next || opened > tape->idle_since) {
        tape->noted = next;
        tape->idle_since = s->now;
    }
    s->idle += tape->idle_since <= s->idle_until;
    s->others++;
    s->ages += s->now > opened ? s->now - opened : 0;
}

static int is_chosen(const tape_sweep *s, const gnomon__tape *tape)
{
    return tape->idle_since <= s->idle_until ||
           gnomon__tape_block_at(tape->block)->first <= s->opened_until;
}

/* Shuts the threads whose blocks are taken. Whether some are alive. */
static int shut_chosen(const tape_sweep *s)
{
    int any = 0;
    gnomon__each_thread(t) {
        const gnomon__tape *tape = swept_tape(s, t);
        if (tape && is_chosen(s, tape) && t->alive) {
            gnomon__thread_shut(t);
            any = 1;
        }
    }
    return any;
}

static void close_chosen(const tape_sweep *s, int has_barrier)
{
    gnomon__each_thread(t) {
        gnomon__tape *tape = swept_tape(s, t);
        if (!tape || !is_chosen(s, tape) ||
            (t->alive && (!has_barrier || (load_acquire(&t->seq) & 1))))
            continue;
        int is_idle = load_relaxed(&tape->next) == tape->noted;
        gnomon__tape_close(tape, s->pool,
                           is_idle ? tape->idle_since : gnomon__ticks(), 1);
        tape->bytes = GNOMON__TAPE_FIRST_BLOCK;
    }
}

int gnomon__tapes_are_due(const gnomon__tape_pool *pool)
{
    return pool->unswept > gnomon__marks_arena.size / 16;
}

void gnomon__tapes_sweep(const gnomon__thread *self, gnomon__tape_pool *pool,
                         uint32_t bit, int takes)
{
    tape_sweep s = {.pool = pool, .self = self, .bit = bit};
    pool->unswept = 0;
    s.now = gnomon__ticks();
    s.idle_until = pool->first ? gnomon__tape_block_at(pool->first)->last
                               : s.now - 1; /* not those noted now */
    gnomon__each_thread(t) {
        gnomon__tape *tape = swept_tape(&s, t);
        if (tape)
            note_tape(&s, tape);
    }
    if (!takes || !s.others)
        return;
    if (!pool->first && !s.idle) /* the older half of all */
        s.opened_until = s.now - s.ages / s.others;
    if (s.idle || s.opened_until)
        close_chosen(&s, shut_chosen(&s) && gnomon__os_barrier());
}
