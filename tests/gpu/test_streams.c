/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* timeout: 120
 * Scopes on streams of a real device: what they measure, and that nobody waits
 * for it. */
#include <time.h>

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

static void end(void)
{
    CUDA(cudaDeviceSynchronize());
    gpu_is_well();
}

/* ---- Times ------------------------------------------------------------------ */

#define REPETITIONS 32

/* Ours and CUDA's take turns, all in the stream before the first of them runs:
 * the host's time between two calls is in none of them. */
static void compare(const char *name, double ns)
{
    event_pair pairs[REPETITIONS];
    double theirs = 0;
    for (int i = 0; i < REPETITIONS; i++)
        pairs[i] = pair_create();
    gate_close(stream);
    for (int i = 0; i < REPETITIONS; i++) {
        scope_on(name, stream, ns);
        CUDA(cudaEventRecord(pairs[i].begin, stream));
        put_spin((uint64_t)ns, stream);
        CUDA(cudaEventRecord(pairs[i].end, stream));
    }
    CHECK(gate_is_closed(stream));
    gate_open();
    CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i < REPETITIONS; i++) {
        theirs += pair_ns(pairs[i]) / REPETITIONS;
        pair_destroy(pairs[i]);
    }
    gnomon_stats s = device_when(name, REPETITIONS);
    double ours = (double)s.total_ns / REPETITIONS;
    printf("%s: %.0f ns, by CUDA's events %.0f ns\n", name, ours, theirs);
    CHECK_AGREES(ours, theirs);
    CHECK_AT_LEAST(ours, ns);
    CHECK_EQ(s.self_ns, s.total_ns);
}

TEST(agree_with_events)
{
    if (!begin())
        SKIP(NO_GPU);
    compare("20 us", 20 * US);
    compare("300 us", 300 * US);
    compare("4 ms", 4 * MS);
    end();
}

TEST(nest)
{
    if (!begin())
        SKIP(NO_GPU);
    event_pair outer = pair_create(), inner = pair_create();
    gate_close(stream);
    CUDA(cudaEventRecord(outer.begin, stream));
    {
        GNOMON_SCOPE_ON("outer", stream);
        put_spin(1000000, stream);
        {
            GNOMON_SCOPE("between");
            GNOMON_SCOPE_ON("inner", stream);
            CUDA(cudaEventRecord(inner.begin, stream));
            put_spin(2000000, stream);
            CUDA(cudaEventRecord(inner.end, stream));
        }
        put_spin(4000000, stream);
    }
    CUDA(cudaEventRecord(outer.end, stream));
    gate_open();
    CUDA(cudaStreamSynchronize(stream));
    gnomon_stats out = device_when("outer", 1);
    gnomon_stats in = device_when("inner", 1);
    CHECK_AGREES(out.total_ns, pair_ns(outer));
    CHECK_AGREES(in.total_ns, pair_ns(inner));
    CHECK_EQ(out.self_ns, out.total_ns - in.total_ns);
    CHECK_EQ(in.self_ns, in.total_ns);
    CHECK_EQ(device_of("between").count, 0);
    pair_destroy(outer);
    pair_destroy(inner);
    end();
}

/* Two kernels that run at once, on a device that has room for both: each scope
 * has all of its own, and neither is the other's child. */
TEST(overlap)
{
    if (!begin())
        SKIP(NO_GPU);
    cudaStream_t other = gpu_stream();
    event_pair both = pair_create();
    gate_close(stream);
    CUDA(cudaEventRecord(both.begin, stream));
    CUDA(cudaStreamWaitEvent(other, both.begin, 0));
    {
        GNOMON_SCOPE_ON("left", stream);
        put_spin(20000000, stream);
        GNOMON_SCOPE_ON("right", other);
        put_spin(20000000, other);
        CUDA(cudaEventRecord(both.end, other));
    }
    gate_open();
    CUDA(cudaDeviceSynchronize());
    gnomon_stats left = device_when("left", 1);
    gnomon_stats right = device_when("right", 1);
    CHECK_AGREES(left.total_ns, 20 * MS);
    CHECK(left.self_ns == left.total_ns);
    CHECK_AT_LEAST(right.total_ns, 20 * MS);
    CHECK(pair_ns(both) < 30 * MS);
    pair_destroy(both);
    end();
}

static void on_default(cudaStream_t which)
{
    GNOMON_SCOPE_ON("default", which);
    put_spin(1000000, which);
}

TEST(default_streams)
{
    if (!begin())
        SKIP(NO_GPU);
    on_default(NULL);
    on_default(cudaStreamLegacy);
    on_default(cudaStreamPerThread);
    CUDA(cudaDeviceSynchronize());
    gnomon_stats s = device_when("default", 3);
    CHECK_AT_LEAST(s.min_ns, 1 * MS);
    end();
}

TEST(other_device_than_the_current)
{
    if (!begin())
        SKIP(NO_GPU);
    if (gpu_count() < 2)
        SKIP("one GPU only");
    CUDA(cudaSetDevice(1));
    cudaStream_t other = gpu_stream();
    put_spin(0, other);
    CUDA(cudaSetDevice(0));
    for (int i = 0; i < 10; i++) {
        /* The work goes where the stream is; a launch wants it current. */
        gnomon_device_scope s =
            gnomon_begin_on(gnomon_region_get("other", NULL, GNOMON_KIND_SCOPE),
                            gnomon_cuda_device(), other);
        int current = -1;
        CUDA(cudaGetDevice(&current));
        CHECK_EQ(current, 0);
        CUDA(cudaSetDevice(1));
        put_spin(1000000, other);
        CUDA(cudaSetDevice(0));
        gnomon_end_on(s);
        scope_on("own", stream, 1 * MS);
    }
    CHECK_AT_LEAST(device_when("other", 10).min_ns, 1 * MS);
    CHECK_AT_LEAST(device_when("own", 10).min_ns, 1 * MS);
    CUDA(cudaSetDevice(1));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaSetDevice(0));
    end();
}

