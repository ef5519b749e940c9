/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* timeout: 120
 * Work that CUPTI tells of: each kernel, copy and graph is below the scope that launched
 * it, and takes what its kernel was told to take, by CUDA's own events too. */
#include "gpu.h"

#define NO_GPU "no GPU here"
#define NO_CUPTI "CUPTI cannot be used here: see the line above"

static cudaStream_t stream;

static const gnomon_profiler worked = {.struct_size = sizeof worked,
                                       .abi = GNOMON_ABI,
                                       .wants = GNOMON_WANT_TREE |
                                                GNOMON_WANT_DEVICE_WORK,
                                       .name = "worked"};

/* ---- What gnomon saw ------------------------------------------------------------ */

static int is_below(const gnomon_profile *p, uint32_t node, const char *scope)
{
    gnomon_node_info n;
    gnomon_region_info r;
    for (; node && !gnomon_profile_node(p, node, &n); node = n.parent)
        if (!gnomon_profile_region(p, n.region, &r) &&
            strcmp(r.name, scope) == 0)
            return 1;
    return 0;
}

/* The work of a kind (gnomon_region_kind) below a scope. */
static gnomon_stats work_of(const char *scope, uint32_t kind, uint64_t *bytes)
{
    gnomon_stats sum;
    gnomon_profile *p = NULL;
    memset(&sum, 0, sizeof sum);
    *bytes = 0;
    CHECK_EQ(gnomon_snapshot(&p, "worked", 1), GNOMON_OK);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_region_info r;
        if (gnomon_profile_node(p, i, &n) || !n.device ||
            gnomon_profile_region(p, n.region, &r) || r.kind != kind ||
            !is_below(p, n.parent, scope))
            continue;
        sum.count += n.device->count;
        sum.total_ns += n.device->total_ns;
        *bytes += n.work ? n.work->bytes : 0;
    }
    gnomon_profile_free(p);
    return sum;
}

/* The same, once there is as much of it. */
static gnomon_stats work_when(const char *scope, uint32_t kind, uint64_t count,
                              uint64_t *bytes)
{
    gnomon_stats s = work_of(scope, kind, bytes);
    for (int i = 0; i < 2000 && s.count < count; i++) {
        usleep(5000);
        s = work_of(scope, kind, bytes);
    }
    if (!CHECK_EQ(s.count, count))
        fprintf(stderr, "    %s\n", scope);
    return s;
}

/* -1: CUPTI does not work, which on a machine with a GPU is a failure: without it scopes on
 * streams are timed instead. */
static int begin(void)
{
    if (!gpu_begin())
        return 0;
    stream = gpu_stream();
    CHECK_EQ(gnomon_attach(&worked, NULL, NULL), GNOMON_OK);
    {
        GNOMON_SCOPE("probe");
        put_spin(100000, stream);
        CUDA(cudaStreamSynchronize(stream));
    }
    uint64_t bytes;
    for (int i = 0; i < 400; i++) {
        if (work_of("probe", GNOMON_KIND_KERNEL, &bytes).count)
            return 1;
        usleep(5000);
    }
    return -1;
}

#define BEGIN \
    int begun = begin(); \
    if (!begun) \
        SKIP(NO_GPU); \
    if (!CHECK(begun > 0)) { \
        fprintf(stderr, "    " NO_CUPTI "\n"); \
        return; \
    }

static void end(void)
{
    gnomon_health h = health();
    CHECK_EQ(h.activities_lost, 0);
    CHECK_EQ(h.activities_unlinked, 0);
    CHECK_EQ(h.activities_odd, 0);
    CHECK_EQ(gnomon_detach(&worked, NULL), GNOMON_OK);
    CUDA(cudaGetLastError());
}

/* ---- Kernels -------------------------------------------------------------------------- */

static void spins(const char *scope, int count, double ns)
{
    gnomon_token token =
        gnomon_begin(gnomon_region_get(scope, NULL, GNOMON_KIND_SCOPE));
    for (int i = 0; i < count; i++)
        put_spin((uint64_t)ns, stream);
    gnomon_end(token);
}

/* A spin lasts for at least what it was told, and a launch adds a few us. */
TEST(kernels_take_what_they_are_told)
{
    BEGIN;
    uint64_t bytes;
    spins("short", 20, 200 * US);
    spins("long", 5, 2 * MS);
    CUDA(cudaStreamSynchronize(stream));
    gnomon_stats s = work_when("short", GNOMON_KIND_KERNEL, 20, &bytes);
    CHECK_AT_LEAST(s.total_ns, 20 * 199 * US);
    CHECK((double)s.total_ns < 20 * 230 * US);
    s = work_when("long", GNOMON_KIND_KERNEL, 5, &bytes);
    CHECK_AT_LEAST(s.total_ns, 5 * 1.99 * MS);
    CHECK((double)s.total_ns < 5 * 2.1 * MS);
    end();
}

