/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the marking threads and the reader share; a thread's free timers, in a pool
 * for each device context, and its queue to the reader. The functions are called on
 * the marking thread while its sequence word is odd. */
#include "device/reader.h"

gnomon__timer_view gnomon__timer_views[GNOMON__TIMER_VIEWS];
uint32_t gnomon__timer_bits;
gnomon__thread_timers *gnomon__all_timers;
uint32_t gnomon__timers_closed;
uint64_t gnomon__reader_calls;

void gnomon__timer_send(gnomon__thread_timers *timers, uint32_t number,
                        uint32_t word)
{
    uint64_t at = timers->out_head;
    store_relaxed(&timers->out[at % GNOMON__TIMER_MESSAGES],
                  number << 2 | word);
    store_release(&timers->out_head,
                  at + 1); /* partner: the reader's acquire */
    fence_full();          /* partner: sleep_until_called */
    if (unlikely(load_relaxed(&gnomon__reader_sleeps)))
        gnomon__reader_wake();
}

static int timer_pool_is_of(const gnomon__timer_pool *p,
                            const gnomon_device *device,
                            const gnomon_device_context *where)
{
    return p->device == device && p->where.context == where->context &&
           p->where.id == where->id;
}

static gnomon__timer_pool *timer_pool_of(gnomon__thread_timers *timers,
                                         const gnomon_device *device,
                                         const gnomon_device_context *where)
{
    for (uint32_t i = 0; i < GNOMON__TIMER_POOLS; i++)
        if (timer_pool_is_of(&timers->pools[i], device, where))
            return &timers->pools[i];
    return NULL;
}

/* No timer of the pool's context is in use: the pool may be used for another one. */
static int timer_pool_is_idle(gnomon__thread_timers *timers,
                              const gnomon__timer_pool *p)
{
    for (uint32_t n = 1; n <= timers->made; n++) {
        const gnomon__timer *t = gnomon__timer_at(timers, n);
        if (t->state != GNOMON__TIMER_FREE &&
            timer_pool_is_of(p, t->device, &t->where))
            return 0;
    }
    return 1;
}

/* For a context that is gone, and its events with it. */
static void timer_pool_clear(gnomon__thread_timers *timers,
                             gnomon__timer_pool *p)
{
    while (p->first) {
        uint32_t number = p->first;
        gnomon__timer *t = gnomon__timer_at(timers, number);
        p->first = t->next;
        t->begin = t->end = NULL;
        t->next = timers->blank;
        timers->blank = number;
    }
}

/* Sends at most `most` free timers to the reader, which destroys their events and
 * gives the timers back. Returns how many of `most` are left. */
static uint32_t timer_pool_give_up(gnomon__thread_timers *timers,
                                   gnomon__timer_pool *p, uint32_t most)
{
    for (; p->first && most; most--) {
        uint32_t number = p->first;
        p->first = gnomon__timer_at(timers, number)->next;
        gnomon__timer_send(timers, number, GNOMON__TIMER_EMPTIED);
    }
    return most;
}

/* A pool for a new context: that of the same context before a reset, a free one, or
 * one whose timers are all idle. NULL: there is none. */
static gnomon__timer_pool *timer_pool_make(gnomon__thread_timers *timers,
                                           const gnomon_device *device,
                                           const gnomon_device_context *where)
{
    gnomon__timer_pool *made = NULL, *idle = NULL;
    for (uint32_t i = 0; i < GNOMON__TIMER_POOLS; i++) {
        gnomon__timer_pool *p = &timers->pools[i];
        if (!p->device && !made)
            made = p;
        if (p->device == device && p->where.context == where->context) {
            timer_pool_clear(timers, p);
            made = p;
        }
    }
    for (uint32_t i = 0; i < GNOMON__TIMER_POOLS && !made && !idle; i++)
        if (timer_pool_is_idle(timers, &timers->pools[i]))
            idle = &timers->pools[i];
    if (idle)
        (void)timer_pool_give_up(timers, idle, GNOMON__TIMERS);
    made = made ? made : idle;
    if (made)
        *made = (gnomon__timer_pool){device, *where, 0};
    return made;
}

void gnomon__timer_put_back(gnomon__thread_timers *timers, uint32_t number)
{
    gnomon__timer *t = gnomon__timer_at(timers, number);
    gnomon__timer_pool *pool = /* also with only one of its two events */
        t->begin ? timer_pool_of(timers, t->device, &t->where) : NULL;
    uint32_t *list = pool ? &pool->first : &timers->blank;
    if (!pool)
        t->begin = t->end = NULL;
    t->token = 0;
    t->state = GNOMON__TIMER_FREE;
    t->next = *list;
    *list = number;
}

static void take_returned_timers(gnomon__thread_timers *timers)
{
    uint64_t head = load_acquire(&timers->back_head);
    uint64_t tail = timers->back_tail;
    for (; tail != head; tail++)
        gnomon__timer_put_back(
            timers, load_relaxed(&timers->back[tail % GNOMON__TIMERS]));
    store_release(&timers->back_tail, tail);
}

/* Frees some idle timers of other contexts; they come back without events. */
static void give_up_other_pools(gnomon__thread_timers *timers,
                                const gnomon__timer_pool *pool)
{
    for (uint32_t i = 0, left = GNOMON__TIMERS / 8; i < GNOMON__TIMER_POOLS;
         i++)
        if (&timers->pools[i] != pool)
            left = timer_pool_give_up(timers, &timers->pools[i], left);
}

uint32_t gnomon__timer_take(gnomon__thread_timers *timers,
                            const gnomon_device *device,
                            const gnomon_device_context *where)
{
    take_returned_timers(timers);
    gnomon__timer_pool *pool = timer_pool_of(timers, device, where);
    if (!pool && !(pool = timer_pool_make(timers, device, where)))
        return 0;
    uint32_t *list = pool->first ? &pool->first : &timers->blank;
    uint32_t number = *list;
    if (number)
        *list = gnomon__timer_at(timers, number)->next;
    else if (timers->made < GNOMON__TIMERS)
        number = ++timers->made;
    else
        give_up_other_pools(timers, pool);
    if (!number)
        return 0;
    gnomon__timer *t = gnomon__timer_at(timers, number);
    t->device = device;
    t->where = *where;
    t->state = GNOMON__TIMER_CLOSED;
    return number;
}
