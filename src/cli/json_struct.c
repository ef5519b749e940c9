/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Objects of JSON as structs of a profile, by the description that wrote them
 * (profile/json_form.h).
 *
 * Invariant: what is allocated has the size of what was read; no number in the
 * file says how much. */
#include <string.h>

#include "cli/json_value.h"
#include "platform/json.h"

typedef gnomon__json_reading reading;
typedef gnomon__json_field form_field;

/* ---- Lists ----------------------------------------------------------------------- */

static int read_pair(reading *r, json_t *pair, gnomon_cell *cell)
{
    uint64_t number;
    if (!json_is_array(pair) || json_array_size(pair) != 2)
        return gnomon__json_wrong(r, "not a pair [cell, executions]");
    gnomon__json_enter(r, NULL, 1);
    if (!gnomon__json_to_u64(r, json_array_get(pair, 0), UINT32_MAX, &number))
        return 0;
    cell->cell = (uint32_t)number;
    gnomon__json_leave(r);
    gnomon__json_enter(r, NULL, 2);
    if (!gnomon__json_to_u64(r, json_array_get(pair, 1), UINT64_MAX,
                             &cell->count))
        return 0;
    gnomon__json_leave(r);
    return 1;
}

static int read_items(reading *r, const form_field *f, json_t *list,
                      char *items, size_t size)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        gnomon__json_enter(r, NULL, i + 1);
        char *to = items + i * size;
        int64_t number;
        if (f->type == GNOMON__JSON_CELLS) {
            if (!read_pair(r, item, (gnomon_cell *)(void *)to))
                return 0;
        } else if (f->type == GNOMON__JSON_OBJECTS) {
            if (!gnomon__json_to_struct(r, f->of, item, to))
                return 0;
        } else {
            if (!gnomon__json_to_i64(r, item, INT64_MIN, INT64_MAX, &number))
                return 0;
            memcpy(to, &number, sizeof number);
        }
        gnomon__json_leave(r);
    }
    return 1;
}

/* A list, its items and their count; an empty one is none. */
static int read_list(reading *r, const form_field *f, json_t *list, char *to)
{
    size_t size = f->type == GNOMON__JSON_CELLS     ? sizeof(gnomon_cell)
                  : f->type == GNOMON__JSON_OBJECTS ? f->of->size
                                                    : sizeof(int64_t);
    size_t n = json_array_size(list);
    uint32_t rank;
    if (!json_is_array(list))
        return gnomon__json_wrong(r, "not a list");
    if (f->type == GNOMON__JSON_STRIDES || f->type == GNOMON__JSON_DIMS) {
        memcpy(&rank, to + f->count_offset, sizeof rank); /* 0 before dims */
        if (n > UINT32_MAX || (f->type == GNOMON__JSON_STRIDES && n != rank))
            return gnomon__json_wrong(r, "not as many as dims");
        rank = (uint32_t)n;
        memcpy(to + f->count_offset, &rank, sizeof rank);
    } else {
        memcpy(to + f->count_offset, &n, sizeof n);
    }
    if (!n)
        return 1;
    char *items = gnomon__json_room(r, n, size);
    if (!items)
        return 0;
    memcpy(to + f->offset, &items, sizeof items);
    return read_items(r, f, list, items, size);
}

/* ---- Fields ---------------------------------------------------------------------- */

static int read_text(reading *r, const form_field *f, json_t *value, char *to)
{
    const char *text = json_string_value(value);
    if (f->type == GNOMON__JSON_VALUE &&
        (!text || !gnomon__json_valid(text, strlen(text))))
        return gnomon__json_wrong(r, "not a text that is JSON; a value as such "
                                     "goes under \"value\"");
    if (!text)
        return gnomon__json_wrong(r, "not a text");
    memcpy(to + f->offset, &text, sizeof text);
    return 1;
}

static int read_signed(reading *r, const form_field *f, json_t *value, char *to)
{
    int is_32 = f->type != GNOMON__JSON_I64;
    int64_t number;
    if (f->type == GNOMON__JSON_TRUTH && json_is_boolean(value))
        number = json_is_true(value);
    else if (!gnomon__json_to_i64(r, value, is_32 ? INT32_MIN : INT64_MIN,
                                  is_32 ? INT32_MAX : INT64_MAX, &number))
        return 0;
    int32_t small = (int32_t)number;
    if (is_32)
        memcpy(to + f->offset, &small, sizeof small);
    else
        memcpy(to + f->offset, &number, sizeof number);
    return 1;
}

static int read_unsigned(reading *r, const form_field *f, json_t *value,
                         char *to)
{
    int is_32 = f->type == GNOMON__JSON_U32;
    uint64_t number;
    if (!gnomon__json_to_u64(r, value, is_32 ? UINT32_MAX : UINT64_MAX,
                             &number))
        return 0;
    uint32_t small = (uint32_t)number;
    if (is_32)
        memcpy(to + f->offset, &small, sizeof small);
    else
        memcpy(to + f->offset, &number, sizeof number);
    return 1;
}

