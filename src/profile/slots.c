/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Open addressing, never more than half full. */
#include "profile/slots.h"

#include <string.h>

#include "gnomon.h"
#include "platform/error.h"
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
