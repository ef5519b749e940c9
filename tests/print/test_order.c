/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Orders by fields, searches, and lists that grow.
 *
 * links: testing */
#include <string.h>

#include "print/order.h"
#include "test.h"

typedef struct thing {
    int32_t kind;
    uint64_t size;
    const char *name;
    double weight;
} thing;

static int heavier(const thing *a, const thing *b)
{
    return (a->weight < b->weight) - (a->weight > b->weight);
}

GNOMON__ORDER(by_all, thing, UP(kind), DOWN(size), TEXT(name),
              OF(heavier(a, b)))
typedef const thing *thing_at;
GNOMON__ORDER(by_pointer, thing_at, AT(size), ITSELF)
GNOMON__ORDER(by_value, uint64_t, ITSELF)

static const thing things[] = {{-1, 7, "b", 0},         {-1, 7, "b", -1},
                               {0, UINT64_MAX, "a", 0}, {0, 2, "a", 0},
                               {0, 2, "b", 0},          {2, 0, "", 0}};
#define THINGS (sizeof things / sizeof *things)

TEST(an_order_is_by_the_first_field_that_differs)
{
    thing mixed[THINGS];
    for (size_t i = 0; i < THINGS; i++)
        mixed[i] = things[(i * 5 + 3) % THINGS];
    GNOMON__SORT(mixed, THINGS, by_all);
    for (size_t i = 0; i < THINGS; i++)
        for (size_t k = 0; k < THINGS; k++)
            CHECK_EQ(by_all(&mixed[i], &things[k]), i < k ? -1 : i > k);
    CHECK_EQ(memcmp(&mixed[0].weight, &things[0].weight, 8), 0);
}

TEST(pointers_are_ordered_by_what_they_lead_to)
{
    const thing *of[] = {&things[1], &things[0], &things[3], &things[5]};
    GNOMON__SORT(of, 4, by_pointer);
    CHECK(of[0] == &things[5] && of[1] == &things[3]);
    CHECK(of[2] == &things[0] && of[3] == &things[1]);
}

TEST(a_search_finds_each_place)
{
    const uint64_t values[] = {1, 3, 3, 3, 8};
    const size_t first[] = {0, 0, 1, 1, 4, 4, 4, 4, 4, 5};
    for (uint64_t wanted = 0; wanted < 10; wanted++) {
        size_t low = 0, high = 5;
        GNOMON__SEARCH(low, high, i, values[i] < wanted)
        CHECK_EQ(low, first[wanted]);
    }
}

TEST(a_list_grows_by_one_at_a_time)
{
    uint64_t *list = NULL;
    size_t room = 0, count = 0;
    GNOMON__SORT(list, count, by_value);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK(GNOMON__PUSH(list, room, count, i ^ 5));
    GNOMON__SORT(list, count, by_value);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_EQ(list[i], i);
    CHECK(count == 1000 && room >= count);
    free(list);
}
