/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread that reads what CUPTI gives back, so that no marking thread does. For a
 * flush it waits for the device, and whoever asked waits for it, but no longer than he
 * has patience; then he reads himself what is there.
 *
 * Its lock is held over no call of CUPTI's, CUDA's or the recorder's. CUPTI's callback of
 * a full buffer takes it for some instructions. */
#include "device/cupti_flushes.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "device/cupti_driver.h"
#include "device/cupti_reading.h"
#include "device/cupti_subscriber.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/os_calls.h"

#define FLUSH_EACH_NS 1000000000ull /* while work is launched */
#define ANSWER_NS 1000000000ull     /* a call that takes longer hangs */

static gnomon__os_thread cupti_thread;
enum { THREAD_NONE, THREAD_RUNS, THREAD_LEFT };
static int cupti_thread_state;
static uint32_t cupti_number; /* of the source; 0: nobody listens */
static uint32_t threads_are_known;
static uint32_t cupti_is_gone; /* no call of CUPTI may follow */

/* Under its lock. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, answer;
    uint64_t asked, answered; /* flushes */
    int waits;                /* the next one waits for the device */
    int has_full;             /* CUPTI gave a buffer back */
    int is_reading;           /* somebody reads: the thread or who asks */
    int ends, is_over;
    int has_conditions;
} flushes = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Reading ------------------------------------------------------------------------ */

static void flushes_make_conditions(void)
{
    pthread_condattr_t monotonic;
    if (flushes.has_conditions)
        return;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&flushes.wake, &monotonic);
    pthread_cond_init(&flushes.answer, &monotonic);
    pthread_condattr_destroy(&monotonic);
    flushes.has_conditions = 1;
}

/* 0: the time `until`, by gnomon__os_monotonic_ns, has come. Under the lock. */
static int flushes_wait(pthread_cond_t *condition, uint64_t until)
{
    struct timespec at = {(time_t)(until / 1000000000u),
                          (long)(until % 1000000000u)};
    return pthread_cond_timedwait(condition, &flushes.lock, &at) == 0;
}

void gnomon__cupti_on_full_buffer(void)
{
    pthread_mutex_lock(&flushes.lock);
    flushes.has_full = 1;
    if (flushes.has_conditions)
        pthread_cond_signal(&flushes.wake);
    pthread_mutex_unlock(&flushes.lock);
}

/* One reads at a time. 0: another one still did when the time was over. */
static int reading_begin(uint64_t until)
{
    int is_mine;
    pthread_mutex_lock(&flushes.lock);
    while (flushes.is_reading && flushes_wait(&flushes.answer, until))
        ;
    is_mine = !flushes.is_reading;
    flushes.is_reading = 1;
    pthread_mutex_unlock(&flushes.lock);
    return is_mine;
}

static void reading_end(void)
{
    pthread_mutex_lock(&flushes.lock);
    flushes.is_reading = 0;
    pthread_cond_broadcast(&flushes.answer);
    pthread_mutex_unlock(&flushes.lock);
}

/* CUPTI gives back what is over (with force, all), and it is told. With `flush` 0 only
 * what was given back already. */
static void cupti_read_all(int flush, uint32_t force)
{
    if (load_acquire(&cupti_is_gone))
        return;
    if (flush)
        (void)gnomon__cupti()->FlushAll(force);
    gnomon__cupti_read_full(load_relaxed(&cupti_number),
                            (int)load_relaxed(&threads_are_known));
    gnomon__cupti_count_dropped(load_relaxed(&cupti_number));
}

/* ---- The thread ----------------------------------------------------------------------- */

/* Without the lock. */
static void make_flush(int is_due, int waits)
{
    if (waits && !load_acquire(&cupti_is_gone))
        gnomon__cupti_wait();
    if (!reading_begin(UINT64_MAX))
        return;
    cupti_read_all(is_due, 0);
    reading_end();
}

