/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What marks around the launch of an empty kernel cost the launching thread: its
 * own CPU time. bench_gpu FILE writes the table to FILE.
 *
 * Rows and their floors take turns in short batches, each on an idle stream. A full
 * queue would make the thread wait, and a device that lags would leave no event
 * free.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "bench.h"
#include "chains.h"
#include "gnomon/cuda.h"
#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "kernels.h"

#define REPETITIONS 31
#define BATCHES 20
#define BATCH 100
#define WARM 10 /* before each batch, not timed */

static cudaStream_t stream;
static cudaEvent_t first, last;

static void must(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return;
    fprintf(stderr, "bench_gpu: %s: %s\n", what, cudaGetErrorString(code));
    exit(2);
}

/* ---- The driver, and a tool of NVTX --------------------------------------------- */

/* The driver calls of a scope, looked up as gnomon does it. The last one is NULL
 * with drivers before 12.0. */
static struct {
    CUresult (*record)(CUevent event, CUstream on);
    CUresult (*is_capturing)(CUstream on, CUstreamCaptureStatus *status);
    CUresult (*get_context)(CUstream on, CUcontext *context);
    CUresult (*get_id)(CUcontext context, unsigned long long *id);
} driver;
static CUcontext context;

/* ISO C does not convert an object pointer to a function pointer. */
static int find(void *library, const char *symbol, void *call)
{
    void *found = library ? dlsym(library, symbol) : NULL;
    memcpy(call, &found, sizeof found);
    return found != NULL;
}

static void driver_find(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!find(library, "cuEventRecord", &driver.record) ||
        !find(library, "cuStreamIsCapturing", &driver.is_capturing) ||
        !find(library, "cuStreamGetCtx", &driver.get_context) ||
        driver.get_context(stream, &context) != CUDA_SUCCESS) {
        fprintf(stderr, "bench_gpu: libcuda.so.1 lacks what a scope asks\n");
        exit(2);
    }
    find(library, "cuCtxGetId", &driver.get_id);
}

static uint64_t (*tool_pairs)(void); /* NULL: no tool listens to NVTX */

/* Call before the first call of NVTX: without a tool the marks would be off. */
static void nvtx_listen(void)
{
#ifdef BENCH_NVTX_TOOL
    setenv("NVTX_INJECTION64_PATH", BENCH_NVTX_TOOL, 1);
    find(dlopen(BENCH_NVTX_TOOL, RTLD_NOW), "bench_tool_pairs", &tool_pairs);
#endif
}

/* ---- Rows ------------------------------------------------------------------- */

static void launch(int n)
{
    for (; n > 0; n--)
        put_nothing(stream);
}

static void event_pair(int n)
{
    for (; n > 0; n--) {
        cudaEventRecord(first, stream);
        cudaEventRecord(last, stream);
    }
}

static void launch_events(int n)
{
    for (; n > 0; n--) {
        cudaEventRecord(first, stream);
        put_nothing(stream);
        cudaEventRecord(last, stream);
    }
}

static void is_capturing(int n)
{
    CUstreamCaptureStatus status;
    for (; n > 0; n--)
        driver.is_capturing(stream, &status);
}

static void get_context(int n)
{
    CUcontext got;
    for (; n > 0; n--)
        driver.get_context(stream, &got);
}

static void get_id(int n)
{
    unsigned long long id;
    for (; driver.get_id && n > 0; n--)
        driver.get_id(context, &id);
}

static void driver_pair(int n)
{
    for (; n > 0; n--) {
        driver.record(first, stream);
        driver.record(last, stream);
    }
}

/* All driver calls of a scope, and nothing else. */
static void driver_scope(int n)
{
    for (; n > 0; n--) {
        is_capturing(1);
        get_context(1);
        get_id(1);
        driver.record(first, stream);
        is_capturing(1);
        driver.record(last, stream);
    }
}

