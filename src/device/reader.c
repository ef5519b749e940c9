/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the events that the device has passed: their times become statistics of
 * nodes, and the timers go back to their threads. A stream passes its events in
 * order, so after the first that is not passed the rest of the stream is skipped.
 *
 * Invariant: a timer is given back only when no event of it is in a stream, or its
 * context is gone.
 *
 * A thread does it, in passes, as long as a view wants device times. Only it calls a
 * driver to read events. */
#include <stdlib.h>
#include <string.h>

#include "device/clocks.h"
#include "device/cuda_driver.h"
#include "device/timers.h"
#include "device/worker.h"
#include "mark/upcall.h"
#include "platform/error.h"
#include "platform/process.h"

#define READER_LONG_NS 1e9 /* from here the device clock is more exact */
#define READER_EXIT_NS 1000000000ull /* at the end of the process */
#define STREAMS 64u

uint32_t gnomon__timer_bits GNOMON__OF_PROCESS;
gnomon__thread_timers *gnomon__all_timers GNOMON__OF_PROCESS;
uint32_t gnomon__timers_closed;
uint32_t gnomon__reader_sleeps GNOMON__OF_PROCESS;

/* By their handles, as far as there is room. */
typedef struct reader_streams {
    uint32_t count;
    struct {
        const void *context, *stream;
    } at[STREAMS];
} reader_streams;

/* State of one pass. `busy` is of the thread whose timers are being read. */
typedef struct reader_pass {
    gnomon__device_place on; /* the one entered; device NULL: none */
    int is_gone;             /* it could not be entered */
    gnomon__device_clock *clock;
    reader_streams busy;
    size_t waiting;
} reader_pass;

/* Which records of work do not name. */
static reader_streams timed_streams GNOMON__OF_PROCESS;

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
        for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++)
            if (timers->timer[n - 1].outer[i] == number)
                timers->timer[n - 1].outer[i] = 0;
}

/* ---- One timer ----------------------------------------------------------- */

static void leave_context(reader_pass *pass)
{
    if (pass->on.device && !pass->is_gone)
        pass->on.device->leave();
    pass->on.device = NULL;
}

/* 0: the context is gone. */
static int enter_context(reader_pass *pass, const gnomon__timer *t)
{
    if (!gnomon__is_place(&pass->on, &t->on)) {
        leave_context(pass);
        pass->on = t->on;
        pass->is_gone = t->on.device->enter(&t->on.where) != GNOMON_OK;
        pass->clock = pass->is_gone ? NULL : gnomon__device_clock_of(&t->on);
    }
    return !pass->is_gone;
}

/* Its place in the list; `count`: it is not there. */
static uint32_t find_stream(const reader_streams *list, const gnomon__timer *t)
{
    uint32_t i = 0;
    while (i < list->count && (list->at[i].context != t->on.where.context ||
                               list->at[i].stream != t->stream))
        i++;
    return i;
}

/* Its number from 1. Those past the last share one. */
static uint32_t add_stream(reader_streams *list, const gnomon__timer *t)
{
    uint32_t i = find_stream(list, t);
    if (i == list->count && i < STREAMS) {
        list->at[i].context = t->on.where.context;
        list->at[i].stream = t->stream;
        list->count++;
    }
    return i + 1;
}

/* Reads the begin of an open scope against the newest anchor. For a scope of
 * seconds this is more exact than the distance from begin to end. */
static void read_begun(reader_pass *pass, gnomon__timer *t)
{
    if (t->begin_read || !enter_context(pass, t) ||
        t->on.device->event_done(t->begin))
        return;
    if (!gnomon__device_clock_time(pass->clock, t->begin, &t->begin_ns))
        t->begin_read = gnomon__device_clock_number(pass->clock);
}