/* Until the thread is to end. Under the lock. */
static void run_flushes(void)
{
    while (!flushes.ends) {
        int is_due = 0;
        if (flushes.asked == flushes.answered && !flushes.has_full)
            is_due = !flushes_wait(&flushes.wake,
                                   gnomon__os_monotonic_ns() + FLUSH_EACH_NS) &&
                     gnomon__cupti_has_launched();
        uint64_t asked = flushes.asked;
        int waits = flushes.waits;
        is_due |= asked != flushes.answered;
        flushes.waits = flushes.has_full = 0;
        pthread_mutex_unlock(&flushes.lock);
        make_flush(is_due, waits);
        pthread_mutex_lock(&flushes.lock);
        flushes.answered = asked;
        pthread_cond_broadcast(&flushes.answer);
    }
}

static void cupti_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&flushes.lock);
    run_flushes();
    flushes.is_over = 1;
    pthread_cond_broadcast(&flushes.answer);
    pthread_mutex_unlock(&flushes.lock);
}

/* A thread that was left hanging, and still hangs, is used again. */
static int cupti_thread_resume(void)
{
    pthread_mutex_lock(&flushes.lock);
    int is_left = cupti_thread_state == THREAD_LEFT;
    int goes_on = is_left && !flushes.is_over;
    flushes.ends = flushes.is_over = 0;
    pthread_mutex_unlock(&flushes.lock);
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
    flushes_make_conditions();
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

static void cupti_thread_stop(void)
{
    uint64_t until = gnomon__os_monotonic_ns() + ANSWER_NS;
    if (cupti_thread_state != THREAD_RUNS)
        return;
    pthread_mutex_lock(&flushes.lock);
    flushes.ends = 1;
    pthread_cond_signal(&flushes.wake);
    while (!flushes.is_over && flushes_wait(&flushes.answer, until))
        ;
    cupti_thread_state = flushes.is_over ? THREAD_NONE : THREAD_LEFT;
    pthread_mutex_unlock(&flushes.lock);
    if (cupti_thread_state == THREAD_NONE)
        gnomon__os_thread_join(&cupti_thread);
}

/* ---- Flushes -------------------------------------------------------------------------- */

void gnomon__cupti_read_here(uint32_t force)
{
    if (reading_begin(gnomon__os_monotonic_ns() + ANSWER_NS)) {
        cupti_read_all(1, force);
        reading_end();
    } else {
        log_silent_cupti();
    }
}

/* 0: it has not made the flush in this time, as the device still works, or the last one
 * was not over. */
static int flush_by_thread(uint64_t patience_ns)
{
    uint64_t until = gnomon__os_monotonic_ns() + patience_ns;
    if (cupti_thread_state != THREAD_RUNS || !patience_ns)
        return 0;
    pthread_mutex_lock(&flushes.lock);
    int hangs = flushes.answered < flushes.asked;
    uint64_t asked = hangs ? UINT64_MAX : ++flushes.asked;
    flushes.waits = !hangs;
    pthread_cond_signal(&flushes.wake);
    while (!hangs && flushes.answered < asked &&
           flushes_wait(&flushes.answer, until))
        ;
    int is_answered = !hangs && flushes.answered >= asked;
    pthread_mutex_unlock(&flushes.lock);
    return is_answered;
}

void gnomon__cupti_flush(uint64_t patience_ns)
{
    if (!flush_by_thread(patience_ns))
        gnomon__cupti_read_here(0);
}

void gnomon__cupti_flushes_stop(void)
{
    cupti_thread_stop();
    if (!gnomon__cupti_is_at_end())
        gnomon__cupti_read_here(CUPTI_FLUSH_FORCED);
    store_relaxed(&cupti_number, 0);
}

int gnomon__cupti_is_at_end(void)
{
    return (int)load_acquire(&cupti_is_gone);
}

/* The thread makes no call any more when this returns, if it does not hang in one. */
void gnomon__cupti_end(void)
{
    gnomon__cupti_flush(ANSWER_NS);
    int is_mine = reading_begin(gnomon__os_monotonic_ns() + ANSWER_NS);
    store_release(&cupti_is_gone, 1);
    if (is_mine)
        reading_end();
}

void gnomon__cupti_flushes_forget(void)
{
    memset(&flushes, 0, sizeof flushes);
    flushes.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    cupti_thread_state = THREAD_NONE;
    store_relaxed(&cupti_number, 0);
}
