/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The marking thread's half: a scope on a stream begins and ends. The device is
 * called while the thread's sequence word is even, so that marks inside those calls,
 * of a tool or a signal handler, are recorded as usual. Lists and queues change while it
 * is odd: the thread's free timers, in a pool for each device context, and its queue to
 * the reader.
 *
 * The events enclose the host's scope, so their cost counts for its parent. errno is
 * kept for the host, as a driver may set it. */
#include <errno.h>
#include <string.h>

#include "device/timers.h"
#include "gnomon/cuda.h"
#include "gnomon/tool.h"
#include "mark/callbacks.h"
#include "mark/region.h"
#include "mark/tls.h"
#include "mark/tree.h"
#include "mark/upcall.h"
#include "platform/os.h"
#include "platform/owner.h"

/* ---- A thread's timers ---------------------------------------------------- */

static gnomon__timer *timer_at(gnomon__thread_timers *timers, uint32_t number)
{
    return &timers->timer[number - 1];
}

/* Puts a message about a timer into the queue to the reader. */
static void timer_send(gnomon__thread_timers *timers, uint32_t number,
                       uint32_t word)
{
    uint64_t at = timers->out_head;
    store_relaxed(&timers->out[at % GNOMON__TIMER_MESSAGES],
                  number << 2 | word);
    store_release(&timers->out_head,
                  at + 1); /* partner: the reader's acquire */
    fence_full();          /* partner: reader_sleep */
    if (unlikely(load_relaxed(&gnomon__reader_sleeps)))
        gnomon__reader_wake();
}

static gnomon__timer_pool *timer_pool_of(gnomon__thread_timers *timers,
                                         const gnomon__device_place *on)
{
    for (uint32_t i = 0; i < GNOMON__TIMER_POOLS; i++)
        if (gnomon__is_place(&timers->pools[i].on, on))
            return &timers->pools[i];
    return NULL;
}

/* For a context that is gone, and its events with it. */
static void timer_pool_clear(gnomon__thread_timers *timers,
                             gnomon__timer_pool *p)
{
    while (p->first) {
        uint32_t number = p->first;
        gnomon__timer *t = timer_at(timers, number);
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
        p->first = timer_at(timers, number)->next;
        timer_send(timers, number, GNOMON__TIMER_EMPTIED);
    }
    return most;
}

/* A pool for a new context: that of the same context before a reset, a free one, or
 * one whose timers are all idle. NULL: there is none. */
static gnomon__timer_pool *timer_pool_make(gnomon__thread_timers *timers,
                                           const gnomon__device_place *on)
{
    gnomon__timer_pool *made = NULL, *idle = NULL;
    for (uint32_t i = 0; i < GNOMON__TIMER_POOLS; i++) {
        gnomon__timer_pool *p = &timers->pools[i];
        if (!p->on.device && !made)
            made = p;
        if (!p->used && !idle)
            idle = p;
        if (p->on.device == on->device &&
            p->on.where.context == on->where.context) {
            timer_pool_clear(timers, p);
            made = p;
        }
    }
    if (!made && idle)
        (void)timer_pool_give_up(timers, idle, GNOMON__TIMERS);
    made = made ? made : idle;
    if (made)
        *made = (gnomon__timer_pool){.on = *on};
    return made;
}

/* Makes the timer free again. */
static void timer_put_back(gnomon__thread_timers *timers, uint32_t number)
{
    gnomon__timer *t = timer_at(timers, number);
    gnomon__timer_pool *pool = timer_pool_of(timers, &t->on);
    if (pool && t->state != GNOMON__TIMER_FREE)
        pool->used--;
    if (!pool)
        t->begin = t->end = NULL;
    /* Also with only one of its two events. */
    uint32_t *list = t->begin ? &pool->first : &timers->blank;
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
        timer_put_back(timers,
                       load_relaxed(&timers->back[tail % GNOMON__TIMERS]));
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

/* A free timer, if possible one with events of this context. 0: there is none. */
static uint32_t timer_take(gnomon__thread_timers *timers,
                           const gnomon__device_place *on)
{
    take_returned_timers(timers);
    gnomon__timer_pool *pool = timer_pool_of(timers, on);
    if (!pool && !(pool = timer_pool_make(timers, on)))
        return 0;
    uint32_t *list = pool->first ? &pool->first : &timers->blank;
    uint32_t number = *list;
    if (number)
        *list = timer_at(timers, number)->next;
    else if (timers->made < GNOMON__TIMERS)
        number = ++timers->made;
    else
        give_up_other_pools(timers, pool);
    if (!number)
        return 0;
    gnomon__timer *t = timer_at(timers, number);
    t->on = *on;
    t->state = GNOMON__TIMER_CLOSED;
    pool->used++;
    return number;
}

/* ---- Open timers --------------------------------------------------------- */

/* A view may come or go meanwhile. Then has_tree finds no tree of its generation. */
static gnomon__activity_view view_at(uint32_t i)
{
    const gnomon__activity_view *v = &gnomon__activity_views[i];
    gnomon__activity_view view = {.timed = load_acquire(&v->timed)};
    view.bit = load_relaxed(&v->bit);
    return view;
}

static int has_tree(const gnomon__thread *t, const gnomon__activity_view *view)
{
    return view->timed && t->states[view->bit] &&
           t->generations[view->bit] == view->timed;
}

/* Whether a view still has the scope open. The end of a scope around it may have
 * ended it. */
static int is_open(gnomon__thread *t, const gnomon__timer *timer)
{
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++) {
        if (!timer->node[i])
            continue;
        const gnomon__front *n = gnomon__front_at(t, timer->node[i]);
        gnomon__activity_view view = view_at(i);
        if (view.timed == timer->path[i].generation && has_tree(t, &view) &&
            (!((n->token ^ timer->token) & ~GNOMON__TOKEN_FLAGS) ||
             gnomon__tree_find(t, view.bit, timer->token))) /* it moved */
            return 1;
    }
    return 0;
}

