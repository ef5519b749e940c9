/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Chunks of the arena: what is given back in parts can be taken whole again.
 * links: testing */
#include "mark/arena.h"
#include "marks.h"

TEST(parts_grow_together)
{
    attach_probe();
    const uint32_t whole = gnomon__chunk_take(1u << 16, GNOMON__FOR_EVENTS);
    const uint64_t mapped = health_now().mapped_bytes;
    CHECK(whole != 0);
    for (int round = 0; round < 3; round++) {
        uint32_t at = whole;
        /* From both ends, as threads give parts back in any order. */
        static const uint32_t parts[3][5] = {
            {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};
        static const uint32_t offsets[] = {0, 1, 2, 4, 8};
        for (int i = 0; i < 5; i++) {
            uint32_t part = parts[round][i];
            uint32_t size = part ? 1u << (11 + part) : 1u << 12;
            at = whole + offsets[part] * (1u << 12);
            gnomon__chunk_give(at, size);
        }
        CHECK_EQ(gnomon__chunk_take(1u << 16, GNOMON__FOR_EVENTS), whole);
    }
    CHECK_EQ(health_now().mapped_bytes, mapped);
}

/* A small one is a part of a large one that is free, and no new memory. */
TEST(small_ones_are_parts_of_large_ones)
{
    attach_probe();
    const uint32_t large = gnomon__chunk_take(1u << 16, GNOMON__FOR_EVENTS);
    gnomon__chunk_give(large, 1u << 16);
    const uint64_t mapped = health_now().mapped_bytes;
    uint32_t small[16];
    for (int i = 0; i < 16; i++) {
        small[i] = gnomon__chunk_take(1u << 12, GNOMON__FOR_PATHS);
        CHECK(small[i] >= large && small[i] < large + (1u << 16));
    }
    CHECK_EQ(health_now().mapped_bytes, mapped);
    for (int i = 0; i < 16; i++)
        gnomon__chunk_give(small[i], 1u << 12);
    CHECK_EQ(gnomon__chunk_take(1u << 16, GNOMON__FOR_EVENTS), large);
}
