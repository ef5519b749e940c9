/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions, ops and views of all profiles that are merged: a fold of what has no run. After
 * the order their content alone says which comes first. */
#include "merge/united.h"

#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "print/order.h"
#include "profile/fields.h"

int gnomon__no_memory_to_merge(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
}

int gnomon__unread_while_merged(int code)
{
    return code == GNOMON_ENOMEM
               ? gnomon__no_memory_to_merge()
               : gnomon__fail(GNOMON_EIO,
                              "a file has changed while it was read");
}

/* ---- The order of keys ---------------------------------------------------------- */

typedef struct item_order_key {
    uint32_t number; /* before; first */
    int entity;
    const void *item;
} item_order_key;

GNOMON__ORDER(item_order, item_order_key,
              OF(gnomon__compare_keys(a->entity, a->item, b->item)))

int gnomon__take_order(gnomon__fold *f, int entity, const void *keys,
                       size_t key_size, uint32_t **numbers)
{
    gnomon__table *t = &f->m->tables[entity];
    gnomon__slots *slots = &f->slots[entity];
    char *sorted = gnomon__alloc((t->count + 1) * t->size);
    *numbers = gnomon__alloc((t->count + 1) * sizeof **numbers);
    if (!sorted || !*numbers) {
        gnomon__free(sorted);
        return gnomon__no_memory_to_merge();
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t before = *(
            const uint32_t *)(const void *)((const char *)keys + i * key_size);
        memcpy(sorted + i * t->size, t->items + (before - 1) * t->size,
               t->size);
        (*numbers)[before] = i + 1;
    }
    for (size_t i = 0; i < slots->room; i++)
        slots->at[i].item = (*numbers)[slots->at[i].item];
    gnomon__free(t->items);
    t->items = sorted;
    t->room = t->count + 1;
    return GNOMON_OK;
}

int gnomon__order_items(gnomon__fold *f, int entity, uint32_t **numbers)
{
    const gnomon__table *t = &f->m->tables[entity];
    item_order_key *keys = gnomon__alloc((t->count + 1) * sizeof *keys);
    if (!keys)
        return gnomon__no_memory_to_merge();
    for (uint32_t i = 0; i < t->count; i++)
        keys[i] = (item_order_key){i + 1, entity, t->items + i * t->size};
    GNOMON__SORT(keys, t->count, item_order);
    const int code = gnomon__take_order(f, entity, keys, sizeof *keys, numbers);
    gnomon__free(keys);
    return code;
}

/* ---- Names --------------------------------------------------------------------- */

static int keep_shared(gnomon__fold *f, int entity, void *item)
{
    gnomon__copier copier = {.m = f->m, .text = gnomon__copy_text};
    return gnomon__copy_inside(&copier, &gnomon__structs[entity], item);
}

static int begin_shared(gnomon__shared *s)
{
    s->way = &gnomon__fold_sums;
    s->keep = keep_shared;
    return s->m || (s->m = gnomon__model_create()) != NULL
               ? GNOMON_OK
               : gnomon__no_memory_to_merge();
}

static const gnomon__any *read_shared(const gnomon_profile *p, int kind,
                                      size_t number, gnomon__any *item)
{
    item->struct_size = gnomon__structs[kind].size;
    p->api->get(p, kind, number, item);
    return item;
}

/* One that is half copied goes: it may point into `p`. */
static int add_shared(gnomon__shared *s, const gnomon_profile *p, int kind,
                      size_t number)
{
    const size_t before = gnomon__model_count(s->m, kind);
    gnomon__any item;
    if (gnomon__fold_add(s, kind, read_shared(p, kind, number, &item)))
        return GNOMON_OK;
    s->m->tables[kind].count = before;
    return gnomon__no_memory_to_merge();
}

int gnomon__shared_add(gnomon__shared *s, const gnomon_profile *p)
{
    int code = begin_shared(s);
    for (int which = 0; which < GNOMON__SHARED; which++) {
        const int kind = gnomon__file_order[which];
        const size_t n = gnomon_profile_count(p, kind);
        for (size_t i = 1; !code && i <= n; i++)
            code = add_shared(s, p, kind, i);
    }
    return code;
}

int gnomon__shared_order(gnomon__shared *s)
{
    gnomon__numbers numbers = {{0}};
    int code = begin_shared(s);
    for (int i = 0; !code && i < GNOMON__SHARED; i++)
        code = gnomon__order_items(s, gnomon__file_order[i], &numbers.of[i]);
    gnomon__numbers_free(&numbers);
    return code;
}

int gnomon__shared_changed(void)
{
    return gnomon__fail(GNOMON_EINVAL, "it is not what it was: written anew "
                                       "while it was read?");
}

int gnomon__shared_find(const gnomon__shared *s, const gnomon_profile *p,
                        gnomon__numbers *out)
{
    gnomon__any item;
    for (int which = 0; which < GNOMON__SHARED; which++) {
        const int kind = gnomon__file_order[which];
        const size_t n = gnomon_profile_count(p, kind);
        uint32_t *map = out->of[kind] = gnomon__alloc((n + 1) * sizeof *map);
        if (!map)
            return gnomon__no_memory_to_merge();
        for (size_t i = 1; i <= n; i++)
            if (!(map[i] = gnomon__fold_find(s, kind,
                                             read_shared(p, kind, i, &item))))
                return gnomon__shared_changed();
    }
    return GNOMON_OK;
}

int gnomon__shared_lend(const gnomon__shared *s, gnomon__model *to)
{
    for (int which = 0; which < GNOMON__SHARED; which++) {
        const int kind = gnomon__file_order[which];
        const gnomon__table *from = &s->m->tables[kind];
        gnomon__table *t = &to->tables[kind];
        if (!gnomon__model_reserve(to, kind, from->count))
            return gnomon__no_memory_to_merge();
        if (from->count)
            memcpy(t->items, from->items, from->count * from->size);
        t->count = from->count;
    }
    return GNOMON_OK;
}

void gnomon__shared_free(gnomon__shared *s)
{
    gnomon__fold_free(s);
    if (s->m)
        gnomon_profile_free(&s->m->base);
    memset(s, 0, sizeof *s);
}
