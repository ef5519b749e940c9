/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Event timers without any profiler. */
#include "gpu.h"

#define NO_GPU "no GPU here"

static cudaStream_t stream;
static gnomon_cuda_timer *timer;

static int begin(void)
{
    if (!gpu_begin())
        return 0;
    stream = gpu_stream();
    return CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_OK);
}

static void end(void)
{
    gnomon_cuda_timer_destroy(timer);
    gpu_is_well();
}

static void compare(double ns)
{
    event_pair pair = pair_create();
    double ms = 0;
    gate_close(stream);
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    put_spin((uint64_t)ns, stream);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_OK);
    CUDA(cudaEventRecord(pair.begin, stream));
    put_spin((uint64_t)ns, stream);
    CUDA(cudaEventRecord(pair.end, stream));
    gate_open();
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CUDA(cudaStreamSynchronize(stream));
    CHECK_AGREES(ms * 1e6, pair_ns(pair));
    pair_destroy(pair);
}

TEST(agree_with_events)
{
    if (!begin())
        SKIP(NO_GPU);
    compare(0.5 * MS);
    compare(4 * MS);
    compare(50 * MS);
    end();
}

TEST(a_query_does_not_wait)
{
    double ms = 1;
    if (!begin())
        SKIP(NO_GPU);
    gate_close(stream);
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    put_spin(1000000, stream);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_EBUSY);
    CHECK(ms == 0);
    CHECK(gate_is_closed(stream));
    gate_open();
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 0.998);
    double again = 0;
    CHECK_EQ(gnomon_cuda_timer_query(timer, &again), GNOMON_OK);
    CHECK(again == ms);
    end();
}

TEST(wrong_order)
{
    double ms = 0;
    if (!begin())
        SKIP(NO_GPU);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_ESTATE);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_ESTATE);
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_query(timer, &ms), GNOMON_ESTATE);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    end();
}

/* Before any call of CUDA's runtime: the timer makes the device's context, which
 * is then the runtime's, too. */
static void *first_use(void *unused)
{
    double ms = 0;
    CHECK_EQ(gnomon_cuda_timer_start(timer, NULL), GNOMON_OK);
    put_spin(1000000, NULL);
    CUDA(cudaGetLastError());
    CHECK_EQ(gnomon_cuda_timer_stop(timer, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 0.998);
    return unused;
}

TEST(before_any_other_use_of_cuda)
{
    int code = gnomon_cuda_timer_create(&timer);
    if (code == GNOMON_ENOENT) {
        CHECK(timer == NULL);
        CHECK_EQ(gpu_count(), 0);
        SKIP(NO_GPU);
    }
    CHECK_EQ(code, GNOMON_OK);
    first_use(NULL);
    end();
}

TEST(on_a_thread_that_did_not_use_cuda)
{
    pthread_t thread;
    if (!begin())
        SKIP(NO_GPU);
    CHECK_EQ(pthread_create(&thread, NULL, first_use, NULL), 0);
    pthread_join(thread, NULL);
    end();
}

TEST(other_device)
{
    if (!begin())
        SKIP(NO_GPU);
    if (gpu_count() < 2)
        SKIP("one GPU only");
    CUDA(cudaSetDevice(1));
    cudaStream_t other = gpu_stream();
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, other), GNOMON_ESTATE);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_OK);
    int current = 0;
    CUDA(cudaGetDevice(&current));
    CHECK_EQ(current, 1);
    end();
}
