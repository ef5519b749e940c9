/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUDA as a gnomon_device, and gnomon_cuda_timer: two events that the host starts, stops
 * and reads itself. Only making a timer initializes CUDA: who has a stream has done so.
 *
 * While any thread captures a stream into a graph, the driver refuses calls that
 * could wait, and such a call makes the capture invalid. The calls made here do not
 * wait, so they run with the thread's capture mode set to relaxed.
 *
 * A thread that has not called CUDA has no context. It borrows the primary context
 * that the runtime would give it, where that is active. */
#include "gnomon/cuda.h"

#include <stdio.h>
#include <string.h>

#include "device/cuda_driver.h"
#include "device/cupti_source.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"

/* They are macros where stream 0 is compiled to be the thread's own. */
#undef gnomon_cuda_timer_start
#undef gnomon_cuda_timer_stop

#define STREAM_NON_BLOCKING 1u
#define OWN_STREAM 2u /* CU_STREAM_PER_THREAD */

#define CUDA_TRY(call, ...) \
    gnomon__cuda_failed(gnomon__cuda()->call(__VA_ARGS__), \
                        gnomon__cuda_symbol.call)

/* 0 and 1: the legacy stream, 2: the thread's own; all of the current context. */
static int cuda_is_special(const void *stream)
{
    return (uintptr_t)stream <= OWN_STREAM;
}

/* ---- Marking threads ----------------------------------------------------- */

/* Makes the primary context of a device in use current, until cuda_give_back. The
 * special streams belong to the current context, so for them only one device may be
 * in use. 0: the thread has a context, or none can be borrowed. */
static int cuda_borrow(const void *stream, cuda_device *lender)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    int count = 0, active_count = 0, is_active = 0;
    unsigned flags;
    void *context = NULL;
    int mode = CUDA_CAPTURE_RELAXED;
    if (cu->CtxGetCurrent(&context) || context || cu->DeviceGetCount(&count))
        return 0;
    cu->CaptureMode(&mode);
    for (cuda_device device; count-- > 0;)
        if (!cu->DeviceGet(&device, count) &&
            !cu->PrimaryState(device, &flags, &is_active) && is_active) {
            *lender = device;
            active_count++;
        }
    int is_lent = active_count &&
                  (active_count == 1 || !cuda_is_special(stream)) &&
                  !cu->PrimaryRetain(&context, *lender);
    if (is_lent && cu->CtxPush(context)) {
        (void)cu->PrimaryRelease(*lender);
        is_lent = 0;
    }
    cu->CaptureMode(&mode);
    return is_lent;
}

static void cuda_give_back(cuda_device lender)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    int mode = CUDA_CAPTURE_RELAXED;
    void *popped;
    cu->CaptureMode(&mode);
    cu->CtxPop(&popped);
    (void)cu->PrimaryRelease(lender);
    cu->CaptureMode(&mode);
}

typedef struct cuda_answer {
    int result;
    const char *call;
} cuda_answer;

#define CUDA_ASK(call, ...) \
    (cuda_answer) \
    { \
        gnomon__cuda()->call(__VA_ARGS__), gnomon__cuda_symbol.call \
    }

/* The answer of `call`, which is repeated with a borrowed context if it needs one. */
#define CUDA_BORROWING(answer, stream, call) \
    do { \
        cuda_device lender; \
        gnomon__os_ours(1); \
        answer = call; \
        if (unlikely(answer.result == CUDA_NO_CONTEXT) && \
            cuda_borrow(stream, &lender)) { \
            answer = call; \
            cuda_give_back(lender); \
        } \
        gnomon__os_ours(-1); \
    } while (0)

/* Whether a stream is captured; if not, its context and the context's id, which differs
 * from that of a context at the same address after a reset. The special streams stay
 * valid after a reset; for another stream that `is_known` the driver is asked nothing
 * more. */
static cuda_answer context_now(const gnomon__cuda_calls *cu, void *stream,
                               int is_known, gnomon_device_context *out)
{
    int captured = 0;
    unsigned long long life = 0;
    cuda_answer a = CUDA_ASK(StreamIsCapturing, stream, &captured);
    if (!a.result && captured)
        a.result = CUDA_CAPTURE_IMPLICIT;
    if (a.result || (is_known && !cuda_is_special(stream)))
        return a;
    if (cuda_is_special(stream))
        a = CUDA_ASK(CtxGetCurrent, &out->context);
    else
        a = CUDA_ASK(StreamGetCtx, stream, &out->context);
    if (!a.result && cu->CtxGetId)
        a = CUDA_ASK(CtxGetId, out->context, &life);
    out->id = life;
    return a;
}

