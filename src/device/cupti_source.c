/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The source opens, flushes and closes in control calls.
 *
 * CUPTI's callback runs inside the host's calls of CUDA, at their begin and their end. It
 * takes no memory, no lock but to wake a thread, and calls neither CUDA nor CUPTI. A call of
 * the runtime calls the driver, which is one launch. Either both have one correlation, which
 * is noted once, or each has its own: then both are noted, as work may carry any of the two.
 *
 * A thread makes all calls of CUPTI that could take long, and reads what it gives back, so
 * that no marking thread does. Another one waits for the device, where that is asked for, and
 * lasts no longer; while it does, records are read on.
 *
 * At the process's end CUPTI may be gone before us: an exit handler that is registered
 * at the first launch, when CUDA's own are, reads the last records. No call follows. */
#include "device/cupti_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_driver.h"
#include "device/cupti_driver.h"
#include "device/cupti_reading.h"
#include "device/cupti_records.h"
#include "device/worker.h"
#include "mark/upcall.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/process.h"
#include "platform/tls.h"

#define LATE_LOOKS 5 /* for records that are missing, ... */
#define LATE_EACH_NS 20000000u
#define FLUSH_EXIT_NS 1000000000ull /* at the end of the process */
#define CONTEXTS 16u /* with more, those beyond are not waited for */
/* A quarter of the notes that there are if memory is not short. */
#define MANY_CALLS 16384u

static int64_t cupti_pid; /* of the process that opened it; 0: none did */
static struct {
    uint32_t source_number; /* 0: it is closed */
    void *subscriber;
    uint32_t kinds_recorded; /* bits of gnomon__cupti_layouts that are on */
    uint8_t callbacks_on[2][GNOMON__CUPTI_IDS]; /* likewise */
    void *launch_contexts[CONTEXTS];
    uint32_t has_launched, captures_open;
    uint64_t kernels_launched;
    uint32_t launches_open; /* of these, which began and have not ended */
    gnomon__worker_state worker;
    gnomon__os_thread waiter;
    int has_waiter;      /* it was started, and was not joined */
    uint32_t is_waiting; /* for the device */
} of_cupti GNOMON__OF_PROCESS;
static int has_buffers;
static uint32_t threads_are_known;
static uint32_t kinds_wanted_last;   /* bits of 1 << gnomon_device_work_kind */
static int calls_wanted[2] = {1, 1}; /* of the runtime, the driver */
static uint32_t many_calls_from; /* the correlation at which they were read */
static uint32_t has_exit_handler;
static uint32_t cupti_is_gone; /* the process ends: no call may follow */
static char fatal_text[256];   /* written once, before its word */
static uint32_t is_fatal, has_fatal_text;
static char cupti_why[512];

void (*gnomon__cupti_at_many_calls)(void) = gnomon__cupti_flush_soon;

/* The runtime's call that is open on the thread, whose calls of the driver are inside it. */
static __thread struct {
    uint32_t correlation; /* 0: none */
    enum gnomon__cupti_class does;
} runtime_call GNOMON__TLS;

/* The line of an error after which CUPTI has ended itself; NULL: there was none. */
static const char *cupti_fatal(void)
{
    return load_acquire(&has_fatal_text) ? fatal_text : NULL;
}

/* Nothing of CUPTI may be called any more. */
static int cupti_is_at_end(void)
{
    return load_acquire(&cupti_is_gone) || cupti_fatal();
}

static int cupti_is_ours(void)
{
    return load_relaxed(&of_cupti.source_number) &&
           cupti_pid == gnomon__os_pid();
}

/* ---- The callback ------------------------------------------------------------------ */

static void note_context(void *context)
{
    void *none = NULL;
    for (uint32_t i = 0; context && i < CONTEXTS; i++) {
        void *known = load_relaxed(&of_cupti.launch_contexts[i]);
        if (known == context)
            return;
        if (!known) {
            if (cas_acq_rel(&of_cupti.launch_contexts[i], &none, context))
                return;
            none = NULL;
        }
    }
}

static void forget_context(void *context)
{
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        void *known = context;
        (void)cas_acq_rel(&of_cupti.launch_contexts[i], &known, NULL);
    }
}

/* What began before it was counted may end. */
static void count_end(uint32_t *of)
{
    uint32_t open = load_relaxed(of);
    while (open && !cas_acq_rel(of, &open, open - 1))
        ;
}

