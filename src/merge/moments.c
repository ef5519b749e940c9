/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "merge/moments.h"

#include <stdlib.h>
#include <string.h>

#include "profile/compare.h"

#define MERGE_FROM 4096u /* merging fewer is not worth its time */

static int compare_same_opens(const void *a, const void *b)
{
    return gnomon__compare_keys(GNOMON_OPENS, a, b);
}

static int compare_opens(const void *left, const void *right)
{
    const gnomon_open_info *a = left, *b = right;
    GNOMON__TRY(compare_same_opens(a, b));
    return GNOMON__COMPARE(a->reserved, b->reserved);
}

/* Of events with one begin the longer comes first, because it surrounds the shorter. */
static int compare_same_events(const void *left, const void *right)
{
    const gnomon_event_info *a = left, *b = right;
    gnomon_event_info copy = *a;
    copy.reserved = b->reserved;
    if (!memcmp(&copy, b, sizeof copy)) /* as most of several readings are */
        return 0;
    GNOMON__TRY_NUMBER(track);
    GNOMON__TRY_NUMBER(begin_ns);
    GNOMON__TRY(GNOMON__COMPARE(b->duration_ns, a->duration_ns));
    GNOMON__TRY_NUMBER(node);
    return gnomon__compare_keys(GNOMON_EVENTS, a, b);
}

static int compare_events(const void *left, const void *right)
{
    const gnomon_event_info *a = left, *b = right;
    GNOMON__TRY(compare_same_events(a, b));
    return GNOMON__COMPARE(a->reserved, b->reserved);
}

typedef int moment_order(const void *a, const void *b);

void gnomon__sort_opens(gnomon__table *t)
{
    if (t->count > 1)
        qsort(t->items, t->count, t->size, compare_opens);
}

/* Of equal entities in several readings as many stay as the reading with the most of
 * them has. The table is in `order`, which goes by reading last. */
static void leave_out_copies(gnomon__table *t, moment_order *same,
                             moment_order *order)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < t->count; i = end) {
        const char *first = t->items + i * t->size;
        size_t most = 0, of_one = 0;
        for (end = i; end < t->count; end++) {
            const char *item = t->items + end * t->size;
            if (same(first, item))
                break;
            of_one = end > i && !order(item - t->size, item) ? of_one + 1 : 1;
            most = of_one > most ? of_one : most;
        }
        for (size_t k = 0; k < most; k++)
            memmove(t->items + kept++ * t->size, first, t->size);
    }
    t->count = kept;
}

void gnomon__sort_moment(gnomon__table *events, int are_readings)
{
    qsort(events->items, events->count, events->size, compare_events);
    if (are_readings)
        leave_out_copies(events, compare_same_events, compare_events);
}

/* Keeps, of each node, as many open scopes as it has open executions: the last begun. */
static size_t last_opens(const gnomon__unite *u, gnomon_open_info *o,
                         size_t count)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        size_t open = ((const gnomon_node_info *)gnomon__model_at(
                           u->fold.m, GNOMON_NODES, o[i].node))
                          ->open;
        end = i + 1;
        while (end < count && o[end].node == o[i].node)
            end++;
        for (size_t k = end - i > open ? end - open : i; k < end; k++)
            o[kept++] = o[k];
    }
    return kept;
}

void gnomon__merge_opens(gnomon__unite *u)
{
    gnomon__table *t = &u->fold.m->tables[GNOMON_OPENS];
    if (!u->fold.way->takes_larger)
        return;
    gnomon__sort_opens(t);
    leave_out_copies(t, compare_same_opens, compare_opens);
    t->count = last_opens(u, (void *)t->items, t->count);
    u->opens_kept = t->count;
}

void gnomon__prune_opens(gnomon__unite *u)
{
    const size_t count = gnomon__model_count(u->fold.m, GNOMON_OPENS);
    if (count > MERGE_FROM && count > 2 * u->opens_kept)
        gnomon__merge_opens(u);
}
