/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions, ops and views of all profiles that are merged. Invariant: no two items
 * of a kind are equal; after the order their content alone says which comes
 * first. */
#include "offline/shared.h"

#include <stdlib.h>
#include <string.h>

#include "offline/keys.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/memory.h"

typedef union shared_item {
    gnomon_region_info region;
    gnomon_op_info op;
    gnomon_view_info view;
} shared_item;

static const int shared_kinds[] = {GNOMON_REGIONS, GNOMON_OPS, GNOMON_VIEWS};

static int no_memory_to_share(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory to merge profiles");
}

/* ---- By kind --------------------------------------------------------------- */

static int compare_shared(int kind, const void *a, const void *b)
{
    switch (kind) {
    case GNOMON_REGIONS:
        return gnomon__compare_regions(a, b);
    case GNOMON_OPS:
        return gnomon__compare_ops(a, b);
    default:
        return gnomon__compare_views(a, b);
    }
}

static uint64_t hash_shared(int kind, const shared_item *item)
{
    switch (kind) {
    case GNOMON_REGIONS:
        return gnomon__hash_region(&item->region);
    case GNOMON_OPS:
        return gnomon__hash_op(&item->op);
    default:
        return gnomon__hash_text(item->view.words);
    }
}

/* Copies of all texts; 0: no memory. */
static int keep_texts(gnomon__model *m, const char **const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (*texts[i] && !(*texts[i] = gnomon__model_text(m, *texts[i])))
            return 0;
    return 1;
}

static const void *keep_bytes(gnomon__model *m, const void *from, size_t size)
{
    void *copy = gnomon__model_room(m, size ? size : 1);
    return copy && size ? memcpy(copy, from, size) : copy;
}

static int keep_tensor(gnomon__model *m, gnomon_tensor *t)
{
    size_t size = t->rank * sizeof *t->dims;
    if (!keep_texts(m, (const char **const[]){&t->dtype}, 1))
        return 0;
    if (t->dims && !(t->dims = keep_bytes(m, t->dims, size)))
        return 0;
    return !t->strides || (t->strides = keep_bytes(m, t->strides, size));
}

static int keep_op(gnomon__model *m, gnomon_op_info *o)
{
    gnomon_tensor *inputs = (gnomon_tensor *)(size_t)keep_bytes(
        m, o->inputs, o->input_count * sizeof *inputs);
    gnomon_attribute *attributes = (gnomon_attribute *)(size_t)keep_bytes(
        m, o->attributes, o->attribute_count * sizeof *attributes);
    if (!inputs || !attributes ||
        !keep_texts(m, (const char **const[]){&o->operation}, 1))
        return 0;
    for (size_t i = 0; i < o->input_count; i++)
        if (!keep_tensor(m, &inputs[i]))
            return 0;
    for (size_t i = 0; i < o->attribute_count; i++)
        if (!keep_texts(
                m,
                (const char **const[]){&attributes[i].key, &attributes[i].json},
                2))
            return 0;
    o->inputs = inputs;
    o->attributes = attributes;
    return 1;
}

static int keep_shared(gnomon__model *m, int kind, shared_item *item)
{
    gnomon_region_info *r = &item->region;
    switch (kind) {
    case GNOMON_REGIONS:
        return keep_texts(m,
                          (const char **const[]){&r->name, &r->category,
                                                 &r->file, &r->function},
                          4);
    case GNOMON_OPS:
        return keep_op(m, &item->op);
    default:
        return keep_texts(m, (const char **const[]){&item->view.words}, 1);
    }
}

/* ---- Taking in --------------------------------------------------------------- */

typedef struct shared_table {
    const gnomon__model *m;
    int kind;
} shared_table;

static int same_shared(const void *context, uint32_t item, const void *wanted)
{
    const shared_table *t = context;
    return compare_shared(t->kind, gnomon__model_at(t->m, t->kind, item),
                          wanted) == 0;
}

static uint32_t find_shared(const gnomon__shared *s, int which, uint64_t hash,
                            const shared_item *item)
{
    const shared_table table = {s->m, shared_kinds[which]};
    return gnomon__slots_find(&s->slots[which], hash, same_shared, &table,
                              item);
}

static void read_shared(const gnomon_profile *p, int kind, size_t number,
                        shared_item *item)
{
    uint32_t size = sizeof *item;
    memcpy(item, &size, sizeof size);
    p->api->get(p, kind, number, item);
}

