/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile as JSON: an entity a line, by the description of entity.h, through the
 * public readers, so of any profile. Nothing is allocated but one buffer.
 *
 * Invariant: a field is left out only if the reader puts the same value back. */
#include "profile/json_read.h"

#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "platform/out.h"
#include "platform/utf8.h"
#include "profile/fields.h"

#define KEY_MOST 64u /* a name, and what is around it */
#define SOME_EVENTS 64u

/* ---- Values ---------------------------------------------------------------------- */

/* Most readers stop at 2^63 - 1, or go on inexactly: above it is a text. */
static void stream_u64(gnomon__out *s, uint64_t value)
{
    const size_t quote = value > INT64_MAX;
    gnomon__out_put(s, "\"", quote);
    gnomon__out_number(s, value);
    gnomon__out_put(s, "\"", quote);
}

static void stream_double(gnomon__out *s, double value)
{
    char text[GNOMON__JSON_REAL];
    size_t length = gnomon__json_real(value, text);
    gnomon__out_put(s, text, length);
}

/* What needs no escape goes out in one piece, however long it is. */
static void stream_text(gnomon__out *s, const char *text)
{
    const char *from = text;
    size_t left = strlen(text);
    gnomon__out_literal(s, "\"");
    while (left) {
        uint32_t code;
        size_t took = gnomon__utf8_next(text, left, &code);
        if (code < 0x20 || code == '"' || code == '\\' ||
            code == GNOMON__UTF8_BAD) {
            char escape[12];
            size_t n = gnomon__json_quote(text, took, escape, sizeof escape);
            gnomon__out_put(s, from, (size_t)(text - from));
            gnomon__out_put(s, escape + 1, n - 2);
            from = text + took;
        }
        text += took;
        left -= took;
    }
    gnomon__out_put(s, from, (size_t)(text - from));
    gnomon__out_literal(s, "\"");
}

static void stream_word(gnomon__out *s, uint32_t value,
                        const char *const *words)
{
    uint32_t i = 0;
    while (i < value && words[i])
        i++;
    if (words[i])
        stream_text(s, words[i]);
    else
        stream_u64(s, value);
}

static void stream_flags(gnomon__out *s, uint32_t flags,
                         const char *const *words)
{
    const char *comma = "";
    gnomon__out_literal(s, "[");
    for (uint32_t bit = 1; *words; words++, bit <<= 1)
        if (flags & bit) {
            gnomon__out_text(s, comma);
            stream_text(s, *words);
            flags &= ~bit;
            comma = ", ";
        }
    if (flags) {
        gnomon__out_text(s, comma);
        gnomon__out_number(s, flags);
    }
    gnomon__out_literal(s, "]");
}

static void stream_cell(gnomon__out *s, const gnomon_cell *cell)
{
    gnomon__out_literal(s, "[");
    gnomon__out_number(s, cell->cell);
    gnomon__out_literal(s, ", ");
    stream_u64(s, cell->count);
    gnomon__out_literal(s, "]");
}

/* ---- Fields ---------------------------------------------------------------------- */

static int is_left_out(const gnomon__field *f, const void *of)
{
    if (f->rules & GNOMON__NEEDED)
        return 0;
    if (f->type < GNOMON__TYPE_U64)
        return gnomon__field_32(f, of) == (uint32_t)f->standard;
    if (f->type < GNOMON__TYPE_TEXT) /* by its bits: -0 is not left out */
        return gnomon__field_64(f, of) == (uint64_t)f->standard;
    if (f->type < GNOMON__TYPE_STRUCT) {
        const char *text = gnomon__field_pointer(f, of);
        return !text || (!*text && f->type != GNOMON__TYPE_MAYBE);
    }
    return gnomon__field_count(f, of) == 0;
}

static void stream_struct(gnomon__out *s, const gnomon__struct *what,
                          const void *of);

static void stream_list(gnomon__out *s, const gnomon__field *f, const void *of)
{
    const void *list = gnomon__field_pointer(f, of);
    size_t n = gnomon__field_count(f, of);
    gnomon__out_literal(s, "[");
    for (size_t i = 0; i < n; i++) {
        gnomon__out_text(s, i ? ", " : "");
        if (f->type == GNOMON__TYPE_CELLS)
            stream_cell(s, (const gnomon_cell *)list + i);
        else if (f->type == GNOMON__TYPE_STRUCTS)
            stream_struct(s, &gnomon__structs[f->of],
                          gnomon__struct_at(list, i));
        else
            gnomon__out_signed(s, ((const int64_t *)list)[i]);
    }
    gnomon__out_literal(s, "]");
}