/* Whether a view that saw the scope is still attached: then its loss is counted. */
static int is_missed(const gnomon__timer *timer)
{
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++)
        if (timer->node[i] && view_at(i).timed == timer->path[i].generation)
            return 1;
    return 0;
}

/* Closes the innermost timer without an end. If the scope's end still comes, it
 * finds the timer closed. */
static void drop_top(gnomon__thread *t, gnomon__thread_timers *timers)
{
    uint32_t number = timers->top;
    gnomon__timer *timer = timer_at(timers, number);
    timers->top = timer->next;
    timer->state = GNOMON__TIMER_CLOSED;
    if (is_missed(timer))
        gnomon__trouble(t, timers_unended);
    timer_send(timers, number, GNOMON__TIMER_DROPPED);
}

/* By name: each copy of the library in a process has a device of its own. */
static int is_same_device(const gnomon_device *a, const gnomon_device *b)
{
    return a == b || strcmp(a->name, b->name) == 0;
}

/* The innermost timer around it in the same stream that the view saw; 0: there is none. */
static uint32_t find_outer(gnomon__thread_timers *timers,
                           const gnomon__timer *timer, uint32_t view)
{
    uint32_t o = timers->top;
    for (; o; o = timer_at(timers, o)->next) {
        const gnomon__timer *around = timer_at(timers, o);
        if (around->stream == timer->stream && around->node[view] &&
            around->on.where.context == timer->on.where.context &&
            is_same_device(around->on.device, timer->on.device))
            break;
    }
    return o;
}

/* Notes the scope's node in a view. 0: it has none there. */
static uint32_t note_node(gnomon__thread *t, gnomon__thread_timers *timers,
                          gnomon__timer *timer, uint32_t i)
{
    const gnomon__activity_view view = view_at(i);
    uint32_t node =
        has_tree(t, &view) ? gnomon__tree_find(t, view.bit, timer->token) : 0;
    timer->node[i] = node;
    timer->outer[i] = 0;
    if (!node)
        return 0;
    timer->inner_ns[i] = 0;
    timer->path[i] = (gnomon__device_path){view.timed, t->number,
                                           gnomon__node_at(t, node)->number,
                                           gnomon__tree_segment(t, node)};
    timer->outer[i] = find_outer(timers, timer, i);
    if (load_relaxed(&t->open_bits) &
        load_relaxed(&gnomon__activity_views[i].tapes)) {
        timer->begin_ticks = gnomon__front_at(t, node)->begin;
        timer->events |= 1u << i;
    }
    return node;
}

/* After the scope's begin: notes its nodes and the timers around it. */
static void open_timer(gnomon__thread *t, gnomon__thread_timers *timers,
                       uint32_t number, uint64_t token)
{
    gnomon__timer *timer = timer_at(timers, number);
    uint32_t any = 0;
    while (timers->top && !is_open(t, timer_at(timers, timers->top)))
        drop_top(t, timers); /* left by longjmp, or of an ended thread */
    timer->token = token;
    timer->state = GNOMON__TIMER_OPEN;
    timer->begin_read = 0;
    timer->events = 0;
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++)
        any |= note_node(t, timers, timer, i);
    if (!any) { /* no node of its own: it may be in "(other)" */
        gnomon__trouble(t, timers_unended);
        timer->state = GNOMON__TIMER_CLOSED;
        timer_send(timers, number, GNOMON__TIMER_DROPPED);
        return;
    }
    timer->next = timers->top;
    timers->top = number;
    timer_send(timers, number, GNOMON__TIMER_BEGUN);
}

