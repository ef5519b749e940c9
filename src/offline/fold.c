/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts of one key become one. */
#include <stdlib.h>
#include <string.h>

#include "offline/compare.h"
#include "offline/keys.h"
#include "offline/united.h"

/* Any order of doubles that is one, by their bits. */
static uint64_t real_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

/* ---- Keys ------------------------------------------------------------------------ */

static int compare_steps(const void *left, const void *right)
{
    const gnomon_step_info *a = left, *b = right;
    GNOMON__TRY_NUMBER(stage);
    GNOMON__TRY_NUMBER(number);
    return 0;
}

static int same_open(const void *left, const void *right)
{
    const gnomon_open_info *a = left, *b = right;
    GNOMON__TRY_NUMBER(node);
    GNOMON__TRY_NUMBER(begin_ns);
    return 0;
}

static int compare_opens(const void *left, const void *right)
{
    const gnomon_open_info *a = left, *b = right;
    GNOMON__TRY(same_open(a, b));
    GNOMON__TRY_NUMBER(reserved);
    return 0;
}

static int compare_links(const void *left, const void *right)
{
    const gnomon_link_info *a = left, *b = right;
    GNOMON__TRY_NUMBER(from);
    GNOMON__TRY_NUMBER(to);
    GNOMON__TRY_NUMBER(kind);
    GNOMON__TRY_NUMBER(from_instance);
    GNOMON__TRY_NUMBER(to_instance);
    return 0;
}

static int compare_counters(const void *left, const void *right)
{
    const gnomon_counter_info *a = left, *b = right;
    GNOMON__TRY_NUMBER(track);
    GNOMON__TRY_NUMBER(region);
    GNOMON__TRY_NUMBER(stage);
    return 0;
}

static int compare_losses(const void *left, const void *right)
{
    const gnomon_loss_info *a = left, *b = right;
    GNOMON__TRY_NUMBER(track);
    return gnomon__compare_texts(a->kind, b->kind);
}

static int compare_metadata(const void *left, const void *right)
{
    const gnomon_metadata_info *a = left, *b = right;
    return gnomon__compare_texts(a->key, b->key);
}

/* What begins at one moment: the longer one is around the shorter. */
static int same_event(const void *left, const void *right)
{
    const gnomon_event_info *a = left, *b = right;
    GNOMON__TRY_NUMBER(track);
    GNOMON__TRY_NUMBER(begin_ns);
    GNOMON__TRY(GNOMON__COMPARE(b->duration_ns, a->duration_ns));
    GNOMON__TRY_NUMBER(node);
    GNOMON__TRY_NUMBER(kind);
    GNOMON__TRY_NUMBER(region);
    GNOMON__TRY_NUMBER(instance);
    GNOMON__TRY(GNOMON__COMPARE(real_bits(a->value), real_bits(b->value)));
    return 0;
}

static int compare_events(const void *left, const void *right)
{
    const gnomon_event_info *a = left, *b = right;
    GNOMON__TRY(same_event(a, b));
    GNOMON__TRY_NUMBER(reserved);
    return 0;
}

/* ---- Two of one key -------------------------------------------------------------- */

/* The first of them becomes both. */
typedef void (*fold_two)(void *to, const void *from, int readings);

static void fold_steps(void *left, const void *right, int readings)
{
    gnomon_step_info *a = left;
    const gnomon_step_info *b = right;
    if (b->begin_ns < a->begin_ns)
        a->begin_ns = b->begin_ns;
    if (b->end_ns > a->end_ns)
        a->end_ns = b->end_ns;
    if (b->phase > a->phase)
        a->phase = b->phase;
    (void)readings;
}

static void fold_links(void *left, const void *right, int readings)
{
    gnomon_link_info *a = left;
    const gnomon_link_info *b = right;
    if (!readings)
        a->count += b->count;
    else if (b->count > a->count)
        a->count = b->count;
}

/* Of two readings the later has more samples; the rest is for liars. */
static int compare_samples(const gnomon_counter_info *a,
                           const gnomon_counter_info *b)
{
    GNOMON__TRY_NUMBER(count);
    GNOMON__TRY(GNOMON__COMPARE(real_bits(a->last), real_bits(b->last)));
    GNOMON__TRY(GNOMON__COMPARE(real_bits(a->min), real_bits(b->min)));
    GNOMON__TRY(GNOMON__COMPARE(real_bits(a->max), real_bits(b->max)));
    GNOMON__TRY(GNOMON__COMPARE(real_bits(a->sum), real_bits(b->sum)));
    return 0;
}