/* ---- Nobody waits ------------------------------------------------------------ */

/* How many pairs of bare events the driver takes behind a closed gate without
 * making the host wait: its queue has an end. */
static int pairs_without_wait(int most)
{
    for (int n = most; n > 1; n /= 2) {
        event_pair pair = pair_create();
        gate_close(stream);
        for (int i = 0; i < n; i++) {
            CUDA(cudaEventRecord(pair.begin, stream));
            CUDA(cudaEventRecord(pair.end, stream));
        }
        int closed = gate_is_closed(stream);
        gate_open();
        CUDA(cudaStreamSynchronize(stream));
        pair_destroy(pair);
        if (closed)
            return n;
    }
    return 0;
}

static double ms_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* `n` scopes behind a closed gate. Where one of them waited for the device, what
 * there is to say of it: the gate opens by itself after GATE_NS. */
static void behind_a_gate(const char *name, int n)
{
    gnomon_region *region = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    double slowest = 0, begin, last;
    int which = 0;
    gate_close(stream);
    begin = last = ms_now();
    for (int i = 0; i < n; i++) {
        gnomon_end_on(gnomon_begin_on(region, gnomon_cuda_device(), stream));
        double now = ms_now();
        if (now - last > slowest) {
            slowest = now - last;
            which = i;
        }
        last = now;
    }
    int closed = gate_is_closed(stream);
    printf("%s: %d scopes in %.3f ms; the slowest, number %d, in %.3f ms; the "
           "gate is %s\n",
           name, n, last - begin, which, slowest, closed ? "closed" : "open");
    if (!CHECK(closed))
        fprintf(stderr,
                "    round '%s': %d scopes took %.3f ms, number %d of them "
                "%.3f ms: it waited for the device\n",
                name, n, last - begin, which, slowest);
    begin = ms_now();
    CHECK_EQ(device_of(name).count, 0); /* to look does not wait */
    last = ms_now();
    if (closed && !CHECK(gate_is_closed(stream)))
        fprintf(stderr, "    round '%s': the look took %.3f ms\n", name,
                last - begin);
    gate_open();
    device_when(name, (uint64_t)n);
}

/* The gate opens after all scopes ended, or else they waited for the device. The
 * first time the events are new. */
TEST(nothing_synchronizes)
{
    if (!begin())
        SKIP(NO_GPU);
    int n = pairs_without_wait(1000);
    printf("%d scopes behind one kernel\n", n);
    CHECK(n >= 100);
    behind_a_gate("new events", n);
    behind_a_gate("known events", n);
    end();
}

TEST(one_that_lags_holds_up_no_other)
{
    if (!begin())
        SKIP(NO_GPU);
    cudaStream_t other = gpu_stream();
    {
        GNOMON_SCOPE_ON("slow", stream);
        gate_close(stream);
    }
    for (int i = 0; i < 100; i++)
        scope_on("quick", other, 10 * US);
    device_when("quick", 100);
    CHECK(gate_is_closed(stream));
    CHECK_EQ(device_of("slow").count, 0);
    gate_open();
    device_when("slow", 1);
    end();
}

/* The host is faster than the device: each scope is timed, or lost and
 * counted. */
TEST(none_goes_missing)
{
    int most = 5000;
    if (!begin())
        SKIP(NO_GPU);
    for (int i = 0; i < most; i++)
        scope_on("many", stream, 20 * US);
    CUDA(cudaStreamSynchronize(stream));
    int lost = (int)health().timers_full;
    printf("%d scopes, %d lost\n", most, lost);
    device_when("many", (uint64_t)(most - lost));
    CHECK_EQ(health().timers_failed, 0);
    CUDA(cudaGetLastError());
}

/* ---- Threads ------------------------------------------------------------------- */

#define THREADS 8
#define EACH 200

static void *marks(void *unused)
{
    (void)unused;
    CUDA(cudaSetDevice(0));
    cudaStream_t own = gpu_stream();
    for (int i = 0; i < EACH; i++) {
        GNOMON_SCOPE_ON("a thread's", own);
        put_spin(20000, own);
    }
    CUDA(cudaStreamSynchronize(own));
    CUDA(cudaStreamDestroy(own));
    CUDA(cudaGetLastError());
    return NULL;
}

TEST(threads)
{
    pthread_t thread[THREADS];
    if (!begin())
        SKIP(NO_GPU);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, marks, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    gnomon_stats s = device_when("a thread's", THREADS * EACH);
    CHECK_AT_LEAST(s.min_ns, 20 * US);
    end();
}

/* A profiler that comes and goes while others mark. */
TEST(attached_again)
{
    if (!begin())
        SKIP(NO_GPU);
    gnomon_profiler again = {.struct_size = sizeof again,
                             .abi = GNOMON_ABI,
                             .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE,
                             .name = "again"};
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(gnomon_attach(&again, NULL, NULL), GNOMON_OK);
        scope_on("both", stream, 100 * US);
        CHECK_EQ(gnomon_detach(&again, NULL), GNOMON_OK);
    }
    device_when("both", 20);
    end();
}
