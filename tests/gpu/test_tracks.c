/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* timeout: 120
 * A scope that events timed on a stream lies on the track of the kernels that it put
 * there: CUPTI's number for the stream is that of its records. */
#include "gpu.h"

#define NO_GPU "no GPU here"
#define NO_CUPTI "CUPTI cannot be used here: see the line above"

static const gnomon_profiler traced = {
    .struct_size = sizeof traced,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE | GNOMON_WANT_DEVICE_WORK |
             GNOMON_WANT_EVENTS,
    .name = "traced"};

/* ---- What gnomon saw ------------------------------------------------------------ */

/* Where a scope was timed, and where the kernels below it are: each track's number; -1:
 * nowhere. Both are sums of what is there. */
typedef struct tracks_seen {
    int timed, work;
    uint64_t scopes, kernels;
    char names[2][64];
} tracks_seen;

/* A scope that is on two tracks fails the test. */
static void see(int *where, char *name, uint32_t track, const gnomon_profile *p)
{
    gnomon_track_info t;
    CHECK(*where < 0 || *where == (int)track);
    *where = (int)track;
    if (CHECK(!gnomon_profile_track(p, track, &t)))
        snprintf(name, 64, "%s", t.name);
}

static int is_named(const gnomon_profile *p, uint32_t node, const char *name)
{
    gnomon_node_info n;
    gnomon_region_info r;
    return !gnomon_profile_node(p, node, &n) &&
           !gnomon_profile_region(p, n.region, &r) && strcmp(r.name, name) == 0;
}

static tracks_seen seen(const char *scope)
{
    tracks_seen s = {.timed = -1, .work = -1};
    gnomon_profile *p = NULL;
    gnomon_node_info n;
    gnomon_region_info r;
    CHECK_EQ(gnomon_snapshot(&p, "traced", 1), GNOMON_OK);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    for (uint32_t i = 1; p && !gnomon_profile_node(p, i, &n); i++) {
        if (!n.device || gnomon_profile_region(p, n.region, &r))
            continue;
        if (n.flags & GNOMON_NODE_PART && is_named(p, i, scope)) {
            see(&s.timed, s.names[0], n.track, p);
            s.scopes += n.device->count;
        }
        if (r.kind == GNOMON_KIND_KERNEL && is_named(p, n.parent, scope)) {
            see(&s.work, s.names[1], n.track, p);
            s.kernels += n.device->count;
        }
    }
    gnomon_profile_free(p);
    return s;
}

/* Once so many scopes, with a kernel in each, are known. */
static void check_together(const char *scope, uint64_t count)
{
    tracks_seen s = seen(scope);
    for (int i = 0; i < 2000 && (s.scopes < count || s.kernels < count); i++) {
        CHECK_EQ(gnomon_device_wait(1000000), GNOMON_OK);
        usleep(5000);
        s = seen(scope);
    }
    CHECK_EQ(s.scopes, count);
    CHECK_EQ(s.kernels, count);
    if (!CHECK_EQ(s.timed, s.work))
        fprintf(stderr, "    %s: timed on %s, works on %s\n", scope, s.names[0],
                s.names[1]);
}

/* -1: without CUPTI kernels are nowhere, which on a machine with a GPU is a failure. */
static int begin(void)
{
    if (!gpu_begin())
        return 0;
    CHECK_EQ(gnomon_attach(&traced, NULL, NULL), GNOMON_OK);
    {
        GNOMON_SCOPE("probe");
        put_spin(100000, 0);
        CUDA(cudaDeviceSynchronize());
    }
    for (int i = 0; i < 400; i++) {
        if (seen("probe").kernels)
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
    gpu_is_well();
    CHECK_EQ(gnomon_detach(&traced, NULL), GNOMON_OK);
}

/* ---- Streams -------------------------------------------------------------------------- */

TEST(streams_that_the_host_made)
{
    BEGIN;
    cudaStream_t blocking = NULL, free_one = gpu_stream();
    CUDA(cudaStreamCreate(&blocking));
    for (int i = 0; i < 10; i++) {
        scope_on("blocking", blocking, 20 * US);
        scope_on("free", free_one, 20 * US);
    }
    CUDA(cudaDeviceSynchronize());
    check_together("blocking", 10);
    check_together("free", 10);
    CHECK(seen("blocking").timed != seen("free").timed);
    CUDA(cudaStreamDestroy(blocking));
    CUDA(cudaStreamDestroy(free_one));
    end();
}

static void *own_stream(void *name)
{
    CUDA(cudaSetDevice(0));
    for (int i = 0; i < 10; i++)
        scope_on(name, cudaStreamPerThread, 20 * US);
    CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    return NULL;
}

TEST(default_streams)
{
    BEGIN;
    char first[] = "first", second[] = "second";
    pthread_t threads[2];
    for (int i = 0; i < 10; i++) {
        scope_on("null", 0, 20 * US);
        scope_on("legacy", cudaStreamLegacy, 20 * US);
    }
    CHECK_EQ(pthread_create(&threads[0], NULL, own_stream, first), 0);
    CHECK_EQ(pthread_create(&threads[1], NULL, own_stream, second), 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CUDA(cudaDeviceSynchronize());
    check_together("null", 10);
    check_together("legacy", 10);
    check_together("first", 10);
    check_together("second", 10);
    CHECK_EQ(seen("null").timed, seen("legacy").timed);
    CHECK(seen("first").timed != seen("second").timed);
    end();
}

/* A thread that has made no call of CUDA's. */
static void *no_context(void *stream)
{
    gnomon_device_scope s =
        gnomon_begin_on(gnomon_region_get("borrowed", NULL, GNOMON_KIND_SCOPE),
                        gnomon_cuda_device(), stream);
    put_spin((uint64_t)(20 * US), (cudaStream_t)stream);
    gnomon_end_on(s);
    return NULL;
}

TEST(a_thread_without_a_context)
{
    BEGIN;
    cudaStream_t stream = gpu_stream();
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, no_context, stream), 0);
    pthread_join(thread, NULL);
    CUDA(cudaDeviceSynchronize());
    check_together("borrowed", 1);
    CUDA(cudaStreamDestroy(stream));
    end();
}