/* ---- Begin --------------------------------------------------------------- */

static void count_failure(int code)
{
    gnomon__thread *t = gnomon__tls_now()->thread;
    if (code == GNOMON_EBUSY)
        gnomon__trouble(t, timers_captured);
    else
        gnomon__trouble(t, timers_failed);
}

static gnomon__thread_timers *make_thread_timers(gnomon__thread *t)
{
    gnomon__thread_timers *timers = gnomon__alloc(sizeof *timers);
    if (!timers)
        return NULL;
    timers->next = load_relaxed(&gnomon__all_timers);
    while (!cas_acq_rel(&gnomon__all_timers, &timers->next,
                        timers)) /* for the reader */
        ;
    gnomon__timers_read_at_exit();
    return t->timers = timers;
}

/* Whether a view that wants device times records now. Else no device is called, so
 * that nothing is counted as lost. */
static int is_wanted_now(uint32_t mask)
{
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return 0;
    mask &= load_relaxed(&t->open_bits) & load_relaxed(&gnomon__timer_bits);
    gnomon__leave(t);
    return mask != 0;
}

/* A free timer of the thread. 0: there is none, which is counted. */
static uint32_t take_thread_timer(const gnomon__device_place *on)
{
    gnomon__thread *t = gnomon__enter();
    uint32_t number = 0;
    if (!t)
        return 0;
    gnomon__thread_timers *timers =
        t->timers ? t->timers : make_thread_timers(t);
    if (timers)
        number = timer_take(timers, on);
    if (!number)
        gnomon__trouble(t, timers_full);
    gnomon__leave(t);
    return number;
}

static int make_events(gnomon__timer *timer)
{
    int code = GNOMON_OK;
    if (!timer->begin)
        code = timer->on.device->event_create(&timer->on.where, &timer->begin);
    if (!code && !timer->end)
        code = timer->on.device->event_create(&timer->on.where, &timer->end);
    return code;
}

/* The size of the first release's struct: devices of that size are still valid. */
#define FIRST_DEVICE (offsetof(gnomon_device, stream_number) + sizeof(void *))

static int is_device(const gnomon_device *device)
{
    return device && device->abi == GNOMON_ABI &&
           device->struct_size >= FIRST_DEVICE;
}

/* Asks now, as the stream may be gone when the times are read. The `cuda` of another copy
 * of the library does not know what is open in this one. */
static void number_stream(gnomon__timer *timer, const gnomon_device *device)
{
    const gnomon_device *own = gnomon_cuda_device();
    const gnomon_device *asked = is_same_device(device, own) ? own : device;
    timer->has_number =
        asked->stream_number &&
        !asked->stream_number(timer->stream, &timer->on.where, &timer->number);
}

static uint32_t begin_timer(const gnomon_device *device, void *stream)
{
    gnomon__device_place on = {device, {.struct_size = sizeof on.where}};
    int code = is_device(device) ? device->context_of(stream, &on.where)
                                 : GNOMON_EINVAL;
    if (code) {
        count_failure(code);
        return 0;
    }
    uint32_t number = take_thread_timer(&on);
    if (!number)
        return 0;
    gnomon__thread_timers *timers = gnomon__tls_now()->thread->timers;
    gnomon__timer *timer = timer_at(timers, number);
    timer->stream = stream;
    number_stream(timer, device);
    code = make_events(timer);
    if (!code)
        code = device->event_record(timer->begin, stream);
    if (!code)
        return number;
    count_failure(code);
    gnomon__thread *t = gnomon__enter();
    if (t) {
        timer_put_back(timers, number);
        gnomon__leave(t);
    }
    return 0;
}

/* Fills in as much as the caller's struct has: an older module's is shorter. */
static void fill_scope(gnomon_device_scope *out, gnomon_device_scope scope)
{
    uint32_t size = out->struct_size;
    scope.struct_size = size;
    memcpy(out, &scope, size < sizeof scope ? size : sizeof scope);
}