static int cuda_context_of(void *stream, gnomon_device_context *out)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    cuda_answer a;
    if (!cu)
        return GNOMON_ENOENT;
    CUDA_BORROWING(a, stream, context_now(cu, stream, 0, out));
    return gnomon__cuda_failed(a.result, a.call);
}

static int cuda_check(void *stream, const gnomon_device_context *where)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    gnomon_device_context now = *where;
    cuda_answer a;
    CUDA_BORROWING(a, stream, context_now(cu, stream, 1, &now));
    int code = gnomon__cuda_failed(a.result, a.call);
    return !code && (now.context != where->context || now.id != where->id)
               ? GNOMON_ESTATE
               : code;
}

/* For that context, whichever one is current. */
static int cuda_event_create(const gnomon_device_context *where, void **event)
{
    int mode;
    gnomon__os_ours(1);
    int code = gnomon__cuda_failed(gnomon__cuda_enter(where->context, &mode),
                                   gnomon__cuda_symbol.CtxPush);
    if (!code) {
        code = CUDA_TRY(EventCreate, event, 0);
        gnomon__cuda_leave(mode);
    }
    gnomon__os_ours(-1);
    return code;
}

/* In a stream of its context. */
static cuda_answer record_event(void *event, void *stream)
{
    cuda_answer a;
    CUDA_BORROWING(a, stream, CUDA_ASK(EventRecord, event, stream));
    return a;
}

static int cuda_event_record(void *event, void *stream)
{
    cuda_answer a = record_event(event, stream);
    return gnomon__cuda_failed(a.result, a.call);
}

/* Sets a current context, which the driver's own calls need. The special streams use the
 * current one, if there is one. */
static int cuda_stream_number(void *stream, const gnomon_device_context *where,
                              uint32_t *number)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    void *current = NULL, *popped;
    if (!gnomon__cupti_knows_streams())
        return GNOMON_ENOENT;
    gnomon__os_ours(1);
    int is_pushed = !cu->CtxGetCurrent(&current) && !current &&
                    !cu->CtxPush(where->context);
    int is_known =
        gnomon__cupti_stream_number(cuda_is_special(stream) ? NULL : stream,
                                    (uintptr_t)stream == OWN_STREAM, number);
    if (is_pushed)
        cu->CtxPop(&popped);
    gnomon__os_ours(-1);
    return is_known ? GNOMON_OK : GNOMON_ENOENT;
}

/* False after a reset of the device, which destroys its events. *result: of the driver,
 * which may not know the context any more. */
static int has_context(const gnomon_device_context *where, int *result)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    unsigned long long life = where->id;
    *result = cu->CtxGetId ? cu->CtxGetId(where->context, &life) : 0;
    return !*result && life == where->id;
}

/* ---- The reader ---------------------------------------------------------- */

static int mode_before; /* of the reader's thread */

static int cuda_enter(const gnomon_device_context *where)
{
    int result;
    if (!has_context(where, &result))
        return result
                   ? gnomon__cuda_failed(result, gnomon__cuda_symbol.CtxGetId)
                   : GNOMON_ESTATE;
    return gnomon__cuda_failed(gnomon__cuda_enter(where->context, &mode_before),
                               gnomon__cuda_symbol.CtxPush);
}

static void cuda_leave(void)
{
    gnomon__cuda_leave(mode_before);
}

static int cuda_event_done(void *event)
{
    return CUDA_TRY(EventQuery, event);
}

static int cuda_event_elapsed(void *from, void *to, double *ns)
{
    float ms = 0;
    int code = CUDA_TRY(EventElapsed, &ms, from, to);
    *ns = (double)ms * 1e6;
    return code;
}

static void cuda_event_destroy(void *event)
{
    (void)CUDA_TRY(EventDestroy, event);
}

static int cuda_stream_create(const gnomon_device_context *where, void **stream)
{
    (void)where; /* it is current: cuda_enter */
    return CUDA_TRY(StreamCreate, stream, STREAM_NON_BLOCKING);
}

static void cuda_stream_destroy(void *stream)
{
    (void)CUDA_TRY(StreamDestroy, stream);
}

static int cuda_describe(const gnomon_device_context *where, int32_t *index,
                         char *name, size_t size)
{
    cuda_device device = -1;
    (void)where;
    int code = CUDA_TRY(CtxGetDevice, &device);
    *index = device;
    *name = 0;
    return code ? code : CUDA_TRY(DeviceGetName, name, (int)size, device);
}

