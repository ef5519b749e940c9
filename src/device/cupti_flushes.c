/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two threads. One makes all calls of CUPTI that could take long, and reads what it gives
 * back, so that no marking thread does, and so that a CUPTI that hangs blocks nobody: who
 * asks it for a flush waits for a limited time. Another one waits for the device, where
 * that is asked for, and lasts no longer; while it does, records are read on.
 *
 * The lock is held over no call of CUPTI's, CUDA's or the recorder's. CUPTI's callback of a
 * full buffer takes it for some instructions. */
#include "device/cupti_flushes.h"

#include <string.h>

#include "device/cupti_buffers.h"
#include "device/cupti_driver.h"
#include "device/cupti_reading.h"
#include "device/cupti_subscriber.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/os_calls.h"
#include "platform/os_wait.h"

#define FLUSH_EACH_NS 1000000000ull /* while work is launched */
#define LATE_LOOKS 5                /* for records that are missing, ... */
#define LATE_EACH_NS 20000000u
#define FLUSH_EXIT_NS 1000000000ull /* at the end of the process */

static gnomon__os_thread cupti_thread, cupti_waiter;
enum { THREAD_NONE, THREAD_RUNS, THREAD_LEFT };
static int cupti_thread_state;
static int has_waiter;        /* it was started, and was not joined */
static uint32_t cupti_number; /* of the source; 0: nobody listens */
static uint32_t threads_are_known;
static uint32_t cupti_is_gone; /* no call of CUPTI may follow */

static gnomon__os_lock flushes_lock = GNOMON__OS_LOCK(GNOMON__OS_OWN_CUPTI);

/* Under its lock. */
static struct {
    uint32_t wake, answer;    /* turns */
    uint64_t asked, answered; /* flushes */
    uint32_t force;           /* of the next one */
    int has_full;             /* CUPTI gave a buffer back */
    int is_soon;              /* a flush is due before its time */
    int is_waiting;           /* for the device */
    int ends, is_over;
} flushes;

/* ---- Reading ------------------------------------------------------------------------ */

/* On the host's threads too, which another one may cancel. */
static void wake_thread(int *why)
{
    int cancel = gnomon__os_cancel_off();
    gnomon__os_lock_take(&flushes_lock);
    *why = 1;
    gnomon__os_turn_tell(&flushes.wake);
    gnomon__os_lock_give(&flushes_lock);
    gnomon__os_cancel_back(cancel);
}

void gnomon__cupti_on_full_buffer(void)
{
    wake_thread(&flushes.has_full);
}

void gnomon__cupti_flush_soon(void)
{
    wake_thread(&flushes.is_soon);
}

static void log_fatal(void)
{
    static int is_logged;
    if (gnomon__cupti_fatal() && !is_logged) {
        is_logged = 1;
        gnomon__log("%s: nothing more is recorded", gnomon__cupti_fatal());
    }
}

/* Whether so many kernels are launched, and none is on the way. */
static int is_balance_due(uint64_t launched)
{
    return launched != GNOMON__CUPTI_LAUNCHES &&
           launched == gnomon__cupti_launched();
}

/* Where kernels are launched, and in two flushes one after the other nothing comes of
 * them, while CUPTI has no buffer of ours: others have given it theirs. */
static void look_for_others(uint64_t read)
{
    static uint64_t seen;
    static int quiet;
    uint64_t launched = gnomon__cupti_launched();
    int is_quiet = !read && launched > seen && !gnomon__cupti_buffers_out() &&
                   gnomon__cupti_misses(launched);
    quiet = is_quiet ? quiet + 1 : read ? 0 : quiet;
    seen = launched;
    if (quiet > 1 && is_balance_due(launched))
        gnomon__cupti_balance(load_relaxed(&cupti_number), launched);
}

/* CUPTI gives back what is over (with force, all), and it is told. With `flush` 0 only
 * what was given back already. */
static void cupti_read_all(int flush, uint32_t force)
{
    if (gnomon__cupti_is_at_end()) {
        log_fatal();
        return;
    }
    if (flush)
        (void)gnomon__cupti()->FlushAll(force);
    uint64_t read = gnomon__cupti_read_full(
        load_relaxed(&cupti_number), (int)load_relaxed(&threads_are_known));
    gnomon__cupti_count_dropped(load_relaxed(&cupti_number));
    if (flush && !force)
        look_for_others(read);
}

/* ---- The reading thread ------------------------------------------------------------ */

