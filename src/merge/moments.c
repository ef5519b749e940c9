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

static const struct moment_order {
    int (*compare)(const void *a, const void *b);
    int (*same)(const void *a,
                const void *b); /* whichever reading it is from */
} orders[] = {{compare_opens, compare_same_opens},
              {compare_events, compare_same_events}};

void gnomon__sort_moments(gnomon__table *t, int entity)
{
    if (t->count > 1)
        qsort(t->items, t->count, t->size,
              orders[entity == GNOMON_EVENTS].compare);
}

/* Of equal entities in several readings as many stay as the reading with the most of
 * them has. The table is sorted by reading last. */
static void leave_out_copies(gnomon__table *t, int entity)
{
    const struct moment_order *order = &orders[entity == GNOMON_EVENTS];
    size_t kept = 0;
    for (size_t i = 0, end; i < t->count; i = end) {
        const char *first = t->items + i * t->size;
        size_t most = 0, of_one = 0;
        for (end = i; end < t->count; end++) {
            const char *item = t->items + end * t->size;
            if (order->same(first, item))
                break;
            of_one = end > i && !order->compare(item - t->size, item)
                         ? of_one + 1
                         : 1;
            most = of_one > most ? of_one : most;
        }
        for (size_t k = 0; k < most; k++)
            memmove(t->items + kept++ * t->size, first, t->size);
    }
    t->count = kept;
}

void gnomon__sort_moment(gnomon__table *events, int are_readings)
{
    gnomon__sort_moments(events, GNOMON_EVENTS);
    if (are_readings)
        leave_out_copies(events, GNOMON_EVENTS);
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

void gnomon__merge_moments(gnomon__unite *u, int entity)
{
    gnomon__table *t = &u->fold.m->tables[entity];
    if (!u->fold.way->takes_larger)
        return;
    gnomon__sort_moments(t, entity);
    leave_out_copies(t, entity);
    if (entity == GNOMON_OPENS)
        t->count = last_opens(u, (void *)t->items, t->count);
    u->moments_kept[entity == GNOMON_EVENTS] = t->count;
}

void gnomon__prune_moments(gnomon__unite *u, int entity)
{
    const size_t count = gnomon__model_count(u->fold.m, entity);
    if (count > MERGE_FROM &&
        count > 2 * u->moments_kept[entity == GNOMON_EVENTS])
        gnomon__merge_moments(u, entity);
}
