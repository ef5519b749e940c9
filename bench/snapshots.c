/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a thread's marks cost while another thread takes one snapshot after the other,
 * of trees and tape, beside what they cost without. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "gnomon.h"
#include "gnomon/profile.h"

#define PARTS 15
#define PATHS 10000

static atomic_int snapshots_run; /* while a part with snapshots is measured */
static atomic_int is_over;

static void *take_snapshots(void *taken)
{
    uint64_t *ns = taken, count = 0, sum = 0;
    bench_pin(1);
    while (!atomic_load(&is_over)) {
        gnomon_profile *p;
        if (!atomic_load(&snapshots_run))
            continue;
        uint64_t begin = bench_now_ns(CLOCK_MONOTONIC);
        if (gnomon_snapshot(&p, "trace", 1)) {
            fprintf(stderr, "bench: snapshot: %s\n", gnomon_error_text());
            exit(2);
        }
        gnomon_profile_free(p);
        sum += bench_now_ns(CLOCK_MONOTONIC) - begin;
        count++;
    }
    *ns = count ? sum / count : 0;
    return NULL;
}

static BENCH_ALIGNED void mark_pairs(uint64_t n)
{
    for (uint64_t i = n; i; i--) {
        GNOMON_SCOPE_IN("snapshot", "marked");
        BENCH_FENCE();
    }
}

/* ns of CPU of a pair, over 20 ms or so. */
static double time_part(void)
{
    uint64_t pairs = bench_effort_now.smoke ? 10000 : 1000000;
    uint64_t begin = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    mark_pairs(pairs);
    return (double)(bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) /
           (double)pairs;
}

static BENCH_ALIGNED void mark_steps(uint64_t scopes)
{
    for (uint64_t i = scopes / 41; i; i--) {
        GNOMON_SCOPE("step");
        for (int k = 0; k < 10; k++) {
            GNOMON_SCOPE("layer");
            for (int n = 0; n < 3; n++) {
                GNOMON_SCOPE("op");
                BENCH_FENCE();
            }
        }
    }
}

/* Scopes that each have one inside, to a depth. */
static __attribute__((noinline)) void mark_depth(uint64_t depth)
{
    GNOMON_SCOPE("deeper");
    BENCH_FENCE();
    if (depth > 1)
        mark_depth(depth - 1);
}

static void mark_deep(uint64_t scopes)
{
    for (uint64_t i = scopes / 1000; i; i--)
        mark_depth(1000);
}

static void mark_ranges(uint64_t scopes)
{
    static gnomon_region region =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
    for (uint64_t i = scopes / 2; i; i--) {
        gnomon_range r = gnomon_range_begin(&region);
        GNOMON_SCOPE("inside");
        gnomon_range_end(r);
    }
}

/* Half of the events are moments, and half of these have a value, which takes a second
 * record. */
static void mark_moments(uint64_t scopes)
{
    for (uint64_t i = scopes / 4; i; i--) {
        GNOMON_SCOPE("around");
        GNOMON_MARK("moment");
        {
            GNOMON_SCOPE("inside");
            GNOMON_COUNTER("value", (double)i);
        }
    }
}

/* CPU time of an event, from the end of the run to the event in a file. */
static void measure_end(bench_table *t, const char *measure,
                        void (*mark)(uint64_t scopes))
{
    double ns[5];
    const int rounds = bench_effort_now.smoke ? 1 : 5;
    const uint64_t scopes = bench_effort_now.smoke ? 41000 : 1025000;
    char folder[] = "/tmp/gnomon-bench-XXXXXX", spec[128], remove[64];
    if (!mkdtemp(folder))
        exit(2);
    snprintf(spec, sizeof spec,
             "trace(on_trace_ready=none,keep=first),mem=256MiB,"
             "file=%s/end.gnomon",
             folder);
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    for (int i = 0; i < rounds; i++) {
        if (gnomon_attach(NULL, NULL, spec))
            exit(2);
        mark(scopes);
        uint64_t begin = bench_now_ns(CLOCK_PROCESS_CPUTIME_ID);
        gnomon_attach(NULL, NULL, "");
        ns[i] = (double)(bench_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) /
                (double)scopes;
    }
    bench_result *r = bench_own(t, measure, 1);
    r->ns_median = bench_median(ns, (size_t)rounds); /* sorts */
    r->ns_min = ns[0];
    if (system(remove))
        exit(2);
}