/* Until the thread is to end, after one more flush. Under the lock. */
static void run_flushes(void)
{
    for (int ends = 0; !ends || !flushes.ends;) {
        int is_due = 0;
        if (flushes.asked == flushes.answered && !flushes.has_full &&
            !flushes.is_soon && !flushes.ends)
            is_due = !gnomon__os_turn_wait(&flushes.wake, &flushes_lock,
                                           gnomon__os_monotonic_ns() +
                                               FLUSH_EACH_NS) &&
                     gnomon__cupti_has_launched();
        uint64_t asked = flushes.asked;
        ends = flushes.ends;
        int is_asked = asked != flushes.answered || ends;
        uint32_t force = is_asked ? flushes.force : 0;
        is_due |= flushes.is_soon;
        flushes.has_full = flushes.is_soon = 0;
        gnomon__os_lock_give(&flushes_lock);
        cupti_read_all(is_due || is_asked, force);
        gnomon__os_lock_take(&flushes_lock);
        flushes.answered = asked;
        gnomon__os_turn_tell(&flushes.answer);
    }
}

static void cupti_main(void *unused)
{
    (void)unused;
    gnomon__os_lock_take(&flushes_lock);
    run_flushes();
    flushes.is_over = 1;
    gnomon__os_turn_tell(&flushes.answer);
    gnomon__os_lock_give(&flushes_lock);
}

/* A thread that was left hanging, and still hangs, is used again. */
static int cupti_thread_resume(void)
{
    gnomon__os_lock_take(&flushes_lock);
    int is_left = cupti_thread_state == THREAD_LEFT;
    int goes_on = is_left && !flushes.is_over;
    flushes.ends = flushes.is_over = 0;
    gnomon__os_lock_give(&flushes_lock);
    if (is_left && !goes_on)
        gnomon__os_thread_join(&cupti_thread);
    cupti_thread_state = goes_on ? THREAD_RUNS : THREAD_NONE;
    return goes_on;
}

/* Without one, records are read by control calls. */
void gnomon__cupti_flushes_start(uint32_t number, int system_threads)
{
    store_relaxed(&cupti_number, number);
    store_relaxed(&threads_are_known, (uint32_t)system_threads);
    if (cupti_thread_state == THREAD_RUNS || cupti_thread_resume())
        return;
    int why = gnomon__os_thread_start(&cupti_thread, "gnomon-cupti", cupti_main,
                                      NULL);
    if (!why)
        cupti_thread_state = THREAD_RUNS;
    else
        gnomon__log("no thread for CUPTI's records (%s): they are read when a "
                    "stage ends only: raise the limit (ulimit -u)",
                    strerror(why));
}

static void log_silent_cupti(void)
{
    static int is_logged;
    if (!is_logged)
        gnomon__log("CUPTI does not answer: some of the device's work is "
                    "missing");
    is_logged = 1;
}

/* Asks for a flush, or for the last one. Returns its number; 0: one that was asked for
 * before is not made yet. Under the lock. */
static uint64_t ask_for_flush(uint32_t force, int ends)
{
    int hangs = flushes.answered < flushes.asked;
    flushes.force = force;
    flushes.ends = ends;
    flushes.asked += !hangs;
    gnomon__os_turn_tell(&flushes.wake);
    return hangs ? 0 : flushes.asked;
}

/* Waits for an answer. 0: for gnomon__hang_ns nothing was read: CUPTI hangs. Under the
 * lock. */
static int wait_for_flush(void)
{
    uint64_t rows = load_relaxed(&gnomon__cupti_rows_told);
    return gnomon__os_turn_wait(&flushes.answer, &flushes_lock,
                                gnomon__os_monotonic_ns() +
                                    gnomon__hang_ns()) ||
           load_relaxed(&gnomon__cupti_rows_told) != rows;
}

/* Whether it was answered. */
static int flush_and_read(void)
{
    if (cupti_thread_state != THREAD_RUNS) {
        cupti_read_all(1, 0);
        return 1;
    }
    gnomon__os_lock_take(&flushes_lock);
    uint64_t asked = ask_for_flush(0, 0);
    while (asked && flushes.answered < asked && wait_for_flush())
        ;
    int is_answered = asked && flushes.answered >= asked;
    gnomon__os_lock_give(&flushes_lock);
    if (!is_answered)
        log_silent_cupti();
    return is_answered;
}

