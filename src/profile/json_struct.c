/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Objects of JSON as structs of a profile, by the description that wrote them
 * (profile/entity.h).
 *
 * Invariant: what is allocated has the size of what was read; no number in the
 * file says how much. */
#include <string.h>

#include "profile/json_value.h"
#include "platform/json.h"
#include "profile/fields.h"

typedef gnomon__json_reading reading;

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

static int read_item(reading *r, const gnomon__field *f, json_t *item, char *to)
{
    int64_t number;
    if (f->type == GNOMON__TYPE_CELLS)
        return read_pair(r, item, (gnomon_cell *)(void *)to);
    if (f->type == GNOMON__TYPE_STRUCTS)
        return gnomon__json_to_struct(r, &gnomon__structs[f->of], item, to);
    if (!gnomon__json_to_i64(r, item, INT64_MIN, INT64_MAX, &number))
        return 0;
    memcpy(to, &number, sizeof number);
    return 1;
}

/* A list, its items and their count; an empty one is none. */
static int read_list(reading *r, const gnomon__field *f, json_t *list, char *to)
{
    size_t size = f->type == GNOMON__TYPE_CELLS ? sizeof(gnomon_cell)
                  : f->type == GNOMON__TYPE_STRUCTS
                      ? gnomon__structs[f->of].size
                      : sizeof(int64_t);
    size_t n = json_array_size(list), i;
    uint32_t rank;
    json_t *item;
    if (!json_is_array(list))
        return gnomon__json_wrong(r, "not a list");
    memcpy(&rank, to + f->count_at, sizeof rank); /* 0 before dims */
    if (f->type >= GNOMON__TYPE_DIMS &&
        (n > UINT32_MAX || (f->type == GNOMON__TYPE_STRIDES && n != rank)))
        return gnomon__json_wrong(r, "not as many as dims");
    gnomon__field_count_set(f, to, n);
    if (!n)
        return 1;
    char *items = gnomon__json_room(r, n, size);
    if (!items)
        return 0;
    gnomon__field_set(f, to, &items, sizeof items);
    json_array_foreach(list, i, item)
    {
        gnomon__json_enter(r, NULL, i + 1);
        if (!read_item(r, f, item, items + i * size))
            return 0;
        gnomon__json_leave(r);
    }
    return 1;
}

/* ---- Fields ---------------------------------------------------------------------- */

static int read_text(reading *r, const gnomon__field *f, json_t *value,
                     char *to)
{
    const char *text = json_string_value(value);
    if (f->type == GNOMON__TYPE_JSON &&
        (!text || !gnomon__json_valid(text, strlen(text))))
        return gnomon__json_wrong(r, "not a text that is JSON; a value as such "
                                     "goes under \"value\"");
    if (!text)
        return gnomon__json_wrong(r, "not a text");
    gnomon__field_set(f, to, &text, sizeof text);
    return 1;
}

/* A whole number of 32 bits or 64, with a sign or without. */
static int read_number(reading *r, const gnomon__field *f, json_t *value,
                       char *to)
{
    int is_64 = f->type == GNOMON__TYPE_U64 || f->type == GNOMON__TYPE_I64;
    uint64_t number = 0;
    int64_t with_sign = 0;
    if (f->type == GNOMON__TYPE_TRUTH && json_is_boolean(value)) {
        number = (uint64_t)json_is_true(value);
    } else if (f->type == GNOMON__TYPE_I32 || f->type == GNOMON__TYPE_TRUTH ||
               f->type == GNOMON__TYPE_I64) {
        if (!gnomon__json_to_i64(r, value, is_64 ? INT64_MIN : INT32_MIN,
                                 is_64 ? INT64_MAX : INT32_MAX, &with_sign))
            return 0;
        number = (uint64_t)with_sign;
    } else if (!gnomon__json_to_u64(r, value, is_64 ? UINT64_MAX : UINT32_MAX,
                                    &number)) {
        return 0;
    }
    uint32_t small = (uint32_t)number;
    if (is_64)
        gnomon__field_set(f, to, &number, sizeof number);
    else
        gnomon__field_set(f, to, &small, sizeof small);
    return 1;
}

static int read_value(reading *r, const gnomon__field *f, json_t *value,
                      char *to)
{
    const char *const *words;
    uint32_t word;
    double real;
    char *part;
    switch ((gnomon__type)f->type) {
    case GNOMON__TYPE_DOUBLE:
        if (!gnomon__json_to_double(r, value, &real))
            return 0;
        gnomon__field_set(f, to, &real, sizeof real);
        return 1;
    case GNOMON__TYPE_WORD:
    case GNOMON__TYPE_FLAGS:
        words = gnomon__words(f);
        if (!(f->type == GNOMON__TYPE_WORD
                  ? gnomon__json_to_word(r, value, words, &word)
                  : gnomon__json_to_flags(r, value, words, &word)))
            return 0;
        gnomon__field_set(f, to, &word, sizeof word);
        return 1;
    case GNOMON__TYPE_TEXT:
    case GNOMON__TYPE_MAYBE:
    case GNOMON__TYPE_JSON:
        return read_text(r, f, value, to);
    case GNOMON__TYPE_STRUCT:
        part = gnomon__json_room(r, 1, gnomon__structs[f->of].size);
        if (!part)
            return 0;
        gnomon__field_set(f, to, &part, sizeof part);
        return gnomon__json_to_struct(r, &gnomon__structs[f->of], value, part);
    case GNOMON__TYPE_STRUCTS:
    case GNOMON__TYPE_CELLS:
    case GNOMON__TYPE_DIMS:
    case GNOMON__TYPE_STRIDES:
        return read_list(r, f, value, to);
    default:
        return read_number(r, f, value, to);
    }
}

/* What a field is that is not there: JSON may be there as a value. Texts are ""
 * or NULL by the builder. */
static int read_nothing(reading *r, const gnomon__field *f, json_t *value,
                        char *to)
{
    const char *text;
    int64_t number = f->standard;
    int32_t small = (int32_t)number;
    if (value) {
        if (!gnomon__json_to_json(r, value, &text))
            return 0;
        gnomon__field_set(f, to, &text, sizeof text);
        return 1;
    }
    if (f->rules & GNOMON__NEEDED)
        return gnomon__json_wrong(r, "missing");
    if (f->standard && f->type == GNOMON__TYPE_U64)
        gnomon__field_set(f, to, &number, sizeof number);
    else if (f->standard)
        gnomon__field_set(f, to, &small, sizeof small);
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

static int is_known_key(const gnomon__struct *s, const char *key)
{
    for (size_t i = 0; i < s->field_count; i++)
        if (strcmp(s->fields[i].name, key) == 0 ||
            (s->fields[i].type == GNOMON__TYPE_JSON &&
             strcmp(key, "value") == 0))
            return 1;
    return 0;
}

int gnomon__json_to_struct(reading *r, const gnomon__struct *s, json_t *object,
                           char *to)
{
    const uint32_t struct_size = s->size;
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return gnomon__json_wrong(r, "not an object");
    memcpy(to, &struct_size, sizeof struct_size);
    for (size_t i = 0; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        gnomon__json_enter(r, f->name, 0);
        json_t *other = f->type == GNOMON__TYPE_JSON
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
    json_object_foreach(object, key, value) if (!is_known_key(s, key))
        gnomon__json_ignore(r, key);
    return s != &gnomon__structs[GNOMON__STATS] ||
           find_cells(r, (gnomon_stats *)(void *)to);
}
