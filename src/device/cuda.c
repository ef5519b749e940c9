/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUDA as a gnomon_device. Nothing here initializes CUDA: a stream is there, so
 * the host has.
 *
 * A capture in progress, on whichever thread, forbids calls that could wait; ours
 * do not, and say so to the driver by the thread's capture mode, or the host's
 * capture would be invalid. */
#include "device/cuda.h"

#include <stdio.h>
#include <string.h>

#include "device/cuda_driver.h"
#include "platform/atomic.h"
#include "platform/error.h"

#define STREAM_NON_BLOCKING 1u
#define SPECIAL_STREAMS 2u /* 0, 1 legacy, 2 per thread: they are no pointers */

/* ---- Trouble ------------------------------------------------------------- */

static int first_result; /* 0: none yet; -1: told */
static const char *first_call;

int gnomon__cuda_code(int result)
{
    if (result == CUDA_OK)
        return GNOMON_OK;
    if (result == CUDA_NOT_READY || result == CUDA_CAPTURE_IMPLICIT)
        return GNOMON_EBUSY;
    return result == CUDA_NO_DEVICE ? GNOMON_ENOENT : GNOMON_ESTATE;
}

/* The first refusal is remembered. */
static int cuda_code(int result, const char *call)
{
    int none = 0, code = gnomon__cuda_code(result);
    if (code && code != GNOMON_EBUSY && !load_relaxed(&first_result) &&
        cas_acq_rel(&first_result, &none, result))
        store_release(&first_call, call);
    return code;
}

/* What the driver refused first, in a line, once; NULL: nothing new. */
static const char *cuda_trouble(char *line, size_t size)
{
    const char *call = load_acquire(&first_call);
    int result = load_relaxed(&first_result);
    if (!call || result <= 0)
        return NULL;
    store_relaxed(&first_result, -1);
    snprintf(line, size, "%s: %s (%d): some device times are missing", call,
             gnomon__cuda_result_name(result), result);
    return line;
}

#define CUDA_TRY(call, ...) cuda_code(cu->call(__VA_ARGS__), "cu" #call)

/* ---- Marking threads ----------------------------------------------------- */

static int cuda_capture(const gnomon__cuda_calls *cu, void *stream)
{
    int captured = 0;
    int code = CUDA_TRY(StreamIsCapturing, stream, &captured);
    return !code && captured ? GNOMON_EBUSY : code;
}

int gnomon__cuda_place(void *stream, gnomon_device_place *out)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    unsigned long long life = 0;
    int code = cu ? cuda_capture(cu, stream) : GNOMON_ENOENT;
    if (!code && (uintptr_t)stream > SPECIAL_STREAMS)
        code = CUDA_TRY(StreamGetCtx, stream, &out->context);
    else if (!code)
        code = CUDA_TRY(CtxGetCurrent, &out->context);
    if (!code && cu->CtxGetId)
        code = CUDA_TRY(CtxGetId, out->context, &life);
    out->life = life;
    return code;
}

/* The numbers are streams of whichever context is current. */
static int cuda_check(void *stream, const gnomon_device_place *place)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    void *context = place->context;
    int code = cuda_capture(cu, stream);
    if (!code && (uintptr_t)stream <= SPECIAL_STREAMS)
        code = CUDA_TRY(CtxGetCurrent, &context);
    return !code && context != place->context ? GNOMON_ESTATE : code;
}

int gnomon__cuda_event_create(const gnomon_device_place *place, void **event)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    int mode = CUDA_CAPTURE_RELAXED;
    void *popped;
    int code = CUDA_TRY(CtxPush, place->context);
    if (code)
        return code;
    cu->CaptureMode(&mode);
    code = CUDA_TRY(EventCreate, event, 0);
    cu->CaptureMode(&mode);
    cu->CtxPop(&popped);
    return code;
}

static int cuda_event_record(void *event, void *stream)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    return CUDA_TRY(EventRecord, event, stream);
}

/* ---- The reader ---------------------------------------------------------- */

static int mode_before; /* of the reader's thread */

static int cuda_enter(const gnomon_device_place *place)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    unsigned long long life = place->life;
    void *popped;
    int code = CUDA_TRY(CtxPush, place->context);
    if (code)
        return code;
    if (cu->CtxGetId)
        code = CUDA_TRY(CtxGetId, place->context, &life);
    if (!code && life != place->life)
        code = GNOMON_ESTATE;
    if (code) {
        cu->CtxPop(&popped);
        return code;
    }
    mode_before = CUDA_CAPTURE_RELAXED;
    cu->CaptureMode(&mode_before);
    return GNOMON_OK;
}

static void cuda_leave(void)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    char line[160];
    void *popped;
    cu->CaptureMode(&mode_before);
    cu->CtxPop(&popped);
    if (cuda_trouble(line, sizeof line))
        gnomon__log("%s", line);
}

static int cuda_event_done(void *event)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    return CUDA_TRY(EventQuery, event);
}

static int cuda_event_elapsed(void *from, void *to, double *ns)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    float ms = 0;
    int code = CUDA_TRY(EventElapsed, &ms, from, to);
    *ns = (double)ms * 1e6;
    return code;
}

static void cuda_event_destroy(void *event)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    (void)CUDA_TRY(EventDestroy, event);
}

static int cuda_stream_create(const gnomon_device_place *place, void **stream)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    (void)place; /* it is entered */
    return CUDA_TRY(StreamCreate, stream, STREAM_NON_BLOCKING);
}

static void cuda_stream_destroy(void *stream)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    (void)CUDA_TRY(StreamDestroy, stream);
}

static int cuda_describe(const gnomon_device_place *place, int32_t *index,
                         char *name, size_t size)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    cuda_device device = -1;
    (void)place;
    int code = CUDA_TRY(CtxGetDevice, &device);
    *index = device;
    *name = 0;
    return code ? code : CUDA_TRY(DeviceGetName, name, (int)size, device);
}

static const gnomon_device cuda = {
    .struct_size = sizeof cuda,
    .abi = GNOMON_ABI,
    .name = "cuda",
    .place = gnomon__cuda_place,
    .check = cuda_check,
    .event_create = gnomon__cuda_event_create,
    .event_record = cuda_event_record,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .event_done = cuda_event_done,
    .event_elapsed = cuda_event_elapsed,
    .event_destroy = cuda_event_destroy,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .describe = cuda_describe,
};

const gnomon_device *gnomon_cuda_device(void)
{
    return &cuda;
}