/* The form of nvidia-smi: 4, 2, 2, 2 and 6 bytes. */
static void write_uuid(char *out, size_t size, const unsigned char *bytes)
{
    size_t used = (size_t)snprintf(out, size, "GPU-");
    for (int i = 0; i < 16 && used + 3 < size; i++)
        used += (size_t)snprintf(
            out + used, size - used, "%s%02x",
            i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

/* What a driver does not have, or refuses, stays unknown. */
static int cuda_identify(const gnomon_device_context *where,
                         gnomon_device_identity *out)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    cuda_device device = -1;
    unsigned char uuid[16] = {0};
    int processors = 0;
    size_t memory = 0;
    (void)where;
    int code = CUDA_TRY(CtxGetDevice, &device);
    if (code)
        return code;
    if (cu->DeviceGetUuid && !cu->DeviceGetUuid(uuid, device))
        write_uuid(out->uuid, sizeof out->uuid, uuid);
    if (cu->DeviceGetPciBusId &&
        cu->DeviceGetPciBusId(out->pci, (int)sizeof out->pci, device))
        *out->pci = 0;
    if (cu->DeviceGetAttribute &&
        !cu->DeviceGetAttribute(&processors, CUDA_MULTIPROCESSORS, device) &&
        processors > 0)
        out->processors = (uint32_t)processors;
    if (cu->DeviceTotalMem && !cu->DeviceTotalMem(&memory, device))
        out->memory = memory;
    return GNOMON_OK;
}

static const gnomon_device cuda = {
    .struct_size = sizeof cuda,
    .abi = GNOMON_ABI,
    .name = "cuda",
    .context_of = cuda_context_of,
    .check = cuda_check,
    .event_create = cuda_event_create,
    .event_record = cuda_event_record,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .event_done = cuda_event_done,
    .event_elapsed = cuda_event_elapsed,
    .event_destroy = cuda_event_destroy,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .describe = cuda_describe,
    .identify = cuda_identify,
    .stream_number = cuda_stream_number,
};

const gnomon_device *gnomon_cuda_device(void)
{
    return &cuda;
}

/* ---- Timers -------------------------------------------------------------- */

enum { TIMER_NEW, TIMER_STARTED, TIMER_STOPPED };

struct gnomon_cuda_timer {
    gnomon_device_context where; /* of the events */
    void *begin, *end;           /* NULL: not made */
    int state;
};

/* The driver's result as an error code; the text names the call and the result. */
static int timer_answer(cuda_answer a)
{
    int code = gnomon__cuda_code(a.result);
    if (!code)
        return GNOMON_OK;
    if (a.result == CUDA_NOT_READY)
        return gnomon__fail(code, "%s: the stream has not reached the event",
                            a.call);
    return gnomon__fail(code, "%s: %s (%d)", a.call,
                        gnomon__cuda_result_name(a.result), a.result);
}

#define TIMER_TRY(call, ...) timer_answer(CUDA_ASK(call, __VA_ARGS__))

int gnomon_cuda_timer_create(gnomon_cuda_timer **out)
{
    if (!out)
        return gnomon__fail(GNOMON_EINVAL, "gnomon_cuda_timer_create: NULL");
    *out = NULL;
    if (!gnomon__cuda())
        return gnomon__fail(GNOMON_ENOENT, "no CUDA driver: %s",
                            gnomon__cuda_load_error());
    int code = TIMER_TRY(Init, 0);
    if (code)
        return code;
    *out = gnomon__alloc(sizeof **out);
    return *out ? GNOMON_OK
                : gnomon__fail(GNOMON_ENOMEM, "no memory for a timer");
}

/* Makes the chosen device's primary context current, as the runtime does at a
 * thread's first call. Only for the special streams, which belong to the current
 * context. */
static int take_context(void *stream)
{
    void *context = NULL;
    cuda_device device;
    if (!cuda_is_special(stream))
        return GNOMON_OK;
    int code = TIMER_TRY(CtxGetCurrent, &context);
    if (code || context)
        return code;
    code = TIMER_TRY(DeviceGet, &device, gnomon__cuda_chosen_device());
    if (!code)
        code = TIMER_TRY(PrimaryRetain, &context, device);
    return code ? code : TIMER_TRY(CtxSetCurrent, context);
}

static int find_context(gnomon_cuda_stream stream, gnomon_device_context *where)
{
    int code = cuda_context_of(stream, where);
    if (code == GNOMON_EBUSY)
        return gnomon__fail(code, "the stream is being captured into a graph: "
                                  "no time can be taken");
    if (code)
        return gnomon__fail(code, "the stream belongs to no CUDA context");
    return GNOMON_OK;
}

static void timer_destroy_events(gnomon_cuda_timer *timer)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    gnomon_device_context now = {.struct_size = sizeof now};
    int mode, result;
    if (has_context(&timer->where, &result)) {
        int is_inside = !gnomon__cuda_enter(timer->where.context, &mode);
        if (timer->begin)
            (void)cu->EventDestroy(timer->begin);
        if (timer->end)
            (void)cu->EventDestroy(timer->end);
        if (is_inside)
            gnomon__cuda_leave(mode);
    }
    timer->begin = timer->end = NULL;
    timer->where = now;
}

