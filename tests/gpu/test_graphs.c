/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* timeout: 120
 * Scopes and timers where streams are captured into graphs: they take no times,
 * say so, and break no capture; a graph's launch is timed from outside. */
#include "gpu.h"

#define NO_GPU "no GPU here"

static cudaStream_t stream;

static int begin(void)
{
    if (!gpu_begin())
        return 0;
    stream = gpu_stream();
    return timed_attach();
}

/* The capture was valid, and has our kernels only. */
static cudaGraphExec_t end_capture(size_t kernels)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    size_t count = 0;
    if (!CUDA(cudaStreamEndCapture(stream, &graph)))
        return NULL;
    CUDA(cudaGraphGetNodes(graph, NULL, &count));
    CHECK_EQ(count, kernels);
    CUDA(cudaGraphInstantiateWithFlags(&ready, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return ready;
}

/* Launches behind a closed gate, so that the host does not wait for their
 * end. */
static void launch(const char *name, cudaGraphExec_t graph, double ns)
{
    gate_close(stream);
    for (int i = 0; i < 3; i++) {
        gnomon_device_scope s =
            gnomon_begin_on(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE),
                            gnomon_cuda_device(), stream);
        CUDA(cudaGraphLaunch(graph, stream));
        gnomon_end_on(s);
    }
    gate_open();
    gnomon_stats s = device_when(name, 3);
    CHECK_AT_LEAST(s.min_ns, ns);
    CHECK((double)s.total_ns < 3 * 2 * ns);
}

static void captured(enum cudaStreamCaptureMode mode, const char *name)
{
    CUDA(cudaStreamBeginCapture(stream, mode));
    {
        GNOMON_SCOPE_ON("captured", stream);
        put_spin(2000000, stream);
        {
            GNOMON_SCOPE_ON("captured", stream);
            put_spin(1000000, stream);
        }
    }
    cudaGraphExec_t graph = end_capture(2);
    if (!graph)
        return;
    launch(name, graph, 3 * MS);
    CUDA(cudaGraphExecDestroy(graph));
}

TEST(are_not_timed_and_stay_valid)
{
    if (!begin())
        SKIP(NO_GPU);
    captured(cudaStreamCaptureModeGlobal, "global");
    captured(cudaStreamCaptureModeThreadLocal, "thread local");
    captured(cudaStreamCaptureModeRelaxed, "relaxed");
    CHECK_EQ(health().timers_captured, 6);
    CHECK_EQ(health().timers_failed, 0);
    CHECK_EQ(device_of("captured").count, 0);
    CUDA(cudaGetLastError());
}

/* A scope that began before the capture, or ends after it, has one event only. */
TEST(a_capture_inside_a_scope)
{
    if (!begin())
        SKIP(NO_GPU);
    gnomon_device_scope s =
        gnomon_begin_on(gnomon_region_get("around", NULL, GNOMON_KIND_SCOPE),
                        gnomon_cuda_device(), stream);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    put_spin(1000000, stream);
    gnomon_end_on(s);
    cudaGraphExec_t graph = end_capture(1);
    CHECK_EQ(health().timers_captured, 1);
    CHECK_EQ(device_of("around").count, 0);
    if (graph)
        launch("launch", graph, 1 * MS);
    CHECK_EQ(device_of("around").count, 0);
    CHECK_EQ(health().timers_failed, 0);
    CUDA(cudaGetLastError());
}

/* A capture forbids all threads what could wait, unless they say that they do
 * not: events are made, read and anchored meanwhile. */
static void *marks_beside(void *unused)
{
    (void)unused;
    CUDA(cudaSetDevice(0));
    cudaStream_t own = *(cudaStream_t *)unused;
    for (int i = 0; i < 100; i++)
        scope_on("beside", own, 10 * US);
    device_when("beside", 100);
    CUDA(cudaGetLastError());
    return NULL;
}

TEST(others_go_on_during_a_capture)
{
    pthread_t thread;
    if (!begin())
        SKIP(NO_GPU);
    cudaStream_t other = gpu_stream();
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    put_spin(1000000, stream);
    CHECK_EQ(pthread_create(&thread, NULL, marks_beside, &other), 0);
    pthread_join(thread, NULL);
    for (int i = 0; i < 10; i++)
        scope_on("by the thread itself", other, 10 * US);
    device_when("by the thread itself", 10);
    cudaGraphExec_t graph = end_capture(1);
    if (graph)
        launch("launch", graph, 1 * MS);
    gpu_is_well();
}

/* The legacy stream cannot be asked while one that waits for it is captured. */
TEST(the_legacy_stream_during_a_capture)
{
    if (!begin())
        SKIP(NO_GPU);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    put_spin(1000000, stream);
    gnomon_end_on(
        gnomon_begin_on(gnomon_region_get("legacy", NULL, GNOMON_KIND_SCOPE),
                        gnomon_cuda_device(), NULL));
    cudaGraphExec_t graph = end_capture(1);
    CHECK(graph != NULL);
    CHECK_EQ(health().timers_captured, 1);
    CHECK_EQ(health().timers_failed, 0);
    CUDA(cudaGetLastError());
}

TEST(a_timer_refuses_a_capture)
{
    gnomon_cuda_timer *timer = NULL;
    double ms = 0;
    if (!begin())
        SKIP(NO_GPU);
    CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_OK);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_EBUSY);
    put_spin(1000000, stream);
    cudaGraphExec_t graph = end_capture(1);
    CHECK_EQ(gnomon_cuda_timer_start(timer, stream), GNOMON_OK);
    if (graph)
        CUDA(cudaGraphLaunch(graph, stream));
    CHECK_EQ(gnomon_cuda_timer_stop(timer, stream), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 0.998);
    gnomon_cuda_timer_destroy(timer);
    gpu_is_well();
}