static void add_time(const reader_pass *pass, gnomon__thread_timers *timers,
                     const gnomon__timer *t, double duration)
{
    uint64_t ns = duration > 0 ? (uint64_t)(duration + 0.5) : 0;
    const gnomon__activity_track on = {
        t->has_number ? GNOMON__LANE_STREAM : GNOMON__LANE_TIMED,
        gnomon__device_clock_index(pass->clock),
        t->has_number ? t->number : add_stream(&timed_streams, t)};
    gnomon__activity_event event = {.launched = t->begin_ticks};
    uint32_t events = t->events;
    if (events &&
        gnomon__device_clock_host(pass->clock, t->begin, &event.begin_ns))
        events = 0; /* its place is not known */
    event.end_ns = event.begin_ns + ns;
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++) {
        if (!t->node[i])
            continue;
        uint64_t inner = t->inner_ns[i];
        if (t->path[i].generation ==
                load_relaxed(&gnomon__activity_views[i].timed) &&
            !gnomon__activities_scope(&t->path[i], &on, event,
                                      inner < ns ? ns - inner : 0,
                                      events >> i & 1))
            gnomon__trouble(&gnomon__no_thread, timers_failed);
        if (t->outer[i])
            timers->timer[t->outer[i] - 1].inner_ns[i] += ns;
    }
}

