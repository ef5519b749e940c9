/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread's timers that are free, by the places of their events, and the queue
 * to the reader: the marking thread's, with its word odd. */
#include "device/timers.h"

void gnomon__lane_hand_on(gnomon__lane *lane, uint32_t number, uint32_t word)
{
    uint64_t at = lane->out_head;
    store_relaxed(&lane->out[at % GNOMON__TIMER_WORDS], number << 2 | word);
    store_release(&lane->out_head, at + 1); /* partner: the reader's acquire */
}

static int lane_pool_is_of(const gnomon__timer_pool *p,
                           const gnomon_device *device,
                           const gnomon_device_context *place)
{
    return p->device == device && p->place.context == place->context &&
           p->place.id == place->id;
}

static gnomon__timer_pool *lane_pool(gnomon__lane *lane,
                                     const gnomon_device *device,
                                     const gnomon_device_context *place)
{
    for (uint32_t i = 0; i < GNOMON__TIMER_POOLS; i++)
        if (lane_pool_is_of(&lane->pools[i], device, place))
            return &lane->pools[i];
    return NULL;
}

/* No timer of it is under way: it may be had for another place. */
static int lane_pool_is_idle(gnomon__lane *lane, const gnomon__timer_pool *p)
{
    for (uint32_t n = 1; n <= lane->made; n++) {
        const gnomon__timer *t = gnomon__lane_at(lane, n);
        if (t->state != GNOMON__TIMER_FREE &&
            lane_pool_is_of(p, t->device, &t->place))
            return 0;
    }
    return 1;
}

/* Its events died with their place. */
static void lane_pool_blank(gnomon__lane *lane, gnomon__timer_pool *p)
{
    while (p->first) {
        uint32_t number = p->first;
        gnomon__timer *t = gnomon__lane_at(lane, number);
        p->first = t->next;
        t->begin = t->end = NULL;
        t->next = lane->blank;
        lane->blank = number;
    }
}

/* The reader destroys their events, where they are not gone, and gives the timers
 * back without: at most `most`. How many of these are left. */
static uint32_t lane_pool_empty(gnomon__lane *lane, gnomon__timer_pool *p,
                                uint32_t most)
{
    for (; p->first && most; most--) {
        uint32_t number = p->first;
        p->first = gnomon__lane_at(lane, number)->next;
        gnomon__lane_hand_on(lane, number, GNOMON__TIMER_EMPTIED);
    }
    return most;
}

/* A pool for a new place: that of an earlier life of it, a free one, or one that
 * nothing is under way for, whose place may be long gone. NULL: there is none. */
static gnomon__timer_pool *lane_pool_make(gnomon__lane *lane,
                                          const gnomon_device *device,
                                          const gnomon_device_context *place)
{
    gnomon__timer_pool *made = NULL, *idle = NULL;
    for (uint32_t i = 0; i < GNOMON__TIMER_POOLS; i++) {
        gnomon__timer_pool *p = &lane->pools[i];
        if (!p->device && !made)
            made = p;
        if (p->device == device && p->place.context == place->context) {
            lane_pool_blank(lane, p);
            made = p;
        }
    }
    for (uint32_t i = 0; i < GNOMON__TIMER_POOLS && !made && !idle; i++)
        if (lane_pool_is_idle(lane, &lane->pools[i]))
            idle = &lane->pools[i];
    if (idle)
        (void)lane_pool_empty(lane, idle, GNOMON__TIMERS);
    made = made ? made : idle;
    if (made)
        *made = (gnomon__timer_pool){device, *place, 0};
    return made;
}

void gnomon__lane_put_back(gnomon__lane *lane, uint32_t number)
{
    gnomon__timer *t = gnomon__lane_at(lane, number);
    gnomon__timer_pool *pool = /* with one event of two, too */
        t->begin ? lane_pool(lane, t->device, &t->place) : NULL;
    uint32_t *list = pool ? &pool->first : &lane->blank;
    if (!pool)
        t->begin = t->end = NULL;
    t->token = 0;
    t->state = GNOMON__TIMER_FREE;
    t->next = *list;
    *list = number;
}

static void lane_take_back(gnomon__lane *lane)
{
    uint64_t head = load_acquire(&lane->back_head);
    uint64_t tail = lane->back_tail;
    for (; tail != head; tail++)
        gnomon__lane_put_back(lane,
                              load_relaxed(&lane->back[tail % GNOMON__TIMERS]));
    store_release(&lane->back_tail, tail);
}

/* Timers that other places do not need now come back without events. */
static void lane_empty_others(gnomon__lane *lane,
                              const gnomon__timer_pool *pool)
{
    for (uint32_t i = 0, left = GNOMON__TIMERS / 8; i < GNOMON__TIMER_POOLS;
         i++)
        if (&lane->pools[i] != pool)
            left = lane_pool_empty(lane, &lane->pools[i], left);
}

uint32_t gnomon__lane_take(gnomon__lane *lane, const gnomon_device *device,
                           const gnomon_device_context *place)
{
    lane_take_back(lane);
    gnomon__timer_pool *pool = lane_pool(lane, device, place);
    if (!pool && !(pool = lane_pool_make(lane, device, place)))
        return 0;
    uint32_t *list = pool->first ? &pool->first : &lane->blank;
    uint32_t number = *list;
    if (number)
        *list = gnomon__lane_at(lane, number)->next;
    else if (lane->made < GNOMON__TIMERS)
        number = ++lane->made;
    else
        lane_empty_others(lane, pool);
    if (!number)
        return 0;
    gnomon__timer *t = gnomon__lane_at(lane, number);
    t->device = device;
    t->place = *place;
    t->state = GNOMON__TIMER_CLOSED;
    return number;
}
