/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile of an attached profiler, taken while threads record, and how often
 * a region was executed. */
#ifndef GNOMON_TESTS_LIVE_PROFILE_H
#define GNOMON_TESTS_LIVE_PROFILE_H

#include "gnomon/profile.h"
#include "test.h"

/* All stages of the view of `profiler`; it passes the check. */
static inline gnomon_profile *live_snapshot(const char *profiler)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_snapshot(&p, profiler, 1), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    else if (!CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

/* Finished executions of the region, over all paths, threads and stages. */
static inline long long live_count(const gnomon_profile *p, const char *region)
{
    long long sum = 0;
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_region_info r;
        gnomon_profile_node(p, i, &n);
        gnomon_profile_region(p, n.region, &r);
        if (n.host && strcmp(r.name, region) == 0)
            sum += (long long)n.host->count;
    }
    return sum;
}

/* The same of the profile of `profiler`. */
static inline long long live_count_of(const char *profiler, const char *region)
{
    gnomon_profile *p = live_snapshot(profiler);
    long long sum = live_count(p, region);
    gnomon_profile_free(p);
    return sum;
}

#endif
