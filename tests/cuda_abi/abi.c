/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The driver's calls as gnomon writes them out, against NVIDIA's header: the
 * symbol behind each name, what it takes, and numbers. Compiled only. */
#include <cuda.h>

#include "device/cuda_driver.h"
#include "gnomon/cuda.h"

#define IS(what) _Static_assert(what, #what)
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

/* gnomon loads `symbol`, which the header calls `name`; its parameters. */
#define CALL(name, symbol, ...) \
    IS(__builtin_types_compatible_p(__typeof__(&name), \
                                    CUresult (*)(__VA_ARGS__))); \
    IS(sizeof(TEXT(name)) == sizeof(symbol) && \
       __builtin_strcmp(TEXT(name), symbol) == 0)

CALL(cuDriverGetVersion, "cuDriverGetVersion", int *);
CALL(cuInit, "cuInit", unsigned int);
CALL(cuGetErrorName, "cuGetErrorName", CUresult, const char **);
CALL(cuDeviceGet, "cuDeviceGet", CUdevice *, int);
CALL(cuDeviceGetName, "cuDeviceGetName", char *, int, CUdevice);
CALL(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", CUcontext *,
     CUdevice);
CALL(cuCtxGetCurrent, "cuCtxGetCurrent", CUcontext *);
CALL(cuCtxSetCurrent, "cuCtxSetCurrent", CUcontext);
CALL(cuCtxPushCurrent, "cuCtxPushCurrent_v2", CUcontext);
CALL(cuCtxPopCurrent, "cuCtxPopCurrent_v2", CUcontext *);
CALL(cuCtxGetDevice, "cuCtxGetDevice", CUdevice *);
CALL(cuStreamIsCapturing, "cuStreamIsCapturing", CUstream,
     CUstreamCaptureStatus *);
CALL(cuStreamGetCtx, "cuStreamGetCtx", CUstream, CUcontext *);
CALL(cuStreamCreate, "cuStreamCreate", CUstream *, unsigned int);
CALL(cuStreamDestroy, "cuStreamDestroy_v2", CUstream);
CALL(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode",
     CUstreamCaptureMode *);
CALL(cuEventCreate, "cuEventCreate", CUevent *, unsigned int);
CALL(cuEventRecord, "cuEventRecord", CUevent, CUstream);
CALL(cuEventQuery, "cuEventQuery", CUevent);
CALL(cuEventSynchronize, "cuEventSynchronize", CUevent);
CALL(cuEventDestroy, "cuEventDestroy_v2", CUevent);
/* From 13.0 on the header's name means a newer symbol; the driver has both,
 * with equal parameters. */
#if CUDA_VERSION < 13000
CALL(cuEventElapsedTime, "cuEventElapsedTime", float *, CUevent, CUevent);
#else
CALL(cuEventElapsedTime, "cuEventElapsedTime_v2", float *, CUevent, CUevent);
#endif
#if CUDA_VERSION >= 12000
CALL(cuCtxGetId, "cuCtxGetId", CUcontext, unsigned long long *);
#endif

CALL(cuCtxSynchronize, "cuCtxSynchronize", void);
CALL(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId", char *, int, CUdevice);
CALL(cuDeviceTotalMem, "cuDeviceTotalMem_v2", size_t *, CUdevice);
IS((int)CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == CUDA_MULTIPROCESSORS);
IS(sizeof(CUuuid) == 16);

/* What they are passed as. */
IS(sizeof(CUresult) == sizeof(cuda_result));
IS(sizeof(CUdevice) == sizeof(cuda_device));
IS(sizeof(CUstreamCaptureStatus) == sizeof(int));
IS(sizeof(CUstreamCaptureMode) == sizeof(int));
IS(sizeof(CUcontext) == sizeof(void *));
IS(sizeof(CUevent) == sizeof(void *));
IS(__builtin_types_compatible_p(CUstream, gnomon_cuda_stream));

IS((int)CUDA_NO_DEVICE == (int)CUDA_ERROR_NO_DEVICE);
IS((int)CUDA_STUB_LIBRARY == (int)CUDA_ERROR_STUB_LIBRARY);
IS((int)CUDA_NOT_READY == (int)CUDA_ERROR_NOT_READY);
IS((int)CUDA_CAPTURE_IMPLICIT == (int)CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
/* In src/device/cuda.c. */
IS((int)CU_STREAM_CAPTURE_MODE_RELAXED == 2);
IS((int)CU_STREAM_NON_BLOCKING == 1);
IS((int)CU_EVENT_DEFAULT == 0);
IS(__builtin_strcmp(TEXT(CU_STREAM_LEGACY), "((CUstream)0x1)") == 0);
IS(__builtin_strcmp(TEXT(CU_STREAM_PER_THREAD), "((CUstream)0x2)") == 0);