static int is_done(const cupti_call_data *call)
{
    return call->result && *call->result == 0;
}

/* A captured launch launches nothing. */
static void count_kernel(const cupti_call_data *call)
{
    if (is_done(call) && !load_relaxed(&of_cupti.captures_open) &&
        load_relaxed(&of_cupti.kinds_recorded) &
            1u) /* the first of gnomon__cupti_layouts */
        add_relaxed(&of_cupti.kernels_launched, 1);
    count_end(&of_cupti.launches_open);
}

static void cupti_at_exit(void);

/* Inside the host's launch, once. */
static void register_exit(void)
{
    int error = errno, cancel = gnomon__os_cancel_off();
    (void)atexit(cupti_at_exit);
    gnomon__os_cancel_back(cancel);
    errno = error;
}

static void on_launch(const cupti_call_data *call)
{
    if (unlikely(!load_relaxed(&has_exit_handler)) &&
        !swap_acq_rel(&has_exit_handler, 1))
        register_exit();
    note_context(call->context);
    if (!load_relaxed(&of_cupti.has_launched))
        store_relaxed(&of_cupti.has_launched, 1);
}

static void on_fatal(const cupti_state_data *state)
{
    uint32_t first = 0;
    if (!cas_acq_rel(&is_fatal, &first, 1))
        return;
    snprintf(fatal_text, sizeof fatal_text,
             "CUPTI has ended itself: error %d: %s", state->result,
             state->message ? state->message : "it does not say why");
    store_release(&has_fatal_text, 1);
}

static void count_calls(uint32_t correlation)
{
    if (correlation - load_relaxed(&many_calls_from) < MANY_CALLS)
        return;
    store_relaxed(&many_calls_from, correlation);
    gnomon__cupti_at_many_calls();
}

/* Whether a call is one launch of a kernel; that of the driver inside it is not another. */
static int is_kernel_launch(enum gnomon__cupti_class does, int is_driver)
{
    return does == GNOMON__CUPTI_KERNEL_LAUNCH &&
           !(is_driver && runtime_call.does == GNOMON__CUPTI_KERNEL_LAUNCH);
}

static void on_begin(uint32_t number, const cupti_call_data *call,
                     enum gnomon__cupti_class does, int is_driver)
{
    if (is_kernel_launch(does, is_driver))
        add_relaxed(&of_cupti.launches_open, 1);
    if (is_driver && call->correlation == runtime_call.correlation)
        return;
    if (!is_driver) {
        runtime_call.correlation = call->correlation;
        runtime_call.does = does;
    }
    int is_own = gnomon__os_is_ours();
    if (!is_own &&
        (does == GNOMON__CUPTI_LAUNCH || does == GNOMON__CUPTI_KERNEL_LAUNCH))
        on_launch(call);
    gnomon__cupti_listens->launched(number, call->correlation, is_own);
    count_calls(call->correlation);
}

static void on_end(const cupti_call_data *call, enum gnomon__cupti_class does,
                   int is_driver)
{
    if (!is_driver) {
        runtime_call.correlation = 0;
        runtime_call.does = GNOMON__CUPTI_UNKNOWN;
    }
    if (does == GNOMON__CUPTI_CAPTURE_BEGINS && is_done(call))
        add_relaxed(&of_cupti.captures_open, 1);
    if (does == GNOMON__CUPTI_CAPTURE_ENDS)
        count_end(&of_cupti.captures_open);
    if (is_kernel_launch(does, is_driver))
        count_kernel(call);
}

static void on_call(void *user, int domain, uint32_t id, const void *data)
{
    uint32_t number = load_acquire(&of_cupti.source_number);
    (void)user;
    if (!number || gnomon__os_is_copy())
        return;
    if (domain == CUPTI_STATE && id == CUPTI_FATAL_ERROR)
        on_fatal(data);
    if (domain == CUPTI_RESOURCES && id == CUPTI_CONTEXT_ENDS)
        forget_context(((const cupti_resource_data *)data)->context);
    if (domain != CUPTI_DRIVER_API && domain != CUPTI_RUNTIME_API)
        return;
    int is_driver = domain == CUPTI_DRIVER_API;
    enum gnomon__cupti_class does = gnomon__cupti_class_of(is_driver, id);
    const cupti_call_data *call = data;
    if (call->site == 0)
        on_begin(number, call, does, is_driver);
    else
        on_end(call, does, is_driver);
}

