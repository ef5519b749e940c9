/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the events that the device has passed: their times become statistics of
 * nodes, and the timers go back to their threads. A stream passes its events in
 * order, so after the first that is not passed the rest of the stream is skipped.
 *
 * Invariant: a timer is given back only when no event of it is in a stream, or its
 * context is gone. */
#include "device/reader.h"

#include "record/activities.h"
#include "record/device_stats.h"

#define READER_LONG_NS 1e9 /* from here the device clock is more exact */
#define BUSY_STREAMS 64u

/* State of one pass. `busy` is of the thread whose timers are being read. */
typedef struct reader_pass {
    const gnomon_device *device; /* the one entered; NULL: none */
    gnomon_device_context where;
    int is_gone; /* it could not be entered */
    gnomon__device_clock *clock;
    struct {
        const void *context, *stream;
    } busy[BUSY_STREAMS];
    uint32_t busy_count;
    size_t waiting;
} reader_pass;

#define TIMED_STREAMS 64u
static struct {
    const void *context, *stream;
} timed[TIMED_STREAMS];
static uint32_t timed_count;

/* ---- Lists and queues ---------------------------------------------------- */

static void give_back(gnomon__thread_timers *timers, uint32_t number)
{
    uint64_t at = timers->back_head;
    store_relaxed(&timers->back[at % GNOMON__TIMERS], number);
    store_release(&timers->back_head, at + 1); /* take_returned_timers */
}

static void unlink_begun(gnomon__thread_timers *timers, uint32_t number)
{
    uint32_t *at = &timers->begun;
    while (*at && *at != number)
        at = &timers->timer[*at - 1].later;
    if (*at)
        *at = timers->timer[number - 1].later;
}

/* A timer that is given back unread may enclose others that are still read: their
 * time is then added to no outer timer. */
static void forget_outer(gnomon__thread_timers *timers, uint32_t number)
{
    for (uint32_t n = timers->first; n; n = timers->timer[n - 1].later)
        for (uint32_t i = 0; i < GNOMON__TIMER_VIEWS; i++)
            if (timers->timer[n - 1].outer[i] == number)
                timers->timer[n - 1].outer[i] = 0;
}

/* ---- One timer ----------------------------------------------------------- */

static void leave_context(reader_pass *pass)
{
    if (pass->device && !pass->is_gone)
        pass->device->leave();
    pass->device = NULL;
}

/* 0: the context is gone. */
static int enter_context(reader_pass *pass, const gnomon__timer *t)
{
    if (!pass->device || pass->device != t->device ||
        pass->where.context != t->where.context ||
        pass->where.id != t->where.id) {
        leave_context(pass);
        pass->device = t->device;
        pass->where = t->where;
        pass->is_gone = t->device->enter(&t->where) != GNOMON_OK;
        pass->clock = pass->is_gone
                          ? NULL
                          : gnomon__device_clock_of(t->device, &t->where);
    }
    return !pass->is_gone;
}

static int is_busy(const reader_pass *pass, const gnomon__timer *t)
{
    for (uint32_t i = 0; i < pass->busy_count; i++)
        if (pass->busy[i].stream == t->stream &&
            pass->busy[i].context == t->where.context)
            return 1;
    return 0;
}

static void note_busy(reader_pass *pass, const gnomon__timer *t)
{
    if (pass->busy_count == BUSY_STREAMS || is_busy(pass, t))
        return;
    pass->busy[pass->busy_count].context = t->where.context;
    pass->busy[pass->busy_count++].stream = t->stream;
}

/* Reads the begin of an open scope against the newest anchor. For a scope of
 * seconds this is more exact than the distance from begin to end. */
static void read_begun(reader_pass *pass, gnomon__timer *t)
{
    if (t->begin_read || !enter_context(pass, t) ||
        t->device->event_done(t->begin))
        return;
    if (!gnomon__device_clock_time(pass->clock, t->begin, &t->begin_ns))
        t->begin_read = gnomon__device_clock_number(pass->clock);
}

/* The number of a stream that records of work do not name: among such, from 1, by its
 * handle; one that is used anew keeps it. Those past the last share one. */
static uint32_t timed_stream(const gnomon__timer *t)
{
    uint32_t i = 0;
    while (i < timed_count && (timed[i].context != t->where.context ||
                               timed[i].stream != t->stream))
        i++;
    if (i < TIMED_STREAMS && i == timed_count) {
        timed[i].context = t->where.context;
        timed[i].stream = t->stream;
        timed_count++;
    }
    return i + 1;
}

static void add_time(const reader_pass *pass, gnomon__thread_timers *timers,
                     const gnomon__timer *t, double duration)
{
    uint64_t ns = duration > 0 ? (uint64_t)(duration + 0.5) : 0;
    gnomon__device_part part = {
        .device = gnomon__device_clock_index(pass->clock),
        .stream = t->has_number ? t->number : timed_stream(t),
        .is_of_work = t->has_number};
    gnomon__activity_event event = {.launched = t->begin_ticks};
    uint32_t events = t->events;
    if (events &&
        gnomon__device_clock_host(pass->clock, t->begin, &event.begin_ns))
        events = 0; /* its place is not known */
    event.end_ns = event.begin_ns + ns;
    for (uint32_t i = 0; i < GNOMON__TIMER_VIEWS; i++) {
        if (!t->node[i])
            continue;
        uint64_t inner = t->inner_ns[i];
        part.path = t->path[i];
        if (part.path.generation ==
            load_relaxed(&gnomon__timer_views[i].generation)) {
            if (!gnomon__device_stats_add(&part, ns,
                                          inner < ns ? ns - inner : 0))
                gnomon__trouble(&gnomon__no_thread, timers_failed);
            else if (events >> i & 1)
                gnomon__activities_scope(&part, event);
        }
        if (t->outer[i])
            timers->timer[t->outer[i] - 1].inner_ns[i] += ns;
    }
}

