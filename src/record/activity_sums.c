/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An array of sums with a hash of their leaves. */
#include "record/activity_sums.h"

#include "platform/memory.h"

gnomon__activity_sum *gnomon__activity_sum_at(gnomon__activity_sums *s,
                                              uint32_t leaf, uint32_t segment)
{
    const gnomon__activity_sum key = {.leaf = leaf, .segment = segment};
    uint32_t item =
        gnomon__keyed_at(&s->slots, &s->of, &s->room, sizeof key, &key,
                         offsetof(gnomon__activity_sum, bytes), SIZE_MAX);
    s->count = s->slots.count;
    return item ? &s->of[item - 1] : NULL;
}

int gnomon__activity_sum_add(void **to, const gnomon__activity_sum *from)
{
    if (!*to && !(*to = gnomon__alloc(sizeof(gnomon__activity_sums))))
        return 0;
    gnomon__activity_sum *s = gnomon__activity_sum_at(*to, from->leaf, 0);
    if (!s || !gnomon__total_add(&s->total, &from->total))
        return 0;
    s->bytes += from->bytes;
    return 1;
}

void gnomon__activity_sums_empty(gnomon__activity_sums *s)
{
    for (size_t i = 0; i < s->count; i++)
        gnomon__total_empty(&s->of[i].total);
    gnomon__free(s->of);
    gnomon__slots_free(&s->slots);
    *s = (gnomon__activity_sums){0};
}

static int activity_sums_add(void **to, const void *sums)
{
    const gnomon__activity_sums *from = sums;
    int ok = 1;
    for (size_t i = 0; i < from->count; i++)
        ok &= gnomon__activity_sum_add(to, &from->of[i]);
    return ok;
}

static void activity_sums_free(void *sums)
{
    gnomon__activity_sums_empty(sums);
    gnomon__free(sums);
}

const gnomon__recorder gnomon__activity_recorder = {
    .name = "activities",
    .add_sums = activity_sums_add,
    .free_sums = activity_sums_free,
};