#define SCOPES(name, work) \
    static void name(int n) \
    { \
        for (; n > 0; n--) { \
            GNOMON_SCOPE_ON(#name, stream); \
            work; \
        } \
    }
SCOPES(off_scope_on, put_nothing(stream))
SCOPES(cuda_scope_on, put_nothing(stream))
SCOPES(cuda_pair, (void)0)
SCOPES(nvtx_scope_on, put_nothing(stream))

enum mode { OFF, CUDA, NVTX, MODES };
static const char *const specs[MODES] = {"", "cuda,file=/dev/null", "nvtx"};

typedef struct gpu_row {
    const char *name;
    int floor; /* index; -1: this row is a floor */
    enum mode mode;
    void (*run)(int n);
} gpu_row;

enum {
    LAUNCH,
    EVENT_PAIR,
    LAUNCH_EVENTS,
    IS_CAPTURING,
    GET_CONTEXT,
    GET_ID,
    DRIVER_PAIR,
    DRIVER_SCOPE,
    OFF_SCOPE,
    CUDA_SCOPE,
    CUDA_PAIR
};
static const gpu_row rows[] = {
    [LAUNCH] = {"launch", -1, OFF, launch},
    [EVENT_PAIR] = {"event_pair", -1, OFF, event_pair},
    [LAUNCH_EVENTS] = {"launch_events", LAUNCH, OFF, launch_events},
    [IS_CAPTURING] = {"is_capturing", -1, OFF, is_capturing},
    [GET_CONTEXT] = {"get_context", -1, OFF, get_context},
    [GET_ID] = {"get_id", -1, OFF, get_id},
    [DRIVER_PAIR] = {"driver_pair", EVENT_PAIR, OFF, driver_pair},
    [DRIVER_SCOPE] = {"driver_scope", EVENT_PAIR, OFF, driver_scope},
    [OFF_SCOPE] = {"off_scope_on", LAUNCH, OFF, off_scope_on},
    [CUDA_SCOPE] = {"cuda_scope_on", LAUNCH_EVENTS, CUDA, cuda_scope_on},
    [CUDA_PAIR] = {"cuda_pair", EVENT_PAIR, CUDA, cuda_pair},
    {"nvtx_scope_on", LAUNCH, NVTX, nvtx_scope_on},
};
#define ROWS (sizeof rows / sizeof *rows)

static struct {
    double ns[REPETITIONS], floor[REPETITIONS], ratio[REPETITIONS];
    double added[REPETITIONS]; /* by cuda_scope_on, of two bare events */
    int count;
    int64_t ran, recorded;
} samples[ROWS];

/* ---- Measuring ---------------------------------------------------------------- */

/* ns of one. */
static double measure(const gpu_row *row)
{
    uint64_t ns = 0;
    for (int i = 0; i < BATCHES; i++) {
        usleep(1000); /* the reader reads the marks meanwhile */
        row->run(WARM);
        uint64_t begin = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
        row->run(BATCH);
        ns += bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
        must(cudaStreamSynchronize(stream), row->name);
    }
    return (double)ns / (BATCHES * BATCH);
}

static int is_recorded(const gpu_row *row)
{
    return row->mode == CUDA || (row->mode == NVTX && tool_pairs);
}

/* The device times of a row in the profile, or the ranges that the tool received. */
static int64_t recorded(const gpu_row *row)
{
    const char *name = row->name;
    gnomon_profile *p = NULL;
    int64_t sum = 0;
    if (row->mode == NVTX)
        return (int64_t)tool_pairs();
    if (gnomon_snapshot(&p, "cuda", 1) != GNOMON_OK)
        return 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info node;
        gnomon_region_info region;
        if (!gnomon_profile_node(p, i, &node) && node.device &&
            !(node.flags & GNOMON_NODE_PART) &&
            !gnomon_profile_region(p, node.region, &region) &&
            strcmp(region.name, name) == 0)
            sum += (int64_t)node.device->count;
    }
    gnomon_profile_free(p);
    return sum;
}

static void sample(size_t k)
{
    const gpu_row *row = &rows[k];
    int i = samples[k].count++;
    if (row->floor >= 0)
        samples[k].floor[i] = measure(&rows[row->floor]);
    int64_t before = is_recorded(row) ? recorded(row) : 0;
    samples[k].ns[i] = measure(row);
    samples[k].ratio[i] = samples[k].ns[i] / samples[k].floor[i];
    if (is_recorded(row)) {
        samples[k].recorded += recorded(row) - before;
        samples[k].ran += (int64_t)BATCHES * (WARM + BATCH);
    }
    if (k == CUDA_SCOPE) {
        double bare = measure(&rows[LAUNCH]);
        samples[k].added[i] =
            (samples[k].ns[i] - bare) / (samples[k].floor[i] - bare);
    }
}

