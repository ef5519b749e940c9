/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Lists that structs point to, and copies of structs. */
#include "profile/fields.h"

#include "profile/slots.h"

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

/* ---- Copying ---------------------------------------------------------------- */

static int copy_field_text(gnomon__copier *c, const gnomon__field *f, void *of)
{
    const char *text = gnomon__field_pointer(f, of);
    if (!text && f->type == GNOMON__TYPE_MAYBE)
        return 1;
    text = c->text(c, text ? text : "", f->type);
    gnomon__field_set(f, of, &text, sizeof text);
    return text != NULL;
}

/* NULL: there is no memory, or the list is wrong. */
static void *copy_list(gnomon__copier *c, const void *from, size_t count,
                       size_t size)
{
    void *copy =
        count > SIZE_MAX / size ? NULL : gnomon__model_room(c->m, count * size);
    return copy ? memcpy(copy, from, count * size) : NULL;
}

static void *copy_structs(gnomon__copier *c, const gnomon__struct *s,
                          const char *from, size_t count)
{
    uint32_t given;
    memcpy(&given, from, sizeof given);
    if (given < s->first_size) {
        c->why = "a part's struct_size is not set";
        return NULL;
    }
    char *copy = count > SIZE_MAX / s->size
                     ? NULL
                     : gnomon__model_room(c->m, count * s->size);
    for (size_t i = 0; copy && i < count; i++) {
        gnomon__struct_take(s, copy + i * s->size, from + i * given, given);
        if (!gnomon__copy_inside(c, s, copy + i * s->size))
            return NULL;
    }
    return copy;
}

/* An empty list is none. */
static int copy_pointer(gnomon__copier *c, const gnomon__field *f, void *of)
{
    const void *from = gnomon__field_pointer(f, of);
    void *copy = NULL;
    size_t count = from ? gnomon__field_count(f, of) : 0;
    if (f->type == GNOMON__TYPE_DIMS && !from) {
        uint32_t rank;
        memcpy(&rank, (const char *)of + f->count_at, sizeof rank);
        if (rank) {
            c->why = "a shape without dims";
            return 0;
        }
    }
    if (count &&
        (f->type == GNOMON__TYPE_STRUCT || f->type == GNOMON__TYPE_STRUCTS))
        copy = copy_structs(c, &gnomon__structs[f->of], from, count);
    else if (count)
        copy = copy_list(c, from, count,
                         f->type == GNOMON__TYPE_CELLS ? sizeof(gnomon_cell)
                                                       : sizeof(int64_t));
    gnomon__field_set(f, of, &copy, sizeof copy);
    if (!from &&
        (f->type == GNOMON__TYPE_STRUCTS || f->type == GNOMON__TYPE_CELLS))
        gnomon__field_count_set(f, of, 0);
    return copy || !count;
}

int gnomon__copy_inside(gnomon__copier *c, const gnomon__struct *s, void *of)
{
    for (const gnomon__field *f = s->fields, *end = f + s->field_count; f < end;
         f++) {
        if (f->type < GNOMON__TYPE_TEXT)
            continue;
        if (!(f->type < GNOMON__TYPE_STRUCT ? copy_field_text(c, f, of)
                                            : copy_pointer(c, f, of)))
            return 0;
    }
    return 1;
}

const char *gnomon__copy_text(gnomon__copier *c, const char *text, int type)
{
    (void)type;
    return gnomon__model_text(c->m, text);
}

const char *gnomon__copy_once(gnomon__copier *c, const char *text, int type)
{
    gnomon__text_item *item = gnomon__text_intern(c->context, text);
    (void)type;
    if (item && !item->text)
        item->text = gnomon__model_text(c->m, text);
    return item ? item->text : NULL;
}
