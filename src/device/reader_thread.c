/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The views that want device times, and the reader's thread, which runs as long as
 * there is such a view. Both change in control calls only.
 *
 * Only this thread calls a driver to read events, so a driver that hangs blocks
 * nobody else: who asks the thread for a pass waits for a limited time. A thread that
 * still hangs when the last view goes is left as it is, and used again for the next
 * view. */
#include <stdlib.h>
#include <string.h>

#include "device/cuda.h"
#include "device/cuda_driver.h"
#include "device/describe.h"
#include "device/reader.h"
#include "mark/upcall.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/os_calls.h"
#include "platform/os_wait.h"
#include "record/device_stats.h"

#define READER_SLEEP_NS 2000000ull   /* timers of a thread last for some ms */
#define READER_EXIT_NS 1000000000ull /* at the end of the process */

static gnomon__os_thread reader_thread;
static enum { READER_NONE, READER_RUNS, READER_LEFT } reader_state;

/* Under its lock, which is never held over a call of a driver. */
static struct {
    gnomon__os_lock lock;
    uint32_t wake, answer;    /* turns */
    uint64_t asked, answered; /* number of the last pass */
    size_t waiting;           /* what the last pass returned */
    int gives_up, ends, is_over;
} reader = {.lock = GNOMON__OS_LOCK(GNOMON__OS_OWN_TIMERS)};

/* ---- The thread ---------------------------------------------------------- */

/* Waits for the end of a pass, at most until *until, which is then moved on. 0: no
 * pass has ended meanwhile and no call of the driver has returned: it hangs. */
static int wait_for_answer(uint64_t *until)
{
    uint64_t calls = load_relaxed(&gnomon__reader_calls);
    int is_answered =
        gnomon__os_turn_wait(&reader.answer, &reader.lock, *until);
    *until = gnomon__os_monotonic_ns() + gnomon__hang_ns();
    return is_answered || load_relaxed(&gnomon__reader_calls) != calls;
}

static size_t reader_pass_once(void)
{
    size_t waiting = gnomon__reader_pass();
    if (!load_relaxed(&gnomon__timers_closed))
        gnomon__cuda_log_failures();
    return waiting;
}

/* Sleeps until a timer is sent or a pass is asked for. A thread that sends one stores it
 * and then loads `gnomon__reader_sleeps`; here both are in the other order, so that one
 * of the two sees the other. Under the lock, which is not held while it sleeps. */
static void sleep_until_called(void)
{
    store_relaxed(&gnomon__reader_sleeps, 1);
    fence_full();
    if (!gnomon__reader_is_idle())
        gnomon__reader_wake();
    gnomon__os_lock_give(&reader.lock);
    gnomon__reader_sleep();
    gnomon__os_lock_take(&reader.lock);
}

static void wait_for_work(void)
{
    if (gnomon__reader_is_idle())
        sleep_until_called();
    else
        (void)gnomon__os_turn_wait(&reader.wake, &reader.lock,
                                   gnomon__os_monotonic_ns() + READER_SLEEP_NS);
}

/* Wakes the thread whichever way it waits. Under the lock. */
static void call_reader(void)
{
    gnomon__os_turn_tell(&reader.wake);
    gnomon__reader_wake();
}

/* Makes passes until the thread is to end. Under the lock. */
static void run_passes(void)
{
    while (!reader.ends) {
        if (reader.asked == reader.answered)
            wait_for_work();
        uint64_t asked = reader.asked;
        gnomon__os_lock_give(&reader.lock);
        size_t waiting = reader_pass_once();
        gnomon__os_lock_take(&reader.lock);
        if (reader.gives_up) /* who asked still waits */
            gnomon__reader_give_up();
        reader.gives_up = 0;
        reader.answered = asked;
        reader.waiting = waiting;
        gnomon__os_turn_tell(&reader.answer);
    }
}

/* The thread. After `ends` it frees the clocks, without the lock. If a new view has
 * cleared `ends` meanwhile, it goes on. */
static void reader_main(void *unused)
{
    (void)unused;
    gnomon__os_lock_take(&reader.lock);
    do {
        run_passes();
        gnomon__os_lock_give(&reader.lock);
        gnomon__device_clocks_free();
        gnomon__os_lock_take(&reader.lock);
    } while (!reader.ends);
    reader.is_over = 1;
    gnomon__os_turn_tell(&reader.answer);
    gnomon__os_lock_give(&reader.lock);
}

/* Returns whether a thread that was left hanging is used again. Passes that were
 * asked for earlier count as answered. */
static int reader_resume(void)
{
    gnomon__os_lock_take(&reader.lock);
    int is_left = reader_state == READER_LEFT;
    int goes_on = is_left && !reader.is_over;
    reader.ends = reader.is_over = 0;
    reader.answered = reader.asked;
    gnomon__os_lock_give(&reader.lock);
    if (is_left && !goes_on)
        gnomon__os_thread_join(&reader_thread);
    reader_state = goes_on ? READER_RUNS : READER_NONE;
    return goes_on;
}

