/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests on a real GPU share: a profiler of device times, what it saw,
 * and streams that are busy for as long as a test wants.
 *
 * Nothing is held against the host's clock. Where a test needs a device that
 * lags, a gate is closed in the stream; it opens by itself after some seconds,
 * so that who waits for the device fails instead of hanging. */
#ifndef GNOMON_TESTS_GPU_H
#define GNOMON_TESTS_GPU_H

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "../test.h"
#include "gnomon/cuda.h"
#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "gpu_missing.h"
#include "kernels.h"

#define US 1000.0
#define MS 1000000.0
#define GATE_NS 3000000000ull

#define CUDA(call) gpu_ok(call, __FILE__, __LINE__, #call)

static inline int gpu_ok(cudaError_t code, const char *file, int line,
                         const char *call)
{
    if (!test_check(code == cudaSuccess, file, line, call))
        fprintf(stderr, "    %s\n", cudaGetErrorString(code));
    return code == cudaSuccess;
}

/* ---- The device ----------------------------------------------------------- */

static volatile int *gpu_flag; /* of gates */

/* 0: there is none. A device that cannot be used fails the test. */
static inline int gpu_count(void)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess)
        return count;
    cudaGetLastError();
    if (!gpu_is_none(code))
        gpu_ok(code, __FILE__, __LINE__, "cudaGetDeviceCount(&count)");
    return 0;
}

static inline void gate_close(cudaStream_t stream)
{
    *gpu_flag = 0;
    put_wait(gpu_flag, GATE_NS, stream);
}

static inline void gate_open(void)
{
    *gpu_flag = 1;
    __sync_synchronize();
}

static inline int gate_is_closed(cudaStream_t stream)
{
    cudaError_t code = cudaStreamQuery(stream);
    CHECK(code == cudaSuccess || code == cudaErrorNotReady);
    return code == cudaErrorNotReady;
}

/* All kernels are launched once: their first launch loads them, and may wait for
 * the device. 0: there is no GPU here. */
static inline int gpu_begin(void)
{
    void *flag = NULL;
    if (!gpu_count())
        return 0;
    CUDA(cudaSetDevice(0));
    CUDA(cudaHostAlloc(&flag, sizeof *gpu_flag, cudaHostAllocMapped));
    gpu_flag = (volatile int *)flag;
    if (!CHECK(flag != NULL))
        exit(1);
    *gpu_flag = 1;
    put_spin(0, 0);
    put_wait(gpu_flag, GATE_NS, 0);
    put_nothing(0);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    return 1;
}

/* Concurrently with the other work, not after it. */
static inline cudaStream_t gpu_stream(void)
{
    cudaStream_t stream = NULL;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* ---- What gnomon saw ------------------------------------------------------- */

static gnomon_profiler timed;
static const char *timed_by = "timed"; /* whose profile is looked at */

static inline int timed_attach(void)
{
    timed.struct_size = sizeof timed;
    timed.abi = GNOMON_ABI;
    timed.wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE;
    timed.name = "timed";
    return CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
}

static inline int timed_detach(void)
{
    return CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
}

/* Of all nodes of that name, on all threads; count 0: there are none. */
static inline gnomon_stats device_of(const char *name)
{
    gnomon_stats sum;
    gnomon_profile *p = NULL;
    memset(&sum, 0, sizeof sum);
    sum.min_ns = UINT64_MAX;
    CHECK_EQ(gnomon_snapshot(&p, timed_by, 1), GNOMON_OK);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_region_info r;
        if (gnomon_profile_node(p, i, &n) || !n.device ||
            (n.flags & GNOMON_NODE_PART) ||
            gnomon_profile_region(p, n.region, &r) || strcmp(r.name, name) != 0)
            continue;
        sum.count += n.device->count;
        sum.total_ns += n.device->total_ns;
        sum.self_ns += n.device->self_ns;
        if (n.device->min_ns < sum.min_ns)
            sum.min_ns = n.device->min_ns;
        if (n.device->max_ns > sum.max_ns)
            sum.max_ns = n.device->max_ns;
    }
    gnomon_profile_free(p);
    return sum;
}

/* The same, once so many of them were read. */
static inline gnomon_stats device_when(const char *name, uint64_t count)
{
    gnomon_stats s = device_of(name);
    for (int i = 0; i < 2000 && s.count < count; i++) {
        usleep(5000);
        s = device_of(name);
    }
    if (!CHECK_EQ(s.count, count))
        fprintf(stderr, "    %s\n", name);
    return s;
}

static inline gnomon_health health(void)
{
    gnomon_health h;
    memset(&h, 0, sizeof h);
    h.struct_size = sizeof h;
    gnomon_health_get(&h);
    return h;
}

/* No time was lost, and the host has no pending error. */
static inline void gpu_is_well(void)
{
    gnomon_health h = health();
    CHECK_EQ(h.timers_full, 0);
    CHECK_EQ(h.timers_captured, 0);
    CHECK_EQ(h.timers_failed, 0);
    CHECK_EQ(h.timers_late, 0);
    CHECK_EQ(h.timers_unended, 0);
    CUDA(cudaGetLastError());
}

/* A scope of a name that is not known before, with a spin of `ns` in it. */
static inline void scope_on(const char *name, cudaStream_t stream, double ns)
{
    gnomon_device_scope s =
        gnomon_begin_on(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE),
                        gnomon_cuda_device(), stream);
    put_spin((uint64_t)ns, stream);
    gnomon_end_on(s);
}

/* ---- What CUDA's own events say --------------------------------------------- */

typedef struct event_pair {
    cudaEvent_t begin, end;
} event_pair;

static inline event_pair pair_create(void)
{
    event_pair p = {NULL, NULL};
    CUDA(cudaEventCreate(&p.begin));
    CUDA(cudaEventCreate(&p.end));
    return p;
}

static inline double pair_ns(event_pair p)
{
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, p.begin, p.end));
    return (double)ms * 1e6;
}

static inline void pair_destroy(event_pair p)
{
    CUDA(cudaEventDestroy(p.begin));
    CUDA(cudaEventDestroy(p.end));
}

/* What is promised: within 1 % or 2 us, whichever is more. */
#define CHECK_AGREES(ours, theirs) \
    gpu_agrees((double)(ours), (double)(theirs), __FILE__, __LINE__, \
               #ours " is " #theirs)

static inline void gpu_agrees(double ours, double theirs, const char *file,
                              int line, const char *what)
{
    double most = fmax(theirs / 100, 2 * US);
    if (!test_check(fabs(ours - theirs) <= most, file, line, what))
        fprintf(stderr, "    %.0f ns, not %.0f ns\n", ours, theirs);
}

/* What was spun for, but for a step of the device's clock. */
#define CHECK_AT_LEAST(ours, ns) CHECK((double)(ours) + 2 * US > (ns))

#endif