/* Whether a view still waits for it: none does after gnomon__reader_give_up. */
static int is_wanted(const gnomon__timer *t)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++)
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
    int code = t->on.device->event_done(t->end);
    if (!code)
        code = t->on.device->event_elapsed(t->begin, t->end, &ns);
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
        t->on.device->event_destroy(t->begin);
        if (t->end)
            t->on.device->event_destroy(t->end);
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
    pass->busy.count = 0; /* stream 2 is another stream on each thread */
    uint32_t *at = &timers->first, last = 0;
    while (*at) {
        uint32_t number = *at;
        gnomon__timer *t = &timers->timer[number - 1];
        int is_busy = find_stream(&pass->busy, t) < pass->busy.count;
        int code = is_busy ? GNOMON_EBUSY : read_timer(pass, timers, t);
        if (code == GNOMON_EBUSY) {
            (void)add_stream(&pass->busy, t);
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

/* Over all timers. Returns how many ended scopes the device has not passed yet. */
static size_t reader_pass_all(void)
{
    reader_pass pass = {.is_gone = 0};
    for (gnomon__thread_timers *timers = load_acquire(&gnomon__all_timers);
         timers; timers = timers->next)
        read_thread_timers(&pass, timers);
    leave_context(&pass);
    gnomon__device_clocks_advance();
    return pass.waiting;
}

/* Whether there is nothing to read, and nothing is under way: then the thread sleeps until a
 * timer is sent. */
static int reader_is_idle(void)
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
static void reader_give_up(void)
{
    for (gnomon__thread_timers *timers = load_acquire(&gnomon__all_timers);
         timers; timers = timers->next) {
        for (uint32_t n = timers->first; n;) {
            gnomon__timer *t = &timers->timer[n - 1];
            if (is_wanted(t))
                gnomon__trouble(&gnomon__no_thread, timers_late);
            for (uint32_t k = 0; k < GNOMON__ACTIVITY_VIEWS; k++)
                t->node[k] = 0;
            n = t->later;
        }
    }
}

/* ---- The thread ---------------------------------------------------------- */

#define READER_GIVES_UP GNOMON__WORKER_OWN

static size_t reader_waiting GNOMON__OF_PROCESS; /* what the last pass left */

/* A thread that sends a timer stores it and then loads `gnomon__reader_sleeps`; the reader
 * does both in the other order, so that one of the two sees the other. */
void gnomon__reader_wake(void)
{
    uint32_t sleeps = 1;
    if (cas_acq_rel(&gnomon__reader_sleeps, &sleeps, 0))
        (void)gnomon__os_wake(&gnomon__reader_sleeps);
}

static void reader_round(uint32_t why);
static int reader_sleep(void);

static gnomon__worker_state reader_state GNOMON__OF_PROCESS;
static gnomon__worker reader = {
    .name = "gnomon",
    .reads = "device times",
    .silence = "the device's driver does not answer: device times are "
               "missing, and its events are not freed",
    .progress = &gnomon__reader_calls,
    .round = reader_round,
    .each_ns = 2000000u, /* timers of a thread last for some ms */
    .sleep = reader_sleep,
    .rouse = gnomon__reader_wake,
    .now = &reader_state,
    .lock = GNOMON__OS_LOCK,
};

/* Gives up under the lock, while who asked for it still waits. */
static void reader_round(uint32_t why)
{
    int is_closed = (int)load_relaxed(&gnomon__timers_closed);
    if (why & GNOMON__WORKER_ENDS) {
        gnomon__device_clocks_free(is_closed);
        return;
    }
    store_relaxed(&reader_waiting, is_closed ? 0 : reader_pass_all());
    if (!load_relaxed(&gnomon__timers_closed))
        gnomon__cuda_log_failures();
    gnomon__os_lock_take(&reader.lock);
    if ((why & READER_GIVES_UP) && reader_state.is_awaited)
        reader_give_up();
    gnomon__os_lock_give(&reader.lock);
}

/* Sleeps until a timer is sent or a pass is asked for, without the lock. */
static int reader_sleep(void)
{
    uint64_t pause = 0;
    if (!reader_is_idle())
        return 0;
    store_relaxed(&gnomon__reader_sleeps, 1);
    fence_full();
    if (!reader_is_idle())
        gnomon__reader_wake();
    gnomon__os_lock_give(&reader.lock);
    while (load_relaxed(&gnomon__reader_sleeps))
        gnomon__os_wait(&gnomon__reader_sleeps, 1, UINT64_MAX, &pause);
    gnomon__os_lock_take(&reader.lock);
    return 1;
}

/* How many scopes wait for the device; 0 also where the driver does not answer. */
static size_t reader_ask(uint32_t why)
{
    return gnomon__worker_ask(&reader, why) ? load_relaxed(&reader_waiting) : 0;
}

void gnomon__timers_read(uint64_t patience_ns, int gives_up)
{
    uint64_t now = gnomon__os_monotonic_ns(), until = now + patience_ns;
    uint64_t pause = 0;
    if (!load_relaxed(&gnomon__timer_bits))
        return;
    for (; reader_ask(0) && now < until; now = gnomon__os_monotonic_ns())
        gnomon__os_pause(&pause, until - now); /* a device tells nobody */
    if (gives_up)
        (void)reader_ask(READER_GIVES_UP);
}

/* ---- Views ---------------------------------------------------------------- */

/* No error: other vendors' devices work without it. */
static void log_missing_driver(void)
{
    static int is_logged;
    const char *why = gnomon__cuda_load_error();
    if (why && !is_logged)
        gnomon__log("no CUDA driver: scopes on its streams get no device "
                    "times: %s",
                    why);
    is_logged |= why != NULL;
}

void gnomon__timers_step(void)
{
    if (load_relaxed(&gnomon__timer_bits))
        add_relaxed(&gnomon__device_steps, 1);
}

int gnomon__timers_watch(uint32_t bit, uint32_t generation)
{
    int code = gnomon__activities_watch(bit, generation);
    if (code)
        return code;
    log_missing_driver(); /* loads the driver now, not in a mark */
    gnomon__activity_view *v =
        &gnomon__activity_views[gnomon__activity_view_of(generation)];
    store_release(&v->timed, generation);
    store_release(&gnomon__timer_bits,
                  load_relaxed(&gnomon__timer_bits) | 1u << bit);
    gnomon__worker_start(&reader);
    return GNOMON_OK;
}

void gnomon__timers_unwatch(uint32_t generation)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++) {
        gnomon__activity_view *v = &gnomon__activity_views[i];
        if (v->timed == generation)
            store_relaxed(&v->timed, 0);
        if (v->timed)
            bits |= 1u << v->bit;
    }
    store_release(&gnomon__timer_bits, bits);
    if (!bits)
        (void)gnomon__worker_stop(&reader);
    else /* after this pass no time is added to the generation */
        (void)reader_ask(0);
}

/* ---- The end ------------------------------------------------------------- */

/* First reads the times that are over, as a signal's report may need them. The last
 * pass is waited for; it finds gnomon__timers_closed set and calls no device. */
static void timers_at_exit(void)
{
    if (!gnomon__os_is_owner())
        return;
    int cancel = gnomon__os_cancel_off(); /* also where is_inside is 0 */
    int is_inside = gnomon__upcall_exit_enter();
    gnomon__timers_read(READER_EXIT_NS, 1);
    store_relaxed(&gnomon__timers_closed, 1);
    store_relaxed(&gnomon__timer_bits, 0);
    (void)reader_ask(0);
    if (is_inside)
        gnomon__upcall_exit_leave();
    gnomon__os_cancel_back(cancel);
}

void gnomon__timers_read_at_exit(void)
{
    static uint32_t is_watched;
    if (!swap_acq_rel(&is_watched, 1) && atexit(timers_at_exit))
        store_relaxed(&is_watched, 0); /* the next thread tries again */
}
