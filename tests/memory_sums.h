/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by tests of memory: a pool, blocks of it, and what a profile says of them. */
#ifndef GNOMON_TESTS_MEMORY_SUMS_H
#define GNOMON_TESTS_MEMORY_SUMS_H

#include "gnomon/tool.h"
#include "live_profile.h"

static gnomon_region host =
    GNOMON_REGION_INIT(GNOMON_KIND_POOL, "host", NULL, NULL);

#define TEST_MEMORY TEST_BINARY_DIR "/../libgnomon-memory.so"
#define ATTACH(words) \
    do { \
        if (!CHECK_EQ(gnomon_attach(NULL, NULL, TEST_MEMORY words), \
                      GNOMON_OK)) \
            fprintf(stderr, "    %s\n", gnomon_error_text()); \
    } while (0)

/* A pointer that nobody follows. */
static inline const void *block(size_t number)
{
    return (const void *)(uintptr_t)(0x10000 + 16 * number);
}

static inline void take(size_t number, uint64_t bytes)
{
    gnomon_pool_allocated(&host, block(number), bytes);
}

static inline void give(size_t number)
{
    gnomon_pool_freed(&host, block(number));
}

/* The sums of all nodes of a region in a pool. */
static inline gnomon_memory_stats sums(const gnomon_profile *p,
                                       const char *region, const char *pool)
{
    gnomon_memory_stats all = {.struct_size = sizeof all};
    gnomon_node_info n;
    gnomon_region_info r;
    gnomon_track_info k;
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        gnomon_profile_region(p, n.region, &r);
        for (size_t j = 0; j < n.memory_count; j++) {
            const gnomon_memory_stats *m = gnomon_memory_at(&n, j);
            gnomon_profile_track(p, m->pool, &k);
            if ((*region && strcmp(r.name, region) != 0) ||
                strcmp(k.name, pool) != 0)
                continue;
            all.allocations += m->allocations;
            all.frees += m->frees;
            all.allocated_bytes += m->allocated_bytes;
            all.freed_bytes += m->freed_bytes;
            all.live_bytes += m->live_bytes;
            all.peak_bytes += m->peak_bytes;
            all.held_bytes += m->held_bytes;
            all.at_peak_bytes += m->at_peak_bytes;
            all.reserved_bytes += m->reserved_bytes;
            all.failures += m->failures;
            all.unknown += m->unknown;
        }
    }
    return all;
}

#endif