/* ---- What is on -------------------------------------------------------------------- */

/* What is recorded is noted, so that it is found below its scope. */
static int is_called_back(int is_driver, uint32_t id, uint32_t kinds)
{
    enum gnomon__cupti_class does = gnomon__cupti_class_of(is_driver, id);
    int calls = (kinds >> GNOMON_DEVICE_CALL & 1) && calls_wanted[is_driver];
    int waits = kinds >> GNOMON_DEVICE_SYNC & 1;
    if (does > GNOMON__CUPTI_WAIT)
        return kinds != 0;
    return (calls && does >= GNOMON__CUPTI_OTHER) ||
           (waits && does == GNOMON__CUPTI_WAIT);
}

/* One call that CUPTI refuses is no reason to have none: its version may know more names
 * than it can call back for. The first code is kept for when all fail. */
static int set_callbacks(uint32_t kinds)
{
    int first = CUPTI_OK, works = 0;
    for (int is_driver = 0; is_driver < 2; is_driver++)
        for (uint32_t id = 1; id < GNOMON__CUPTI_IDS; id++) {
            uint8_t *is = &of_cupti.callbacks_on[is_driver][id];
            int on = is_called_back(is_driver, id, kinds);
            if (on == *is)
                continue;
            int code = gnomon__cupti()->EnableCallback(
                (uint32_t)on, of_cupti.subscriber,
                is_driver ? CUPTI_DRIVER_API : CUPTI_RUNTIME_API, id);
            if (code == CUPTI_OK)
                *is = (uint8_t)on;
            first = first ? first : code;
            works |= code == CUPTI_OK;
        }
    return works ? CUPTI_OK : first;
}

static void set_attribute(int attribute, uint8_t value)
{
    size_t size = sizeof value;
    (void)gnomon__cupti()->SetAttribute(attribute, &size, &value);
}

/* After the kind is on: that turns all its calls on again. */
static void leave_out_noise(uint32_t kind)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    int is_driver = kind == GNOMON__CUPTI_DRIVER;
    cupti_result (*enable)(uint32_t id, uint8_t is_on) =
        is_driver ? cupti->EnableDriverApi : cupti->EnableRuntimeApi;
    if (!enable || (!is_driver && kind != GNOMON__CUPTI_RUNTIME))
        return;
    for (uint32_t id = 1; id < GNOMON__CUPTI_IDS; id++)
        if (gnomon__cupti_class_of(is_driver, id) == GNOMON__CUPTI_NOISE)
            (void)enable(id, 0);
}

static int record_kind(const gnomon__cupti_layout *is)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const char *name = NULL;
    int code = cupti->Enable(is->kind);
    if (!code)
        leave_out_noise(is->kind);
    else if (is->of != GNOMON_DEVICE_KERNEL) {
        if (cupti->GetResultString(code, &name) || !name)
            name = "an unknown error";
        gnomon__log("%s: %s (%d): it does not record kind %u, which the report "
                    "will lack",
                    gnomon__cupti_symbol.Enable, name, code,
                    (unsigned)is->kind);
        code = CUPTI_OK;
    }
    return code;
}

static int is_kind_wanted(const gnomon__cupti_layout *is, uint32_t kinds)
{
    return (kinds >> is->of & 1) &&
           (is->kind != GNOMON__CUPTI_RUNTIME || calls_wanted[0]) &&
           (is->kind != GNOMON__CUPTI_DRIVER || calls_wanted[1]);
}

/* These kinds, bits of 1 << gnomon_device_work_kind, and no others; of calls, those that are
 * wanted. A kind that CUPTI refuses is left out with a line, but kernels: then its code, and
 * *symbol is the call that failed. */
static int record_kinds(uint32_t kinds, const char **symbol)
{
    int code = set_callbacks(kinds);
    if (gnomon__cupti_is_one_of_several() && !of_cupti.kinds_recorded)
        set_attribute(CUPTI_WHOLE_GRAPHS, kinds >> GNOMON_DEVICE_GRAPH & 1);
    *symbol = gnomon__cupti_symbol.EnableCallback;
    for (size_t i = 0; !code && i < GNOMON__CUPTI_ASKED; i++) {
        const gnomon__cupti_layout *is = &gnomon__cupti_layouts[i];
        int is_on = of_cupti.kinds_recorded >> i & 1,
            on = is_kind_wanted(is, kinds);
        *symbol = gnomon__cupti_symbol.Enable;
        if (on && !is_on)
            code = record_kind(is);
        else if (is_on && !on)
            (void)gnomon__cupti()->Disable(is->kind);
        if (!code)
            store_relaxed(&of_cupti.kinds_recorded,
                          (of_cupti.kinds_recorded & ~(1u << i)) | (uint32_t)on
                                                                       << i);
    }
    return code;
}