static int add_shared(gnomon__shared *s, int which, shared_item *item)
{
    int kind = shared_kinds[which];
    uint64_t hash = hash_shared(kind, item);
    if (find_shared(s, which, hash, item))
        return GNOMON_OK;
    if (!keep_shared(s->m, kind, item))
        return no_memory_to_share();
    void *to = gnomon__model_add(s->m, kind);
    if (!to)
        return no_memory_to_share();
    memcpy((char *)to + sizeof(uint32_t), (char *)item + sizeof(uint32_t),
           s->m->tables[kind].size - sizeof(uint32_t));
    return gnomon__slots_add(&s->slots[which], hash,
                             (uint32_t)gnomon__model_count(s->m, kind));
}

int gnomon__shared_add(gnomon__shared *s, const gnomon_profile *p)
{
    int code = GNOMON_OK;
    if (!s->m && !(s->m = gnomon__model_create()))
        return no_memory_to_share();
    for (int which = 0; which < 3; which++) {
        size_t n = gnomon_profile_count(p, shared_kinds[which]);
        for (size_t i = 1; !code && i <= n; i++) {
            shared_item item;
            read_shared(p, shared_kinds[which], i, &item);
            code = add_shared(s, which, &item);
        }
    }
    return code;
}

/* ---- The order ------------------------------------------------------------------ */

typedef struct shared_place {
    const char *item;
    uint32_t number; /* before */
    int kind;
} shared_place;

static int shared_order(const void *left, const void *right)
{
    const shared_place *a = left, *b = right;
    return compare_shared(a->kind, a->item, b->item);
}

static int order_shared(gnomon__shared *s, int which)
{
    gnomon__table *t = &s->m->tables[shared_kinds[which]];
    shared_place *places = gnomon__alloc((t->count + 1) * sizeof *places);
    char *sorted = gnomon__alloc((t->count + 1) * t->size);
    uint32_t *numbers = gnomon__alloc((t->count + 1) * sizeof *numbers);
    if (!places || !sorted || !numbers) {
        gnomon__free(places);
        gnomon__free(sorted);
        gnomon__free(numbers);
        return no_memory_to_share();
    }
    for (uint32_t i = 0; i < t->count; i++)
        places[i] =
            (shared_place){t->items + i * t->size, i + 1, shared_kinds[which]};
    qsort(places, t->count, sizeof *places, shared_order);
    for (uint32_t i = 0; i < t->count; i++) {
        memcpy(sorted + i * t->size, places[i].item, t->size);
        numbers[places[i].number] = i + 1;
    }
    for (size_t i = 0; i < s->slots[which].room; i++)
        s->slots[which].at[i].item = numbers[s->slots[which].at[i].item];
    gnomon__free(places);
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
    for (int which = 0; !code && which < 3; which++)
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
                        gnomon__shared_map *out)
{
    uint32_t **maps[] = {&out->region, &out->op, &out->view};
    memset(out, 0, sizeof *out);
    for (int which = 0; which < 3; which++) {
        size_t n = gnomon_profile_count(p, shared_kinds[which]);
        uint32_t *map = *maps[which] = gnomon__alloc((n + 1) * sizeof *map);
        if (!map)
            return no_memory_to_share();
        for (size_t i = 1; i <= n; i++) {
            shared_item item;
            read_shared(p, shared_kinds[which], i, &item);
            map[i] = find_shared(
                s, which, hash_shared(shared_kinds[which], &item), &item);
            if (!map[i])
                return gnomon__shared_changed();
        }
    }
    return GNOMON_OK;
}

void gnomon__shared_map_free(gnomon__shared_map *map)
{
    gnomon__free(map->region);
    gnomon__free(map->op);
    gnomon__free(map->view);
    memset(map, 0, sizeof *map);
}

int gnomon__shared_lend(const gnomon__shared *s, gnomon__model *to)
{
    for (int which = 0; which < 3; which++) {
        const gnomon__table *from = &s->m->tables[shared_kinds[which]];
        gnomon__table *t = &to->tables[shared_kinds[which]];
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
    for (int which = 0; which < 3; which++)
        gnomon__slots_free(&s->slots[which]);
    if (s->m)
        gnomon_profile_free(&s->m->base);
    memset(s, 0, sizeof *s);
}
