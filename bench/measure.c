/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Warm pairs: rows and their floors take turns, on one thread and on two, so
 * that what disturbs the machine disturbs both. Times are the threads' own CPU
 * time: others on the machine lengthen no measurement. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define MAX_ROWS 40
#define MAX_REPETITIONS 64
/* The blocks of a new tape become larger up to its 4000th scope. */
#define WARM_TAPE 8192

/* One segment: what both threads run, and what they measured. */
static struct {
    const bench_row *row;
    uint64_t warm, pairs;
    double ns[2];
    uint64_t hooked[2];
    int over;
} segment;
static pthread_barrier_t gate;
static pthread_t second;
static int threads_there;

static void run_segment(int me)
{
    uint64_t hooked = bench_hooked() + bench_nvtx_pairs();
    segment.row->pairs(segment.warm);
    uint64_t begin = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    segment.row->pairs(segment.pairs);
    uint64_t end = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);
    segment.ns[me] = (double)(end - begin) / (double)segment.pairs;
    segment.hooked[me] = bench_hooked() + bench_nvtx_pairs() - hooked;
}

static void *second_thread(void *unused)
{
    bench_pin(1);
    near_enter();
    far_enter();
    for (;;) {
        pthread_barrier_wait(&gate);
        if (segment.over)
            break;
        run_segment(1);
        pthread_barrier_wait(&gate);
    }
    near_leave();
    far_leave();
    return unused;
}

static void start_threads(void)
{
    bench_pin(0);
    threads_there = 1;
    segment.over = 0;
    if (bench_cpu(1) < 0 || pthread_barrier_init(&gate, NULL, 2))
        return;
    if (pthread_create(&second, NULL, second_thread, NULL) == 0)
        threads_there = 2;
}

static void end_threads(void)
{
    if (threads_there < 2)
        return;
    segment.over = 1;
    pthread_barrier_wait(&gate);
    pthread_join(second, NULL);
    pthread_barrier_destroy(&gate);
}

/* ns a pair, the mean of the threads'. */
static double run(const bench_row *row, uint64_t pairs, int threads)
{
    segment.row = row;
    segment.pairs = pairs;
    segment.warm = row->record == BENCH_TAPED ? WARM_TAPE : 4 * row->sites;
    segment.hooked[1] = 0;
    if (threads == 2)
        pthread_barrier_wait(&gate);
    run_segment(0);
    if (threads == 2)
        pthread_barrier_wait(&gate);
    return threads == 2 ? (segment.ns[0] + segment.ns[1]) / 2 : segment.ns[0];
}

/* ---- A row's samples ----------------------------------------------------- */

typedef struct samples {
    uint64_t pairs; /* in a segment; 0: not known yet */
    double ns[MAX_REPETITIONS], floor[MAX_REPETITIONS], ratio[MAX_REPETITIONS];
    size_t count;
    uint64_t ran, recorded;
} samples;

static uint64_t pairs_of(const bench_row *row)
{
    uint64_t n = row->sites;
    double ns = run(row, n, 1);
    while (ns * (double)n < bench_effort_now.segment_ns / 4) {
        n *= 2;
        ns = run(row, n, 1);
    }
    uint64_t rounds =
        (uint64_t)(bench_effort_now.segment_ns / (ns * (double)row->sites));
    return row->sites * (rounds ? rounds : 1);
}

/* Steps belong to the process. If two threads made steps, a window could not be
 * assigned to one of them. */
static int threads_of(const bench_row *row)
{
    return row->record == BENCH_HALF ? 1 : threads_there;
}

static int reads_profile(const bench_row *row)
{
    return row->record == BENCH_BY_NAME || row->record == BENCH_HALF ||
           row->record == BENCH_TAPED || row->record == BENCH_STEPS ||
           row->record == BENCH_POOLED;
}

