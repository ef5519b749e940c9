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
#include "platform/utf8.h"
#include "profile/fields.h"

#define JSON_BUFFER ((size_t)64 << 10)
#define DECIMALS_MOST 20u /* of 64 bits */
#define KEY_MOST 64u      /* a name, and what is around it */
#define SOME_EVENTS 64u

typedef struct json_stream {
    const gnomon_writer *to;
    char *buffer;
    size_t used;
    int code; /* the writer's first error; nothing is written after it */
} json_stream;

static void stream_flush(json_stream *s)
{
    if (!s->code && s->used)
        s->code = s->to->write(s->to, s->buffer, s->used);
    s->used = 0;
}

/* Room for a few bytes, which the caller adds to `used`. */
static char *stream_room(json_stream *s, size_t n)
{
    if (n > JSON_BUFFER - s->used)
        stream_flush(s);
    return s->buffer + s->used;
}

static void stream_many(json_stream *s, const char *bytes, size_t n)
{
    while (n) {
        size_t part = JSON_BUFFER - s->used;
        if (part > n)
            part = n;
        memcpy(s->buffer + s->used, bytes, part);
        s->used += part;
        bytes += part;
        n -= part;
        if (s->used == JSON_BUFFER)
            stream_flush(s);
    }
}

static inline void stream_bytes(json_stream *s, const char *bytes, size_t n)
{
    if (n > JSON_BUFFER - s->used) {
        stream_many(s, bytes, n);
        return;
    }
    memcpy(s->buffer + s->used, bytes, n);
    s->used += n;
}

static void stream_words(json_stream *s, const char *words)
{
    stream_bytes(s, words, strlen(words));
}

/* ---- Values ---------------------------------------------------------------------- */

