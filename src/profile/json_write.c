/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile as JSON: an entity a line, by json_form.c's description, through the
 * public readers, so of any profile. Nothing is allocated but one buffer.
 *
 * Invariant: a field is left out only if the reader puts the same value back. */
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "platform/utf8.h"
#include "profile/forms.h"
#include "profile/json_form.h"

#define JSON_BUFFER ((size_t)64 << 10)

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

static void stream_bytes(json_stream *s, const char *bytes, size_t n)
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

static void stream_words(json_stream *s, const char *words)
{
    stream_bytes(s, words, strlen(words));
}

/* ---- Values ---------------------------------------------------------------------- */

static void stream_digits(json_stream *s, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;
    do
        text[--at] = (char)('0' + value % 10);
    while (value /= 10);
    stream_bytes(s, text + at, sizeof text - at);
}

/* Most readers stop at 2^63 - 1, or go on inexactly: above it is a text. */
static void stream_u64(json_stream *s, uint64_t value)
{
    const char *quote = value > INT64_MAX ? "\"" : "";
    stream_words(s, quote);
    stream_digits(s, value);
    stream_words(s, quote);
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
    stream_bytes(s, text, gnomon__json_real(value, text));
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

static void stream_cells(json_stream *s, const gnomon_cell *cells, size_t n)
{
    stream_words(s, "[");
    for (size_t i = 0; i < n; i++) {
        stream_words(s, i ? ", [" : "[");
        stream_digits(s, cells[i].cell);
        stream_words(s, ", ");
        stream_u64(s, cells[i].count);
        stream_words(s, "]");
    }
    stream_words(s, "]");
}

static void stream_sizes(json_stream *s, const int64_t *sizes, size_t n)
{
    stream_words(s, "[");
    for (size_t i = 0; i < n; i++) {
        stream_words(s, i ? ", " : "");
        stream_i64(s, sizes[i]);
    }
    stream_words(s, "]");
}

/* ---- Fields ---------------------------------------------------------------------- */

/* A field as it lies in its struct. What `type` does not speak of is not set. */
typedef struct form_value {
    uint32_t u32;
    int32_t i32;
    uint64_t u64;
    double real;
    const void *pointer;
    size_t count; /* 0 where the pointer is NULL */
} form_value;

static form_value field_value(const gnomon__json_field *f, const char *of)
{
    form_value v = {0};
    uint32_t rank;
    const char *at = of + f->offset;
    switch ((gnomon__json_type)f->type) {
    case GNOMON__JSON_U32:
    case GNOMON__JSON_I32:
    case GNOMON__JSON_TRUTH:
    case GNOMON__JSON_WORD:
    case GNOMON__JSON_FLAGS:
        memcpy(&v.u32, at, sizeof v.u32);
        memcpy(&v.i32, at, sizeof v.i32);
        break;
    case GNOMON__JSON_U64:
    case GNOMON__JSON_I64:
    case GNOMON__JSON_DOUBLE:
        memcpy(&v.u64, at, sizeof v.u64);
        memcpy(&v.real, at, sizeof v.real);
        break;
    case GNOMON__JSON_OBJECTS:
    case GNOMON__JSON_CELLS:
        memcpy(&v.count, of + f->count_offset, sizeof v.count);
        memcpy(&v.pointer, at, sizeof v.pointer);
        break;
    case GNOMON__JSON_DIMS:
    case GNOMON__JSON_STRIDES:
        memcpy(&rank, of + f->count_offset, sizeof rank);
        v.count = rank;
        memcpy(&v.pointer, at, sizeof v.pointer);
        break;
    default:
        memcpy(&v.pointer, at, sizeof v.pointer);
    }
    if (!v.pointer)
        v.count = 0;
    return v;
}

static int is_left_out(const gnomon__json_field *f, const char *of)
{
    form_value v = field_value(f, of);
    const char *text = v.pointer;
    if (f->needed)
        return 0;
    switch ((gnomon__json_type)f->type) {
    case GNOMON__JSON_U32:
    case GNOMON__JSON_I32:
    case GNOMON__JSON_TRUTH:
    case GNOMON__JSON_WORD:
    case GNOMON__JSON_FLAGS:
        return v.i32 == f->standard;
    case GNOMON__JSON_U64:
    case GNOMON__JSON_I64:
    case GNOMON__JSON_DOUBLE: /* by its bits: -0 is not left out */
        return v.u64 == (uint64_t)f->standard;
    case GNOMON__JSON_TEXT:
    case GNOMON__JSON_VALUE:
        return !text || !*text;
    case GNOMON__JSON_ANY_TEXT:
    case GNOMON__JSON_OBJECT:
        return !v.pointer;
    default:
        return v.count == 0;
    }
}

static void stream_fields(json_stream *s, const gnomon__json_struct *form,
                          const char *of);

static void stream_objects(json_stream *s, const gnomon__json_struct *form,
                           const char *objects, size_t n)
{
    uint32_t size;
    memcpy(&size, objects, sizeof size); /* the first one's is all items' */
    stream_words(s, "[");
    for (size_t i = 0; i < n; i++) {
        stream_words(s, i ? ", " : "");
        stream_fields(s, form, objects + i * size);
    }
    stream_words(s, "]");
}

static void stream_value(json_stream *s, const gnomon__json_field *f,
                         const form_value *v)
{
    switch ((gnomon__json_type)f->type) {
    case GNOMON__JSON_U32:
        stream_digits(s, v->u32);
        break;
    case GNOMON__JSON_TRUTH:
        if (v->i32 == 1) {
            stream_words(s, "true");
            break;
        } /* fall through */
    case GNOMON__JSON_I32:
        stream_i64(s, v->i32);
        break;
    case GNOMON__JSON_U64:
        stream_u64(s, v->u64);
        break;
    case GNOMON__JSON_I64:
        stream_i64(s, (int64_t)v->u64);
        break;
    case GNOMON__JSON_DOUBLE:
        stream_double(s, v->real);
        break;
    case GNOMON__JSON_WORD:
        stream_word(s, v->u32, f->words);
        break;
    case GNOMON__JSON_FLAGS:
        stream_flags(s, v->u32, f->words);
        break;
    case GNOMON__JSON_TEXT:
    case GNOMON__JSON_ANY_TEXT:
    case GNOMON__JSON_VALUE:
        stream_text(s, v->pointer ? v->pointer : "");
        break;
    case GNOMON__JSON_OBJECT:
        stream_fields(s, f->of, v->pointer);
        break;
    case GNOMON__JSON_OBJECTS:
        stream_objects(s, f->of, v->pointer, v->count);
        break;
    case GNOMON__JSON_CELLS:
        stream_cells(s, v->pointer, v->count);
        break;
    case GNOMON__JSON_DIMS:
    case GNOMON__JSON_STRIDES:
        stream_sizes(s, v->pointer, v->count);
        break;
    }
}

static void stream_fields(json_stream *s, const gnomon__json_struct *form,
                          const char *of)
{
    const char *comma = "{\"";
    for (size_t i = 0; i < form->field_count && !s->code; i++) {
        const gnomon__json_field *f = &form->fields[i];
        if (is_left_out(f, of))
            continue;
        form_value v = field_value(f, of);
        stream_words(s, comma);
        stream_words(s, f->name);
        stream_words(s, "\": ");
        stream_value(s, f, &v);
        comma = ", \"";
    }
    stream_words(s, *comma == '{' ? "{}" : "}");
}

/* ---- The whole ------------------------------------------------------------------- */

/* No runs is said, as a reader makes one where none is named. */
static void stream_kind(json_stream *s, const gnomon_profile *p,
                        const gnomon__json_struct *form)
{
    size_t n = gnomon_profile_count(p, form->entity);
    if (!n && form->entity != GNOMON_RUNS)
        return;
    stream_words(s, ",\n\"");
    stream_words(s, form->name);
    stream_words(s, "\": [");
    for (size_t i = 1; i <= n && !s->code; i++) {
        gnomon__json_any any;
        any.struct_size = form->size;
        s->code = p->api->get(p, form->entity, i, &any);
        stream_words(s, i > 1 ? ",\n" : "\n");
        stream_fields(s, form, (const char *)&any);
    }
    stream_words(s, "]");
}

int gnomon__write_json(const gnomon_profile *p, const gnomon_writer *out)
{
    json_stream s = {out, gnomon__alloc(JSON_BUFFER), 0, GNOMON_OK};
    if (!s.buffer)
        return gnomon__fail(GNOMON_ENOMEM, "no memory to write a profile");
    stream_words(&s, "{\"gnomon\": ");
    stream_digits(&s, GNOMON__JSON_FORM);
    for (size_t i = 0; i < GNOMON__JSON_KINDS; i++)
        stream_kind(&s, p, &gnomon__json_kinds[i]);
    stream_words(&s, "}\n");
    stream_flush(&s);
    gnomon__free(s.buffer);
    return s.code;
}