/* By events around each kernel, which take some us of a stream themselves. */
TEST(kernels_and_events_agree)
{
    BEGIN;
    uint64_t bytes;
    double by_events = 0;
    event_pair pairs[10];
    for (int i = 0; i < 10; i++)
        pairs[i] = pair_create();
    {
        GNOMON_SCOPE("both");
        for (int i = 0; i < 10; i++) {
            CUDA(cudaEventRecord(pairs[i].begin, stream));
            put_spin((uint64_t)(1 * MS), stream);
            CUDA(cudaEventRecord(pairs[i].end, stream));
        }
    }
    CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i < 10; i++) {
        by_events += pair_ns(pairs[i]);
        pair_destroy(pairs[i]);
    }
    gnomon_stats s = work_when("both", GNOMON_KIND_KERNEL, 10, &bytes);
    CHECK((double)s.total_ns <= by_events + 10 * 1 * US);
    CHECK((double)s.total_ns >= by_events - 10 * 20 * US);
    end();
}

static void *launch_elsewhere(void *unused)
{
    CUDA(cudaSetDevice(0));
    spins("elsewhere", 7, 100 * US);
    return unused;
}

/* Two threads launch into one stream at once: each has its own. */
TEST(each_thread_has_its_own)
{
    BEGIN;
    uint64_t bytes;
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, launch_elsewhere, NULL), 0);
    spins("here", 9, 100 * US);
    pthread_join(thread, NULL);
    CUDA(cudaStreamSynchronize(stream));
    work_when("here", GNOMON_KIND_KERNEL, 9, &bytes);
    work_when("elsewhere", GNOMON_KIND_KERNEL, 7, &bytes);
    end();
}

/* ---- Copies and graphs ------------------------------------------------------------------ */

TEST(copies_have_their_bytes)
{
    BEGIN;
    enum { SIZE = 1 << 20 };
    void *host = NULL, *device = NULL;
    uint64_t bytes;
    CUDA(cudaMallocHost(&host, SIZE));
    CUDA(cudaMalloc(&device, SIZE));
    {
        GNOMON_SCOPE("copies");
        for (int i = 0; i < 3; i++)
            CUDA(cudaMemcpyAsync(device, host, SIZE, cudaMemcpyHostToDevice,
                                 stream));
        CUDA(cudaMemsetAsync(device, 0, SIZE / 2, stream));
    }
    CUDA(cudaStreamSynchronize(stream));
    work_when("copies", GNOMON_KIND_COPY, 3, &bytes);
    CHECK_EQ(bytes, 3 * SIZE);
    work_when("copies", GNOMON_KIND_SET, 1, &bytes);
    CHECK_EQ(bytes, SIZE / 2);
    CUDA(cudaFree(device));
    CUDA(cudaFreeHost(host));
    end();
}

/* A graph is launched three times: by its kernels or as a whole, it belongs to the scope
 * that launched it, and not to the one that captured it. */
TEST(graphs_belong_to_their_launch)
{
    BEGIN;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    uint64_t bytes;
    {
        GNOMON_SCOPE("capture");
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        put_spin((uint64_t)(200 * US), stream);
        put_spin((uint64_t)(300 * US), stream);
        CUDA(cudaStreamEndCapture(stream, &graph));
    }
    CUDA(cudaGraphInstantiateWithFlags(&ready, graph, 0));
    {
        GNOMON_SCOPE("launch");
        for (int i = 0; i < 3; i++)
            CUDA(cudaGraphLaunch(ready, stream));
    }
    CUDA(cudaStreamSynchronize(stream));
    gnomon_stats whole = work_of("launch", GNOMON_KIND_SCOPE, &bytes);
    for (int i = 0; i < 400 && whole.count < 3; i++) {
        usleep(5000);
        whole = work_of("launch", GNOMON_KIND_SCOPE, &bytes);
        if (work_of("launch", GNOMON_KIND_KERNEL, &bytes).count == 6)
            break;
    }
    gnomon_stats kernels = work_of("launch", GNOMON_KIND_KERNEL, &bytes);
    CHECK(whole.count == 3 || kernels.count == 6);
    CHECK_AT_LEAST(whole.total_ns + kernels.total_ns, 3 * 499 * US);
    CHECK_EQ(work_of("capture", GNOMON_KIND_KERNEL, &bytes).count, 0);
    CUDA(cudaGraphExecDestroy(ready));
    CUDA(cudaGraphDestroy(graph));
    end();
}
