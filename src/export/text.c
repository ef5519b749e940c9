/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* What exports write besides plain numbers: microseconds, doubles, names, JSON's strings,
 * and forms. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/text.h"

gnomon__out *gnomon__export_text_begin(const gnomon_writer *out)
{
    gnomon__out *t = calloc(1, sizeof *t);
    if (t)
        t->to = out;
    return t;
}

int gnomon__export_text_end(gnomon__out *t)
{
    if (!t)
        return GNOMON_ENOMEM;
    gnomon__out_flush(t);
    int code = t->code;
    free(t);
    return code;
}

void gnomon__export_us(gnomon__out *t, uint64_t ns)
{
    const uint64_t us = ns / 1000;
    const uint32_t rest = (uint32_t)(ns - us * 1000);
    const size_t size = gnomon__out_digits(us);
    char *at = gnomon__out_space(t, GNOMON__OUT_DIGITS) + size;
    gnomon__out_decimals(at, us);
    at[0] = '.';
    at[1] = (char)('0' + rest / 100);
    gnomon__out_pair(at + 2, rest % 100);
    t->used += size + 4;
}

void gnomon__export_printed(gnomon__out *t, const char *text)
{
    static const char known[] = "-+0123456789e";
    const size_t before = strspn(text, known);
    gnomon__out_put(t, text, before);
    if (text[before])
        gnomon__out_literal(t, ".");
    text += before;
    gnomon__out_text(t, text + strcspn(text, known));
}

void gnomon__export_double(gnomon__out *t, double value)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        gnomon__out_literal(t, "null");
        return;
    }
    if (value > -1e15 && value < 1e15 && (double)(int64_t)value == value &&
        !(signbit(value) && value == 0)) {
        gnomon__out_signed(t, (int64_t)value);
        return;
    }
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    gnomon__export_printed(t, text);
}

static int write_memory(const gnomon_writer *w, const void *bytes, size_t size)
{
    gnomon__export_memory *m = w->context;
    if (!gnomon__table_grow(&m->text, &m->room, m->size + size, 1))
        return GNOMON_ENOMEM;
    memcpy(m->text + m->size, bytes, size);
    m->size += size;
    return GNOMON_OK;
}

gnomon_writer gnomon__export_to_memory(gnomon__export_memory *m)
{
    return (gnomon_writer){.struct_size = sizeof(gnomon_writer),
                           .write = write_memory,
                           .context = m};
}

/* ---- Names ------------------------------------------------------------------ */

const char *gnomon__export_track_name(char text[48],
                                      const gnomon_track_info *track)
{
    static const char *const kinds[] = {[GNOMON_TRACK_THREAD] = "thread",
                                        [GNOMON_TRACK_STREAM] = "stream",
                                        [GNOMON_TRACK_LANE] = "lane",
                                        [GNOMON_TRACK_POOL] = "pool"};
    if (*track->name)
        return track->name;
    const int has_id = track->kind == GNOMON_TRACK_THREAD && track->os_id > 0;
    (void)snprintf(text, 48, "%s %" PRId64, kinds[track->kind & 3],
                   has_id ? track->os_id : (int64_t)track->index);
    return text;
}

/* ---- Strings ---------------------------------------------------------------- */

const char *gnomon__export_plain(gnomon__out *t, const char *text,
                                 const char *special, size_t *character)
{
    const char *from = text;
    *character = 0; /* at the end too: gcc -flto warns of callers */
    while (*text && (*character = gnomon__print_character(text)) != 0 &&
           !strchr(special, *text))
        text += *character;
    gnomon__out_put(t, from, (size_t)(text - from));
    return text;
}

/* Perfetto's reader takes a quote after a backslash for a part of the string: so the last
 * of a string is no plain one. */
static void put_json_escape(gnomon__out *t, unsigned char c, int is_last)
{
    static const char hex[] = "0123456789abcdef";
    const char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    if (c == '"')
        gnomon__out_literal(t, "\\\"");
    else if (c == '\\' && !is_last)
        gnomon__out_literal(t, "\\\\");
    else
        gnomon__out_put(t, escape, sizeof escape);
}

void gnomon__export_json_inside(gnomon__out *t, const char *text,
                                const char *special)
{
    size_t character;
    for (; *(text = gnomon__export_plain(t, text, special, &character));
         text++) {
        if (character)
            put_json_escape(t, (unsigned char)*text, !text[1]);
        else
            gnomon__out_literal(t, GNOMON__NO_CHARACTER);
    }
}

/* Up to what a value stands for, or the end. */
static const char *put_plain(gnomon__out *t, const char *form)
{
    for (;; gnomon__out_flush(t)) {
        char *to = t->room + t->used, *end = t->room + GNOMON__OUT_ROOM;
        while (to < end && *form && *form != '%') {
            *to++ = *form == '\'' ? '"' : *form;
            form++;
        }
        t->used = (size_t)(to - t->room);
        if (to < end)
            return form;
    }
}

void gnomon__export_form(gnomon__out *t, const char *form, ...)
{
    va_list of;
    va_start(of, form);
    for (; *(form = put_plain(t, form)); form++) {
        if (*++form == 's')
            gnomon__export_json_inside(t, va_arg(of, const char *),
                                       GNOMON__JSON_SPECIAL);
        else if (*form == 'd')
            gnomon__out_signed(t, va_arg(of, int));
        else if (*form == 'u')
            gnomon__out_number(t, va_arg(of, unsigned));
        else if (*form == 'g')
            gnomon__export_double(t, va_arg(of, double));
        else if (*++form == 'd')
            gnomon__out_signed(t, va_arg(of, int64_t));
        else if (*form == 'u')
            gnomon__out_number(t, va_arg(of, uint64_t));
        else
            gnomon__export_us(t, va_arg(of, uint64_t));
    }
    va_end(of);
}
