// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scopes on streams and timers as objects, on a driver without a GPU.
#include <dlfcn.h>

#include <type_traits>

#include "cpp.h"
#include "fake_cuda/fake_cuda.h"

static const fake_cuda *cuda;
static gnomon_cuda_stream stream;

static bool has_driver()
{
    const char *path = TEST_BINARY_DIR "/fake_cuda/driver.so";
    setenv("GNOMON_CUDA_LIBRARY", path, 1);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        return false;
    cuda = static_cast<const fake_cuda *>(dlsym(library, "fake_cuda_table"));
    void *made = cuda->stream(cuda->context(0));
    stream = static_cast<gnomon_cuda_stream>(made);
    return true;
}

class timed : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"timed", GNOMON_WANT_TREE | GNOMON_WANT_DEVICE};
    }
};

TEST(scopes_on_streams_have_device_times)
{
    if (!CHECK(has_driver()))
        return;
    timed t;
    gnomon::attachment here(t);
    {
        gnomon::device_scope outer(GNOMON_REGION_HERE("outer"), stream);
        cuda->launch(stream, 1000000);
        {
            gnomon::device_scope inner(GNOMON_REGION_HERE("inner"),
                                       gnomon_cuda_device(), stream);
            cuda->launch(stream, 2000000);
            gnomon::device_scope moved(std::move(inner));
            moved.end();
            moved.end();
        }
        GNOMON_SCOPE_ON("macro", stream);
    }
    gnomon::cuda_timer wait; // until the device has come to all events
    double ms = 0;
    CHECK_EQ(wait.start(stream) | wait.stop(stream) | wait.elapsed(ms), 0);
    gnomon::profile p;
    const gnomon_stats *outer = nullptr, *inner = nullptr;
    for (int tries = 0; tries < 10000 && !(outer && outer->count); tries++) {
        p = recorded_now("timed");
        for (auto n : p.nodes()) {
            outer = n.path() == "outer" ? n->device : outer;
            inner = n.path() == "outer/inner" ? n->device : inner;
        }
        usleep(1000);
    }
    if (CHECK(outer && inner)) {
        CHECK(outer->count == 1 && outer->total_ns >= 3000000);
        CHECK(inner->count == 1 && inner->total_ns >= 2000000);
    }
    CHECK_EQ(count_at(p, "outer/macro"), 1);
    check_health();
}

static_assert(!std::is_copy_constructible<gnomon::cuda_timer>::value &&
                  !std::is_copy_constructible<gnomon::device_scope>::value,
              "what is freed once is not copied");

TEST(timers_take_the_time_of_a_stream)
{
    if (!CHECK(has_driver()))
        return;
    {
        gnomon::cuda_timer first;
        double ms = -1;
        CHECK_EQ(first.stop(stream), GNOMON_EINVAL); // nothing was started
        CHECK_EQ(first.start(stream), GNOMON_OK);
        cuda->launch(stream, 5000000);
        gnomon::cuda_timer timer(std::move(first)), empty;
        CHECK_EQ(timer.stop(stream), GNOMON_OK);
        CHECK_EQ(timer.elapsed(ms), GNOMON_OK);
        CHECK(ms >= 5);
        CHECK_EQ(timer.query(ms), GNOMON_OK);
        empty = std::move(timer);
        CHECK_EQ(empty.elapsed(ms), GNOMON_OK);
    }
    const char *last = nullptr;
    CHECK_EQ(cuda->misuse(&last), 0);
    CHECK_EQ(cuda->leaks(), 0);
}

TEST(without_a_driver_timers_say_so)
{
    setenv("GNOMON_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
    timed t;
    gnomon::attachment here(t);
    gnomon::cuda_timer timer;
    double ms = 1;
    CHECK_EQ(timer.start(nullptr), GNOMON_ENOENT);
    CHECK_EQ(timer.elapsed(ms), GNOMON_EINVAL);
    {
        gnomon::device_scope plain(GNOMON_REGION_HERE("plain"), nullptr);
    }
    CHECK_EQ(count_at(recorded_now("timed"), "plain"), 1);
}
