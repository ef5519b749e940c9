/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Statistics that are summed before they are checked, as those of a file of
 * several parts are: wrong ones are still found.
 *
 * links: testing
 * threads: none */
#include "profile/sums.h"
#include "test.h"

#define MOST 6

static uint64_t state = 88172645463325252ull;

static uint32_t roll(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % below);
}

/* Few cells, so that some are equal, in any order. */
static gnomon_stats any_stats(gnomon_cell *cells)
{
    gnomon_stats s = {.struct_size = sizeof s, .cells = cells};
    s.cell_count = roll(MOST + 1);
    for (size_t i = 0; i < s.cell_count; i++) {
        cells[i] = (gnomon_cell){roll(4), 0, 1 + roll(100)};
        s.count += cells[i].count;
    }
    return s;
}

static uint64_t in_cells(const gnomon_stats *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->cell_count; i++)
        n += s->cells[i].count;
    return n;
}

/* No write is outside the list, and no cell is lost. */
TEST(cells_in_no_order_do_no_harm)
{
    gnomon_cell one[MOST], two[MOST];
    for (int i = 0; i < 100000; i++) {
        gnomon__sum sum = {.room = 0};
        gnomon_stats a = any_stats(one), b = any_stats(two);
        CHECK_EQ(gnomon__sum_become(&sum, &a), GNOMON_OK);
        CHECK_EQ(gnomon__sum_add(&sum, &b), GNOMON_OK);
        if (!CHECK_EQ(in_cells(&sum.s), a.count + b.count))
            i = 100000;
        CHECK(sum.s.cell_count <= sum.room || !sum.room);
        gnomon__sum_free(&sum);
    }
}
