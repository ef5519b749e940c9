/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by tests of recording threads: profilers that only record a call
 * tree, threads, numbers of rounds, and health. live_profile.h reads what was
 * recorded. */
#ifndef GNOMON_TESTS_RECORDING_THREADS_H
#define GNOMON_TESTS_RECORDING_THREADS_H

#include <pthread.h>
#include <stdlib.h>

#include "gnomon/tool.h"
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