/* Whether a view still waits for it: none does after gnomon__reader_give_up. */
static int is_wanted(const gnomon__timer *t)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < GNOMON__TIMER_VIEWS; i++)
        any |= t->node[i];
    return any != 0;
}

/* GNOMON_EBUSY: the device has not passed it. */
static int read_timer(reader_pass *pass, gnomon__thread_timers *timers,
                      gnomon__timer *t)
{
    double ns, end_ns;
    add_relaxed(&gnomon__reader_calls, 1);
    if (!enter_context(pass, t))
        return GNOMON_ESTATE;
    int code = t->device->event_done(t->end);
    if (!code)
        code = t->device->event_elapsed(t->begin, t->end, &ns);
    if (code)
        return code;
    if (ns > READER_LONG_NS && t->begin_read &&
        t->begin_read == gnomon__device_clock_number(pass->clock) &&
        !gnomon__device_clock_time(pass->clock, t->end, &end_ns))
        ns = end_ns - t->begin_ns;
    add_time(pass, timers, t, ns);
    return GNOMON_OK;
}

/* Destroys its events, unless they are gone with their context. */
static void empty(reader_pass *pass, gnomon__timer *t)
{
    if (enter_context(pass, t)) {
        t->device->event_destroy(t->begin);
        if (t->end)
            t->device->event_destroy(t->end);
    }
    t->begin = t->end = NULL;
}

/* The messages that the marking thread sent. */
static void read_messages(reader_pass *pass, gnomon__thread_timers *timers)
{
    uint64_t head = load_acquire(&timers->out_head);
    for (; timers->out_tail != head; timers->out_tail++) {
        uint32_t word = load_relaxed(
            &timers->out[timers->out_tail % GNOMON__TIMER_MESSAGES]);
        uint32_t number = word >> 2;
        gnomon__timer *t = &timers->timer[number - 1];
        switch (word & 3) {
        case GNOMON__TIMER_BEGUN:
            t->later = timers->begun;
            timers->begun = number;
            break;
        case GNOMON__TIMER_ENDED:
            unlink_begun(timers, number);
            t->later = 0;
            if (timers->last)
                timers->timer[timers->last - 1].later = number;
            else
                timers->first = number;
            timers->last = number;
            break;
        case GNOMON__TIMER_EMPTIED:
            empty(pass, t);
            give_back(timers, number);
            break;
        default:
            unlink_begun(timers, number);
            forget_outer(timers, number);
            give_back(timers, number);
        }
    }
}

/* ---- All of them --------------------------------------------------------- */

static void read_thread_timers(reader_pass *pass, gnomon__thread_timers *timers)
{
    read_messages(pass, timers);
    pass->busy_count = 0; /* stream 2 is another stream on each thread */
    uint32_t *at = &timers->first, last = 0;
    while (*at) {
        uint32_t number = *at;
        gnomon__timer *t = &timers->timer[number - 1];
        int code =
            is_busy(pass, t) ? GNOMON_EBUSY : read_timer(pass, timers, t);
        if (code == GNOMON_EBUSY) {
            note_busy(pass, t);
            pass->waiting++;
            last = number;
            at = &t->later;
            continue;
        }
        if (code) {
            if (is_wanted(t))
                gnomon__trouble(&gnomon__no_thread, timers_failed);
            forget_outer(timers, number);
        }
        *at = t->later;
        give_back(timers, number);
    }
    timers->last = last;
    for (uint32_t n = timers->begun; n; n = timers->timer[n - 1].later)
        read_begun(pass, &timers->timer[n - 1]);
}

size_t gnomon__reader_pass(void)
{
    reader_pass pass = {.device = NULL};
    if (load_relaxed(&gnomon__timers_closed))
        return 0;
    for (gnomon__thread_timers *timers = load_acquire(&gnomon__all_timers);
         timers; timers = timers->next)
        read_thread_timers(&pass, timers);
    leave_context(&pass);
    gnomon__device_clocks_advance();
    return pass.waiting;
}

int gnomon__reader_is_idle(void)
{
    for (const gnomon__thread_timers *timers =
             load_acquire(&gnomon__all_timers);
         timers; timers = timers->next)
        if (timers->begun || timers->first ||
            timers->out_tail != load_acquire(&timers->out_head))
            return 0;
    return gnomon__device_clocks_are_idle();
}

/* Timers that are not passed lose their nodes and are counted as late. They go back
 * to their thread when the device has passed them. */
void gnomon__reader_give_up(void)
{
    for (gnomon__thread_timers *timers = load_acquire(&gnomon__all_timers);
         timers; timers = timers->next) {
        for (uint32_t n = timers->first; n;) {
            gnomon__timer *t = &timers->timer[n - 1];
            if (is_wanted(t))
                gnomon__trouble(&gnomon__no_thread, timers_late);
            for (uint32_t k = 0; k < GNOMON__TIMER_VIEWS; k++)
                t->node[k] = 0;
            n = t->later;
        }
    }
}