void bench_measure_ends(bench_table *t)
{
    static const struct {
        const char *measure;
        void (*mark)(uint64_t scopes);
    } shapes[] = {{"trace_end", mark_steps},
                  {"trace_end_flat", mark_pairs},
                  {"trace_end_deep", mark_deep},
                  {"trace_end_ranges", mark_ranges},
                  {"trace_end_moments", mark_moments}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        measure_end(t, shapes[i].measure, shapes[i].mark);
    gnomon_teardown();
}

static gnomon_region *paths[PATHS];
static atomic_int are_marked;

static void *mark_paths(void *none)
{
    bench_pin(1);
    while (!atomic_load(&is_over)) {
        for (int i = 0; i < PATHS; i++)
            gnomon_end(gnomon_begin(paths[i]));
        atomic_store(&are_marked, 1);
    }
    return none;
}

/* CPU time of a snapshot for each path of a thread that goes through all of them. */
static void measure_nodes(bench_table *t)
{
    double ns[PARTS];
    char name[16];
    pthread_t thread;
    bench_mode_enter(BENCH_SIMPLE);
    for (int i = 0; i < PATHS; i++) {
        snprintf(name, sizeof name, "path %d", i);
        paths[i] = gnomon_region_get(name, "paths", GNOMON_KIND_SCOPE);
    }
    atomic_store(&is_over, 0);
    if (pthread_create(&thread, NULL, mark_paths, NULL))
        exit(2);
    while (!atomic_load(&are_marked))
        continue;
    for (int i = 0; i < PARTS; i++) {
        gnomon_profile *p;
        uint64_t begin = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
        if (gnomon_snapshot(&p, "simple", 1))
            exit(2);
        ns[i] = (double)(bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / PATHS;
        gnomon_profile_free(p);
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    bench_result *r = bench_own(t, "snapshot_node", 1);
    r->ns_median = bench_median(ns, PARTS); /* sorts */
    r->ns_min = ns[0];
}

/* A row for the snapshot itself, and one for the marks beside it, whose floor are the
 * same marks alone. Without a second processor there is nothing to measure. */
void bench_measure_snapshots(bench_table *t)
{
    double alone[PARTS], beside[PARTS], ratios[PARTS];
    uint64_t ns = 0;
    pthread_t thread;
    if (bench_cpu(1) < 0)
        return;
    bench_mode_enter(BENCH_TREE_AND_TRACE);
    time_part();
    if (pthread_create(&thread, NULL, take_snapshots, &ns))
        exit(2);
    bench_pin(0);
    for (int i = 0; i < PARTS; i++) {
        atomic_store(&snapshots_run, 0);
        alone[i] = time_part();
        atomic_store(&snapshots_run, 1);
        beside[i] = time_part();
        ratios[i] = beside[i] / alone[i];
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    bench_result *r = bench_own(t, "snapshot", 1);
    r->ns_min = r->ns_median = (double)ns;
    r = bench_own(t, "snapshot_beside", 1);
    r->ns_median = bench_median(beside, PARTS); /* sorts */
    r->ns_min = beside[0];
    bench_median(alone, PARTS);
    snprintf(r->floor, sizeof r->floor, "alone");
    r->ratio_min = beside[0] / alone[0];
    r->ratio_median = bench_median(ratios, PARTS);
    measure_nodes(t);
    bench_mode_enter(BENCH_OFF);
}
