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
    bench_mode_enter(BENCH_OFF);
}
