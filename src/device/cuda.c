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

#define CAPTURE_RELAXED 2
#define STREAM_NON_BLOCKING 1u
#define SPECIAL_STREAMS 2u /* 0, 1 legacy, 2 per thread: they are no pointers */
#define CUDA_PLACES 16u

/* ---- Trouble -------------------------------------------------------------------- */

static int first_result; /* 0: none yet; -1: told */
static const char *first_call;

int gnomon__cuda_code(int result, const char *call)
{
    int none = 0;
    if (result == CUDA_OK)
        return GNOMON_OK;
    if (result == CUDA_NOT_READY || result == CUDA_CAPTURE_IMPLICIT)
        return GNOMON_EBUSY;
    if (!load_relaxed(&first_result) &&
        cas_acq_rel(&first_result, &none, result))
        store_release(&first_call, call);
    return result == CUDA_NO_DEVICE ? GNOMON_ENOENT : GNOMON_ESTATE;
}

const char *gnomon__cuda_trouble(char *line, size_t size)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    const char *call = load_acquire(&first_call), *name = NULL;
    int result = load_relaxed(&first_result);
    if (!cu || !call || result <= 0)
        return NULL;
    store_relaxed(&first_result, -1);
    if (cu->GetErrorName(result, &name) || !name)
        name = "an unknown error";
    snprintf(line, size, "%s: %s (%d): some device times are missing", call,
             name, result);
    return line;
}

#define CUDA_TRY(call, ...) gnomon__cuda_code(cu->call(__VA_ARGS__), "cu" #call)

/* ---- Marking threads ---------------------------------------------------------------- */

int gnomon__cuda_place(void *stream, gnomon_device_place *out)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    unsigned long long life = 0;
    int captured = 0;
    if (!cu)
        return GNOMON_ENOENT;
    int code = CUDA_TRY(StreamIsCapturing, stream, &captured);
    if (!code && captured)
        code = GNOMON_EBUSY;
    if (!code && (uintptr_t)stream > SPECIAL_STREAMS)
        code = CUDA_TRY(StreamGetCtx, stream, &out->context);
    else if (!code)
        code = CUDA_TRY(CtxGetCurrent, &out->context);
    if (!code && !out->context)
        code = GNOMON_ESTATE;
    if (!code && cu->CtxGetId)
        code = CUDA_TRY(CtxGetId, out->context, &life);
    out->life = life;
    return code;
}

int gnomon__cuda_event_create(const gnomon_device_place *place, void **event)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    int mode = CAPTURE_RELAXED;
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

/* ---- The reader ------------------------------------------------------------------------ */

static int mode_before; /* of the reader's thread */

/* Streams of our own, by place. */
static struct {
    gnomon_device_place place;
    void *stream; /* NULL: free */
} cuda_apart[CUDA_PLACES];

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
    mode_before = CAPTURE_RELAXED;
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
    if (gnomon__cuda_trouble(line, sizeof line))
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

static int same_place(const gnomon_device_place *a,
                      const gnomon_device_place *b)
{
    return a->context == b->context && a->life == b->life;
}

static int cuda_event_record_apart(const gnomon_device_place *place,
                                   void *event)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    uint32_t i = 0, free = CUDA_PLACES;
    int code = GNOMON_OK;
    while (i < CUDA_PLACES &&
           !(cuda_apart[i].stream && same_place(&cuda_apart[i].place, place))) {
        if (!cuda_apart[i].stream && free == CUDA_PLACES)
            free = i;
        i++;
    }
    if (i == CUDA_PLACES) {
        if (free == CUDA_PLACES)
            return GNOMON_EFULL;
        i = free;
        code =
            CUDA_TRY(StreamCreate, &cuda_apart[i].stream, STREAM_NON_BLOCKING);
        cuda_apart[i].place = *place;
    }
    return code ? code : CUDA_TRY(EventRecord, event, cuda_apart[i].stream);
}

static void cuda_close(const gnomon_device_place *place)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    for (uint32_t i = 0; i < CUDA_PLACES; i++) {
        if (!cuda_apart[i].stream || !same_place(&cuda_apart[i].place, place))
            continue;
        (void)CUDA_TRY(StreamDestroy, cuda_apart[i].stream);
        cuda_apart[i].stream = NULL;
    }
}

static int cuda_describe(const gnomon_device_place *place, int32_t *index,
                         char *name, size_t size)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    cuda_device device = -1;
    (void)place; /* it is entered */
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
    .event_create = gnomon__cuda_event_create,
    .event_record = cuda_event_record,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .event_done = cuda_event_done,
    .event_elapsed = cuda_event_elapsed,
    .event_destroy = cuda_event_destroy,
    .event_record_apart = cuda_event_record_apart,
    .describe = cuda_describe,
    .close = cuda_close,
};

const gnomon_device *gnomon_cuda_device(void)
{
    return &cuda;
}