void gnomon_begin_on_slow(gnomon_region *region, uint32_t mask,
                          const gnomon_device *device, void *stream,
                          gnomon_device_scope *out)
{
    gnomon_device_scope scope = {sizeof scope, 0, 0};
    if (!region || !(mask = gnomon_touch_slow(region, mask)))
        return;
    GNOMON__FORWARD_VOID(begin_on(region, mask, device, stream, out));
    int cancel = 0, is_timed = (mask & load_relaxed(&gnomon__timer_bits)) &&
                               !gnomon__busy() && is_wanted_now(mask);
    if (is_timed) {
        int kept = errno;
        cancel = gnomon__os_cancel_off();
        scope.timer = begin_timer(device, stream);
        errno = kept;
    }
    scope.token = gnomon_begin_slow(region, mask);
    gnomon__thread *t = scope.timer ? gnomon__enter() : NULL;
    if (t && !t->timers) /* forked meanwhile: the timer is the parent's */
        scope.timer = 0;
    else if (t && scope.token)
        open_timer(t, t->timers, scope.timer, scope.token);
    else if (t)
        timer_put_back(t->timers, scope.timer);
    if (t)
        gnomon__leave(t);
    fill_scope(out, scope);
    if (is_timed)
        gnomon__os_cancel_back(cancel);
}

/* ---- End ----------------------------------------------------------------- */

/* Closes the timer of a scope, and drops the open ones inside it. 0: the scope has no
 * timer, or is over. */
static uint32_t close_timer(const gnomon_device_scope *scope)
{
    int may_be = scope->timer && scope->timer <= GNOMON__TIMERS &&
                 !gnomon__busy() && gnomon__tls_now()->thread->timers;
    gnomon__thread *t = may_be ? gnomon__enter() : NULL;
    if (!t)
        return 0;
    gnomon__thread_timers *timers = t->timers;
    uint32_t number = scope->timer;
    gnomon__timer *timer = timer_at(timers, number);
    if (timer->token != scope->token || timer->state != GNOMON__TIMER_OPEN) {
        number = 0;
    } else {
        while (timers->top != number)
            drop_top(t, timers);
        if (is_open(t, timer)) {
            timers->top = timer->next;
            timer->state = GNOMON__TIMER_CLOSED;
        } else {
            drop_top(t, timers);
            number = 0;
        }
    }
    gnomon__leave(t);
    return number;
}

/* Cancellation must be off: the driver has locks of its own. */
static void end_timed(const gnomon_device_scope *scope)
{
    gnomon__thread_timers *timers = gnomon__tls_now()->thread->timers;
    uint32_t number = close_timer(scope);
    gnomon_end_slow(scope->token);
    if (!number)
        return;
    gnomon__timer *timer = timer_at(timers, number);
    int kept = errno;
    int code = load_relaxed(&gnomon__timers_closed)
                   ? GNOMON_ESTATE
                   : timer->on.device->check(timer->stream, &timer->on.where);
    if (!code)
        code = timer->on.device->event_record(timer->end, timer->stream);
    errno = kept;
    if (code)
        count_failure(code);
    gnomon__thread *t = gnomon__enter();
    if (!t) /* forked meanwhile */
        return;
    timer_send(timers, number,
               code ? GNOMON__TIMER_DROPPED : GNOMON__TIMER_ENDED);
    gnomon__leave(t);
}

void gnomon_end_on_slow(const gnomon_device_scope *scope)
{
    GNOMON__FORWARD_VOID(end_on(scope));
    if (!scope->timer) {
        gnomon_end_slow(scope->token);
    } else {
        int cancel = gnomon__os_cancel_off();
        end_timed(scope);
        gnomon__os_cancel_back(cancel);
    }
}

/* ---- Names of streams ---------------------------------------------------- */

/* They are passed to profilers and not kept. Interned, as in gnomon__thread_name_n, so that
 * profilers may keep the pointer. */
void gnomon__stream_name_n(const gnomon_device *device, void *stream,
                           const char *name, size_t length)
{
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__tls_now()->thread, reentered);
        return;
    }
    if (!gnomon__upcall_start()) {
        gnomon__trouble(&gnomon__no_thread, reentered);
        return;
    }
    GNOMON__FORWARD_VOID(stream_name(device, stream, name, length));
    if (!load_relaxed(&gnomon_enabled) || !device)
        return;
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return;
    const char *clean = gnomon__region_name(gnomon__region_named(
        gnomon__text_of(name, length),
        gnomon__text_of("stream name", GNOMON_TO_NUL), GNOMON_KIND_MARK));
    uint32_t hooks = load_relaxed(&t->attached) & ~t->recorder_bits;
    gnomon_stream_event event = {sizeof event, t->number, device, stream,
                                 clean};
    GNOMON__HOOKS_CALL(t, &t->attached, hooks, stream, &event);
    gnomon__leave(t);
}

void gnomon_stream_name(const gnomon_device *device, void *stream,
                        const char *name)
{
    gnomon__stream_name_n(device, stream, name, GNOMON_TO_NUL);
}