static int timer_make_events(gnomon_cuda_timer *timer,
                             const gnomon_device_context *where)
{
    if (timer->begin && timer->where.context == where->context &&
        timer->where.id == where->id)
        return GNOMON_OK;
    if (timer->begin)
        timer_destroy_events(timer);
    timer->where = *where;
    int code = cuda_event_create(where, &timer->begin);
    if (!code)
        code = cuda_event_create(where, &timer->end);
    if (!code)
        return GNOMON_OK;
    timer_destroy_events(timer);
    return gnomon__fail(code, "no event can be made on the stream's device");
}

int gnomon_cuda_timer_start(gnomon_cuda_timer *timer, gnomon_cuda_stream stream)
{
    gnomon_device_context where = {.struct_size = sizeof where};
    if (!timer || !gnomon__cuda())
        return gnomon__fail(GNOMON_EINVAL, "gnomon_cuda_timer_start: NULL");
    timer->state = TIMER_NEW;
    int code = take_context(stream);
    if (!code)
        code = find_context(stream, &where);
    if (!code)
        code = timer_make_events(timer, &where);
    if (!code)
        code = timer_answer(record_event(timer->begin, stream));
    if (!code)
        timer->state = TIMER_STARTED;
    return code;
}

int gnomon_cuda_timer_stop(gnomon_cuda_timer *timer, gnomon_cuda_stream stream)
{
    gnomon_device_context where = {.struct_size = sizeof where};
    if (!timer || !gnomon__cuda())
        return gnomon__fail(GNOMON_EINVAL, "gnomon_cuda_timer_stop: NULL");
    if (timer->state == TIMER_NEW)
        return gnomon__fail(GNOMON_ESTATE, "the timer was not started");
    int code = find_context(stream, &where);
    if (!code &&
        (where.context != timer->where.context || where.id != timer->where.id))
        code = gnomon__fail(GNOMON_ESTATE,
                            "the timer was started on another device, or "
                            "before this one was reset");
    if (!code)
        code = timer_answer(record_event(timer->end, stream));
    if (!code)
        timer->state = TIMER_STOPPED;
    return code;
}

static int timer_elapsed(gnomon_cuda_timer *timer, double *ms, int waits)
{
    int mode, result;
    float got = 0;
    if (!timer || !ms || !gnomon__cuda())
        return gnomon__fail(GNOMON_EINVAL, "gnomon_cuda_timer_elapsed: NULL");
    *ms = 0;
    if (timer->state != TIMER_STOPPED)
        return gnomon__fail(GNOMON_ESTATE, "the timer was not stopped");
    if (!has_context(&timer->where, &result))
        return gnomon__fail(GNOMON_ESTATE, "the timer's device was reset");
    /* Any thread may read it, also while another stream is captured. */
    int code = timer_answer(
        (cuda_answer){gnomon__cuda_enter(timer->where.context, &mode),
                      gnomon__cuda_symbol.CtxPush});
    if (code)
        return code;
    void *events[] = {timer->end, timer->begin}; /* maybe of two streams */
    for (int i = 0; i < 2 && !code; i++)
        code = waits ? TIMER_TRY(EventSynchronize, events[i])
                     : TIMER_TRY(EventQuery, events[i]);
    if (!code)
        code = TIMER_TRY(EventElapsed, &got, timer->begin, timer->end);
    gnomon__cuda_leave(mode);
    *ms = (double)got;
    return code;
}

int gnomon_cuda_timer_elapsed(gnomon_cuda_timer *timer, double *ms)
{
    return timer_elapsed(timer, ms, 1);
}

int gnomon_cuda_timer_query(gnomon_cuda_timer *timer, double *ms)
{
    return timer_elapsed(timer, ms, 0);
}

void gnomon_cuda_timer_destroy(gnomon_cuda_timer *timer)
{
    if (!timer)
        return;
    if (timer->begin)
        timer_destroy_events(timer);
    gnomon__free(timer);
}