static size_t count_decimals(uint64_t value)
{
    size_t n = 1;
    for (; value >= 10000; value /= 10000)
        n += 4;
    return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Where they stay: a copy of bytes that were just stored waits for them. */
static void stream_digits(json_stream *s, uint64_t value)
{
    char *at = stream_room(s, DECIMALS_MOST);
    const size_t size = count_decimals(value);
    for (at += size; value >= 10; value /= 100) {
        const uint32_t pair = (uint32_t)(value % 100);
        *--at = (char)('0' + pair % 10);
        *--at = (char)('0' + pair / 10);
    }
    if (size % 2)
        *--at = (char)('0' + value);
    s->used += size;
}

/* Most readers stop at 2^63 - 1, or go on inexactly: above it is a text. */
static void stream_u64(json_stream *s, uint64_t value)
{
    const size_t quote = value > INT64_MAX;
    stream_bytes(s, "\"", quote);
    stream_digits(s, value);
    stream_bytes(s, "\"", quote);
}

static void stream_i64(json_stream *s, int64_t value)
{
    if (value < 0)
        stream_words(s, "-");
    stream_digits(s, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void stream_double(json_stream *s, double value)
{
    char text[GNOMON__JSON_REAL];
    size_t length = gnomon__json_real(value, text);
    stream_bytes(s, text, length);
}

/* What needs no escape goes out in one piece, however long it is. */
static void stream_text(json_stream *s, const char *text)
{
    const char *from = text;
    size_t left = strlen(text);
    stream_words(s, "\"");
    while (left) {
        uint32_t code;
        size_t took = gnomon__utf8_next(text, left, &code);
        if (code < 0x20 || code == '"' || code == '\\' ||
            code == GNOMON__UTF8_BAD) {
            char escape[12];
            size_t n = gnomon__json_quote(text, took, escape, sizeof escape);
            stream_bytes(s, from, (size_t)(text - from));
            stream_bytes(s, escape + 1, n - 2);
            from = text + took;
        }
        text += took;
        left -= took;
    }
    stream_bytes(s, from, (size_t)(text - from));
    stream_words(s, "\"");
}

static void stream_word(json_stream *s, uint32_t value,
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

static void stream_flags(json_stream *s, uint32_t flags,
                         const char *const *words)
{
    const char *comma = "";
    stream_words(s, "[");
    for (uint32_t bit = 1; *words; words++, bit <<= 1)
        if (flags & bit) {
            stream_words(s, comma);
            stream_text(s, *words);
            flags &= ~bit;
            comma = ", ";
        }
    if (flags) {
        stream_words(s, comma);
        stream_digits(s, flags);
    }
    stream_words(s, "]");
}

static void stream_cell(json_stream *s, const gnomon_cell *cell)
{
    stream_words(s, "[");
    stream_digits(s, cell->cell);
    stream_words(s, ", ");
    stream_u64(s, cell->count);
    stream_words(s, "]");
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

static void stream_struct(json_stream *s, const gnomon__struct *what,
                          const void *of);

static void stream_list(json_stream *s, const gnomon__field *f, const void *of)
{
    const void *list = gnomon__field_pointer(f, of);
    size_t n = gnomon__field_count(f, of);
    stream_words(s, "[");
    for (size_t i = 0; i < n; i++) {
        stream_words(s, i ? ", " : "");
        if (f->type == GNOMON__TYPE_CELLS)
            stream_cell(s, (const gnomon_cell *)list + i);
        else if (f->type == GNOMON__TYPE_STRUCTS)
            stream_struct(s, &gnomon__structs[f->of],
                          gnomon__struct_at(list, i));
        else
            stream_i64(s, ((const int64_t *)list)[i]);
    }
    stream_words(s, "]");
}

static void stream_value(json_stream *s, const gnomon__field *f, const void *of)
{
    const char *text;
    uint64_t bits;
    double real;
    switch ((gnomon__type)f->type) {
    case GNOMON__TYPE_U32:
    case GNOMON__TYPE_NUMBER:
        stream_digits(s, gnomon__field_32(f, of));
        break;
    case GNOMON__TYPE_TRUTH:
        if (gnomon__field_32(f, of) == 1) {
            stream_words(s, "true");
            break;
        } /* fall through */
    case GNOMON__TYPE_I32:
        stream_i64(s, (int32_t)gnomon__field_32(f, of));
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
        stream_i64(s, (int64_t)gnomon__field_64(f, of));
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
static void stream_key(json_stream *s, const gnomon__field *f, int is_first)
{
    char *to = stream_room(s, KEY_MOST);
    if (is_first)
        to = (char *)memcpy(to, "{\"", 2) + 2;
    else
        to = (char *)memcpy(to, ", \"", 3) + 3;
    memcpy(to, f->name, f->name_size);
    memcpy(to + f->name_size, "\": ", 3);
    s->used = (size_t)(to - s->buffer) + f->name_size + 3;
}

static void stream_struct(json_stream *s, const gnomon__struct *what,
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
    stream_words(s, is_first ? "{}" : "}");
}

/* ---- The whole ------------------------------------------------------------------- */

static size_t stream_one(json_stream *s, const gnomon_profile *p, int entity,
                         size_t number)
{
    gnomon__any any;
    any.struct_size = gnomon__structs[entity].size;
    s->code = p->api->get(p, entity, number, &any);
    stream_words(s, number > 1 ? ",\n" : "\n");
    stream_struct(s, &gnomon__structs[entity], &any);
    return 1;
}

/* The same of as many as are read at a time. Returns how many. */
static size_t stream_events(json_stream *s, const gnomon_profile *p,
                            size_t first)
{
    gnomon_event_info some[SOME_EVENTS];
    const size_t count = gnomon_profile_events(p, first, some, SOME_EVENTS);
    if (!count)
        s->code = GNOMON_EIO;
    for (size_t i = 0; i < count && !s->code; i++) {
        stream_words(s, first + i > 1 ? ",\n" : "\n");
        stream_struct(s, &gnomon__structs[GNOMON_EVENTS], &some[i]);
    }
    return count;
}

/* No runs is said, as a reader makes one where none is named. */
static void stream_kind(json_stream *s, const gnomon_profile *p, int entity)
{
    const gnomon__struct *what = &gnomon__structs[entity];
    size_t n = gnomon_profile_count(p, entity);
    if (!n && entity != GNOMON_RUNS)
        return;
    stream_words(s, ",\n\"");
    stream_words(s, what->many);
    stream_words(s, "\": [");
    for (size_t i = 1; i <= n && !s->code;)
        i += entity == GNOMON_EVENTS ? stream_events(s, p, i)
                                     : stream_one(s, p, entity, i);
    stream_words(s, "]");
}

int gnomon__write_json(const gnomon_profile *p, const gnomon_writer *out)
{
    json_stream s = {out, gnomon__alloc(JSON_BUFFER), 0, GNOMON_OK};
    if (!s.buffer)
        return gnomon__fail(GNOMON_ENOMEM, "no memory to write a profile");
    stream_words(&s, "{\"gnomon\": ");
    stream_digits(&s, GNOMON__JSON_FORM);
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        stream_kind(&s, p, gnomon__json_order[i]);
    stream_words(&s, "}\n");
    stream_flush(&s);
    gnomon__free(s.buffer);
    return s.code;
}