/* ---- The subscription ------------------------------------------------------------------- */

static void unsubscribe(void)
{
    store_release(&of_cupti.source_number, 0);
    if (of_cupti.subscriber) {
        set_attribute(CUPTI_ZEROED_BUFFERS, 0); /* others do not know */
        gnomon__cupti_leave(of_cupti.subscriber);
    }
    of_cupti.subscriber = NULL;
    store_relaxed(&of_cupti.kinds_recorded, 0);
}

static void forget_launches(void)
{
    store_relaxed(&of_cupti.kinds_recorded, 0);
    memset(of_cupti.callbacks_on, 0, sizeof of_cupti.callbacks_on);
    memset(of_cupti.launch_contexts, 0, sizeof of_cupti.launch_contexts);
    store_relaxed(&of_cupti.captures_open, 0);
    store_relaxed(&of_cupti.has_launched, 0);
    store_relaxed(&of_cupti.kernels_launched, 0);
    store_relaxed(&of_cupti.launches_open, 0);
}

/* Buffers of threads would be given back when they are full, of a quiet thread after its
 * notes are gone. What CUPTI refuses here only costs. */
static int give_buffers(void)
{
    if (!gnomon__cupti_is_pytorch_here())
        set_attribute(CUPTI_ZEROED_BUFFERS, 1);
    if (gnomon__cupti_version() >= GNOMON__CUPTI_12_3)
        set_attribute(CUPTI_BUFFERS_OF_THREADS, 0);
    return gnomon__cupti()->RegisterCallbacks(gnomon__cupti_buffer_requested,
                                              gnomon__cupti_buffer_completed);
}

/* Nothing of CUPTI's is changed before it is known that nobody else has it. */
static int subscribe_as(int is_one_of_several, const char **symbol)
{
    *symbol = gnomon__cupti_symbol.Subscribe;
    int code =
        gnomon__cupti_join(&of_cupti.subscriber, on_call, is_one_of_several);
    if (code) {
        of_cupti.subscriber = NULL;
        return code;
    }
    *symbol = gnomon__cupti_symbol.RegisterCallbacks;
    code = give_buffers();
    if (code)
        unsubscribe();
    return code;
}

/* Subscribes as one of several subscribers, if this CUPTI can, else as the only one. 0, or
 * CUPTI's error code. */
static int subscribe(uint32_t number, const char **symbol)
{
    int is_one_of_several = gnomon__cupti_is_for_several();
    int code = subscribe_as(is_one_of_several, symbol);
    if (code && is_one_of_several)
        code = subscribe_as(0, symbol);
    if (code)
        return code;
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    forget_launches();
    (void)cupti->EnableCallback(1, of_cupti.subscriber, CUPTI_RESOURCES,
                                CUPTI_CONTEXT_ENDS);
    (void)cupti->EnableCallback(1, of_cupti.subscriber, CUPTI_STATE,
                                CUPTI_FATAL_ERROR);
    store_release(&of_cupti.source_number, number);
    return CUPTI_OK;
}

/* ---- Reading ---------------------------------------------------------------------------- */

uint64_t gnomon__cupti_launched(void)
{
    return load_relaxed(&of_cupti.kernels_launched);
}

/* Whether so many kernels are launched, and none is on the way. */
static int is_balance_due(uint64_t launched)
{
    return !load_relaxed(&of_cupti.launches_open) &&
           launched == gnomon__cupti_launched();
}

/* Kernels were launched, and two flushes in a row brought no records of them, while
 * CUPTI has no buffer of gnomon: another profiler has given CUPTI its buffers. */
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
        gnomon__cupti_balance(load_relaxed(&of_cupti.source_number), launched);
}

#define CUPTI_IS_FULL GNOMON__WORKER_OWN      /* CUPTI gave a buffer back */
#define CUPTI_SOON (GNOMON__WORKER_OWN << 1u) /* flush before it is time */

