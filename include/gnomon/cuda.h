/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * CUDA: scopes on streams, and event timers. It needs no header of CUDA, and no
 * library of CUDA at link time: gnomon looks for the driver when the program
 * runs.
 *
 *     { GNOMON_SCOPE_ON("backward", stream); backward<<<...>>>(); }
 *
 *     gnomon_cuda_timer *t;                     like two torch.cuda.Event
 *     gnomon_cuda_timer_create(&t);
 *     gnomon_cuda_timer_start(t, stream);  ...
 *     gnomon_cuda_timer_stop(t, stream);
 *     gnomon_cuda_timer_elapsed(t, &ms);        waits
 *
 * Streams of the runtime (cudaStream_t) and of the driver (CUstream) are one type.
 * Kernels that other libraries launch are timed too, if they are put into the
 * stream. docs/cuda.md has more.
 */
#ifndef GNOMON_CUDA_H
#define GNOMON_CUDA_H

#include "tool.h"

GNOMON_BEGIN_DECLS

/* cudaStream_t and CUstream. */
typedef struct CUstream_st *gnomon_cuda_stream;

/* The stream that `s` means in the file that includes this header, because the
 * meaning of stream 0 depends on how a file is compiled: it is the legacy stream,
 * which cudaStreamLegacy names too; or, with nvcc's --default-stream per-thread,
 * the calling thread's own stream. Other streams stay as they are. */
GNOMON_INLINE gnomon_cuda_stream gnomon_cuda_stream_of(gnomon_cuda_stream s)
{
#if !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && \
    !defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#ifdef __cplusplus
    return s == reinterpret_cast<gnomon_cuda_stream>(1) ? GNOMON_NULL : s;
#else
    return s == (gnomon_cuda_stream)1 ? GNOMON_NULL : s;
#endif
#elif defined(__cplusplus)
    return s ? s : reinterpret_cast<gnomon_cuda_stream>(2);
#else
    return s ? s : (gnomon_cuda_stream)2;
#endif
}

#ifndef GNOMON_DISABLE
/* CUDA's devices, for gnomon_begin_on and GNOMON_SCOPE_ON_DEVICE. Static. If
 * there is no driver, scopes on streams are plain ones. */
GNOMON__SLOW_API const gnomon_device *gnomon_cuda_device(void);
#endif

/* A scope from this line to the end of the block, on the host and in `stream`: how
 * long the device took for what the block put into the stream. `name` is a string
 * literal. Give it a line of its own in a block, as GNOMON_SCOPE. It does not wait
 * for the device. */
#define GNOMON_SCOPE_ON(name, stream) \
    GNOMON_SCOPE_ON_DEVICE(name, gnomon_cuda_device(), \
                           gnomon_cuda_stream_of(stream))

/* ---- Event timers -------------------------------------------------------- */

/* A timer: two events of one device. It works without any profiler. Errors: each
 * call returns GNOMON_OK or an error code, and then gnomon_error_text() says why.
 * GNOMON_EINVAL: an argument is NULL. GNOMON_EIO: the driver refused. No call
 * changes what cudaGetLastError returns.
 * Threads: any thread, but one at a time for each timer.
 * Ownership: the caller destroys what it creates. */
typedef struct gnomon_cuda_timer gnomon_cuda_timer;

/* Makes a timer. Its events are made at the first start, on the device of that
 * stream. GNOMON_ENOENT: there is no CUDA driver, or no device. GNOMON_ENOMEM. On
 * an error *out is NULL. */
GNOMON__CALL int gnomon_cuda_timer_create(gnomon_cuda_timer **out);

/* Puts the first event into `stream`, which takes the time when the device
 * reaches it. Returns at once. A second start replaces the first.
 * GNOMON_EBUSY: the stream is being captured into a graph. */
GNOMON__CALL int gnomon_cuda_timer_start(gnomon_cuda_timer *timer,
                                         gnomon_cuda_stream stream);

/* The same with the second event. The stream may be another one of the same
 * device. GNOMON_ESTATE: there was no start, or it was on another device, or the
 * device was reset since. GNOMON_EBUSY as above. */
GNOMON__CALL int gnomon_cuda_timer_stop(gnomon_cuda_timer *timer,
                                        gnomon_cuda_stream stream);

/* Waits until the device has reached both events, and sets *ms to the
 * milliseconds between them, exact to about half a microsecond. Negative if the
 * stop was in another stream and the device reached it first. Other threads may
 * go on. GNOMON_ESTATE: it was not stopped, or the device was reset. On an error
 * *ms is 0. */
GNOMON__CALL int gnomon_cuda_timer_elapsed(gnomon_cuda_timer *timer,
                                           double *ms);

/* The same without waiting. GNOMON_EBUSY: the device has not reached both yet. */
GNOMON__CALL int gnomon_cuda_timer_query(gnomon_cuda_timer *timer, double *ms);

/* Frees a timer and its events. NULL is ignored. */
GNOMON__CALL void gnomon_cuda_timer_destroy(gnomon_cuda_timer *timer);

#if !defined(GNOMON_DISABLE) && \
    (defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || \
     defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM))
/* Stream 0 means what it means in the file that includes this header, as for
 * scopes. */
#define gnomon_cuda_timer_start(timer, stream) \
    gnomon_cuda_timer_start(timer, gnomon_cuda_stream_of(stream))
#define gnomon_cuda_timer_stop(timer, stream) \
    gnomon_cuda_timer_stop(timer, gnomon_cuda_stream_of(stream))
#endif

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#define GNOMON__OFF_CUDA
#include "off.h"
#undef GNOMON__OFF_CUDA
#endif

#endif