static int read_value(reading *r, const form_field *f, json_t *value, char *to)
{
    uint32_t word;
    double real;
    char *object;
    switch ((gnomon__json_type)f->type) {
    case GNOMON__JSON_U32:
    case GNOMON__JSON_U64:
        return read_unsigned(r, f, value, to);
    case GNOMON__JSON_I32:
    case GNOMON__JSON_I64:
    case GNOMON__JSON_TRUTH:
        return read_signed(r, f, value, to);
    case GNOMON__JSON_DOUBLE:
        if (!gnomon__json_to_double(r, value, &real))
            return 0;
        memcpy(to + f->offset, &real, sizeof real);
        return 1;
    case GNOMON__JSON_WORD:
    case GNOMON__JSON_FLAGS:
        if (!(f->type == GNOMON__JSON_WORD
                  ? gnomon__json_to_word(r, value, f->words, &word)
                  : gnomon__json_to_flags(r, value, f->words, &word)))
            return 0;
        memcpy(to + f->offset, &word, sizeof word);
        return 1;
    case GNOMON__JSON_TEXT:
    case GNOMON__JSON_ANY_TEXT:
    case GNOMON__JSON_VALUE:
        return read_text(r, f, value, to);
    case GNOMON__JSON_OBJECT:
        object = gnomon__json_room(r, 1, f->of->size);
        if (!object)
            return 0;
        memcpy(to + f->offset, &object, sizeof object);
        return gnomon__json_to_struct(r, f->of, value, object);
    default:
        return read_list(r, f, value, to);
    }
}

/* What a field is that is not there: JSON may be there as a value. Texts are ""
 * or NULL by the builder. */
static int read_nothing(reading *r, const form_field *f, json_t *value,
                        char *to)
{
    const char *text;
    int32_t small = f->standard;
    uint64_t number = (uint64_t)f->standard;
    if (value) {
        if (!gnomon__json_to_json(r, value, &text))
            return 0;
        memcpy(to + f->offset, &text, sizeof text);
        return 1;
    }
    if (f->needed)
        return gnomon__json_wrong(r, "missing");
    if (f->type == GNOMON__JSON_U64)
        memcpy(to + f->offset, &number, sizeof number);
    else if (f->standard)
        memcpy(to + f->offset, &small, sizeof small);
    return 1;
}

/* Of statistics without cells these can be known where all took as long. */
static int find_cells(reading *r, gnomon_stats *s)
{
    if (s->cell_count || !s->count)
        return 1;
    if (s->min_ns != s->max_ns) {
        gnomon__json_enter(r, "cells", 0);
        return gnomon__json_wrong(
            r, "missing: give the histogram as [[cell, executions], ...], or "
               "min_ns and max_ns that are equal");
    }
    gnomon_cell *cell = gnomon__json_room(r, 1, sizeof *cell);
    if (!cell)
        return 0;
    cell->cell = gnomon_cell_of(s->min_ns);
    cell->count = s->count;
    s->cells = cell;
    s->cell_count = 1;
    return 1;
}

static int is_known_key(const gnomon__json_struct *form, const char *key)
{
    for (size_t i = 0; i < form->field_count; i++)
        if (strcmp(form->fields[i].name, key) == 0 ||
            (form->fields[i].type == GNOMON__JSON_VALUE &&
             strcmp(key, "value") == 0))
            return 1;
    return 0;
}

int gnomon__json_to_struct(reading *r, const gnomon__json_struct *form,
                           json_t *object, char *to)
{
    const char *key;
    json_t *value;
    const uint32_t struct_size = form->size;
    if (!json_is_object(object))
        return gnomon__json_wrong(r, "not an object");
    memcpy(to, &struct_size, sizeof struct_size);
    for (size_t i = 0; i < form->field_count; i++) {
        const form_field *f = &form->fields[i];
        gnomon__json_enter(r, f->name, 0);
        json_t *other = f->type == GNOMON__JSON_VALUE
                            ? json_object_get(object, "value")
                            : NULL;
        value = json_object_get(object, f->name);
        if (json_is_null(value))
            value = NULL;
        if (value && other)
            return gnomon__json_wrong(r, "there is a \"value\" too");
        if (!(value ? read_value(r, f, value, to)
                    : read_nothing(r, f, other, to)))
            return 0;
        gnomon__json_leave(r);
    }
    json_object_foreach(object, key, value) if (!is_known_key(form, key))
        gnomon__json_ignore(r, key);
    return form != &gnomon__json_stats ||
           find_cells(r, (gnomon_stats *)(void *)to);
}
