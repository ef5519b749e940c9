// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of torch's allocator for CUDA that operators.cpp uses, without CUDA: play()
// tells what one block's life would tell.
#pragma once
#include <c10/core/CachingDeviceAllocator.h>

#include <stdexcept>

namespace c10::cuda::CUDACachingAllocator
{

using c10::CachingDeviceAllocator::TraceEntry;
using OutOfMemoryObserver =
    std::function<void(int64_t, size_t, size_t, size_t)>;
static std::function<void(const TraceEntry &)> tracker;
static OutOfMemoryObserver observer;

inline void
attachAllocatorTraceTracker(std::function<void(const TraceEntry &)> its)
{
    tracker = its;
}

// As those that are not torch's own.
extern "C" __attribute__((visibility("default"))) int refuses;
int refuses;

inline void attachOutOfMemoryObserver(OutOfMemoryObserver its)
{
    if (refuses)
        throw std::runtime_error("it does not yet support that\nat:");
    observer = its;
}

static void tell(TraceEntry::Action action, int device, size_t at, size_t size)
{
    const auto index = static_cast<c10::DeviceIndex>(device);
    tracker(TraceEntry(action, index, at, size, nullptr, {0, 0}, 0));
}

extern "C" __attribute__((visibility("default"))) void play()
{
    tell(TraceEntry::SEGMENT_ALLOC, 0, 4096, 2000);
    tell(TraceEntry::ALLOC, 0, 4096, 512);
    tell(TraceEntry::ALLOC, 1, 4096, 512); // a device that nobody named
    tell(TraceEntry::FREE_REQUESTED, 0, 4096, 512);
    tell(TraceEntry::FREE_COMPLETED, 0, 4096, 512);
    tell(TraceEntry::SEGMENT_FREE, 0, 4096, 2000);
    tell(TraceEntry::OOM, 0, 0, 0);
    observer(0, 1ull << 40, 0, 0);
}

} // namespace c10::cuda::CUDACachingAllocator
