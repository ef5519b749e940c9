/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sums of one path: its cells, in whichever order durations come, and their memory.
 *
 * links: testing */
#include "platform/memory.h"
#include "record/totals.h"
#include "test.h"

static void count_all(gnomon__total *s, const uint64_t *ns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK(gnomon__total_count(s, ns[i], 0));
}

static void check_cells(const gnomon__total *s, size_t count)
{
    uint64_t sum = 0;
    CHECK_EQ(s->cell_count, count);
    for (size_t i = 0; i < s->cell_count; i++) {
        sum += s->cells[i].count;
        CHECK(s->cells[i].count);
        CHECK(!i || s->cells[i - 1].cell < s->cells[i].cell);
    }
    CHECK_EQ(sum, s->s.count);
}

TEST(cells_are_in_order_in_whichever_order_durations_come)
{
    static const uint64_t ns[] = {500, 3, 100000, 500, 7, 3, 1000, 100000, 1};
    gnomon__total a = {0}, b = {0};
    count_all(&a, ns, sizeof ns / sizeof *ns);
    check_cells(&a, 6);
    for (size_t i = sizeof ns / sizeof *ns; i--;)
        count_all(&b, &ns[i], 1);
    check_cells(&b, 6);
    CHECK(memcmp(a.cells, b.cells, 6 * sizeof *a.cells) == 0);
    CHECK(gnomon__total_add(&a, &b));
    check_cells(&a, 6);
    CHECK_EQ(a.cells[0].count, 2);
    CHECK_EQ(a.cells[5].count, 4);
    gnomon__total_empty(&a);
    gnomon__total_empty(&b);
}

TEST(cells_without_a_count_take_no_memory)
{
    static const uint64_t ns[] = {1, 3600000000000};
    gnomon__total s = {0};
    gnomon__heap_start();
    uint64_t before = gnomon__heap_bytes();
    count_all(&s, ns, 2);
    CHECK(gnomon__heap_bytes() - before <= 128);
    gnomon__total_empty(&s);
    CHECK_EQ(gnomon__heap_bytes(), before);
}

/* After a stage the memory is used again, without the cells of the last one. */
TEST(cleared_sums_keep_their_memory)
{
    static const uint64_t ns[] = {10, 2000, 300000};
    gnomon__total s = {0};
    count_all(&s, ns, 3);
    uint64_t before = gnomon__heap_bytes();
    gnomon__total_clear(&s);
    check_cells(&s, 0);
    count_all(&s, ns + 1, 2);
    check_cells(&s, 2);
    CHECK_EQ(gnomon__heap_bytes(), before);
    gnomon__total_empty(&s);
}