static void sample(const bench_row *row, samples *s, samples *floor,
                   int threads)
{
    if (!s->pairs)
        s->pairs = pairs_of(row);
    size_t i = s->count++;
    const bench_row *below = row->floor ? bench_floor(row->floor) : NULL;
    if (below) {
        if (!floor->pairs)
            floor->pairs = pairs_of(below);
        s->floor[i] = run(below, floor->pairs, threads);
    }
    uint64_t before = reads_profile(row) ? bench_recorded(row) : 0;
    s->ns[i] = run(row, s->pairs, threads);
    s->ratio[i] = below ? s->ns[i] / s->floor[i] : BENCH_EMPTY;
    uint64_t ran = (s->pairs + segment.warm) * (uint64_t)threads;
    if (reads_profile(row)) {
        s->recorded += bench_recorded(row) - before;
        s->ran += row->record == BENCH_HALF ? ran / 2 : ran;
    } else if (row->record == BENCH_HOOKS) {
        s->recorded += segment.hooked[0] + segment.hooked[1];
        s->ran += ran * (uint64_t)bench_hooks(row->mode);
    } else if (row->record == BENCH_TOLD) {
        s->recorded += segment.hooked[0] + segment.hooked[1];
        s->ran += ran;
    }
}

static double least(const double *values, size_t count)
{
    double value = values[0];
    for (size_t i = 1; i < count; i++)
        value = fmin(value, values[i]);
    return value;
}

/* Adds the row to the table. Returns whether it fails. */
static int conclude(bench_table *t, const bench_row *row, samples *s,
                    int threads)
{
    bench_result *r = bench_own(t, row->name, threads);
    r->ns_min = least(s->ns, s->count);
    if (row->floor) {
        snprintf(r->floor, sizeof r->floor, "%s", row->floor);
        r->ratio_min = r->ns_min / least(s->floor, s->count);
        r->ratio_median = bench_median(s->ratio, s->count);
    }
    r->ns_median = bench_median(s->ns, s->count);
    if (row->record == BENCH_NO_RECORD)
        return 0;
    r->recorded = (int64_t)s->recorded;
    r->ran = (int64_t)s->ran;
    if (s->recorded == s->ran)
        return 0;
    fprintf(stderr,
            "bench: %s, %s, %d thread(s): %llu scopes ran, %llu are recorded\n",
            row->name, r->linkage, threads, (unsigned long long)s->ran,
            (unsigned long long)s->recorded);
    return 1;
}

/* Checks that the code that was measured off records once it is switched on. */
static void switched(const bench_row *row, samples *s, int threads)
{
    uint64_t before = bench_recorded(row);
    run(row, row->sites, threads);
    s->recorded += bench_recorded(row) - before;
    s->ran += (row->sites + segment.warm) * (uint64_t)threads;
}

int bench_measure(bench_table *t, const bench_row *rows, size_t count)
{
    samples *all = calloc(2 * (count + MAX_ROWS), sizeof *all);
    int failed = 0;
    if (!all || bench_effort_now.repetitions > MAX_REPETITIONS)
        exit(2);
    start_threads();
    for (int i = 0; i < bench_effort_now.repetitions; i++) {
        for (int mode = 0; mode < BENCH_MODES; mode++) {
            int entered = 0;
            for (size_t k = 0; k < 2 * count; k++) {
                const bench_row *row = rows + k / 2;
                int threads = (int)(k & 1) + 1;
                if (row->mode != mode || threads > threads_of(row))
                    continue;
                if (!entered++)
                    bench_mode_enter(mode);
                const bench_row *below =
                    bench_floor(row->floor ? row->floor : "");
                samples *floor =
                    below ? all + 2 * count + (below - bench_floors) : NULL;
                sample(row, all + k, floor, threads);
            }
        }
    }
    bench_mode_enter(BENCH_SIMPLE);
    for (size_t k = 0; k < 2 * count; k++)
        if (rows[k / 2].record == BENCH_SWITCHED &&
            (int)(k & 1) < threads_of(rows + k / 2))
            switched(rows + k / 2, all + k, (int)(k & 1) + 1);
    bench_mode_enter(BENCH_OFF);
    end_threads();
    for (size_t k = 0; k < 2 * count; k++)
        if (all[k].count)
            failed += conclude(t, rows + k / 2, all + k, (int)(k & 1) + 1);
    free(all);
    return failed;
}