static void stream_value(gnomon__out *s, const gnomon__field *f, const void *of)
{
    const char *text;
    uint64_t bits;
    double real;
    switch ((gnomon__type)f->type) {
    case GNOMON__TYPE_U32:
    case GNOMON__TYPE_NUMBER:
        gnomon__out_number(s, gnomon__field_32(f, of));
        break;
    case GNOMON__TYPE_TRUTH:
        if (gnomon__field_32(f, of) == 1) {
            gnomon__out_literal(s, "true");
            break;
        } /* fall through */
    case GNOMON__TYPE_I32:
        gnomon__out_signed(s, (int32_t)gnomon__field_32(f, of));
        break;
    case GNOMON__TYPE_WORD:
        stream_word(s, gnomon__field_32(f, of), gnomon__words(f));
        break;
    case GNOMON__TYPE_FLAGS:
        stream_flags(s, gnomon__field_32(f, of), gnomon__words(f));
        break;
    case GNOMON__TYPE_U64:
        stream_u64(s, gnomon__field_64(f, of));
        break;
    case GNOMON__TYPE_I64:
        gnomon__out_signed(s, (int64_t)gnomon__field_64(f, of));
        break;
    case GNOMON__TYPE_DOUBLE:
        bits = gnomon__field_64(f, of);
        memcpy(&real, &bits, sizeof real);
        stream_double(s, real);
        break;
    case GNOMON__TYPE_TEXT:
    case GNOMON__TYPE_MAYBE:
    case GNOMON__TYPE_JSON:
        text = gnomon__field_pointer(f, of);
        stream_text(s, text ? text : "");
        break;
    case GNOMON__TYPE_STRUCT:
        stream_struct(s, &gnomon__structs[f->of], gnomon__field_pointer(f, of));
        break;
    default:
        stream_list(s, f, of);
    }
}

/* {"name": , or with a comma instead of the brace. */
static void stream_key(gnomon__out *s, const gnomon__field *f, int is_first)
{
    char *to = gnomon__out_space(s, KEY_MOST);
    memcpy(to, is_first ? "{\"" : ", \"", 3);
    to += is_first ? 2 : 3;
    memcpy(to, f->name, f->name_size);
    memcpy(to + f->name_size, "\": ", 3);
    s->used = (size_t)(to - s->room) + f->name_size + 3;
}

static void stream_struct(gnomon__out *s, const gnomon__struct *what,
                          const void *of)
{
    gnomon__any room;
    int is_first = 1;
    of = gnomon__struct_whole(what, of, &room);
    for (unsigned i = 0; i < what->field_count && !s->code; i++) {
        const gnomon__field *f = &what->fields[i];
        if (is_left_out(f, of))
            continue;
        stream_key(s, f, is_first);
        stream_value(s, f, of);
        is_first = 0;
    }
    gnomon__out_text(s, is_first ? "{}" : "}");
}

/* ---- The whole ------------------------------------------------------------------- */

static size_t stream_one(gnomon__out *s, const gnomon_profile *p, int entity,
                         size_t number)
{
    gnomon__any any;
    any.struct_size = gnomon__structs[entity].size;
    s->code = p->api->get(p, entity, number, &any);
    gnomon__out_text(s, number > 1 ? ",\n" : "\n");
    stream_struct(s, &gnomon__structs[entity], &any);
    return 1;
}

/* The same of as many as are read at a time. Returns how many. */
static size_t stream_events(gnomon__out *s, const gnomon_profile *p,
                            size_t first)
{
    gnomon_event_info some[SOME_EVENTS];
    const size_t count = gnomon_profile_events(p, first, some, SOME_EVENTS);
    if (!count)
        s->code = GNOMON_EIO;
    for (size_t i = 0; i < count && !s->code; i++) {
        gnomon__out_text(s, first + i > 1 ? ",\n" : "\n");
        stream_struct(s, &gnomon__structs[GNOMON_EVENTS], &some[i]);
    }
    return count;
}

/* No runs is said, as a reader makes one where none is named. */
static void stream_kind(gnomon__out *s, const gnomon_profile *p, int entity)
{
    const gnomon__struct *what = &gnomon__structs[entity];
    size_t n = gnomon_profile_count(p, entity);
    if (!n && entity != GNOMON_RUNS)
        return;
    gnomon__out_literal(s, ",\n\"");
    gnomon__out_text(s, what->many);
    gnomon__out_literal(s, "\": [");
    for (size_t i = 1; i <= n && !s->code;)
        i += entity == GNOMON_EVENTS ? stream_events(s, p, i)
                                     : stream_one(s, p, entity, i);
    gnomon__out_literal(s, "]");
}

int gnomon__write_json(const gnomon_profile *p, const gnomon_writer *out)
{
    gnomon__out *s = gnomon__alloc(sizeof *s);
    if (!s)
        return gnomon__fail(GNOMON_ENOMEM, "no memory to write a profile");
    s->to = out;
    gnomon__out_literal(s, "{\"gnomon\": ");
    gnomon__out_number(s, GNOMON__JSON_FORM);
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        stream_kind(s, p, gnomon__json_order[i]);
    gnomon__out_literal(s, "}\n");
    gnomon__out_flush(s);
    const int code = s->code;
    gnomon__free(s);
    return code;
}
