/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns the buffer of an export. Numbers are written by hand, as a large trace is made
 * of them: printf would take most of the time. */
#include "export/text.h"

#include <inttypes.h>
#include <math.h>
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

void gnomon__export_number(gnomon__export_text *t, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do
        digits[sizeof digits - ++n] = (char)('0' + value % 10);
    while (value /= 10);
    gnomon__export_put(t, digits + sizeof digits - n, n);
}

void gnomon__export_signed(gnomon__export_text *t, int64_t value)
{
    if (value < 0)
        gnomon__export_literal(t, "-");
    gnomon__export_number(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void gnomon__export_us(gnomon__export_text *t, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    const char decimals[4] = {'.', (char)('0' + rest / 100),
                              (char)('0' + rest / 10 % 10),
                              (char)('0' + rest % 10)};
    gnomon__export_number(t, ns / 1000);
    gnomon__export_put(t, decimals, sizeof decimals);
}

void gnomon__export_double(gnomon__export_text *t, double value)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        gnomon__export_literal(t, "null");
        return;
    }
    int n = snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) < value || strtod(text, NULL) > value)
        n = snprintf(text, sizeof text, "%.17g", value);
    for (int i = 0; i < n; i++) /* a host's locale may have another point */
        if (text[i] == ',')
            text[i] = '.';
    gnomon__export_put(t, text, (size_t)n);
}

/* ---- Strings ---------------------------------------------------------------- */

size_t gnomon__export_character(const unsigned char *s)
{
    static const struct {
        unsigned char low, high, least, most; /* of the first, of the second */
    } forms[] = {{0xc2, 0xdf, 0x80, 0xbf}, {0xe0, 0xe0, 0xa0, 0xbf},
                 {0xe1, 0xec, 0x80, 0xbf}, {0xed, 0xed, 0x80, 0x9f},
                 {0xee, 0xef, 0x80, 0xbf}, {0xf0, 0xf0, 0x90, 0xbf},
                 {0xf1, 0xf3, 0x80, 0xbf}, {0xf4, 0xf4, 0x80, 0x8f}};
    if (*s < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t size = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
        if (*s < forms[i].low || *s > forms[i].high || s[1] < forms[i].least ||
            s[1] > forms[i].most)
            continue;
        for (size_t k = 2; k < size; k++)
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        return size;
    }
    return 0;
}

static void put_json_escape(gnomon__export_text *t, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    const char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    if (c == '"')
        gnomon__export_literal(t, "\\\"");
    else if (c == '\\')
        gnomon__export_literal(t, "\\\\");
    else
        gnomon__export_put(t, escape, sizeof escape);
}

void gnomon__export_json_inside(gnomon__export_text *t, const char *text)
{
    const unsigned char *s = (const unsigned char *)text, *from = s;
    while (*s) {
        size_t size = gnomon__export_character(s);
        if (size && *s >= ' ' && *s != '"' && *s != '\\' && *s != 0x7f) {
            s += size;
            continue;
        }
        gnomon__export_put(t, (const char *)from, (size_t)(s - from));
        if (size)
            put_json_escape(t, *s);
        else
            gnomon__export_literal(t, "\xef\xbf\xbd");
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