/* Whether the library knows it. */
static int enter(enum mode mode)
{
    static int told[MODES];
    int code = gnomon_attach(NULL, NULL, specs[mode]);
    if (code != GNOMON_OK && !told[mode]++)
        fprintf(stderr, "bench_gpu: no row of '%s': %s\n", specs[mode],
                gnomon_error_text());
    return code == GNOMON_OK;
}

static void measure_all(void)
{
    for (int i = 0; i < REPETITIONS; i++)
        for (int mode = 0; mode < MODES; mode++) {
            if (!enter((enum mode)mode))
                continue;
            for (size_t k = 0; k < ROWS; k++)
                if ((int)rows[k].mode == mode)
                    sample(k);
        }
    gnomon_attach(NULL, NULL, "");
}

/* ---- The table ------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

/* Whether the row fails. */
static int conclude(bench_table *t, size_t k)
{
    int n = samples[k].count;
    bench_result *r = n ? bench_own(t, rows[k].name, 1) : NULL;
    if (!r)
        return 0;
    r->ns_median = median(samples[k].ns, n);
    r->ns_min = samples[k].ns[0];
    if (rows[k].floor >= 0) {
        snprintf(r->floor, sizeof r->floor, "%s", rows[rows[k].floor].name);
        median(samples[k].floor, n);
        r->ratio_min = r->ns_min / samples[k].floor[0];
        r->ratio_median = median(samples[k].ratio, n);
    }
    if (!is_recorded(&rows[k]))
        return 0;
    r->recorded = samples[k].recorded;
    if (samples[k].recorded == samples[k].ran)
        return 0;
    fprintf(stderr, "bench_gpu: %s: %lld scopes ran, %lld were recorded\n",
            rows[k].name, (long long)samples[k].ran,
            (long long)samples[k].recorded);
    return 1;
}

static void judge(const char *goal, double value, double limit)
{
    printf("%-56s %6.2f %s\n", goal, value, value <= limit ? "ok" : "over");
}

static double ns_of(bench_table *t, int row)
{
    return bench_own(t, rows[row].name, 1)->ns_median;
}

/* Prints where the time of a scope goes, which explains an "over". */
static void explain(bench_table *t)
{
    double scope = ns_of(t, CUDA_PAIR), calls = ns_of(t, DRIVER_SCOPE);
    double pair = ns_of(t, EVENT_PAIR), events = ns_of(t, DRIVER_PAIR);
    if (isnan(scope))
        return;
    printf("\na scope is %.0f ns beside the %.0f ns of two cudaEventRecord: "
           "two cuEventRecord are\n%.0f ns, what else is asked of the driver "
           "%.0f ns, gnomon itself %.0f ns. Apart:\n2 x cuStreamIsCapturing "
           "%.0f ns, cuStreamGetCtx %.0f ns, cuCtxGetId %.0f ns\n",
           scope, pair, events, calls - events, scope - calls,
           2 * ns_of(t, IS_CAPTURING), ns_of(t, GET_CONTEXT), ns_of(t, GET_ID));
}

int main(int argc, char **argv)
{
    static bench_table table;
    int failed = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_gpu FILE\n");
        return 2;
    }
    nvtx_listen();
    must(cudaSetDevice(0), "cudaSetDevice");
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    must(cudaEventCreate(&first), "event");
    must(cudaEventCreate(&last), "event");
    launch_events(1);
    must(cudaDeviceSynchronize(), "a kernel");
    driver_find();

    measure_all();
    for (size_t k = 0; k < ROWS; k++)
        failed += conclude(&table, k);
    bench_print(&table);
    putchar('\n');
    judge("a scope on a stream, off <= 1.05 launch",
          bench_own(&table, "off_scope_on", 1)->ratio_median, 1.05);
    judge("a scope on a stream, cuda <= 1.2 cudaEventRecord pairs",
          bench_own(&table, "cuda_pair", 1)->ratio_median, 1.2);
    judge("what it adds to a launch <= 1.2 of what a pair adds",
          samples[CUDA_SCOPE].count
              ? median(samples[CUDA_SCOPE].added, samples[CUDA_SCOPE].count)
              : BENCH_EMPTY,
          1.2);
    explain(&table);
    failed += chains_explain(stream) != 0;
    if (bench_write(&table, argv[1]) != 0)
        return 2;
    return failed != 0;
}
