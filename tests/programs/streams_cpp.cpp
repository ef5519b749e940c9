// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scopes on streams and timers from C++: a template, a class that owns a timer,
// and an exception that leaves two scopes.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <stdexcept>

#include "fake_cuda/fake_cuda.h"
#include "gnomon/cuda.h"

namespace
{

const fake_cuda *cuda;

class Timer
{
  public:
    Timer()
    {
        if (gnomon_cuda_timer_create(&timer_) != GNOMON_OK)
            throw std::runtime_error(gnomon_error_text());
    }
    ~Timer()
    {
        gnomon_cuda_timer_destroy(timer_);
    }
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    template <typename Work> double time(gnomon_cuda_stream stream, Work work)
    {
        double ms = -1;
        gnomon_cuda_timer_start(timer_, stream);
        work();
        gnomon_cuda_timer_stop(timer_, stream);
        return gnomon_cuda_timer_elapsed(timer_, &ms) == GNOMON_OK ? ms : -1;
    }

  private:
    gnomon_cuda_timer *timer_ = nullptr;
};

template <typename Work> void in_scope(gnomon_cuda_stream stream, Work work)
{
    GNOMON_SCOPE_ON("template", stream);
    work();
}

} // namespace

int main()
{
    void *library = dlopen(getenv("GNOMON_CUDA_LIBRARY"), RTLD_NOW);
    cuda = static_cast<const fake_cuda *>(dlsym(library, "fake_cuda_table"));
    if (!cuda)
        return 3;
    auto stream =
        static_cast<gnomon_cuda_stream>(cuda->stream(cuda->context(0)));
    auto work = [stream] { cuda->launch(stream, 2000000); };
    Timer timer;
    double ms = timer.time(stream, [&] { in_scope(stream, work); });
    printf("%d\n", ms >= 2);
    try {
        GNOMON_SCOPE_ON("outer", stream);
        in_scope(stream, [] { throw std::runtime_error("out"); });
    } catch (const std::exception &) {
        in_scope(stream, work);
    }
    return 0;
}
