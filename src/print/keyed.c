/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "print/keyed.h"

#include <stdlib.h>

static int keyed_compare(const void *left, const void *right)
{
    const gnomon__keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->more > b->more) - (a->more < b->more);
}

void gnomon__keyed_sort(gnomon__keyed *at, size_t count)
{
    if (count > 1)
        qsort(at, count, sizeof *at, keyed_compare);
}

const gnomon__keyed *gnomon__keyed_find(const gnomon__keyed *at, size_t count,
                                        uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && at[low].key == key ? &at[low] : NULL;
}
