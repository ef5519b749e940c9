// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time on devices: scopes on streams and event timers as objects. GNOMON_SCOPE_ON
// of gnomon/cuda.h works in C++ too; it needs no header of CUDA's, nor does this.
#ifndef GNOMON_CPP_DEVICE_HPP
#define GNOMON_CPP_DEVICE_HPP

#include <gnomon/cuda.h>

#include "marks.hpp"

GNOMON__CPP_BEGIN

// A scope on the host and in a stream. It is destroyed on the thread that made it,
// while the stream exists.
class device_scope
{
  public:
    GNOMON__CPP_INLINE device_scope(region of, const gnomon_device *device,
                                    void *stream)
        : scope_(gnomon_begin_on(of.get(), device, stream))
    {
        (void)of, (void)device, (void)stream;
    }
    // On one of CUDA's streams. Stream 0 is the one that it means in the file where
    // this is compiled.
    GNOMON__CPP_INLINE device_scope(region of, gnomon_cuda_stream stream)
        : scope_(gnomon_begin_on(of.get(), gnomon_cuda_device(),
                                 gnomon_cuda_stream_of(stream)))
    {
        (void)of, (void)stream;
    }
    GNOMON__CPP_INLINE device_scope(device_scope &&from) noexcept
        : scope_(from.scope_)
    {
        from.scope_.token = 0;
    }
    GNOMON__CPP_INLINE ~device_scope() noexcept(false)
    {
        gnomon_end_on(scope_);
    }
    device_scope(const device_scope &) = delete;
    device_scope &operator=(const device_scope &) = delete;
    device_scope &operator=(device_scope &&) = delete;

    // Ends it now; once more does nothing.
    GNOMON__CPP_INLINE void end()
    {
        const gnomon_device_scope of = scope_;
        scope_.token = 0;
        gnomon_end_on(of);
        (void)of;
    }

  private:
    gnomon_device_scope scope_;
};

// gnomon_cuda_timer: how long a stream takes from start to stop, without any
// profiler. Each call returns GNOMON_OK or an error, as the C call of its name.
// The timer is made at the first start. One thread at a time.
class cuda_timer
{
  public:
    cuda_timer() : timer_(nullptr)
    {
    }
    cuda_timer(cuda_timer &&from) noexcept : timer_(from.timer_)
    {
        from.timer_ = nullptr;
    }
    cuda_timer &operator=(cuda_timer &&from) noexcept
    {
        std::swap(timer_, from.timer_);
        return *this;
    }
    ~cuda_timer()
    {
        gnomon_cuda_timer_destroy(timer_);
    }
    cuda_timer(const cuda_timer &) = delete;
    cuda_timer &operator=(const cuda_timer &) = delete;

    // Inlined, as stream 0 differs from file to file.
    GNOMON__CPP_INLINE int start(gnomon_cuda_stream stream)
    {
        const int code = timer_ ? 0 : gnomon_cuda_timer_create(&timer_);
        return code ? code
                    : gnomon_cuda_timer_start(timer_,
                                              gnomon_cuda_stream_of(stream));
    }
    GNOMON__CPP_INLINE int stop(gnomon_cuda_stream stream)
    {
        return gnomon_cuda_timer_stop(timer_, gnomon_cuda_stream_of(stream));
    }
    // Waits until the device has come to both.
    int elapsed(double &ms)
    {
        return gnomon_cuda_timer_elapsed(timer_, &ms);
    }
    // The same without waiting: GNOMON_EBUSY, not yet.
    int query(double &ms)
    {
        return gnomon_cuda_timer_query(timer_, &ms);
    }

  private:
    gnomon_cuda_timer *timer_;
};

GNOMON__CPP_END

#endif
