/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Orders, sorts, searches and lists that grow, said rather than written out. Of libc alone,
 * so that reports, which plugins can bring along, have it too (print/order.h). */
#ifndef GNOMON_PLATFORM_ORDER_H
#define GNOMON_PLATFORM_ORDER_H

#include <stddef.h>
#include <stdlib.h>

/* The order of structs, for GNOMON__SORT: by the first of these that differs, of six at most.
 *
 *     UP(field)      numbers, the lower one first
 *     DOWN(field)    the higher one
 *     TEXT(field)    texts by their bytes
 *     AT(field)      numbers likewise, where pointers to structs are ordered
 *     ITSELF         what is ordered is a number, or a pointer into an array
 *     OF(order)      any other order of *a and *b, less than 0, 0 or more
 *
 *     GNOMON__ORDER(gaps_by_length, gap, DOWN(ns), UP(begin_ns))
 */
#define GNOMON__ORDER(name, type, ...) \
    static int name(const void *left, const void *right) \
    { \
        const type *a = left; \
        const type *b = right; \
        GNOMON__ORDER_KEYS(__VA_ARGS__, , , , , , ) \
        return 0; \
    }
#ifndef GNOMON__ORDER_KEYS /* cmake/lint.sh has one that cppcheck can expand */
#define GNOMON__ORDER_KEYS(k1, k2, k3, k4, k5, k6, ...) \
    GNOMON__ORDER_##k1 GNOMON__ORDER_##k2 GNOMON__ORDER_##k3 \
        GNOMON__ORDER_##k4 GNOMON__ORDER_##k5 GNOMON__ORDER_##k6
#endif
#define GNOMON__ORDER_
#define GNOMON__ORDER_UP(field) GNOMON__ORDER_NUMBERS(a->field, b->field)
#define GNOMON__ORDER_DOWN(field) GNOMON__ORDER_NUMBERS(b->field, a->field)
#define GNOMON__ORDER_ITSELF GNOMON__ORDER_NUMBERS(*a, *b)
#define GNOMON__ORDER_AT(field) GNOMON__ORDER_NUMBERS((*a)->field, (*b)->field)
#define GNOMON__ORDER_TEXT(field) GNOMON__ORDER_OF(strcmp(a->field, b->field))
#define GNOMON__ORDER_OF(order) \
    { \
        const int by = (order); \
        if (by != 0) \
            return by; \
    }
#define GNOMON__ORDER_NUMBERS(one, other) \
    if ((one) != (other)) \
        return (one) < (other) ? -1 : 1;

/* Items may be NULL where there are none. */
#define GNOMON__SORT(items, count, order) \
    gnomon__sort((items), (count), sizeof *(items), (order))
static inline void gnomon__sort(void *items, size_t count, size_t size,
                                int (*order)(const void *, const void *))
{
    if (count > 1)
        qsort(items, count, size, order);
}

/* Of items `low` to `high` - 1, of which the first ones are `before`: makes `low` the first
 * that is not, else `high`. `before` is said of item number `i`. */
#define GNOMON__SEARCH(low, high, i, before) \
    while ((low) < (high)) { \
        const size_t i = (low) + ((high) - (low)) / 2; \
        if (before) \
            (low) = i + 1; \
        else \
            (high) = i; \
    }

/* Adds an item behind `count` of them, to memory of gnomon__grow's. 0: there is no
 * memory. */
#define GNOMON__ADD(items, room, count, ...) \
    (((count) < (room) || \
      gnomon__grow(&(items), &(room), (count) + 1, sizeof *(items))) && \
     ((items)[(count)++] = (__VA_ARGS__), 1))

#endif