static void cupti_thread_stop(void)
{
    if (cupti_thread_state != THREAD_RUNS) {
        cupti_read_all(1, CUPTI_FLUSH_FORCED);
        return;
    }
    gnomon__os_lock_take(&flushes_lock);
    ask_for_flush(CUPTI_FLUSH_FORCED, 1);
    while (!flushes.is_over && wait_for_flush())
        ;
    cupti_thread_state = flushes.is_over ? THREAD_NONE : THREAD_LEFT;
    gnomon__os_lock_give(&flushes_lock);
    if (cupti_thread_state == THREAD_NONE)
        gnomon__os_thread_join(&cupti_thread);
    else
        log_silent_cupti();
}

/* ---- The waiting thread --------------------------------------------------------------- */

static void set_waiting(int is_waiting)
{
    gnomon__os_lock_take(&flushes_lock);
    flushes.is_waiting = is_waiting;
    gnomon__os_turn_tell(&flushes.answer);
    gnomon__os_lock_give(&flushes_lock);
}

static void cupti_wait_main(void *unused)
{
    (void)unused;
    gnomon__cupti_wait();
    set_waiting(0);
}

/* Whether it is over at `until`. */
static int waiter_is_over(uint64_t until)
{
    gnomon__os_lock_take(&flushes_lock);
    while (flushes.is_waiting &&
           gnomon__os_turn_wait(&flushes.answer, &flushes_lock, until))
        ;
    int is_over = !flushes.is_waiting;
    gnomon__os_lock_give(&flushes_lock);
    if (is_over && has_waiter)
        gnomon__os_thread_join(&cupti_waiter);
    has_waiter &= !is_over;
    return is_over;
}

/* Whether all that was launched is over. One that still waits since an earlier flush is
 * waited for first. Where no thread can be started, or patience ends, what is not over is
 * told later. */
static int wait_for_device(uint64_t until)
{
    if (!waiter_is_over(until))
        return 0;
    if (!gnomon__cupti_has_launched())
        return 1;
    set_waiting(1);
    has_waiter = !gnomon__os_thread_start(&cupti_waiter, "gnomon-wait",
                                          cupti_wait_main, NULL);
    if (!has_waiter)
        set_waiting(0);
    return waiter_is_over(until) && !gnomon__cupti_has_launched();
}

/* ---- Flushes ---------------------------------------------------------------------------- */

void gnomon__cupti_flush(uint64_t patience_ns)
{
    uint64_t launched = gnomon__cupti_launched();
    int is_over = patience_ns && !gnomon__cupti_is_at_end() &&
                  wait_for_device(gnomon__os_monotonic_ns() + patience_ns);
    is_over &= flush_and_read();
    /* A buffer comes back when all that is begun in it is over, and a thread may be just
     * about to give one: where records are missing they have some time to come. */
    for (int i = 0; i < LATE_LOOKS && is_over && is_balance_due(launched) &&
                    gnomon__cupti_misses(launched);
         i++) {
        gnomon__os_sleep_ns(LATE_EACH_NS);
        is_over = flush_and_read();
    }
    if (is_over && is_balance_due(launched))
        gnomon__cupti_balance(load_relaxed(&cupti_number), launched);
}

/* Where not even force gives a buffer back, what is missing does not come. */
void gnomon__cupti_flushes_stop(void)
{
    uint64_t rows = load_relaxed(&gnomon__cupti_rows_told);
    uint64_t launched = gnomon__cupti_launched();
    cupti_thread_stop();
    if (cupti_thread_state == THREAD_NONE &&
        rows == load_relaxed(&gnomon__cupti_rows_told) &&
        is_balance_due(launched))
        gnomon__cupti_balance(load_relaxed(&cupti_number), launched);
    store_relaxed(&cupti_number, 0);
}

int gnomon__cupti_is_at_end(void)
{
    return load_acquire(&cupti_is_gone) || gnomon__cupti_fatal();
}

/* The last flush that is asked for finds that it is the end: then the thread has no call
 * under way, if it does not hang in one. */
void gnomon__cupti_end(void)
{
    gnomon__cupti_flush(FLUSH_EXIT_NS);
    store_release(&cupti_is_gone, 1);
    (void)flush_and_read();
}

void gnomon__cupti_flushes_forget(void)
{
    memset(&flushes, 0, sizeof flushes);
    gnomon__os_lock_renew(&flushes_lock);
    cupti_thread_state = THREAD_NONE;
    has_waiter = 0;
    store_relaxed(&cupti_number, 0);
}
