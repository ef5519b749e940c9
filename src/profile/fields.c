/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is done to a struct by the rows that describe it. */
#include "profile/fields.h"

/* ---- Lists ------------------------------------------------------------------ */

static int has_short_count(const gnomon__field *f)
{
    return f->type == GNOMON__TYPE_DIMS || f->type == GNOMON__TYPE_STRIDES;
}

size_t gnomon__field_count(const gnomon__field *f, const void *of)
{
    const char *at = (const char *)of + f->count_at;
    uint32_t rank;
    size_t count;
    if (!gnomon__field_pointer(f, of))
        return 0;
    if (f->type == GNOMON__TYPE_STRUCT)
        return 1;
    if (!has_short_count(f))
        return *(const size_t *)memcpy(&count, at, sizeof count);
    return *(const uint32_t *)memcpy(&rank, at, sizeof rank);
}

void gnomon__field_count_set(const gnomon__field *f, void *of, size_t count)
{
    uint32_t rank = (uint32_t)count;
    if (has_short_count(f))
        memcpy((char *)of + f->count_at, &rank, sizeof rank);
    else
        memcpy((char *)of + f->count_at, &count, sizeof count);
}

const void *gnomon__struct_whole(const gnomon__struct *s, const void *part,
                                 gnomon__any *room)
{
    uint32_t size;
    memcpy(&size, part, sizeof size);
    if (size >= s->size)
        return part;
    gnomon__struct_take(s, room, part, size);
    return room;
}

void gnomon__struct_take(const gnomon__struct *s, void *to, const void *from,
                         uint32_t given)
{
    const uint32_t size = s->size, have = given < size ? given : size;
    memcpy(to, from, have);
    memset((char *)to + have, 0, size - have);
    memcpy(to, &size, sizeof size);
}
