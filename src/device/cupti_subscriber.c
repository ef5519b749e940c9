/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The callback runs inside the host's calls of CUDA, at their begin and their end. It
 * takes no lock and no memory, and calls neither CUDA nor CUPTI.
 *
 * A call of the runtime calls the driver, which is one launch. Either both have one
 * correlation, which is noted once, or each has its own: then both are noted, as work may
 * carry any of the two. */
#include "device/cupti_subscriber.h"

#include <stdio.h>
#include <string.h>

#include "device/cuda_driver.h"
#include "device/cupti_driver.h"
#include "device/cupti_reading.h"
#include "device/cupti_records.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/tls.h"

#define CONTEXTS 16u /* with more, those beyond are not waited for */
/* A quarter of the notes that there are if memory is not short. */
#define MANY_CALLS 16384u

static void *cupti_subscriber;
static uint32_t source_number;       /* 0: callbacks do nothing */
static uint32_t kinds_recorded;      /* bits of cupti_kinds that are on */
static int calls_wanted[2] = {1, 1}; /* of the runtime, the driver */
static uint8_t callbacks_on[2][GNOMON__CUPTI_IDS]; /* likewise */
static void *launch_contexts[CONTEXTS];
static uint32_t has_launched, captures_open;
static uint64_t kernels_launched;
static uint32_t launches_open;   /* of these, which began and have not ended */
static uint32_t many_calls_from; /* the correlation at which they were read */
static void (*at_first_launch)(void), (*at_many_calls)(void);
static uint32_t cupti_is_gone; /* the process ends: no call may follow */
static char fatal_text[256];   /* written once, before its word */
static uint32_t is_fatal, has_fatal_text;

/* The runtime's call that is open on the thread, whose calls of the driver are inside it. */
static __thread struct {
    uint32_t correlation; /* 0: none */
    enum gnomon__cupti_class does;
} runtime_call GNOMON__TLS;

void gnomon__cupti_at_launches(void (*at_launch)(void), void (*at_many)(void))
{
    store_release(&at_many_calls, at_many);
    store_release(&at_first_launch, at_launch);
}

const char *gnomon__cupti_fatal(void)
{
    return load_acquire(&has_fatal_text) ? fatal_text : NULL;
}

void gnomon__cupti_ends(void)
{
    store_release(&cupti_is_gone, 1);
}

int gnomon__cupti_is_at_end(void)
{
    return load_acquire(&cupti_is_gone) || gnomon__cupti_fatal();
}

/* ---- The callback ------------------------------------------------------------------ */

static void note_context(void *context)
{
    void *none = NULL;
    for (uint32_t i = 0; context && i < CONTEXTS; i++) {
        void *known = load_relaxed(&launch_contexts[i]);
        if (known == context)
            return;
        if (!known) {
            if (cas_acq_rel(&launch_contexts[i], &none, context))
                return;
            none = NULL;
        }
    }
}

static void forget_context(void *context)
{
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        void *known = context;
        (void)cas_acq_rel(&launch_contexts[i], &known, NULL);
    }
}

/* What began before it was counted may end. */
static void count_end(uint32_t *of)
{
    uint32_t open = load_relaxed(of);
    while (open && !cas_acq_rel(of, &open, open - 1))
        ;
}

static void count_capture(const cupti_call_data *call, int begins)
{
    if (!begins)
        count_end(&captures_open);
    else if (call->result && *call->result == 0)
        add_relaxed(&captures_open, 1);
}

/* A captured launch launches nothing. */
static void count_kernel(const cupti_call_data *call)
{
    if (call->result && *call->result == 0 && !load_relaxed(&captures_open) &&
        load_relaxed(&kinds_recorded) & 1u) /* the first of cupti_kinds */
        add_relaxed(&kernels_launched, 1);
    count_end(&launches_open);
}