/* Makes CUPTI return the records of finished work (at the end, all) and passes them on; or
 * passes on only what it has returned already. */
static void cupti_round(uint32_t why)
{
    static int is_logged;
    int ends = (why & GNOMON__WORKER_ENDS) != 0;
    int is_flush =
        ends || (why & (GNOMON__WORKER_ASKED | CUPTI_SOON)) ||
        ((why & GNOMON__WORKER_DUE) && load_relaxed(&of_cupti.has_launched));
    if (cupti_is_at_end()) {
        if (cupti_fatal() && !is_logged)
            gnomon__log("%s: nothing more is recorded", cupti_fatal());
        is_logged |= cupti_fatal() != NULL;
        return;
    }
    if (is_flush)
        (void)gnomon__cupti()->FlushAll(ends ? CUPTI_FLUSH_FORCED : 0);
    uint64_t read =
        gnomon__cupti_read_full(load_relaxed(&of_cupti.source_number),
                                (int)load_relaxed(&threads_are_known));
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
    .now = &of_cupti.worker,
    .lock = GNOMON__OS_LOCK,
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

static int wait_for_context(const gnomon__cuda_calls *cu, void *context)
{
    int mode;
    if (gnomon__cuda_enter(context, &mode))
        return 0;
    int code = cu->CtxSynchronize();
    gnomon__cuda_leave(mode);
    return code == CUDA_OK;
}

/* Until all that was launched is over. Does nothing where the driver refuses, or while a
 * graph is captured, which waiting would spoil. What is launched meanwhile raises the word
 * anew. */
static void wait_for_contexts(void)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    if (!swap_acq_rel(&of_cupti.has_launched, 0))
        return;
    int is_over = cu && cu->CtxSynchronize;
    for (uint32_t i = 0; is_over && i < CONTEXTS; i++) {
        void *context = load_acquire(&of_cupti.launch_contexts[i]);
        is_over = !load_relaxed(&of_cupti.captures_open);
        if (is_over && context)
            is_over = wait_for_context(cu, context);
    }
    if (!is_over)
        store_relaxed(&of_cupti.has_launched, 1);
}

static void cupti_wait_main(void *unused)
{
    (void)unused;
    wait_for_contexts();
    store_release(&of_cupti.is_waiting, 0);
    (void)gnomon__os_wake(&of_cupti.is_waiting);
}

static int waiter_is_over(uint64_t until)
{
    uint64_t now = gnomon__os_monotonic_ns();
    gnomon__os_wait_until(&of_cupti.is_waiting, 0,
                          until > now ? until - now : 0);
    int is_over = !load_acquire(&of_cupti.is_waiting);
    if (is_over && of_cupti.has_waiter)
        gnomon__os_thread_join(&of_cupti.waiter);
    of_cupti.has_waiter &= !is_over;
    return is_over;
}

/* Whether all that was launched is over. If an earlier flush still waits, it is waited
 * for first. If no thread can be started, or patience ends, work that is not over is
 * reported later. */
static int wait_for_device(uint64_t until)
{
    if (!waiter_is_over(until))
        return 0;
    if (!load_relaxed(&of_cupti.has_launched))
        return 1;
    store_relaxed(&of_cupti.is_waiting, 1);
    of_cupti.has_waiter = !gnomon__os_thread_start(
        &of_cupti.waiter, "gnomon-wait", cupti_wait_main, NULL);
    if (!of_cupti.has_waiter)
        store_relaxed(&of_cupti.is_waiting, 0);
    return waiter_is_over(until) && !load_relaxed(&of_cupti.has_launched);
}

/* Tells all that is over. Waits for the device at most so long, and a second for CUPTI. */
static void source_flush(void *self, uint64_t patience_ns)
{
    (void)self;
    if (!cupti_is_ours())
        return;
    uint64_t launched = gnomon__cupti_launched();
    int is_over = patience_ns && !cupti_is_at_end() &&
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
        gnomon__cupti_balance(load_relaxed(&of_cupti.source_number), launched);
}

/* ---- The process's end ------------------------------------------------------------------ */

/* The last flush that is asked for finds that it is the end: then the thread has no call
 * under way, if it does not hang in one. */
