/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sorts leaves (united.h), and merges those of one key. */
#include <stdlib.h>
#include <string.h>

#include "profile/compare.h"
#include "merge/united.h"

/* ---- Keys ------------------------------------------------------------------------ */

#define BY_KEY(name, entity) \
    static int compare_##name(const void *a, const void *b) \
    { \
        return gnomon__compare_keys(entity, a, b); \
    }
BY_KEY(links, GNOMON_LINKS)
BY_KEY(losses, GNOMON_LOSSES)
BY_KEY(metadata, GNOMON_METADATA)
BY_KEY(view_times, GNOMON_VIEW_TIMES)
BY_KEY(same_opens, GNOMON_OPENS)
#undef BY_KEY

static int compare_opens(const void *left, const void *right)
{
    const gnomon_open_info *a = left, *b = right;
    GNOMON__TRY(compare_same_opens(a, b));
    GNOMON__TRY_NUMBER(reserved);
    return 0;
}

/* Counters of one key are sorted by all their fields, so that their sums, of doubles,
 * round the same in any order. */
static int compare_counters(const void *a, const void *b)
{
    GNOMON__TRY(gnomon__compare_keys(GNOMON_COUNTERS, a, b));
    return gnomon__compare_fields(&gnomon__structs[GNOMON_COUNTERS], a, b, 0);
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
    GNOMON__TRY_NUMBER(reserved);
    return 0;
}

/* ---- Rules ------------------------------------------------------------------------ */

/* `same`: NULL: entities of one key are merged. Else it compares what happened at one
 * moment, whichever reading it is from: all stay, but for copies in other readings. */
static const struct leaf_rule {
    int (*compare)(const void *a, const void *b);
    int (*same)(const void *a, const void *b);
} leaf_rules[GNOMON__ENTITIES] = {
    [GNOMON_OPENS] = {compare_opens, compare_same_opens},
    [GNOMON_LINKS] = {compare_links, NULL},
    [GNOMON_COUNTERS] = {compare_counters, NULL},
    [GNOMON_LOSSES] = {compare_losses, NULL},
    [GNOMON_METADATA] = {compare_metadata, NULL},
    [GNOMON_VIEW_TIMES] = {compare_view_times, NULL},
    [GNOMON_EVENTS] = {compare_events, compare_same_events},
};

/* ---- Readings of what happened at a moment --------------------------------------- */

/* Of equal entities in several readings as many stay as the reading with the most of
 * them has. The table is sorted by reading last. */
static void merge_moments(gnomon__table *t, const struct leaf_rule *rule)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < t->count; i = end) {
        const char *first = t->items + i * t->size;
        size_t most = 0, of_one = 0;
        for (end = i; end < t->count; end++) {
            const char *item = t->items + end * t->size;
            if (rule->same(first, item))
                break;
            of_one = end > i && !rule->compare(item - t->size, item)
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
    const struct leaf_rule *rule = &leaf_rules[GNOMON_EVENTS];
    qsort(events->items, events->count, events->size, rule->compare);
    if (are_readings)
        merge_moments(events, rule);
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

void gnomon__sort_leaves(gnomon__unite *u, int entity)
{
    gnomon__table *t = &u->fold.m->tables[entity];
    if (t->count > 1)
        qsort(t->items, t->count, t->size, leaf_rules[entity].compare);
}

void gnomon__merge_leaves(gnomon__unite *u, int entity)
{
    gnomon__table *t = &u->fold.m->tables[entity];
    const struct leaf_rule *rule = &leaf_rules[entity];
    const int readings = u->fold.way->takes_larger;
    size_t kept = 0;
    gnomon__sort_leaves(u, entity);
    for (size_t i = 0; !rule->same && i < t->count; i++) {
        char *last = kept ? t->items + (kept - 1) * t->size : NULL;
        char *item = t->items + i * t->size;
        if (last && gnomon__compare_keys(entity, last, item) == 0)
            (void)gnomon__fold_join(&u->fold, entity, last, item); /* no sums */
        else
            memmove(t->items + kept++ * t->size, item, t->size);
    }
    if (!rule->same)
        t->count = kept;
    else if (readings)
        merge_moments(t, rule);
    if (readings && entity == GNOMON_OPENS)
        t->count = last_opens(u, (void *)t->items, t->count);
    u->merged_count[entity] = t->count;
}
