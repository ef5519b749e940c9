/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The source: it opens, flushes and closes in control calls. A thread makes all calls of
 * CUPTI that could take long, and reads what it gives back, so that no marking thread does.
 * Another one waits for the device, where that is asked for, and lasts no longer; while it
 * does, records are read on.
 *
 * At the process's end CUPTI may be gone before us: an exit handler that is registered
 * at the first launch, when CUDA's own are, reads the last records. No call follows. */
#include "device/cupti_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cupti_clock.h"
#include "device/cupti_driver.h"
#include "device/cupti_reading.h"
#include "device/cupti_subscriber.h"
#include "device/worker.h"
#include "mark/upcall.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/os_calls.h"

#define LATE_LOOKS 5 /* for records that are missing, ... */
#define LATE_EACH_NS 20000000u
#define FLUSH_EXIT_NS 1000000000ull /* at the end of the process */

static int64_t cupti_pid; /* of the process that opened it; 0: none did */
static int is_cupti_open, has_buffers;
static uint32_t cupti_recorded; /* kinds */
static uint32_t cupti_number;   /* of the source; 0: nobody listens */
static uint32_t threads_are_known;
static char cupti_why[512];

/* ---- Reading ---------------------------------------------------------------------------- */

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

enum {
    CUPTI_IS_FULL = GNOMON__WORKER_OWN,    /* CUPTI gave a buffer back */
    CUPTI_SOON = GNOMON__WORKER_OWN << 1u, /* a flush is due before its time */
};

/* CUPTI gives back what is over, at the end all, and it is told; or only what was given back
 * already. */
static void cupti_round(uint32_t why)
{
    int ends = (why & GNOMON__WORKER_ENDS) != 0;
    int is_flush = ends || (why & (GNOMON__WORKER_ASKED | CUPTI_SOON)) ||
                   ((why & GNOMON__WORKER_DUE) && gnomon__cupti_has_launched());
    if (gnomon__cupti_is_at_end()) {
        log_fatal();
        return;
    }
    if (is_flush)
        (void)gnomon__cupti()->FlushAll(ends ? CUPTI_FLUSH_FORCED : 0);
    uint64_t read = gnomon__cupti_read_full(
        load_relaxed(&cupti_number), (int)load_relaxed(&threads_are_known));
    if (is_flush && !ends)
        look_for_others(read);
}

static gnomon__worker cupti_worker = {
    .name = "gnomon-cupti",
    .reads = "CUPTI's records",
    .silence = "CUPTI does not answer: some of the device's work is missing",
    .progress = &gnomon__cupti_rows_told,
    .round = cupti_round,
    .each_ns = 1000000000u, /* while work is launched */
    .lock = GNOMON__OS_LOCK(GNOMON__OS_OWN_CUPTI),
};

static void on_full_buffer(void)
{
    gnomon__worker_wake(&cupti_worker, CUPTI_IS_FULL);
}

void gnomon__cupti_flush_soon(void)
{
    gnomon__worker_wake(&cupti_worker, CUPTI_SOON);
}

/* ---- Waiting for the device ------------------------------------------------------------- */

static gnomon__os_thread cupti_waiter;
static int has_waiter;      /* it was started, and was not joined */
static uint32_t is_waiting; /* for the device */

static void cupti_wait_main(void *unused)
{
    (void)unused;
    gnomon__cupti_wait();
    store_release(&is_waiting, 0);
    (void)gnomon__os_wake(&is_waiting);
}

static int waiter_is_over(uint64_t until)
{
    uint64_t now = gnomon__os_monotonic_ns();
    gnomon__os_wait_until(&is_waiting, 0, until > now ? until - now : 0);
    int is_over = !load_acquire(&is_waiting);
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
    store_relaxed(&is_waiting, 1);
    has_waiter = !gnomon__os_thread_start(&cupti_waiter, "gnomon-wait",
                                          cupti_wait_main, NULL);
    if (!has_waiter)
        store_relaxed(&is_waiting, 0);
    return waiter_is_over(until) && !gnomon__cupti_has_launched();
}

static int cupti_is_ours(void)
{
    return is_cupti_open && cupti_pid == gnomon__os_pid();
}

/* Tells all that is over. Waits for the device at most so long, and a second for CUPTI. */
static void source_flush(void *self, uint64_t patience_ns)
{
    (void)self;
    if (!cupti_is_ours())
        return;
    uint64_t launched = gnomon__cupti_launched();
    int is_over = patience_ns && !gnomon__cupti_is_at_end() &&
                  wait_for_device(gnomon__os_monotonic_ns() + patience_ns);
    is_over &= gnomon__worker_ask(&cupti_worker, 0);
    /* A buffer comes back when all that is begun in it is over, and a thread may be just
     * about to give one: where records are missing they have some time to come. */
    for (int i = 0; i < LATE_LOOKS && is_over && is_balance_due(launched) &&
                    gnomon__cupti_misses(launched);
         i++) {
        gnomon__os_sleep_ns(LATE_EACH_NS);
        is_over = gnomon__worker_ask(&cupti_worker, 0);
    }
    if (is_over && is_balance_due(launched))
        gnomon__cupti_balance(load_relaxed(&cupti_number), launched);
}

/* ---- The process's end ------------------------------------------------------------------ */

/* The last flush that is asked for finds that it is the end: then the thread has no call
 * under way, if it does not hang in one. */
static void cupti_at_exit(void)
{
    if (!gnomon__os_is_owner() || !is_cupti_open)
        return;
    int cancel = gnomon__os_cancel_off();
    int is_inside = gnomon__upcall_exit_enter();
    source_flush(NULL, FLUSH_EXIT_NS);
    gnomon__cupti_ends();
    (void)gnomon__worker_ask(&cupti_worker, 0);
    if (is_inside)
        gnomon__upcall_exit_leave();
    gnomon__os_cancel_back(cancel);
}

