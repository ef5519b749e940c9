/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The source: it opens, flushes and closes in control calls.
 *
 * At the process's end CUPTI may be gone before us: an exit handler that is registered
 * at the first launch, when CUDA's own are, reads the last records. No call follows. */
#include "device/cupti_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cupti_buffers.h"
#include "device/cupti_clock.h"
#include "device/cupti_driver.h"
#include "device/cupti_flushes.h"
#include "device/cupti_names.h"
#include "device/cupti_reading.h"
#include "device/cupti_several.h"
#include "device/cupti_subscriber.h"
#include "mark/upcall.h"
#include "platform/os.h"
#include "platform/os_calls.h"

static int64_t cupti_pid; /* of the process that opened it; 0: none did */
static int is_cupti_open, has_buffers, has_system_threads;
static uint32_t cupti_recorded; /* kinds */
static char cupti_why[512];

/* ---- The process's end ------------------------------------------------------------------ */

static void cupti_at_exit(void)
{
    if (!gnomon__os_is_owner() || !is_cupti_open)
        return;
    int cancel = gnomon__os_cancel_off();
    int is_inside = gnomon__upcall_exit_enter();
    gnomon__cupti_end();
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
    has_system_threads =
        cupti->SetThreadIdType && !cupti->SetThreadIdType(CUPTI_SYSTEM_THREADS);
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
        has_buffers = gnomon__cupti_buffers_make(gnomon__cupti_on_full_buffer);
        *why = has_buffers ? NULL : "there is no memory for its records";
    }
    return *why ? GNOMON_ESTATE : GNOMON_OK;
}

static int cupti_is_ours(void)
{
    return is_cupti_open && cupti_pid == gnomon__os_pid();
}

static int cupti_open_source(void *self, uint32_t number, uint32_t kinds,
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
    gnomon__cupti_flushes_start(number, has_system_threads);
    return GNOMON_OK;
}

static void cupti_flush_source(void *self, uint64_t patience_ns)
{
    (void)self;
    if (cupti_is_ours())
        gnomon__cupti_flush(patience_ns);
}

static void cupti_close_source(void *self)
{
    const char *symbol;
    (void)self;
    if (!cupti_is_ours())
        return;
    int is_at_end = gnomon__cupti_is_at_end();
    if (!is_at_end)
        (void)gnomon__cupti_record(0, &symbol);
    gnomon__cupti_flushes_stop();
    if (!is_at_end)
        gnomon__cupti_unsubscribe();
    is_cupti_open = 0;
}

static const gnomon_activity_source cupti_source = {
    .struct_size = sizeof cupti_source,
    .abi = GNOMON_ABI,
    .name = "CUPTI",
    .open = cupti_open_source,
    .close = cupti_close_source,
    .flush = cupti_flush_source,
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
    gnomon__cupti_flushes_forget();
    is_cupti_open = 0;
}
