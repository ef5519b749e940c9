/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon_cuda_timer: two events that the host starts, stops and reads itself. It
 * needs no profiler and no thread. The events belong to the context of the timer's
 * last start. */
#include <string.h>

#include "device/cuda.h"
#include "device/cuda_driver.h"
#include "platform/error.h"
#include "platform/memory.h"

/* They are macros where stream 0 is compiled to be the thread's own. */
#undef gnomon_cuda_timer_start
#undef gnomon_cuda_timer_stop

enum { TIMER_NEW, TIMER_STARTED, TIMER_STOPPED };

struct gnomon_cuda_timer {
    gnomon_device_context where; /* of the events */
    void *begin, *end;           /* NULL: not made */
    int state;
};

/* The driver's result as an error code; the text names the call and the result. */
static int timer_answer(int result, const char *call)
{
    int code = gnomon__cuda_code(result);
    if (!code)
        return GNOMON_OK;
    if (result == CUDA_NOT_READY)
        return gnomon__fail(code, "%s: the stream has not reached the event",
                            call);
    return gnomon__fail(code, "%s: %s (%d)", call,
                        gnomon__cuda_result_name(result), result);
}

#define TIMER_TRY(call, ...) \
    timer_answer(cu->call(__VA_ARGS__), gnomon__cuda_symbol.call)

int gnomon_cuda_timer_create(gnomon_cuda_timer **out)
{
    if (!out)
        return gnomon__fail(GNOMON_EINVAL, "gnomon_cuda_timer_create: NULL");
    *out = NULL;
    const gnomon__cuda_calls *cu = gnomon__cuda();
    if (!cu)
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
static int take_context(const gnomon__cuda_calls *cu, void *stream)
{
    void *context = NULL;
    cuda_device device;
    if (!gnomon__cuda_is_special(stream))
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
    int code = gnomon__cuda_context(stream, where);
    if (code == GNOMON_EBUSY)
        return gnomon__fail(code, "the stream is being captured into a graph: "
                                  "no time can be taken");
    if (code)
        return gnomon__fail(code, "the stream belongs to no CUDA context");
    return GNOMON_OK;
}

/* False after a reset of the device, which destroys its events. */
static int has_events(const gnomon_cuda_timer *timer)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    unsigned long long life = timer->where.id;
    return !cu->CtxGetId || (!cu->CtxGetId(timer->where.context, &life) &&
                             life == timer->where.id);
}

static void timer_destroy_events(gnomon_cuda_timer *timer)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    gnomon_device_context now = {.struct_size = sizeof now};
    int mode = CUDA_CAPTURE_RELAXED;
    void *popped;
    if (has_events(timer)) {
        int is_pushed = !cu->CtxPush(timer->where.context);
        cu->CaptureMode(&mode);
        if (timer->begin)
            (void)cu->EventDestroy(timer->begin);
        if (timer->end)
            (void)cu->EventDestroy(timer->end);
        cu->CaptureMode(&mode);
        if (is_pushed)
            cu->CtxPop(&popped);
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
    int code = gnomon__cuda_event_create(where, &timer->begin);
    if (!code)
        code = gnomon__cuda_event_create(where, &timer->end);
    if (!code)
        return GNOMON_OK;
    timer_destroy_events(timer);
    return gnomon__fail(code, "no event can be made on the stream's device");
}

int gnomon_cuda_timer_start(gnomon_cuda_timer *timer, gnomon_cuda_stream stream)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    gnomon_device_context where = {.struct_size = sizeof where};
    if (!timer || !cu)
        return gnomon__fail(GNOMON_EINVAL, "gnomon_cuda_timer_start: NULL");
    timer->state = TIMER_NEW;
    int code = take_context(cu, stream);
    if (!code)
        code = find_context(stream, &where);
    if (!code)
        code = timer_make_events(timer, &where);
    if (!code)
        code = timer_answer(gnomon__cuda_record(timer->begin, stream),
                            gnomon__cuda_symbol.EventRecord);
    if (!code)
        timer->state = TIMER_STARTED;
    return code;
}

int gnomon_cuda_timer_stop(gnomon_cuda_timer *timer, gnomon_cuda_stream stream)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    gnomon_device_context where = {.struct_size = sizeof where};
    if (!timer || !cu)
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
        code = timer_answer(gnomon__cuda_record(timer->end, stream),
                            gnomon__cuda_symbol.EventRecord);
    if (!code)
        timer->state = TIMER_STOPPED;
    return code;
}

static int event_await(const gnomon__cuda_calls *cu, void *event, int waits)
{
    return waits ? TIMER_TRY(EventSynchronize, event)
                 : TIMER_TRY(EventQuery, event);
}

static int timer_elapsed(gnomon_cuda_timer *timer, double *ms, int waits)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    int mode = CUDA_CAPTURE_RELAXED;
    void *popped;
    float got = 0;
    if (!timer || !ms || !cu)
        return gnomon__fail(GNOMON_EINVAL, "gnomon_cuda_timer_elapsed: NULL");
    *ms = 0;
    if (timer->state != TIMER_STOPPED)
        return gnomon__fail(GNOMON_ESTATE, "the timer was not stopped");
    if (!has_events(timer))
        return gnomon__fail(GNOMON_ESTATE, "the timer's device was reset");
    /* Any thread may read it, also while another stream is captured. */
    int code = TIMER_TRY(CtxPush, timer->where.context);
    if (code)
        return code;
    cu->CaptureMode(&mode);
    code = event_await(cu, timer->end, waits);
    if (!code) /* the begin may be in another stream */
        code = event_await(cu, timer->begin, waits);
    if (!code)
        code = TIMER_TRY(EventElapsed, &got, timer->begin, timer->end);
    cu->CaptureMode(&mode);
    cu->CtxPop(&popped);
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
