/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * CUDA: scopes on streams, and event timers. Needs no header of CUDA's and no
 * library at link time: the driver is found when the program runs.
 *
 *     { GNOMON_SCOPE_ON("backward", stream); backward<<<...>>>(); }
 *
 *     gnomon_cuda_timer *t;                     as a pair of torch.cuda.Event
 *     gnomon_cuda_timer_create(&t);
 *     gnomon_cuda_timer_start(t, stream);  ...
 *     gnomon_cuda_timer_stop(t, stream);
 *     gnomon_cuda_timer_elapsed(t, &ms);        waits
 *
 * Streams of the runtime and of the driver are one type. docs/cuda.md has more.
 */
#ifndef GNOMON_CUDA_H
#define GNOMON_CUDA_H

#include "device.h"

GNOMON_BEGIN_DECLS

/* cudaStream_t and CUstream. */
typedef struct CUstream_st *gnomon_cuda_stream;

/* What stream 0 means where this is compiled: the legacy one, which is
 * cudaStreamLegacy by its other handle, or, with nvcc's --default-stream
 * per-thread, the calling thread's own. */
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
/* CUDA's streams, for gnomon_begin_on. Static. */
GNOMON__SLOW_API const gnomon_device *gnomon_cuda_device(void);
#else
GNOMON_INLINE const gnomon_device *gnomon_cuda_device(void)
{
    return GNOMON_NULL;
}
#endif

/* A scope from here to the end of the block, on the host and in `stream`. */
#define GNOMON_SCOPE_ON(name, stream) \
    GNOMON_SCOPE_ON_DEVICE(name, gnomon_cuda_device(), \
                           gnomon_cuda_stream_of(stream))

/* ---- Event timers -------------------------------------------------------- */

/* Two events of one device. Not for two threads at once. With or without any
 * profiler; each call returns GNOMON_OK or an error code and keeps a text. None
 * leaves an error for cudaGetLastError, nor takes one away. */
typedef struct gnomon_cuda_timer gnomon_cuda_timer;

/* GNOMON_ENOENT: there is no CUDA driver, or no device; *out is NULL. Its events
 * are made at the first start. */
GNOMON__CALL int gnomon_cuda_timer_create(gnomon_cuda_timer **out);

/* Notes the time at which `stream` comes to here. A second start begins anew.
 * GNOMON_EBUSY: the stream is being captured into a graph. GNOMON_ESTATE: a stop
 * without a start, or on another device. */
GNOMON__CALL int gnomon_cuda_timer_start(gnomon_cuda_timer *timer,
                                         gnomon_cuda_stream stream);
GNOMON__CALL int gnomon_cuda_timer_stop(gnomon_cuda_timer *timer,
                                        gnomon_cuda_stream stream);

/* Milliseconds from start to stop, to about half a microsecond; below 0 where the
 * stop was in another stream, which was first. The first waits for the streams to
 * pass both; the second returns GNOMON_EBUSY where they have not. GNOMON_ESTATE:
 * not stopped. */
GNOMON__CALL int gnomon_cuda_timer_elapsed(gnomon_cuda_timer *timer,
                                           double *ms);
GNOMON__CALL int gnomon_cuda_timer_query(gnomon_cuda_timer *timer, double *ms);

/* NULL is ignored. */
GNOMON__CALL void gnomon_cuda_timer_destroy(gnomon_cuda_timer *timer);

#ifdef GNOMON_DISABLE
GNOMON__CALL int gnomon_cuda_timer_create(gnomon_cuda_timer **out)
{
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_start(gnomon_cuda_timer *timer,
                                         gnomon_cuda_stream stream)
{
    (void)timer;
    (void)stream;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_stop(gnomon_cuda_timer *timer,
                                        gnomon_cuda_stream stream)
{
    (void)timer;
    (void)stream;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_elapsed(gnomon_cuda_timer *timer, double *ms)
{
    (void)timer;
    *ms = 0;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_query(gnomon_cuda_timer *timer, double *ms)
{
    (void)timer;
    *ms = 0;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_cuda_timer_destroy(gnomon_cuda_timer *timer)
{
    (void)timer;
}
#elif defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || \
    defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
/* Stream 0 is what it means where this is compiled, as for scopes. */
#define gnomon_cuda_timer_start(timer, stream) \
    gnomon_cuda_timer_start(timer, gnomon_cuda_stream_of(stream))
#define gnomon_cuda_timer_stop(timer, stream) \
    gnomon_cuda_timer_stop(timer, gnomon_cuda_stream_of(stream))
#endif

GNOMON_END_DECLS

#endif
