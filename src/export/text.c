/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Owns the buffer of an export. Numbers are written by hand, as a large trace is made
 * of them: printf would take most of the time. */
#include "export/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

gnomon__export_text *gnomon__export_text_begin(const gnomon_writer *out)
{
    gnomon__export_text *t = calloc(1, sizeof *t);
    if (t)
        t->out = out;
    return t;
}

void gnomon__export_text_flush(gnomon__export_text *t)
{
    if (!t->code && t->used)
        t->code = t->out->write(t->out, t->room, t->used);
    t->written += t->used;
    t->used = 0;
}

int gnomon__export_text_end(gnomon__export_text *t)
{
    if (!t)
        return GNOMON_ENOMEM;
    gnomon__export_text_flush(t);
    int code = t->code;
    free(t);
    return code;
}

void gnomon__export_put_slow(gnomon__export_text *t, const char *bytes,
                             size_t size)
{
    while (size) {
        size_t part = GNOMON__TEXT_ROOM - t->used;
        part = part < size ? part : size;
        memcpy(t->room + t->used, bytes, part);
        t->used += part;
        bytes += part;
        size -= part;
        if (t->used == GNOMON__TEXT_ROOM)
            gnomon__export_text_flush(t);
    }
}

void gnomon__export_string(gnomon__export_text *t, const char *text)
{
    gnomon__export_put(t, text, strlen(text));
}

/* Two digits at a time: half the divisions. */
static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

#define DIGITS_MOST 24 /* of 64 bits: 20, and 21 with a point */

static void put_pair(char *at, uint32_t value)
{
    memcpy(at, digit_pairs + 2 * (size_t)value, 2);
}

static size_t count_digits(uint64_t value)
{
    static const uint64_t least[] = {0,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     10000000000,
                                     100000000000,
                                     1000000000000,
                                     10000000000000,
                                     100000000000000,
                                     1000000000000000,
                                     10000000000000000,
                                     100000000000000000,
                                     1000000000000000000,
                                     10000000000000000000u};
    /* A bit is 0.30103 of a digit: there are so many digits, or one more. */
    const size_t guess = (size_t)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;
    return guess + (value >= least[guess]);
}

/* Writes a number so that it ends at `end`. */
static void put_decimals(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100)
        put_pair(end -= 2, (uint32_t)(value % 100));
    if (value >= 10)
        put_pair(end - 2, (uint32_t)value);
    else
        end[-1] = (char)('0' + value);
}

/* Digits are written where they stay: a copy of bytes that were just stored one by one
 * waits for each of them. `spare` where the buffer is nearly full. */
static char *digits_room(gnomon__export_text *t, char *spare)
{
    return GNOMON__TEXT_ROOM - t->used < DIGITS_MOST ? spare
                                                     : t->room + t->used;
}

static void digits_done(gnomon__export_text *t, const char *at,
                        const char *spare, size_t size)
{
    if (at == spare)
        gnomon__export_put_slow(t, spare, size);
    else
        t->used += size;
}

void gnomon__export_number(gnomon__export_text *t, uint64_t value)
{
    char spare[DIGITS_MOST], *at = digits_room(t, spare);
    if (value < 10 && at != spare) {
        t->room[t->used++] = (char)('0' + value);
        return;
    }
    const size_t size = count_digits(value);
    put_decimals(at + size, value);
    digits_done(t, at, spare, size);
}

