/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A CUDA driver whose calls do almost nothing, so that the rest of the time of a
 * scope on a stream is gnomon's. Every event is complete at once. */
#include <stdint.h>
#include <stdlib.h>

#define CALL __attribute__((visibility("default"))) int

typedef struct event {
    uint64_t records;
} event;

static int the_context, the_stream;
static uint64_t read_count;

__attribute__((visibility("default"))) uint64_t bench_cuda_read(void)
{
    return __atomic_load_n(&read_count, __ATOMIC_RELAXED);
}

CALL cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

CALL cuInit(unsigned flags)
{
    return (int)flags;
}

CALL cuGetErrorName(int code, const char **name)
{
    *name = "CUDA_ERROR";
    return code == 0;
}

CALL cuDeviceGet(int *device, int index)
{
    *device = index;
    return 0;
}

CALL cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

CALL cuDeviceGetName(char *name, int size, int device)
{
    *name = 0;
    return size == device;
}

CALL cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &the_context;
    return device;
}

CALL cuDevicePrimaryCtxRelease_v2(int device)
{
    return device;
}

CALL cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = 1;
    return device;
}

CALL cuCtxGetCurrent(void **context)
{
    *context = &the_context;
    return 0;
}

CALL cuCtxSetCurrent(void *context)
{
    return context != &the_context;
}

CALL cuCtxPushCurrent_v2(void *context)
{
    return context != &the_context;
}

CALL cuCtxPopCurrent_v2(void **context)
{
    *context = &the_context;
    return 0;
}

CALL cuCtxGetDevice(int *device)
{
    *device = 0;
    return 0;
}

CALL cuCtxGetId(void *context, unsigned long long *id)
{
    *id = 1;
    return context != &the_context;
}

CALL cuStreamIsCapturing(void *stream, int *status)
{
    *status = 0;
    return stream == NULL;
}

CALL cuStreamGetCtx(void *stream, void **context)
{
    *context = &the_context;
    return stream == NULL;
}

CALL cuStreamCreate(void **stream, unsigned flags)
{
    *stream = &the_stream;
    return flags > 1;
}

CALL cuStreamDestroy_v2(void *stream)
{
    return stream == NULL;
}

CALL cuThreadExchangeStreamCaptureMode(int *mode)
{
    return *mode < 0;
}

CALL cuEventCreate(void **out, unsigned flags)
{
    *out = calloc(1, sizeof(event));
    return flags != 0;
}

CALL cuEventRecord(event *e, void *stream)
{
    e->records++;
    return stream == NULL;
}

CALL cuEventQuery(event *e)
{
    return e == NULL;
}

CALL cuEventSynchronize(event *e)
{
    return e == NULL;
}

CALL cuEventElapsedTime(float *ms, event *from, event *to)
{
    __atomic_add_fetch(&read_count, 1, __ATOMIC_RELAXED);
    *ms = 0;
    return from == to;
}

CALL cuEventDestroy_v2(event *e)
{
    free(e);
    return 0;
}