static void cupti_at_exit(void)
{
    if (!gnomon__os_is_owner() || !load_relaxed(&of_cupti.source_number))
        return;
    int cancel = gnomon__os_cancel_off();
    int is_inside = gnomon__upcall_exit_enter();
    source_flush(NULL, FLUSH_EXIT_NS);
    store_release(&cupti_is_gone, 1);
    (void)gnomon__worker_ask(&cupti_worker, 0);
    if (is_inside)
        gnomon__upcall_exit_leave();
    gnomon__os_cancel_back(cancel);
}

/* ---- Open and close --------------------------------------------------------------------- */

static int cupti_refuse(const char *symbol, int code, const char **why)
{
    gnomon__cupti_explain(cupti_why, sizeof cupti_why, symbol, code);
    *why = cupti_why;
    unsubscribe();
    return GNOMON_ESTATE;
}

static int cupti_begin(uint32_t number, const char **why)
{
    const char *symbol;
    int code = subscribe(number, &symbol);
    if (code)
        return cupti_refuse(symbol, code, why);
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    gnomon__cupti_clock_start(gnomon__cupti_is_one_of_several());
    store_relaxed(&threads_are_known,
                  cupti->SetThreadIdType &&
                      !cupti->SetThreadIdType(CUPTI_SYSTEM_THREADS));
    return GNOMON_OK;
}

/* What a host needs only once. */
static int cupti_prepare(const char **why)
{
    if (cupti_is_at_end())
        *why = cupti_fatal() ? cupti_fatal() : "CUDA has ended";
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
    int was_open = cupti_is_ours();
    int code = was_open ? GNOMON_OK : cupti_prepare(why);
    if (!code && !was_open) {
        gnomon__os_pin_module(&cupti_pid); /* for callbacks */
        gnomon__cupti_read_full(0, 0);     /* of an earlier time */
        gnomon__cupti_balance(0, 0);
        code = cupti_begin(number, why);
    }
    if (code)
        return code;
    cupti_pid = gnomon__os_pid();
    kinds_wanted_last = kinds;
    code = record_kinds(kinds, &symbol);
    if (code)
        return was_open ? GNOMON_ESTATE : cupti_refuse(symbol, code, why);
    gnomon__worker_start(&cupti_worker);
    return GNOMON_OK;
}

/* Passes on what CUPTI has; unfinished work is counted as lost. Records of buffers
 * that CUPTI does not return even when forced will never come. */
static void source_close(void *self)
{
    const char *symbol;
    (void)self;
    if (!cupti_is_ours())
        return;
    int is_at_end = cupti_is_at_end();
    if (!is_at_end)
        (void)record_kinds(0, &symbol);
    uint64_t rows = load_relaxed(&gnomon__cupti_rows_told);
    uint64_t launched = gnomon__cupti_launched();
    if (gnomon__worker_stop(&cupti_worker) &&
        rows == load_relaxed(&gnomon__cupti_rows_told) &&
        is_balance_due(launched))
        gnomon__cupti_balance(load_relaxed(&of_cupti.source_number), launched);
    store_release(&of_cupti.source_number, 0);
    if (!is_at_end)
        unsubscribe();
}

static const gnomon_device_source cupti_source = {
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
    calls_wanted[0] = runtime;
    calls_wanted[1] = driver;
    if (cupti_is_ours() && !cupti_is_at_end())
        (void)record_kinds(kinds_wanted_last, &symbol);
}

const gnomon_device_source *gnomon__cupti_source(void)
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

/* ---- Numbers of streams ---------------------------------------------------------------- */

int gnomon__cupti_knows_streams(void)
{
    return load_acquire(&of_cupti.source_number) != 0 &&
           !gnomon__os_is_copy() && !cupti_is_at_end() &&
           gnomon__cupti()->GetStreamIdEx;
}

/* Nothing is kept: a handle may name another stream after it was destroyed, and then has
 * another number. Without a context, as CUPTI's manual advises: it would only be compared
 * with the stream's. CUPTI may be left meanwhile by another thread; it stays loaded, and
 * answers without a subscriber too. */
int gnomon__cupti_stream_number(void *stream, int is_own, uint32_t *number)
{
    return !gnomon__cupti()->GetStreamIdEx(NULL, stream, is_own != 0, number) &&
           *number != CUPTI_NO_STREAM &&
           (*number || gnomon__cupti_version() < GNOMON__CUPTI_13_2);
}
