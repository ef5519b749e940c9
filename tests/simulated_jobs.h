/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Jobs whose executions vary in known ways, from fixed seeds: for tests of how often
 * a comparison is wrong. */
#ifndef GNOMON_TESTS_SIMULATED_JOBS_H
#define GNOMON_TESTS_SIMULATED_JOBS_H

#include <math.h>

#include "diff/diff.h"
#include "built_runs.h"

static uint64_t dice;

/* splitmix64 */
static inline double uniform(void)
{
    uint64_t z = dice += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

/* The method of Box and Muller. */
static inline double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* What one job's executions are like; their mean is about 1. */
typedef struct shape {
    double noise;     /* of an execution: normal, or log-normal's sigma */
    int is_log;       /* whether it is log-normal */
    double outliers;  /* share of the outliers */
    double outlier;   /* factor of an outlier */
    double memory;    /* correlation with the execution before */
    double drift;     /* of the job as a whole: 1 sigma */
    double tail;      /* of a Pareto distribution; 0: none */
    double base_ns;   /* 0: between 1 and 2 ms */
    double grain_ns;  /* of the clock */
    int is_poisson;   /* the number of calls is a Poisson number */
    double offset_ns; /* of the job, for each execution: 1 sigma */
    double placed;    /* the share of jobs with an unlucky code layout */
    double slower;    /* which makes them slower by this */
    double pink;      /* 1/f noise of this sigma, added to the other */
} shape;

#define MOST_CALLS 100000
#define OCTAVES 12 /* of 1/f noise: up to 4096 executions */

/* 1/f noise: a sum of processes, each with twice the time constant of the
 * one before. */
static inline double pink_noise(double octaves[OCTAVES])
{
    static double keeps[OCTAVES], adds[OCTAVES];
    double sum = 0;
    for (int k = 0; k < OCTAVES && !keeps[OCTAVES - 1]; k++) {
        keeps[k] = exp(-pow(2, -k));
        adds[k] = sqrt(1 - keeps[k] * keeps[k]);
    }
    for (int k = 0; k < OCTAVES; k++) {
        octaves[k] = keeps[k] * octaves[k] + adds[k] * normal();
        sum += octaves[k];
    }
    return sum / sqrt(OCTAVES);
}

static inline void draw(const shape *s, double base, size_t calls, uint64_t *ns)
{
    double at = 1 + s->drift * normal(), before = normal();
    double fresh = sqrt(1 - s->memory * s->memory);
    double octaves[OCTAVES], offset = 0;
    if (s->placed > 0 && uniform() < s->placed)
        at *= 1 + s->slower;
    if (s->offset_ns > 0)
        offset = s->offset_ns * normal();
    for (int k = 0; k < OCTAVES && s->pink > 0; k++)
        octaves[k] = normal();
    for (size_t i = 0; i < calls; i++) {
        double noise, x;
        before = s->memory * before + fresh * normal();
        noise = s->noise * before;
        x = s->is_log ? exp(noise) : fmax(1 + noise, 0.01);
        if (s->tail > 0)
            x = pow(uniform(), -1 / s->tail);
        if (s->outliers > 0 && uniform() < s->outliers)
            x *= s->outlier;
        if (s->pink > 0)
            x = fmax(x + s->pink * pink_noise(octaves), 0.01);
        x = x * base * at + offset;
        if (s->grain_ns > 0) /* both clock readings are rounded to ticks */
            x = floor(x / s->grain_ns + uniform()) * s->grain_ns;
        ns[i] = (uint64_t)(x + 0.5);
    }
}

static inline void add_job(gnomon__diff *d, enum gnomon__side side,
                           const shape *s, double base, size_t calls)
{
    static uint64_t ns[MOST_CALLS];
    built_run l = run_begin(NULL, 0, NULL);
    if (s->is_poisson)
        calls = (size_t)fmax(
            1, floor((double)calls + sqrt((double)calls) * normal() + 0.5));
    draw(s, base, calls, ns);
    run_row(&l, GNOMON_KIND_ACTION, "x", ns, calls);
    gnomon_profile *p = run_end(&l);
    CHECK_EQ(gnomon__diff_add(d, side, d->jobs[side].jobs, p, &(size_t){0}),
             GNOMON_OK);
    gnomon_profile_free(p);
}

#endif