void gnomon__export_signed(gnomon__export_text *t, int64_t value)
{
    if (value < 0)
        gnomon__export_literal(t, "-");
    gnomon__export_number(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void gnomon__export_us(gnomon__export_text *t, uint64_t ns)
{
    char spare[DIGITS_MOST], *at = digits_room(t, spare);
    const uint64_t us = ns / 1000;
    const uint32_t rest = (uint32_t)(ns - us * 1000);
    const size_t size = count_digits(us);
    put_decimals(at + size, us);
    at[size] = '.';
    at[size + 1] = (char)('0' + rest / 100);
    put_pair(at + size + 2, rest % 100);
    digits_done(t, at, spare, size + 4);
}

void gnomon__export_printed(gnomon__export_text *t, const char *text)
{
    static const char known[] = "-+0123456789e";
    const size_t before = strspn(text, known);
    gnomon__export_put(t, text, before);
    if (text[before])
        gnomon__export_literal(t, ".");
    text += before;
    gnomon__export_string(t, text + strcspn(text, known));
}

void gnomon__export_double(gnomon__export_text *t, double value)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        gnomon__export_literal(t, "null");
        return;
    }
    if (value > -1e15 && value < 1e15 && (double)(int64_t)value == value &&
        !(signbit(value) && value == 0)) {
        gnomon__export_signed(t, (int64_t)value);
        return;
    }
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    gnomon__export_printed(t, text);
}

void *gnomon__export_grown(void *of, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return of;
    const size_t larger = *room ? 2 * *room : 16;
    void *made = realloc(of, larger * size);
    if (made)
        *room = larger;
    return made;
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

/* Perfetto's reader takes a quote after a backslash for a part of the string: so the last
 * of a string is no plain one. */
static void put_json_escape(gnomon__export_text *t, unsigned char c,
                            int is_last)
{
    static const char hex[] = "0123456789abcdef";
    const char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    if (c == '"')
        gnomon__export_literal(t, "\\\"");
    else if (c == '\\' && !is_last)
        gnomon__export_literal(t, "\\\\");
    else
        gnomon__export_put(t, escape, sizeof escape);
}

void gnomon__export_json_inside(gnomon__export_text *t, const char *text)
{
    gnomon__export_json_without(t, text, 0x7f);
}

void gnomon__export_json_without(gnomon__export_text *t, const char *text,
                                 char without)
{
    const unsigned char *s = (const unsigned char *)text, *from = s;
    while (*s) {
        size_t size = gnomon__print_character((const char *)s);
        if (size && *s >= ' ' && *s != '"' && *s != '\\' && *s != 0x7f &&
            *s != (unsigned char)without) {
            s += size;
            continue;
        }
        gnomon__export_put(t, (const char *)from, (size_t)(s - from));
        if (size)
            put_json_escape(t, *s, !s[1]);
        else
            gnomon__export_literal(t, GNOMON__NO_CHARACTER);
        from = ++s;
    }
    gnomon__export_put(t, (const char *)from, (size_t)(s - from));
}

void gnomon__export_json(gnomon__export_text *t, const char *text)
{
    gnomon__export_literal(t, "\"");
    gnomon__export_json_inside(t, text);
    gnomon__export_literal(t, "\"");
}

/* Up to what a value stands for, or the end. */
static const char *put_plain(gnomon__export_text *t, const char *form)
{
    for (;; gnomon__export_text_flush(t)) {
        char *to = t->room + t->used, *end = t->room + GNOMON__TEXT_ROOM;
        while (to < end && *form && *form != '%') {
            *to++ = *form == '\'' ? '"' : *form;
            form++;
        }
        t->used = (size_t)(to - t->room);
        if (to < end)
            return form;
    }
}

void gnomon__export_form(gnomon__export_text *t, const char *form, ...)
{
    va_list of;
    va_start(of, form);
    for (; *(form = put_plain(t, form)); form++) {
        if (*++form == 's')
            gnomon__export_json_inside(t, va_arg(of, const char *));
        else if (*form == 'd')
            gnomon__export_signed(t, va_arg(of, int));
        else if (*form == 'u')
            gnomon__export_number(t, va_arg(of, unsigned));
        else if (*form == 'g')
            gnomon__export_double(t, va_arg(of, double));
        else if (*++form == 'd')
            gnomon__export_signed(t, va_arg(of, int64_t));
        else if (*form == 'u')
            gnomon__export_number(t, va_arg(of, uint64_t));
        else
            gnomon__export_us(t, va_arg(of, uint64_t));
    }
    va_end(of);
}
