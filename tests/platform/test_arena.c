/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * The arena hands out each byte once, to any number of threads, and
 * allocations of every kind can be made to fail. */
#include "platform/memory.h"

#include <pthread.h>

#include "gnomon.h"
#include "platform/atomic.h"
#include "platform/os.h"
#include "test.h"

TEST(arena_hands_out_zeroed_aligned_pieces)
{
    gnomon__arena arena;
    uint32_t first, second;
    CHECK_EQ(gnomon__arena_map(&arena, 1 << 20), GNOMON_OK);
    CHECK_EQ(arena.size, 1 << 20);
    first = gnomon__arena_take(&arena, 1);
    second = gnomon__arena_take(&arena, 65);
    CHECK_EQ(first, 64);
    CHECK_EQ(second, 128);
    CHECK_EQ(gnomon__arena_take(&arena, 0), 256);
    CHECK_EQ(arena.base[second + 64], 0);
    memset(arena.base + second, 1, 65);
    CHECK_EQ(gnomon__arena_take(&arena, 1 << 20), 0);
    CHECK_EQ(gnomon__arena_take(&arena, UINT32_MAX), 0);
    CHECK_EQ(gnomon__arena_take(&arena, (1 << 20) - 320), 320);
    CHECK_EQ(gnomon__arena_take(&arena, 1), 0);
    CHECK_EQ(load_relaxed(&arena.used), 1 << 20);
    gnomon__os_unmap(arena.base, arena.size);
}

TEST(arena_budgets_small_uneven_and_beyond_4_gib)
{
    gnomon__arena arena;
    CHECK_EQ(gnomon__arena_map(&arena, 0), GNOMON_OK);
    CHECK_EQ(arena.size, 4096);
    gnomon__os_unmap(arena.base, arena.size);
    CHECK_EQ(gnomon__arena_map(&arena, 10000), GNOMON_OK);
    CHECK_EQ(arena.size, 8192);
    gnomon__os_unmap(arena.base, arena.size);
    CHECK_EQ(gnomon__arena_map(&arena, 1ull << 40), GNOMON_OK);
    CHECK(arena.size <= 0xfffff000u && arena.size >= 1u << 20);
    /* All of it in two pieces; the last byte can be written. */
    CHECK_EQ(gnomon__arena_take(&arena, arena.size / 2), 64);
    CHECK(gnomon__arena_take(&arena, arena.size / 2 - 64) != 0);
    CHECK_EQ(gnomon__arena_take(&arena, 64), 0);
    arena.base[arena.size - 1] = 1;
    gnomon__os_unmap(arena.base, arena.size);
}

TEST(arena_takes_what_address_space_there_is)
{
    gnomon__arena arena;
    gnomon__test_fail_allocation(1);
    CHECK_EQ(gnomon__arena_map(&arena, 64 << 20), GNOMON_OK);
    CHECK_EQ(arena.size, 32 << 20);
    CHECK_EQ(gnomon__test_allocations(), 2);
    gnomon__os_unmap(arena.base, arena.size);
    gnomon__test_fail_allocation(1);
    CHECK_EQ(gnomon__arena_map(&arena, 1 << 20), GNOMON_ENOMEM);
    CHECK(arena.base == NULL && arena.size == 0);
    CHECK_EQ(gnomon__arena_take(&arena, 64), 0);
}

static gnomon__arena shared_arena;

static void *take_until_spent(void *count)
{
    uint32_t pieces = 0, failures = 0, size = 1;
    while (failures < 1000) {
        uint32_t at = gnomon__arena_take(&shared_arena, size), i;
        uint32_t room = (size + 63) & ~63u;
        if (at == 0) {
            failures++;
            size = 1;
            continue;
        }
        for (i = 0; i < room; i += 64) /* given out once only */
            if (!CHECK_EQ(shared_arena.base[at + i]++, 0))
                return NULL;
        pieces += room / 64;
        size = size * 5 % 1021 + 1;
    }
    *(uint32_t *)count = pieces;
    return NULL;
}

TEST(arena_never_hands_out_a_byte_twice)
{
    uint32_t pieces[8] = {0}, all = 0, i;
    pthread_t threads[8];
    CHECK_EQ(gnomon__arena_map(&shared_arena, 16 << 20), GNOMON_OK);
    for (i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, take_until_spent, &pieces[i]);
    for (i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        all += pieces[i];
    }
    CHECK_EQ(all, (16u << 20) / 64 - 1);
    CHECK_EQ(shared_arena.used, shared_arena.size);
}

/* ---- The heap, failing --------------------------------------------------- */

TEST(the_nth_allocation_fails_once)
{
    char *a, *b;
    gnomon__arena arena;
    gnomon__test_fail_allocation(2);
    a = gnomon__alloc(10);
    CHECK(a != NULL);
    CHECK(gnomon__realloc(a, 20) == NULL);
    b = gnomon__realloc(a, 20);
    CHECK(b != NULL);
    CHECK_EQ(gnomon__test_allocations(), 3);
    gnomon__free(b);
    CHECK_EQ(gnomon__heap_bytes(), 0);
    gnomon__test_fail_allocation(1);
    CHECK(gnomon__strdup("x") == NULL);
    gnomon__test_fail_allocation(2);
    CHECK_EQ(gnomon__arena_map(&arena, 1 << 20), GNOMON_OK);
    CHECK_EQ(gnomon__arena_take(&arena, 64), 0);
    CHECK_EQ(gnomon__arena_take(&arena, 64), 64);
    gnomon__os_unmap(arena.base, arena.size);
}
