/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calls of CUDA's driver that gnomon makes, found when the program runs.
 * They are NVIDIA's documented ABI (cuda.h of 11.4 and later), written out here
 * so that nothing of CUDA is needed to build.
 *
 * Calls go to the driver and not to the runtime, for two reasons. Every process
 * with CUDA has the driver loaded, while the runtime is often linked statically.
 * And the driver only returns an error, while the runtime would keep it for the
 * host's next cudaGetLastError. */
#ifndef GNOMON_DEVICE_CUDA_DRIVER_H
#define GNOMON_DEVICE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result;
typedef int cuda_device;

/* CUresult */
enum {
    CUDA_OK = 0,
    CUDA_NO_DEVICE = 100,
    CUDA_NOT_INITIALIZED = 3,
    CUDA_STUB_LIBRARY = 34,
    CUDA_NO_CONTEXT = 201,
    CUDA_NOT_READY = 600,
    CUDA_CAPTURE_IMPLICIT = 906
};

/* CUdevice_attribute */
#define CUDA_MULTIPROCESSORS 16

/* CUstreamCaptureMode: the thread may make calls that could wait while a stream is
 * captured. */
#define CUDA_CAPTURE_RELAXED 2

/* Calls that a driver of 11.4 has. Those of CUDA_NEWER_CALLS may be NULL. */
#define CUDA_CALLS(X) \
    X(DriverGetVersion, "cuDriverGetVersion", (int *version)) \
    X(Init, "cuInit", (unsigned flags)) \
    X(GetErrorName, "cuGetErrorName", (cuda_result code, const char **name)) \
    X(DeviceGet, "cuDeviceGet", (cuda_device * device, int index)) \
    X(DeviceGetCount, "cuDeviceGetCount", (int *count)) \
    X(DeviceGetName, "cuDeviceGetName", \
      (char *name, int size, cuda_device device)) \
    X(PrimaryRetain, "cuDevicePrimaryCtxRetain", \
      (void **context, cuda_device device)) \
    X(PrimaryRelease, "cuDevicePrimaryCtxRelease_v2", (cuda_device device)) \
    X(PrimaryState, "cuDevicePrimaryCtxGetState", \
      (cuda_device device, unsigned *flags, int *is_active)) \
    X(CtxGetCurrent, "cuCtxGetCurrent", (void **context)) \
    X(CtxSetCurrent, "cuCtxSetCurrent", (void *context)) \
    X(CtxPush, "cuCtxPushCurrent_v2", (void *context)) \
    X(CtxPop, "cuCtxPopCurrent_v2", (void **context)) \
    X(CtxGetDevice, "cuCtxGetDevice", (cuda_device * device)) \
    X(StreamIsCapturing, "cuStreamIsCapturing", (void *stream, int *status)) \
    X(StreamGetCtx, "cuStreamGetCtx", (void *stream, void **context)) \
    X(StreamCreate, "cuStreamCreate", (void **stream, unsigned flags)) \
    X(StreamDestroy, "cuStreamDestroy_v2", (void *stream)) \
    X(CaptureMode, "cuThreadExchangeStreamCaptureMode", (int *mode)) \
    X(EventCreate, "cuEventCreate", (void **event, unsigned flags)) \
    X(EventRecord, "cuEventRecord", (void *event, void *stream)) \
    X(EventQuery, "cuEventQuery", (void *event)) \
    X(EventSynchronize, "cuEventSynchronize", (void *event)) \
    X(EventElapsed, "cuEventElapsedTime", (float *ms, void *from, void *to)) \
    X(EventDestroy, "cuEventDestroy_v2", (void *event))
#define CUDA_NEWER_CALLS(X) \
    X(CtxGetId, "cuCtxGetId", (void *context, unsigned long long *id)) \
    X(CtxSynchronize, "cuCtxSynchronize", (void)) \
    X(DeviceGetUuid, "cuDeviceGetUuid_v2", \
      (unsigned char *uuid, cuda_device device)) \
    X(DeviceGetPciBusId, "cuDeviceGetPCIBusId", \
      (char *id, int size, cuda_device device)) \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", \
      (int *value, int attribute, cuda_device device)) \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", \
      (size_t * bytes, cuda_device device))

typedef struct gnomon__cuda_calls {
#define CUDA_FIELD(name, symbol, parameters) cuda_result(*name) parameters;
    CUDA_CALLS(CUDA_FIELD)
    CUDA_NEWER_CALLS(CUDA_FIELD)
#undef CUDA_FIELD
} gnomon__cuda_calls;

/* The driver, loaded by the first call; NULL: no usable driver. Call it without
 * locks, as it loads a library. It does not initialize CUDA, so the process may
 * still fork. */
const gnomon__cuda_calls *gnomon__cuda(void);

/* Why the driver cannot be used, in one line; NULL: it can be used. */
const char *gnomon__cuda_load_error(void);

/* The symbols of the calls, as messages name them: with the version at their end that
 * a debugger and the driver's own logs show. */
typedef struct gnomon__cuda_symbols {
#define CUDA_NAME(name, symbol, parameters) const char *name;
    CUDA_CALLS(CUDA_NAME)
    CUDA_NEWER_CALLS(CUDA_NAME)
#undef CUDA_NAME
} gnomon__cuda_symbols;
extern const gnomon__cuda_symbols gnomon__cuda_symbol;

/* The driver's name of a result. */
const char *gnomon__cuda_result_name(int result);

/* Makes a context current on this thread, which then may make calls that could wait while a
 * stream is captured. Returns the driver's result, and the thread's mode before. */
int gnomon__cuda_enter(void *context, int *mode);
void gnomon__cuda_leave(int mode);

/* The error code for a result. GNOMON_EBUSY: not finished. */
int gnomon__cuda_code(int result);
/* The same for a result of the call of that name, which is kept if it is the first of its
 * kind. Any thread; waits for nobody. */
int gnomon__cuda_failed(int result, const char *call);
/* Logs the first failures of the driver, each once. */
void gnomon__cuda_log_failures(void);

/* Finds the calls of a table, of which each is a pointer, by its table of symbols. The first
 * of the `needed` first ones that the library does not have; NULL: it has all. */
const char *gnomon__calls_find(void *library, const void *symbols,
                               size_t needed, size_t count, void *calls);

/* The process's runtime, where that is a shared library: the first, or the one after
 * `*at`, which is 0 at first. NULL: there is none. */
void *gnomon__cuda_runtime(size_t *at);

/* The device that the calling thread chose with cudaSetDevice. Known only where the
 * runtime is loaded as a shared library; else 0. */
int gnomon__cuda_chosen_device(void);

#endif
