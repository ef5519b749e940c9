/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rounds of a test with random profiles: most are small, as a fault shows where paths
 * are equal, some are large. $GNOMON_SEED runs one round again. */
#ifndef GNOMON_TESTS_RANDOM_ROUNDS_H
#define GNOMON_TESTS_RANDOM_ROUNDS_H

#include "random_profile.h"
#include "sanitizer.h"

static inline void random_size(uint32_t most)
{
    random_nodes_most = most;
    random_regions = 3 + most / 16;
    random_leaves = 1 + most / 1000;
    random_is_odd = (int)random_below(2);
}

/* A seed that fails is said, and can be tried alone. */
static inline void each_round(const char *what, int rounds, uint32_t most,
                              void (*check)(uint32_t most))
{
    const char *alone = getenv("GNOMON_SEED");
    const int first = alone ? atoi(alone) : 0, failures = test_failures;
    for (int i = first; i < (alone ? first + 1 : rounds); i++) {
        random_word = ((uint64_t)i + most) * 0x9E3779B97F4A7C15u + 1;
        check(most);
        if (test_failures != failures) {
            fprintf(stderr, "    %s: GNOMON_SEED=%d, of %u nodes\n", what, i,
                    (unsigned)most);
            return;
        }
    }
}

/* Small ones, some larger, and a large one; many of 10^5 paths where that is asked for. */
static inline void each_size(const char *what, uint32_t large,
                             void (*check)(uint32_t most))
{
    const int is_soak = getenv("GNOMON_SOAK") != NULL;
    each_round(what, is_soak ? 20000 : 200 / SHARE, 12, check);
    each_round(what, is_soak ? 2000 : 20 / SHARE, 300, check);
    each_round(what, is_soak ? 4 : 1, is_soak ? 100000 : large / SHARE, check);
}

#endif