/* Inside the host's launch, once. */
static void cupti_at_launch(void)
{
    int error = errno, cancel = gnomon__os_cancel_off();
    (void)atexit(cupti_at_exit);
    gnomon__os_cancel_back(cancel);
    errno = error;
}

/* ---- Open and close --------------------------------------------------------------------- */

static int cupti_refuse(const char *symbol, int code, const char **why)
{
    gnomon__cupti_explain(cupti_why, sizeof cupti_why, symbol, code);
    *why = cupti_why;
    gnomon__cupti_unsubscribe();
    return GNOMON_ESTATE;
}

static int cupti_begin(uint32_t number, const char **why)
{
    static int has_exit_handler;
    const char *symbol;
    int code = gnomon__cupti_subscribe(number, &symbol);
    if (code)
        return cupti_refuse(symbol, code, why);
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    gnomon__cupti_clock_start(gnomon__cupti_is_one_of_several());
    store_relaxed(&threads_are_known,
                  cupti->SetThreadIdType &&
                      !cupti->SetThreadIdType(CUPTI_SYSTEM_THREADS));
    if (!has_exit_handler)
        gnomon__cupti_at_launches(cupti_at_launch, gnomon__cupti_flush_soon);
    has_exit_handler = 1;
    return GNOMON_OK;
}

/* What a host needs only once. */
static int cupti_prepare(const char **why)
{
    if (gnomon__cupti_is_at_end())
        *why = gnomon__cupti_fatal() ? gnomon__cupti_fatal() : "CUDA has ended";
    else if (cupti_pid && cupti_pid != gnomon__os_pid())
        *why = "it does not work in a process that was forked from one "
               "where it was in use";
    else if (gnomon__cupti_load(why)) {
        if (!has_buffers)
            gnomon__cupti_names_read();
        has_buffers = gnomon__cupti_buffers_make(on_full_buffer);
        *why = has_buffers ? NULL : "there is no memory for its records";
    }
    return *why ? GNOMON_ESTATE : GNOMON_OK;
}

static int source_open(void *self, uint32_t number, uint32_t kinds,
                       const char **why)
{
    const char *symbol;
    (void)self;
    *why = NULL;
    if (is_cupti_open && !cupti_is_ours()) /* a child without fork handlers */
        gnomon__cupti_forget();
    int code = is_cupti_open ? GNOMON_OK : cupti_prepare(why);
    if (!code && !is_cupti_open) {
        gnomon__os_pin_module(&cupti_pid); /* for callbacks */
        gnomon__cupti_read_full(0, 0);     /* of an earlier time */
        gnomon__cupti_balance(0, 0);
        code = cupti_begin(number, why);
    }
    if (code)
        return code;
    cupti_pid = gnomon__os_pid();
    cupti_recorded = kinds;
    code = gnomon__cupti_record(kinds, &symbol);
    if (code)
        return is_cupti_open ? GNOMON_ESTATE : cupti_refuse(symbol, code, why);
    is_cupti_open = 1;
    store_relaxed(&cupti_number, number);
    gnomon__worker_start(&cupti_worker);
    return GNOMON_OK;
}

/* Tells what CUPTI has, also unfinished work, which is counted as lost. Where not even
 * force gives a buffer back, what is missing does not come. */
static void source_close(void *self)
{
    const char *symbol;
    (void)self;
    if (!cupti_is_ours())
        return;
    int is_at_end = gnomon__cupti_is_at_end();
    if (!is_at_end)
        (void)gnomon__cupti_record(0, &symbol);
    uint64_t rows = load_relaxed(&gnomon__cupti_rows_told);
    uint64_t launched = gnomon__cupti_launched();
    if (gnomon__worker_stop(&cupti_worker) &&
        rows == load_relaxed(&gnomon__cupti_rows_told) &&
        is_balance_due(launched))
        gnomon__cupti_balance(load_relaxed(&cupti_number), launched);
    store_relaxed(&cupti_number, 0);
    if (!is_at_end)
        gnomon__cupti_unsubscribe();
    is_cupti_open = 0;
}

static const gnomon_activity_source cupti_source = {
    .struct_size = sizeof cupti_source,
    .abi = GNOMON_ABI,
    .name = "CUPTI",
    .open = source_open,
    .close = source_close,
    .flush = source_flush,
};

void gnomon__cupti_calls_wanted(int runtime, int driver)
{
    const char *symbol;
    gnomon__cupti_record_calls(runtime, driver);
    if (cupti_is_ours() && !gnomon__cupti_is_at_end())
        (void)gnomon__cupti_record(cupti_recorded, &symbol);
}

const gnomon_activity_source *gnomon__cupti_source(void)
{
    return &cupti_source;
}

void gnomon__cupti_describe(int (*add)(const char *key, const char *json))
{
    char number[24];
    uint64_t error = gnomon__cupti_clock_error();
    if (!cupti_pid)
        return;
    snprintf(number, sizeof number, "%u", (unsigned)gnomon__cupti_version());
    add("gnomon.cupti.version", number);
    snprintf(number, sizeof number, "%llu", (unsigned long long)error);
    if (error)
        add("gnomon.cupti.clock_error_ns", number);
}

void gnomon__cupti_forget(void)
{
    gnomon__cupti_subscriber_forget();
    gnomon__worker_forget(&cupti_worker);
    has_waiter = is_cupti_open = 0;
    store_relaxed(&is_waiting, 0);
    store_relaxed(&cupti_number, 0);
}
