/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all parts of a merge need: texts of the merged profile, the order of a table by
 * its keys, the error. */
#include "merge/united.h"

#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fields.h"
#include "profile/keys.h"

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

static const char *unite_text(gnomon__copier *c, const char *text, int type)
{
    gnomon__unite *u = c->context;
    gnomon__text_item *item = gnomon__text_intern(&u->texts, text);
    (void)type;
    if (item && !item->text)
        item->text = gnomon__model_text(u->fold.m, text);
    return item ? item->text : NULL;
}

int gnomon__unite_keep(gnomon__fold *f, int entity, void *of)
{
    gnomon__copier copier = {f->m, unite_text, f, NULL};
    return gnomon__copy_inside(&copier, &gnomon__structs[entity], of);
}

int gnomon__united_has_stage(const gnomon__united_part *part, uint32_t stage)
{
    if (!part->only)
        return 1;
    return part->only->name ? part->map.of[GNOMON_STAGES][stage] != 0 : !stage;
}

int gnomon__united_is_chosen(const gnomon__united_part *part,
                             const gnomon_node_info *n)
{
    return gnomon__united_has_stage(part, n->stage) &&
           (!part->only || !n->view || part->only->view == GNOMON__ALL_VIEWS ||
            part->map.of[GNOMON_VIEWS][n->view] == part->only->view);
}

void gnomon__united_partial(const gnomon__united_part *part, uint32_t node)
{
    gnomon_node_info *n = gnomon__model_at(part->u->fold.m, GNOMON_NODES, node);
    n->flags |= GNOMON_NODE_PARTIAL;
}

typedef struct item_order_key {
    const void *item;
    int entity;
    uint32_t number; /* before */
} item_order_key;

static int item_order(const void *left, const void *right)
{
    const item_order_key *a = left, *b = right;
    return gnomon__compare_keys(a->entity, a->item, b->item);
}

/* The numbers of what the table's slots find, too. */
static void take_order(gnomon__fold *f, int entity, char *sorted,
                       const item_order_key *keys, uint32_t *numbers)
{
    gnomon__table *t = &f->m->tables[entity];
    gnomon__slots *slots = &f->slots[entity];
    for (uint32_t i = 0; i < t->count; i++) {
        memcpy(sorted + i * t->size, keys[i].item, t->size);
        numbers[keys[i].number] = i + 1;
    }
    for (size_t i = 0; i < slots->room; i++)
        slots->at[i].item = numbers[slots->at[i].item];
    gnomon__free(t->items);
    t->items = sorted;
    t->room = t->count + 1;
}

int gnomon__order_items(gnomon__fold *f, int entity, uint32_t **ordered)
{
    const gnomon__table *t = &f->m->tables[entity];
    const size_t n = t->count + 1;
    item_order_key *keys = gnomon__alloc(n * sizeof *keys);
    uint32_t *numbers = gnomon__alloc(n * sizeof *numbers);
    char *sorted = gnomon__alloc(n * t->size);
    const int ok = keys && numbers && sorted;
    for (uint32_t i = 0; ok && i < t->count; i++)
        keys[i] = (item_order_key){t->items + i * t->size, entity, i + 1};
    if (ok) {
        qsort(keys, t->count, sizeof *keys, item_order);
        take_order(f, entity, sorted, keys, numbers);
    } else {
        gnomon__free(sorted);
    }
    if (ordered)
        *ordered = numbers;
    else
        gnomon__free(numbers);
    gnomon__free(keys);
    return ok ? GNOMON_OK : gnomon__no_memory_to_merge();
}
