/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who wants device times, and the thread that reads them, which lives as long as
 * somebody does. Changed in control calls only. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_driver.h"
#include "device/describe.h"
#include "device/reader.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/os_calls.h"
#include "record/device_stats.h"

#define READER_SLEEP_NS \
    2000000ull /* a lane holds some ms of scopes, at least */
#define READER_LEAVE_NS \
    2000000000ull /* a driver that hangs must not hang the host */

#define END_WAIT_NS 1000000000ull

uint32_t gnomon__timers_closed;

static gnomon__os_thread reader_thread;
static uint32_t reader_runs, reader_ends, reader_is_over;

static void read_on(void *unused)
{
    (void)unused;
    while (!load_acquire(&reader_ends)) {
        gnomon__os_sleep_ns(READER_SLEEP_NS);
        if (gnomon__reader_lock(0)) {
            gnomon__reader_pass();
            gnomon__reader_unlock();
        }
    }
    store_release(&reader_is_over, 1);
}

static void reader_start(void)
{
    static int told;
    store_relaxed(&reader_ends, 0);
    store_relaxed(&reader_is_over, 0);
    int why = gnomon__os_thread_start(&reader_thread, "gnomon", read_on, NULL);
    reader_runs = why == 0;
    if (why && !told)
        gnomon__log(
            "no thread for device times (%s): they are read when a stage ends "
            "only: raise the limit (ulimit -u)",
            strerror(why));
    told |= why != 0;
}

/* One that waits for a driver is left alone. */
static void reader_stop(void)
{
    store_release(&reader_ends, 1);
    for (uint64_t ns = 0;
         !load_acquire(&reader_is_over) && ns < READER_LEAVE_NS; ns += 100000)
        gnomon__os_sleep_ns(100000);
    if (load_acquire(&reader_is_over))
        gnomon__os_thread_join(&reader_thread);
    else
        gnomon__log("the device's driver does not answer: its events are left "
                    "to it");
    reader_runs = 0;
}

/* Other vendors' devices work all the same. */
static void tell_driver(void)
{
    static int told;
    const char *why = gnomon__cuda_why();
    if (why && !told)
        gnomon__log("no CUDA driver: scopes on its streams get no device "
                    "times: %s",
                    why);
    told |= why != NULL;
}

int gnomon__timers_watch(uint32_t bit, uint32_t generation)
{
    for (uint32_t i = 0; i < GNOMON__TIMER_VIEWS; i++) {
        gnomon__timer_view *v = &gnomon__timer_views[i];
        if (v->generation)
            continue;
        tell_driver(); /* loads it, before a mark would */
        store_relaxed(&v->bit, bit);
        store_release(&v->generation, generation);
        store_release(&gnomon__timer_bits,
                      load_relaxed(&gnomon__timer_bits) | 1u << bit);
        if (!reader_runs)
            reader_start();
        return GNOMON_OK;
    }
    return gnomon__fail(GNOMON_EFULL,
                        "%u views time devices already, no more can: give them "
                        "the same filter and schedule",
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
    if (!bits && reader_runs)
        reader_stop();
    if (!bits && gnomon__reader_lock(0)) {
        gnomon__clocks_free();
        gnomon__reader_unlock();
    }
    gnomon__device_stats_drop(generation);
}

/* ---- The end ---------------------------------------------------------------- */

static void timers_at_exit(void)
{
    if (!gnomon__os_is_owner())
        return;
    gnomon__timers_read(END_WAIT_NS, 1);
    int locked = gnomon__reader_lock(END_WAIT_NS);
    store_relaxed(&gnomon__timers_closed, 1);
    store_relaxed(&gnomon__timer_bits, 0);
    if (locked)
        gnomon__reader_unlock();
}

void gnomon__timers_end_watch(void)
{
    static uint32_t is_watched;
    if (!swap_acq_rel(&is_watched, 1) && atexit(timers_at_exit))
        store_relaxed(&is_watched, 0); /* another lane may have more luck */
}

void gnomon__timers_forget(void)
{
    memset(gnomon__timer_views, 0, sizeof gnomon__timer_views);
    gnomon__timer_bits = 0;
    reader_runs = reader_ends = reader_is_over = 0;
    gnomon__inherited(gnomon__lanes);
    gnomon__lanes = NULL;
    gnomon__reader_forget();
    gnomon__clocks_forget();
    gnomon__describe_forget();
    gnomon__device_stats_forget();
}
