/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* An array of texts, found by their hash. An item whose text is NULL, as its owner had no
 * memory for it, is equal to no text. */
#include "profile/texts.h"

#include <string.h>

#include "platform/hash.h"
#include "platform/memory.h"

static int is_text_of(const void *context, uint32_t item, const void *wanted)
{
    const gnomon__text_table *t = context;
    const char *text = t->items[item - 1].text;
    return text && (text == wanted || strcmp(text, wanted) == 0);
}

static gnomon__text_item *find_text(const gnomon__text_table *t, uint64_t hash,
                                    const char *text)
{
    uint32_t item = gnomon__slots_find(&t->slots, hash, is_text_of, t, text);
    return item ? &t->items[item - 1] : NULL;
}

gnomon__text_item *gnomon__text_find(const gnomon__text_table *t,
                                     const char *text)
{
    return find_text(t, gnomon__hash_text(text), text);
}

gnomon__text_item *gnomon__text_intern(gnomon__text_table *t, const char *text)
{
    uint64_t hash = gnomon__hash_text(text);
    size_t count = t->slots.count;
    gnomon__text_item *item = find_text(t, hash, text);
    if (item)
        return item;
    if (!gnomon__grow(&t->items, &t->room, count + 1, sizeof *t->items) ||
        gnomon__slots_add(&t->slots, hash, (uint32_t)count + 1))
        return NULL;
    item = &t->items[count];
    *item = (gnomon__text_item){0};
    return item;
}

void gnomon__text_table_free(gnomon__text_table *t)
{
    gnomon__slots_free(&t->slots);
    gnomon__free(t->items);
    *t = (gnomon__text_table){0};
}
