/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares the cost of a mark that reports print with a measurement: marks are
 * switched off and on in one process, in the layers of a GPT, with no work and
 * with work. With work a mark costs less, because the processor works on while it reads
 * the clock, or more, if the work evicts the mark's cache lines. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "gnomon.h"

#define TURNS 31
#define SCOPES 11u
#define FLOATS 4096u

static gnomon_region layer_regions[] = {
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "layer", "footer", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "layernorm", "footer", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "matmul", "footer", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "attention", "footer", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "residual", "footer", NULL),
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "gelu", "footer", NULL),
};
static const unsigned char parts[] = {1, 2, 3, 2, 4, 1, 2, 5, 2, 4};

static float values[FLOATS];

static void work(uint32_t floats)
{
    static uint32_t at;
    for (uint32_t i = 0; i < floats; i++)
        values[(at + i) % FLOATS] += 1;
    at = (at + floats) % FLOATS;
    BENCH_FENCE();
}

static BENCH_ALIGNED void run_layers(uint32_t layers, uint32_t floats)
{
    while (layers--) {
        gnomon_token layer = gnomon_begin(&layer_regions[0]);
        for (size_t i = 0; i < sizeof parts; i++) {
            gnomon_token part = gnomon_begin(&layer_regions[parts[i]]);
            work(floats);
            gnomon_end(part);
        }
        gnomon_end(layer);
    }
}

static double time_layers(uint32_t layers, uint32_t floats)
{
    run_layers(4, floats);
    uint64_t begin = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    run_layers(layers, floats);
    uint64_t end = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    return (double)(end - begin) / layers / SCOPES;
}

static double shown(uint32_t floats, const char *spec)
{
    double ns[TURNS];
    uint32_t layers = bench_effort_now.smoke ? 10 : 20000 / (10 + floats);
    for (int i = 0; i < TURNS; i++) {
        if (gnomon_attach(NULL, NULL, ""))
            exit(2);
        double off = time_layers(layers, floats);
        if (gnomon_attach(NULL, NULL, spec))
            exit(2);
        ns[i] = time_layers(layers, floats) - off;
    }
    return bench_median(ns, TURNS);
}

static double stated(const char *path)
{
    char line[512];
    double ns = BENCH_EMPTY;
    unsigned long long marks;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line,
               "gnomon: about %*f ms of %*f s (%*f %%) went into %llu "
               "marks at %lf ns each",
               &marks, &ns);
    if (f)
        fclose(f);
    return ns;
}

static void put(bench_table *t, const char *name, double ns)
{
    bench_result *r = bench_own(t, name, 1);
    r->ns_min = r->ns_median = ns;
}

void bench_measure_footer(bench_table *t)
{
    char path[512], spec[600];
    snprintf(path, sizeof path, "%s.footer", bench_self());
    snprintf(spec, sizeof spec, "simple,file=%s", path);
    remove(path);
    put(t, "mark_shown_work", shown(64, spec));
    put(t, "mark_shown", shown(0, spec));
    bench_mode_enter(BENCH_OFF);
    put(t, "mark_stated", stated(path));
    remove(path);
    bench_result *r = bench_own(t, "mark_stated", 1);
    const bench_result *seen = bench_own(t, "mark_shown", 1);
    snprintf(r->floor, sizeof r->floor, "shown");
    r->ratio_min = r->ratio_median = r->ns_median / seen->ns_median;
}
