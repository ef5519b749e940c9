/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table of texts, open addressing, never more than half full. */
#include "profile/file_texts.h"

#include <string.h>

#include "gnomon/base.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/memory.h"

#define FIRST_TEXTS 64u

static gnomon__file_text *text_slot_of(gnomon__file_text *slots, size_t room,
                                       const char *text)
{
    size_t i = gnomon__hash_text(text) & (room - 1);
    while (slots[i].at && slots[i].text != text &&
           strcmp(slots[i].text, text) != 0)
        i = (i + 1) & (room - 1);
    return &slots[i];
}

static int more_text_slots(gnomon__text_set *s)
{
    size_t room = s->room ? 2 * s->room : FIRST_TEXTS;
    gnomon__file_text *slots = gnomon__alloc(room * sizeof *slots);
    if (!slots)
        return gnomon__fail(GNOMON_ENOMEM, "no memory to write a file");
    for (size_t i = 0; i < s->room; i++)
        if (s->slots[i].at)
            *text_slot_of(slots, room, s->slots[i].text) = s->slots[i];
    gnomon__free(s->slots);
    s->slots = slots;
    s->room = room;
    return GNOMON_OK;
}

uint32_t gnomon__text_find(const gnomon__text_set *s, const char *text)
{
    return s->room ? text_slot_of(s->slots, s->room, text)->at : 0;
}

int gnomon__text_add(gnomon__text_set *s, const char *text, uint32_t at)
{
    if (2 * (s->count + 1) > s->room) {
        int code = more_text_slots(s);
        if (code)
            return code;
    }
    *text_slot_of(s->slots, s->room, text) = (gnomon__file_text){text, at};
    s->count++;
    return GNOMON_OK;
}

void gnomon__text_clear(gnomon__text_set *s)
{
    if (s->count)
        memset(s->slots, 0, s->room * sizeof *s->slots);
    s->count = 0;
}

void gnomon__text_free(gnomon__text_set *s)
{
    gnomon__free(s->slots);
    memset(s, 0, sizeof *s);
}
