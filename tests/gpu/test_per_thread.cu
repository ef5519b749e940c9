/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiled by nvcc with --default-stream per-thread, and with CUDA's runtime as a
 * shared library: stream 0 is the calling thread's own, for kernels and for
 * scopes. */
#include "gpu.h"

#define NO_GPU "no GPU here"

static __global__ void count_up(int *number)
{
    *number += 1;
}

static void *quick(void *number)
{
    CUDA(cudaSetDevice(0));
    for (int i = 0; i < 100; i++) {
        GNOMON_SCOPE_ON("quick", 0);
        count_up<<<1, 1>>>((int *)number);
    }
    CUDA(cudaGetLastError());
    CUDA(cudaStreamSynchronize(0));
    return NULL;
}

/* One thread's default stream is busy, the other's is not. */
TEST(default_streams_are_the_threads_own)
{
    pthread_t thread;
    int *number = NULL, got = 0;
    if (!gpu_begin())
        SKIP(NO_GPU);
    timed_attach();
    CUDA(cudaMalloc((void **)&number, sizeof *number));
    CUDA(cudaMemset(number, 0, sizeof *number));
    count_up<<<1, 1>>>(number); /* loaded before the gate is closed */
    CUDA(cudaDeviceSynchronize());
    {
        GNOMON_SCOPE_ON("slow", 0);
        gate_close(cudaStreamPerThread);
    }
    CHECK_EQ(pthread_create(&thread, NULL, quick, number), 0);
    pthread_join(thread, NULL);
    device_when("quick", 100);
    CHECK(gate_is_closed(cudaStreamPerThread));
    CHECK_EQ(device_of("slow").count, 0);
    gate_open();
    CHECK(device_when("slow", 1).total_ns > 0);
    CUDA(cudaMemcpy(&got, number, sizeof got, cudaMemcpyDeviceToHost));
    CHECK_EQ(got, 101);
    CUDA(cudaFree(number));
    gpu_is_well();
}

/* An event timer on stream 0, behind work that the host is ahead of. A gate is
 * closed in a stream that the legacy stream waits for, and a thread's own does
 * not: a timer in the wrong one would be over when the gate is open again. */
TEST(timers_are_in_the_threads_stream)
{
    gnomon_cuda_timer *timer = NULL;
    cudaStream_t other = NULL;
    double ms = 0;
    if (!gpu_begin())
        SKIP(NO_GPU);
    event_pair pair = pair_create();
    CUDA(cudaStreamCreate(&other)); /* not cudaStreamNonBlocking */
    if (!CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_OK))
        return;
    gate_close(other);
    put_spin(20000000, cudaStreamPerThread);
    CHECK_EQ(gnomon_cuda_timer_start(timer, 0), GNOMON_OK);
    put_spin(4000000, cudaStreamPerThread);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, 0), GNOMON_OK);
    CUDA(cudaEventRecord(pair.begin, 0));
    put_spin(4000000, cudaStreamPerThread);
    CUDA(cudaEventRecord(pair.end, 0));
    CUDA(cudaStreamSynchronize(0));
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(gate_is_closed(other));
    gate_open();
    CUDA(cudaStreamSynchronize(other));
    CHECK_AGREES(ms * MS, pair_ns(pair));
    CHECK_AT_LEAST(ms * MS, 4 * MS);
    gnomon_cuda_timer_destroy(timer);
    pair_destroy(pair);
    CUDA(cudaStreamDestroy(other));
    gpu_is_well();
}

/* What GNOMON_SCOPE_ON makes of stream 0 is what <<<>>> makes of it. */
TEST(times_are_those_of_the_threads_stream)
{
    if (!gpu_begin())
        SKIP(NO_GPU);
    timed_attach();
    event_pair pair = pair_create();
    gate_close(cudaStreamPerThread);
    {
        GNOMON_SCOPE_ON("spin", 0);
        put_spin(4000000, cudaStreamPerThread);
    }
    CUDA(cudaEventRecord(pair.begin, 0));
    put_spin(4000000, cudaStreamPerThread);
    CUDA(cudaEventRecord(pair.end, 0));
    gate_open();
    CUDA(cudaStreamSynchronize(0));
    CHECK_AGREES(device_when("spin", 1).total_ns, pair_ns(pair));
    pair_destroy(pair);
    gpu_is_well();
}
