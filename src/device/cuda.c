/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUDA as a gnomon_device. Nothing here initializes CUDA: the host has a stream, so
 * it has initialized CUDA.
 *
 * While any thread captures a stream into a graph, the driver refuses calls that
 * could wait, and such a call makes the capture invalid. The calls made here do not
 * wait, so they run with the thread's capture mode set to relaxed.
 *
 * A thread that has not called CUDA has no context. It borrows the primary context
 * that the runtime would give it, where that is active. */
#include "device/cuda.h"

#include <stdio.h>

#include "device/cuda_driver.h"
#include "device/cupti_subscriber.h"
#include "platform/atomic.h"
#include "platform/os.h"

#define STREAM_NON_BLOCKING 1u
#define OWN_STREAM 2u /* CU_STREAM_PER_THREAD */

#define CUDA_TRY(call, ...) \
    gnomon__cuda_failed(cu->call(__VA_ARGS__), gnomon__cuda_symbol.call)

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
                  (active_count == 1 || !gnomon__cuda_is_special(stream)) &&
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

/* The result of `call`, which is repeated with a borrowed context if it needs one. */
#define CUDA_BORROWING(result, stream, call) \
    do { \
        cuda_device lender; \
        result = call; \
        if (unlikely(result == CUDA_NO_CONTEXT) && \
            cuda_borrow(stream, &lender)) { \
            result = call; \
            cuda_give_back(lender); \
        } \
    } while (0)

/* These return the driver's result, and in *which the name of the call. */
static int capture_now(const gnomon__cuda_calls *cu, void *stream,
                       const char **which)
{
    int captured = 0, result = cu->StreamIsCapturing(stream, &captured);
    *which = gnomon__cuda_symbol.StreamIsCapturing;
    return !result && captured ? CUDA_CAPTURE_IMPLICIT : result;
}

static int current_now(const gnomon__cuda_calls *cu, gnomon_device_context *out,
                       const char **which)
{
    *which = gnomon__cuda_symbol.CtxGetCurrent;
    return cu->CtxGetCurrent(&out->context);
}

/* The context's id, which tells it from one of the same address after a reset. */
static int life_now(const gnomon__cuda_calls *cu, gnomon_device_context *out,
                    const char **which)
{
    unsigned long long life = 0;
    int result = CUDA_OK;
    if (cu->CtxGetId) {
        result = cu->CtxGetId(out->context, &life);
        *which = gnomon__cuda_symbol.CtxGetId;
    }
    out->id = life;
    return result;
}

static int context_now(const gnomon__cuda_calls *cu, void *stream,
                       gnomon_device_context *out, const char **which)
{
    int result = capture_now(cu, stream, which);
    if (!result && !gnomon__cuda_is_special(stream)) {
        result = cu->StreamGetCtx(stream, &out->context);
        *which = gnomon__cuda_symbol.StreamGetCtx;
    } else if (!result) {
        result = current_now(cu, out, which);
    }
    return result ? result : life_now(cu, out, which);
}

int gnomon__cuda_context(void *stream, gnomon_device_context *out)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    const char *which;
    int result;
    if (!cu)
        return GNOMON_ENOENT;
    gnomon__os_ours(1);
    CUDA_BORROWING(result, stream, context_now(cu, stream, out, &which));
    gnomon__os_ours(-1);
    return gnomon__cuda_failed(result, which);
}

/* The special streams stay valid over a reset, so for them the context is read
 * anew. */
static int check_now(const gnomon__cuda_calls *cu, void *stream,
                     gnomon_device_context *now, const char **which)
{
    int result = capture_now(cu, stream, which);
    if (!result && gnomon__cuda_is_special(stream)) {
        result = current_now(cu, now, which);
        result = result ? result : life_now(cu, now, which);
    }
    return result;
}

static int cuda_check(void *stream, const gnomon_device_context *where)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    const char *which;
    gnomon_device_context now = *where;
    int result;
    gnomon__os_ours(1);
    CUDA_BORROWING(result, stream, check_now(cu, stream, &now, &which));
    gnomon__os_ours(-1);
    int code = gnomon__cuda_failed(result, which);
    return !code && (now.context != where->context || now.id != where->id)
               ? GNOMON_ESTATE
               : code;
}

static int event_create_now(const gnomon__cuda_calls *cu,
                            const gnomon_device_context *where, void **event)
{
    int mode = CUDA_CAPTURE_RELAXED;
    void *popped;
    int code = CUDA_TRY(CtxPush, where->context);
    if (code)
        return code;
    cu->CaptureMode(&mode);
    code = CUDA_TRY(EventCreate, event, 0);
    cu->CaptureMode(&mode);
    cu->CtxPop(&popped);
    return code;
}

int gnomon__cuda_event_create(const gnomon_device_context *where, void **event)
{
    gnomon__os_ours(1);
    int code = event_create_now(gnomon__cuda(), where, event);
    gnomon__os_ours(-1);
    return code;
}

int gnomon__cuda_record(void *event, void *stream)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    int result;
    gnomon__os_ours(1);
    CUDA_BORROWING(result, stream, cu->EventRecord(event, stream));
    gnomon__os_ours(-1);
    return result;
}

static int cuda_event_record(void *event, void *stream)
{
    return gnomon__cuda_failed(gnomon__cuda_record(event, stream),
                               gnomon__cuda_symbol.EventRecord);
}

/* With a current context, as the driver's own calls need one. That of the special streams
 * is the current one, if there is one. */
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
    int is_known = gnomon__cupti_stream_number(
        gnomon__cuda_is_special(stream) ? NULL : stream,
        (uintptr_t)stream == OWN_STREAM, number);
    if (is_pushed)
        cu->CtxPop(&popped);
    gnomon__os_ours(-1);
    return is_known ? GNOMON_OK : GNOMON_ENOENT;
}

/* ---- The reader ---------------------------------------------------------- */

static int mode_before; /* of the reader's thread */

static int cuda_enter(const gnomon_device_context *where)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    unsigned long long life = where->id;
    void *popped;
    int code = CUDA_TRY(CtxPush, where->context);
    if (code)
        return code;
    if (cu->CtxGetId)
        code = CUDA_TRY(CtxGetId, where->context, &life);
    if (!code && life != where->id)
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
    void *popped;
    cu->CaptureMode(&mode_before);
    cu->CtxPop(&popped);
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

static int cuda_stream_create(const gnomon_device_context *where, void **stream)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    (void)where; /* it is current: cuda_enter */
    return CUDA_TRY(StreamCreate, stream, STREAM_NON_BLOCKING);
}

static void cuda_stream_destroy(void *stream)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    (void)CUDA_TRY(StreamDestroy, stream);
}

static int cuda_describe(const gnomon_device_context *where, int32_t *index,
                         char *name, size_t size)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    cuda_device device = -1;
    (void)where;
    int code = CUDA_TRY(CtxGetDevice, &device);
    *index = device;
    *name = 0;
    return code ? code : CUDA_TRY(DeviceGetName, name, (int)size, device);
}

/* As nvidia-smi writes it: 4, 2, 2, 2 and 6 bytes. */
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
    .context_of = gnomon__cuda_context,
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
    .identify = cuda_identify,
    .stream_number = cuda_stream_number,
};

const gnomon_device *gnomon_cuda_device(void)
{
    return &cuda;
}
