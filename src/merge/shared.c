/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions, ops and views of all profiles that are merged. Invariant: no two items
 * of a kind are equal; after the order their content alone says which comes
 * first. */
#include "merge/shared.h"

#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fields.h"

static int no_memory_to_share(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
}

/* ---- Taking in --------------------------------------------------------------- */

typedef struct shared_table {
    const gnomon__model *m;
    int kind;
} shared_table;

static int same_shared(const void *context, uint32_t item, const void *wanted)
{
    const shared_table *t = context;
    return gnomon__compare_keys(t->kind, gnomon__model_at(t->m, t->kind, item),
                                wanted) == 0;
}

/* Reads an entity of `p`, and its number in the whole; 0: it has none yet. */
static uint32_t find_shared(const gnomon__shared *s, int which,
                            const gnomon_profile *p, size_t number,
                            gnomon__any *item, uint64_t *hash)
{
    const shared_table table = {s->m, gnomon__file_order[which]};
    item->struct_size = sizeof *item;
    p->api->get(p, table.kind, number, item);
    *hash = gnomon__hash_key(table.kind, item);
    return gnomon__slots_find(&s->slots[which], *hash, same_shared, &table,
                              item);
}

static int add_shared(gnomon__shared *s, int which, const gnomon_profile *p,
                      size_t number)
{
    const int kind = gnomon__file_order[which];
    const gnomon__struct *what = &gnomon__structs[kind];
    gnomon__copier copier = {.m = s->m, .text = gnomon__copy_text};
    gnomon__any item;
    uint64_t hash;
    if (find_shared(s, which, p, number, &item, &hash))
        return GNOMON_OK;
    void *to = gnomon__model_add(s->m, kind);
    if (!to)
        return no_memory_to_share();
    gnomon__struct_take(what, to, &item, sizeof item);
    if (gnomon__copy_inside(&copier, what, to) &&
        gnomon__slots_add(&s->slots[which], hash,
                          (uint32_t)gnomon__model_count(s->m, kind)) ==
            GNOMON_OK)
        return GNOMON_OK;
    s->m->tables[kind].count--; /* half copied: it may point into the part */
    return no_memory_to_share();
}

int gnomon__shared_add(gnomon__shared *s, const gnomon_profile *p)
{
    int code = GNOMON_OK;
    if (!s->m && !(s->m = gnomon__model_create()))
        return no_memory_to_share();
    for (int which = 0; which < GNOMON__SHARED; which++) {
        size_t n = gnomon_profile_count(p, gnomon__file_order[which]);
        for (size_t i = 1; !code && i <= n; i++)
            code = add_shared(s, which, p, i);
    }
    return code;
}

/* ---- The order ------------------------------------------------------------------ */

typedef struct shared_order_key {
    const char *item;
    uint32_t number; /* before */
    int kind;
} shared_order_key;

static int shared_order(const void *left, const void *right)
{
    const shared_order_key *a = left, *b = right;
    return gnomon__compare_keys(a->kind, a->item, b->item);
}

static int order_shared(gnomon__shared *s, int which)
{
    gnomon__table *t = &s->m->tables[gnomon__file_order[which]];
    shared_order_key *keys = gnomon__alloc((t->count + 1) * sizeof *keys);
    char *sorted = gnomon__alloc((t->count + 1) * t->size);
    uint32_t *numbers = gnomon__alloc((t->count + 1) * sizeof *numbers);
    if (!keys || !sorted || !numbers) {
        gnomon__free(keys);
        gnomon__free(sorted);
        gnomon__free(numbers);
        return no_memory_to_share();
    }
    for (uint32_t i = 0; i < t->count; i++)
        keys[i] = (shared_order_key){t->items + i * t->size, i + 1,
                                     gnomon__file_order[which]};
    qsort(keys, t->count, sizeof *keys, shared_order);
    for (uint32_t i = 0; i < t->count; i++) {
        memcpy(sorted + i * t->size, keys[i].item, t->size);
        numbers[keys[i].number] = i + 1;
    }
    for (size_t i = 0; i < s->slots[which].room; i++)
        s->slots[which].at[i].item = numbers[s->slots[which].at[i].item];
    gnomon__free(keys);
    gnomon__free(numbers);
    gnomon__free(t->items);
    t->items = sorted;
    t->room = t->count + 1;
    return GNOMON_OK;
}

int gnomon__shared_order(gnomon__shared *s)
{
    int code = GNOMON_OK;
    if (!s->m && !(s->m = gnomon__model_create()))
        return no_memory_to_share();
    for (int which = 0; !code && which < GNOMON__SHARED; which++)
        code = order_shared(s, which);
    return code;
}

/* ---- A part's ---------------------------------------------------------------------- */

int gnomon__shared_changed(void)
{
    return gnomon__fail(GNOMON_EINVAL, "it is not what it was: written anew "
                                       "while it was read?");
}

int gnomon__shared_find(const gnomon__shared *s, const gnomon_profile *p,
                        gnomon__numbers *out)
{
    for (int which = 0; which < GNOMON__SHARED; which++) {
        const int kind = gnomon__file_order[which];
        size_t n = gnomon_profile_count(p, kind);
        uint32_t *map = out->of[kind] = gnomon__alloc((n + 1) * sizeof *map);
        if (!map)
            return no_memory_to_share();
        for (size_t i = 1; i <= n; i++) {
            gnomon__any item;
            uint64_t hash;
            map[i] = find_shared(s, which, p, i, &item, &hash);
            if (!map[i])
                return gnomon__shared_changed();
        }
    }
    return GNOMON_OK;
}

int gnomon__shared_lend(const gnomon__shared *s, gnomon__model *to)
{
    for (int which = 0; which < GNOMON__SHARED; which++) {
        const gnomon__table *from = &s->m->tables[gnomon__file_order[which]];
        gnomon__table *t = &to->tables[gnomon__file_order[which]];
        if (!from->count)
            continue;
        char *items = gnomon__alloc(from->count * from->size);
        if (!items)
            return no_memory_to_share();
        memcpy(items, from->items, from->count * from->size);
        gnomon__free(t->items);
        t->items = items;
        t->count = t->room = from->count;
    }
    return GNOMON_OK;
}

void gnomon__shared_free(gnomon__shared *s)
{
    for (int which = 0; which < GNOMON__SHARED; which++)
        gnomon__slots_free(&s->slots[which]);
    if (s->m)
        gnomon_profile_free(&s->m->base);
    memset(s, 0, sizeof *s);
}