static void fold_counters(void *left, const void *right, int readings)
{
    gnomon_counter_info *a = left;
    const gnomon_counter_info *b = right;
    if (readings) {
        if (compare_samples(b, a) > 0)
            *a = *b;
        return;
    }
    a->count += b->count;
    a->sum += b->sum;
    if (real_bits(b->last) > real_bits(a->last))
        a->last = b->last;
    if (real_bits(b->min) < real_bits(a->min))
        a->min = b->min;
    if (real_bits(b->max) > real_bits(a->max))
        a->max = b->max;
}

static void fold_losses(void *left, const void *right, int readings)
{
    gnomon_loss_info *a = left;
    const gnomon_loss_info *b = right;
    if (!readings)
        a->count += b->count;
    else if (b->count > a->count)
        a->count = b->count;
    /* Of one that has no end it is not known when. */
    int order = !a->end_ns - !b->end_ns;
    if (order > 0 || (!order && b->begin_ns < a->begin_ns))
        a->begin_ns = b->begin_ns;
    if (b->end_ns > a->end_ns)
        a->end_ns = b->end_ns;
}

static void fold_metadata(void *left, const void *right, int readings)
{
    gnomon_metadata_info *a = left;
    const gnomon_metadata_info *b = right;
    if (strcmp(b->json, a->json) > 0)
        a->json = b->json;
    (void)readings;
}

static const struct fact_rule {
    int (*compare)(const void *a, const void *b);
    fold_two fold; /* NULL: all stay, but for readings of the same */
    int (*same)(const void *a, const void *b); /* whichever reading it is of */
} fact_rules[GNOMON__ENTITIES] = {
    [GNOMON_STEPS] = {compare_steps, fold_steps, NULL},
    [GNOMON_OPENS] = {compare_opens, NULL, same_open},
    [GNOMON_LINKS] = {compare_links, fold_links, NULL},
    [GNOMON_COUNTERS] = {compare_counters, fold_counters, NULL},
    [GNOMON_LOSSES] = {compare_losses, fold_losses, NULL},
    [GNOMON_METADATA] = {compare_metadata, fold_metadata, NULL},
    [GNOMON_EVENTS] = {compare_events, NULL, same_event},
};

/* ---- Readings of what happened at a moment --------------------------------------- */

/* Several readings speak of the same: as many stay as the one that has most. They
 * stand by reading. */
static void fold_moments(gnomon__table *t, const struct fact_rule *rule)
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

/* Of a path that is open so often, the scopes that began last. */
static size_t last_opens(const gnomon__unite *u, gnomon_open_info *o,
                         size_t count)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        size_t open = u->node[o[i].node].info.open;
        end = i + 1;
        while (end < count && o[end].node == o[i].node)
            end++;
        for (size_t k = end - i > open ? end - open : i; k < end; k++)
            o[kept++] = o[k];
    }
    return kept;
}

void gnomon__sort_facts(gnomon__unite *u, int entity)
{
    gnomon__table *t = &u->m->tables[entity];
    if (t->count > 1)
        qsort(t->items, t->count, t->size, fact_rules[entity].compare);
}

void gnomon__fold_facts(gnomon__unite *u, int entity)
{
    gnomon__table *t = &u->m->tables[entity];
    const struct fact_rule *rule = &fact_rules[entity];
    int readings = (u->rules & GNOMON__UNITE_READINGS) != 0;
    size_t kept = 0;
    gnomon__sort_facts(u, entity);
    for (size_t i = 0; rule->fold && i < t->count; i++) {
        char *last = kept ? t->items + (kept - 1) * t->size : NULL;
        char *item = t->items + i * t->size;
        if (last && rule->compare(last, item) == 0)
            rule->fold(last, item, readings);
        else
            memmove(t->items + kept++ * t->size, item, t->size);
    }
    if (rule->fold)
        t->count = kept;
    else if (readings)
        fold_moments(t, rule);
    if (readings && entity == GNOMON_OPENS)
        t->count = last_opens(u, (void *)t->items, t->count);
    u->folded[entity] = t->count;
}
