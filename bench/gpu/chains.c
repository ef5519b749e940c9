/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What timing takes on the device: a stream of short kernels, each behind the one before,
 * that wait behind a gate until all are launched. So no time of the host is in it. */
#include "chains.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gnomon/cuda.h"
#include "kernels.h"

#define TURNS 31
#define CHAIN 200u /* with two events for each, fewer than a queue holds */
#define KERNEL_NS 2000u
#define GATE_NS 1000000000u

static cudaStream_t on;
static cudaEvent_t begin, end, before, after;
static volatile int *gate;
static int broken;

static void must(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return;
    fprintf(stderr, "bench_gpu: %s: %s\n", what, cudaGetErrorString(code));
    broken = 1;
}

/* ---- One link of a chain ---------------------------------------------------------- */

static void bare(void)
{
    put_spin(KERNEL_NS, on);
}

static void in_events(void)
{
    cudaEventRecord(before, on);
    put_spin(KERNEL_NS, on);
    cudaEventRecord(after, on);
}

static void in_scope(void)
{
    GNOMON_SCOPE_ON("chain", on);
    put_spin(KERNEL_NS, on);
}

/* ---- Measuring ---------------------------------------------------------------------- */

/* ns of the stream for each link. */
static double chain(void (*one)(void))
{
    float ms = 0;
    *gate = 0;
    put_wait(gate, GATE_NS, on);
    must(cudaEventRecord(begin, on), "event");
    for (unsigned i = 0; i < CHAIN; i++)
        one();
    must(cudaEventRecord(end, on), "event");
    *gate = 1;
    must(cudaStreamSynchronize(on), "a chain");
    must(cudaEventElapsedTime(&ms, begin, end), "a chain's time");
    return (double)ms * 1e6 / CHAIN;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[TURNS])
{
    qsort(values, TURNS, sizeof *values, ascending);
    return values[TURNS / 2];
}

static void prepare(cudaStream_t stream)
{
    void *memory = NULL;
    on = stream;
    must(cudaHostAlloc(&memory, sizeof *gate, cudaHostAllocMapped), "memory");
    gate = (volatile int *)memory;
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    must(cudaEventCreate(&before), "event");
    must(cudaEventCreate(&after), "event");
}

int chains_explain(cudaStream_t stream)
{
    static double plain[TURNS], events[TURNS], scopes[TURNS];
    prepare(stream);
    /* In turns, as a GPU's clock changes. */
    for (int i = 0; i < TURNS && !broken; i++) {
        broken |= gnomon_attach(NULL, NULL, "") != GNOMON_OK;
        plain[i] = chain(bare);
        events[i] = chain(in_events);
        broken |= gnomon_attach(NULL, NULL, "cuda,file=/dev/null") != GNOMON_OK;
        (void)chain(in_scope); /* makes its events */
        scopes[i] = chain(in_scope);
    }
    (void)gnomon_attach(NULL, NULL, "");
    if (broken)
        return -1;
    double least = median(plain);
    printf("\nkernels of %u ns, each behind the one before, take %.0f ns of a "
           "stream each; with a pair\nof cudaEventRecord %.0f ns more, in a "
           "scope %.0f ns more\n",
           KERNEL_NS, least, median(events) - least, median(scopes) - least);
    return 0;
}