static void reader_start(void)
{
    static int is_logged;
    if (reader_state == READER_RUNS || reader_resume())
        return;
    int why =
        gnomon__os_thread_start(&reader_thread, "gnomon", reader_main, NULL);
    if (!why)
        reader_state = READER_RUNS;
    else if (!is_logged)
        gnomon__log(
            "no thread for device times (%s): they are read when a stage ends "
            "only: raise the limit (ulimit -u)",
            strerror(why));
    is_logged |= why != 0;
}

static void log_silent_driver(void)
{
    static int is_logged;
    if (!is_logged)
        gnomon__log("the device's driver does not answer: device times are "
                    "missing, and its events are not freed");
    is_logged = 1;
}

static void reader_stop(void)
{
    uint64_t until = gnomon__os_monotonic_ns() + gnomon__hang_ns();
    gnomon__os_lock_take(&reader.lock);
    reader.ends = 1;
    call_reader();
    while (!reader.is_over && wait_for_answer(&until))
        ;
    int is_over = reader.is_over;
    gnomon__os_lock_give(&reader.lock);
    reader_state = is_over ? READER_NONE : READER_LEFT;
    if (is_over)
        gnomon__os_thread_join(&reader_thread);
    else
        log_silent_driver();
}

/* Waits for a pass that begins after the call. Returns how many scopes wait for the
 * device; 0 also where the driver does not answer. */
static size_t reader_ask_pass(int gives_up)
{
    uint64_t until = gnomon__os_monotonic_ns() + gnomon__hang_ns();
    if (reader_state != READER_RUNS) {
        size_t waiting = reader_pass_once();
        if (gives_up)
            gnomon__reader_give_up();
        return waiting;
    }
    gnomon__os_lock_take(&reader.lock);
    int hangs = reader.answered < reader.asked; /* the last pass is not over */
    uint64_t asked = hangs ? UINT64_MAX : ++reader.asked;
    reader.gives_up = gives_up;
    call_reader();
    while (!hangs && reader.answered < asked && wait_for_answer(&until))
        ;
    int is_answered = reader.answered >= asked;
    size_t waiting = is_answered ? reader.waiting : 0;
    reader.gives_up = 0;
    gnomon__os_lock_give(&reader.lock);
    if (!is_answered)
        log_silent_driver();
    return waiting;
}

void gnomon__timers_read(uint64_t patience_ns, int gives_up)
{
    uint64_t now = gnomon__os_monotonic_ns(), until = now + patience_ns;
    uint64_t pause = 0;
    if (!load_relaxed(&gnomon__timer_bits))
        return;
    for (; reader_ask_pass(0) && now < until; now = gnomon__os_monotonic_ns())
        gnomon__os_pause(&pause, until - now); /* a device tells nobody */
    if (gives_up)
        reader_ask_pass(1);
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

int gnomon__timers_watch(uint32_t bit, uint32_t generation)
{
    for (uint32_t i = 0; i < GNOMON__TIMER_VIEWS; i++) {
        gnomon__timer_view *v = &gnomon__timer_views[i];
        if (v->generation)
            continue;
        log_missing_driver(); /* loads the driver now, not in a mark */
        store_relaxed(&v->bit, bit);
        store_release(&v->generation, generation);
        store_release(&gnomon__timer_bits,
                      load_relaxed(&gnomon__timer_bits) | 1u << bit);
        reader_start();
        return GNOMON_OK;
    }
    return gnomon__fail(
        GNOMON_EFULL,
        "%u views time devices already, which is the most: give "
        "them the same filter and schedule",
        GNOMON__TIMER_VIEWS);
}

void gnomon__timers_unwatch(uint32_t generation)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < GNOMON__TIMER_VIEWS; i++) {
        gnomon__timer_view *v = &gnomon__timer_views[i];
        if (v->generation == generation)
            store_release(&v->generation, 0);
        if (v->generation)
            bits |= 1u << v->bit;
    }
    store_release(&gnomon__timer_bits, bits);
    if (!bits && reader_state == READER_RUNS)
        reader_stop();
    else if (!bits && reader_state == READER_NONE)
        gnomon__device_clocks_free();
    else if (bits) /* after this pass no time is added to the generation */
        reader_ask_pass(0);
    gnomon__device_stats_drop(generation);
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
    if (reader_state == READER_RUNS)
        reader_ask_pass(0);
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

void gnomon__timers_forget(void)
{
    memset(gnomon__timer_views, 0, sizeof gnomon__timer_views);
    gnomon__timer_bits = 0;
    memset(&reader, 0, sizeof reader);
    reader.lock.word = GNOMON__OS_OWN_TIMERS;
    gnomon__os_lock_renew(&reader.lock);
    reader_state = READER_NONE;
    store_relaxed(&gnomon__reader_sleeps, 0);
    gnomon__keep_reachable(gnomon__all_timers);
    gnomon__all_timers = NULL;
    gnomon__device_clocks_forget();
    gnomon__describe_forget();
    gnomon__device_stats_forget();
}