static void on_launch(const cupti_call_data *call)
{
    void (*first)(void) = load_acquire(&at_first_launch);
    if (unlikely(first != NULL) && swap_acq_rel(&at_first_launch, NULL))
        first();
    note_context(call->context);
    if (!load_relaxed(&has_launched))
        store_relaxed(&has_launched, 1);
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

/* Of no call. */
static void on_other(int domain, uint32_t id, const void *data)
{
    const cupti_resource_data *resource = data;
    if (domain == CUPTI_STATE && id == CUPTI_FATAL_ERROR)
        on_fatal(data);
    else if (domain == CUPTI_RESOURCES && id == CUPTI_CONTEXT_ENDS)
        forget_context(resource->context);
}

static void count_calls(uint32_t correlation)
{
    if (correlation - load_relaxed(&many_calls_from) < MANY_CALLS)
        return;
    store_relaxed(&many_calls_from, correlation);
    void (*at_many)(void) = load_acquire(&at_many_calls);
    if (at_many)
        at_many();
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
        add_relaxed(&launches_open, 1);
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
    if (does == GNOMON__CUPTI_CAPTURE_BEGINS ||
        does == GNOMON__CUPTI_CAPTURE_ENDS)
        count_capture(call, does == GNOMON__CUPTI_CAPTURE_BEGINS);
    if (is_kernel_launch(does, is_driver))
        count_kernel(call);
}

static void on_call(void *user, int domain, uint32_t id, const void *data)
{
    uint32_t number = load_acquire(&source_number);
    (void)user;
    if (!number || gnomon__os_is_copy())
        return;
    if (domain != CUPTI_DRIVER_API && domain != CUPTI_RUNTIME_API) {
        on_other(domain, id, data);
        return;
    }
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
    int calls = (kinds >> GNOMON_ACTIVITY_CALL & 1) && calls_wanted[is_driver];
    int waits = kinds >> GNOMON_ACTIVITY_SYNC & 1;
    if (does > GNOMON__CUPTI_WAIT)
        return kinds != 0;
    return (calls && does >= GNOMON__CUPTI_OTHER) ||
           (waits && does == GNOMON__CUPTI_WAIT);
}

/* One call that CUPTI refuses is no reason to have none: its version may know more names
 * than it can call back for. The first code is kept for when all fail. */
static int set_callbacks(uint32_t kinds)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    int first = CUPTI_OK, works = 0;
    for (int is_driver = 0; is_driver < 2; is_driver++)
        for (uint32_t id = 1; id < GNOMON__CUPTI_IDS; id++) {
            uint8_t *is = &callbacks_on[is_driver][id];
            int on = is_called_back(is_driver, id, kinds);
            if (on == *is)
                continue;
            int code = cupti->EnableCallback(
                (uint32_t)on, cupti_subscriber,
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
static int subscribe(int is_one_of_several, const char **symbol)
{
    *symbol = gnomon__cupti_symbol.Subscribe;
    int code =
        gnomon__cupti_join(&cupti_subscriber, on_call, is_one_of_several);
    if (code) {
        cupti_subscriber = NULL;
        return code;
    }
    *symbol = gnomon__cupti_symbol.RegisterCallbacks;
    code = give_buffers();
    if (code)
        gnomon__cupti_unsubscribe();
    return code;
}

int gnomon__cupti_subscribe(uint32_t number, const char **symbol)
{
    int is_one_of_several = gnomon__cupti_is_for_several();
    int code = subscribe(is_one_of_several, symbol);
    if (code && is_one_of_several)
        code = subscribe(0, symbol);
    if (code)
        return code;
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    store_relaxed(&kinds_recorded, 0);
    memset(callbacks_on, 0, sizeof callbacks_on);
    memset(launch_contexts, 0, sizeof launch_contexts);
    store_relaxed(&captures_open, 0);
    store_relaxed(&has_launched, 0);
    store_relaxed(&kernels_launched, 0);
    store_relaxed(&launches_open, 0);
    (void)cupti->EnableCallback(1, cupti_subscriber, CUPTI_RESOURCES,
                                CUPTI_CONTEXT_ENDS);
    (void)cupti->EnableCallback(1, cupti_subscriber, CUPTI_STATE,
                                CUPTI_FATAL_ERROR);
    store_release(&source_number, number);
    return CUPTI_OK;
}

void gnomon__cupti_unsubscribe(void)
{
    store_release(&source_number, 0);
    if (cupti_subscriber) {
        set_attribute(CUPTI_ZEROED_BUFFERS, 0); /* others do not know */
        gnomon__cupti_leave(cupti_subscriber);
    }
    cupti_subscriber = NULL;
    store_relaxed(&kinds_recorded, 0);
}

/* ---- Numbers of streams ---------------------------------------------------------------- */

int gnomon__cupti_knows_streams(void)
{
    return load_acquire(&source_number) != 0 && !gnomon__os_is_copy() &&
           !gnomon__cupti_is_at_end() && gnomon__cupti()->GetStreamIdEx;
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

/* ---- Kinds --------------------------------------------------------------------------- */

static const struct {
    uint32_t kind, of; /* a gnomon_activity_kind */
} cupti_kinds[] = {{GNOMON__CUPTI_CONCURRENT_KERNEL, GNOMON_ACTIVITY_KERNEL},
                   {GNOMON__CUPTI_MEMCPY, GNOMON_ACTIVITY_COPY},
                   {GNOMON__CUPTI_MEMCPY2, GNOMON_ACTIVITY_COPY},
                   {GNOMON__CUPTI_MEMSET, GNOMON_ACTIVITY_SET},
                   {GNOMON__CUPTI_RUNTIME, GNOMON_ACTIVITY_CALL},
                   {GNOMON__CUPTI_DRIVER, GNOMON_ACTIVITY_CALL},
                   {GNOMON__CUPTI_SYNCHRONIZATION, GNOMON_ACTIVITY_SYNC},
                   {GNOMON__CUPTI_OVERHEAD, GNOMON_ACTIVITY_OVERHEAD},
                   {GNOMON__CUPTI_GRAPH_TRACE, GNOMON_ACTIVITY_GRAPH}};
#define CUPTI_KINDS (sizeof cupti_kinds / sizeof *cupti_kinds)

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

static int record_kind(uint32_t kind, uint32_t of)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const char *name = NULL;
    int code = cupti->Enable(kind);
    if (!code)
        leave_out_noise(kind);
    else if (of != GNOMON_ACTIVITY_KERNEL) {
        if (cupti->GetResultString(code, &name) || !name)
            name = "an unknown error";
        gnomon__log("%s: %s (%d): it does not record kind %u, which the report "
                    "will lack",
                    gnomon__cupti_symbol.Enable, name, code, (unsigned)kind);
        code = CUPTI_OK;
    }
    return code;
}

void gnomon__cupti_record_calls(int runtime, int driver)
{
    calls_wanted[0] = runtime;
    calls_wanted[1] = driver;
}

static int is_kind_wanted(size_t i, uint32_t kinds)
{
    uint32_t kind = cupti_kinds[i].kind;
    return (kinds >> cupti_kinds[i].of & 1) &&
           (kind != GNOMON__CUPTI_RUNTIME || calls_wanted[0]) &&
           (kind != GNOMON__CUPTI_DRIVER || calls_wanted[1]);
}

int gnomon__cupti_record(uint32_t kinds, const char **symbol)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    int code = set_callbacks(kinds);
    if (gnomon__cupti_is_one_of_several() && !kinds_recorded)
        set_attribute(CUPTI_WHOLE_GRAPHS, kinds >> GNOMON_ACTIVITY_GRAPH & 1);
    *symbol = gnomon__cupti_symbol.EnableCallback;
    for (size_t i = 0; !code && i < CUPTI_KINDS; i++) {
        int is_on = kinds_recorded >> i & 1, on = is_kind_wanted(i, kinds);
        *symbol = gnomon__cupti_symbol.Enable;
        if (on && !is_on)
            code = record_kind(cupti_kinds[i].kind, cupti_kinds[i].of);
        else if (is_on && !on)
            (void)cupti->Disable(cupti_kinds[i].kind);
        if (!code)
            store_relaxed(&kinds_recorded,
                          (kinds_recorded & ~(1u << i)) | (uint32_t)on << i);
    }
    return code;
}

/* ---- Waiting ------------------------------------------------------------------------- */

uint64_t gnomon__cupti_launched(void)
{
    return load_relaxed(&launches_open) ? GNOMON__CUPTI_LAUNCHES
                                        : load_relaxed(&kernels_launched);
}

int gnomon__cupti_has_launched(void)
{
    return (int)load_relaxed(&has_launched);
}

static int wait_for_context(const gnomon__cuda_calls *cu, void *context)
{
    int mode;
    if (gnomon__cuda_enter(context, &mode))
        return 0;
    int code = cu->CtxSynchronize();
    gnomon__cuda_leave(mode);
    return code == CUDA_OK;
}

/* What is launched meanwhile raises the word anew. */
void gnomon__cupti_wait(void)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    if (!swap_acq_rel(&has_launched, 0))
        return;
    int is_over = cu && cu->CtxSynchronize;
    for (uint32_t i = 0; is_over && i < CONTEXTS; i++) {
        void *context = load_acquire(&launch_contexts[i]);
        is_over = !load_relaxed(&captures_open);
        if (is_over && context)
            is_over = wait_for_context(cu, context);
    }
    if (!is_over)
        store_relaxed(&has_launched, 1);
}

void gnomon__cupti_subscriber_forget(void)
{
    cupti_subscriber = NULL;
    source_number = kinds_recorded = 0;
    has_launched = captures_open = launches_open = 0;
    memset(launch_contexts, 0, sizeof launch_contexts);
}