/* Handles of destroyed streams are used again: 50 streams, one after the other. */
TEST(streams_come_and_go)
{
    BEGIN;
    char name[32];
    for (int i = 0; i < 50; i++) {
        cudaStream_t stream = gpu_stream();
        snprintf(name, sizeof name, "stream %d", i);
        scope_on(name, stream, 20 * US);
        CUDA(cudaStreamDestroy(stream));
    }
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "stream %d", i);
        check_together(name, 1);
    }
    end();
}

TEST(two_devices)
{
    BEGIN;
    if (gpu_count() < 2)
        SKIP("one GPU only");
    cudaStream_t here = gpu_stream(), there;
    CUDA(cudaSetDevice(1));
    there = gpu_stream();
    scope_on("there", there, 20 * US);
    scope_on("null there", 0, 20 * US);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaSetDevice(0));
    scope_on("here", here, 20 * US);
    CUDA(cudaDeviceSynchronize());
    check_together("here", 1);
    check_together("there", 1);
    check_together("null there", 1);
    CHECK(seen("here").timed != seen("there").timed);
    end();
}

/* The number of another stream is asked for while one is captured. */
TEST(a_capture_stays_valid)
{
    BEGIN;
    cudaGraph_t graph = NULL;
    cudaStream_t captured = gpu_stream(), other = gpu_stream();
    scope_on("before", other, 20 * US);
    CUDA(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
    put_spin((uint64_t)(20 * US), captured);
    scope_on("beside", other, 20 * US);
    CUDA(cudaStreamEndCapture(captured, &graph));
    CHECK(graph != NULL);
    CUDA(cudaDeviceSynchronize());
    check_together("beside", 1);
    CUDA(cudaGraphDestroy(graph));
    end();
}

/* ---- Moments ---------------------------------------------------------------------------- */

/* The number that metadata has at the key; 0: it is not there. */
static double number_of(const gnomon_profile *p, const char *key)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(p, i, &m); i++)
        if (strcmp(m.key, key) == 0)
            return atof(m.json);
    return 0;
}

/* A scope and its kernel by two clocks: they nest, but for what both may be off. */
TEST(a_kernel_lies_in_its_scope)
{
    BEGIN;
    cudaStream_t stream = gpu_stream();
    gnomon_event_info e, scope = {.node = 0}, work = {.node = 0};
    gnomon_profile *p = NULL;
    scope_on("warm", stream, 20 * US);
    check_together("warm", 1);
    scope_on("nests", stream, 1 * MS);
    CUDA(cudaDeviceSynchronize());
    check_together("nests", 1);
    CHECK_EQ(gnomon_snapshot(&p, "traced", 1), GNOMON_OK);
    for (size_t i = 1; p && !gnomon_profile_event(p, i, &e); i++) {
        gnomon_node_info n;
        if (gnomon_profile_node(p, e.node, &n))
            continue;
        if (n.flags & GNOMON_NODE_PART && is_named(p, e.node, "nests"))
            scope = e;
        if (n.device && is_named(p, n.parent, "nests"))
            work = e;
    }
    double off = 5 * US + number_of(p, "gnomon.cuda.0.clock_error_ns") +
                 number_of(p, "gnomon.cupti.clock_error_ns");
    double from = (double)work.begin_ns - (double)scope.begin_ns;
    double until = (double)(scope.begin_ns + scope.duration_ns) -
                   (double)(work.begin_ns + work.duration_ns);
    CHECK(scope.node && work.node);
    CHECK_EQ(scope.track, work.track);
    if (!CHECK(from > -off && until > -off && from < 1 * MS && until < 1 * MS))
        fprintf(stderr, "    %.0f ns before and %.0f ns after, %.0f ns off\n",
                from, until, off);
    gnomon_profile_free(p);
    CUDA(cudaStreamDestroy(stream));
    end();
}
