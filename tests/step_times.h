/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads from a profile how long a region took in its steps. */
#ifndef GNOMON_TESTS_STEP_TIMES_H
#define GNOMON_TESTS_STEP_TIMES_H

#include "gnomon/profile.h"
#include "test.h"

/* NULL is the steps themselves. */
static inline int step_record_is_of(const gnomon_profile *p,
                                    const gnomon_step_time_info *t,
                                    const char *region)
{
    gnomon_region_info r;
    if (!t->region || !region)
        return !t->region && !region;
    gnomon_profile_region(p, t->region, &r);
    return strcmp(r.name, region) == 0;
}

/* Its time in all steps of a stage; zeroes where it has none. */
static inline gnomon_stats step_stats(const gnomon_profile *p, uint32_t stage,
                                      const char *region)
{
    gnomon_step_time_info t;
    for (size_t i = 1; gnomon_profile_step_time(p, i, &t) == GNOMON_OK; i++)
        if (t.stage == stage && !t.step && step_record_is_of(p, &t, region))
            return *t.time;
    return (gnomon_stats){0};
}

/* What it did in one of the slowest steps of a stage, else zeroes; *is_slow: whether it is
 * one of them. */
static inline gnomon_step_time_info slow_step(const gnomon_profile *p,
                                              uint32_t stage, uint64_t number,
                                              const char *region, int *is_slow)
{
    gnomon_step_time_info t;
    gnomon_step_info s;
    *is_slow = 0;
    for (size_t i = 1; gnomon_profile_step_time(p, i, &t) == GNOMON_OK; i++) {
        if (!t.step || t.stage != stage ||
            gnomon_profile_step(p, t.step, &s) != GNOMON_OK ||
            s.number != number)
            continue;
        *is_slow = 1;
        if (step_record_is_of(p, &t, region))
            return t;
    }
    return (gnomon_step_time_info){0};
}

/* Its time there; UINT64_MAX: the step is none of them. */
static inline uint64_t slow_step_ns(const gnomon_profile *p, uint32_t stage,
                                    uint64_t number, const char *region)
{
    int is_slow;
    gnomon_step_time_info t = slow_step(p, stage, number, region, &is_slow);
    return !is_slow ? UINT64_MAX : t.time ? t.time->total_ns : 0;
}

/* How many slow steps a stage has. */
static inline int slow_steps(const gnomon_profile *p, uint32_t stage)
{
    gnomon_step_time_info t;
    int n = 0;
    for (size_t i = 1; gnomon_profile_step_time(p, i, &t) == GNOMON_OK; i++)
        n += t.stage == stage && t.step && !t.region;
    return n;
}

#endif
