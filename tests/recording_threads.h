/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by tests of recording threads: profilers that only record a call
 * tree, sums over their profiles, and numbers of rounds. */
#ifndef GNOMON_TESTS_RECORDING_THREADS_H
#define GNOMON_TESTS_RECORDING_THREADS_H

#include <pthread.h>
#include <stdlib.h>

#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "platform/atomic.h"
#include "sanitizer.h"
#include "test.h"

/* A profiler that wants a tree and has no callbacks. */
#define LIVE_KEEPER(variable, word) \
    static const gnomon_profiler variable = { \
        .struct_size = sizeof variable, \
        .abi = GNOMON_ABI, \
        .wants = GNOMON_WANT_TREE, \
        .name = word, \
        .help = "keeps a tree", \
    }

/* `full` with $GNOMON_SOAK, else `brief`, a tenth of it where it is slow. */
static inline long live_times(long brief, long full)
{
    const char *soak = getenv("GNOMON_SOAK");
    if (soak && *soak && *soak != '0')
        return full;
    return IS_SLOW ? (brief + 9) / 10 : brief;
}

static inline gnomon_health live_health(void)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    return h;
}

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

/* As executions_of, for a given profile. */
static inline long long live_count_of(const char *profiler, const char *region)
{
    gnomon_profile *p = live_snapshot(profiler);
    long long sum = live_count(p, region);
    gnomon_profile_free(p);
    return sum;
}

/* Runs `work(&items[i])` on `n` threads at once, and waits for them. */
static inline void live_start(pthread_t *threads, int n, void *(*work)(void *),
                              void *items, size_t size)
{
    for (int i = 0; i < n; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, work,
                                (char *)items + (size_t)i * size),
                 0);
}

static inline void live_join(const pthread_t *threads, int n)
{
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* Health counters that only wrong use, a full table or missing memory
 * raises. */
static inline void live_check_no_trouble(void)
{
    gnomon_health h = live_health();
#define LIVE_NONE(field, text) CHECK_EQ(h.field, 0);
    GNOMON_HEALTH(LIVE_NONE)
#undef LIVE_NONE
}

#endif
