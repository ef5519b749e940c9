/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Open addressing, never more than half full. */
#include "profile/slots.h"

#include <string.h>

#include "gnomon.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/memory.h"

#define FIRST_SLOTS_ROOM 64u

static gnomon__slots_item *free_slot(gnomon__slots_item *at, size_t room,
                                     uint64_t hash)
{
    size_t i = hash & (room - 1);
    while (at[i].item)
        i = (i + 1) & (room - 1);
    return &at[i];
}

uint32_t gnomon__slots_find(const gnomon__slots *s, uint64_t hash,
                            int (*same)(const void *context, uint32_t item,
                                        const void *wanted),
                            const void *context, const void *wanted)
{
    if (!s->room)
        return 0;
    for (size_t i = hash & (s->room - 1); s->at[i].item;
         i = (i + 1) & (s->room - 1))
        if (s->at[i].hash == hash && same(context, s->at[i].item, wanted))
            return s->at[i].item;
    return 0;
}

static int resize_slots(gnomon__slots *s, size_t room)
{
    gnomon__slots_item *at = gnomon__alloc(room * sizeof *at);
    if (!at)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a table");
    for (size_t i = 0; i < s->room; i++)
        if (s->at[i].item)
            *free_slot(at, room, s->at[i].hash) = s->at[i];
    gnomon__free(s->at);
    s->at = at;
    s->room = room;
    return GNOMON_OK;
}

int gnomon__slots_reserve(gnomon__slots *s, size_t count)
{
    size_t room = s->room ? s->room : FIRST_SLOTS_ROOM;
    while (room < 2 * count)
        room *= 2;
    return room > s->room ? resize_slots(s, room) : GNOMON_OK;
}

int gnomon__slots_add(gnomon__slots *s, uint64_t hash, uint32_t item)
{
    if (2 * (s->count + 1) > s->room) {
        int code = resize_slots(s, s->room ? 2 * s->room : FIRST_SLOTS_ROOM);
        if (code)
            return code;
    }
    *free_slot(s->at, s->room, hash) = (gnomon__slots_item){hash, item};
    s->count++;
    return GNOMON_OK;
}

void gnomon__slots_empty(gnomon__slots *s)
{
    if (s->count)
        memset(s->at, 0, s->room * sizeof *s->at);
    s->count = 0;
}

void gnomon__slots_free(gnomon__slots *s)
{
    gnomon__free(s->at);
    memset(s, 0, sizeof *s);
}

/* ---- Items by their keys --------------------------------------------------------- */

typedef struct keyed_item {
    const char *items;
    const void *key;
    size_t size, bytes;
} keyed_item;

static int is_keyed_so(const void *context, uint32_t item, const void *wanted)
{
    const keyed_item *k = wanted;
    (void)context;
    return memcmp(k->items + (item - 1) * k->size, k->key, k->bytes) == 0;
}

uint32_t gnomon__keyed_at(gnomon__slots *slots, void *items, size_t *room,
                          size_t size, const void *item, size_t key,
                          size_t most)
{
    keyed_item wanted = {.key = item, .size = size, .bytes = key};
    uint64_t hash = key;
    for (uint32_t at = 0, word; at < key; at += (uint32_t)sizeof word) {
        memcpy(&word, (const char *)item + at, sizeof word);
        hash = gnomon__mix(hash, word);
    }
    memcpy(&wanted.items, items, sizeof wanted.items);
    uint32_t number =
        gnomon__slots_find(slots, hash, is_keyed_so, NULL, &wanted);
    const size_t count = slots->count;
    if (number || count >= most)
        return number;
    number = (uint32_t)count + 1;
    if (!gnomon__grow(items, room, number, size) ||
        gnomon__slots_add(slots, hash, number))
        return 0;
    char *at;
    memcpy(&at, items, sizeof at);
    memcpy(at + count * size, item, size);
    return number;
}

/* ---- Texts ------------------------------------------------------------------------
 *
 * An item whose text is NULL, as its owner had no memory for it, is equal to no text. */

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
