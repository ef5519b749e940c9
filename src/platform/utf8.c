/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* UTF-8 checked and repaired. Called for names when they are first seen, for
 * values of $GNOMON and for messages. Invariant: all functions agree on where a
 * code point ends, because all step by gnomon__utf8_next. */
#include "platform/utf8.h"

#include <string.h>

#include "gnomon.h"

size_t gnomon__utf8_next(const char *text, size_t n, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned lead = s[0], low = 0x80, high = 0xBF;
    uint32_t value;
    size_t follow, i;

    *code = lead;
    if (lead < 0x80)
        return 1;
    *code = GNOMON__UTF8_BAD;
    if (lead >= 0xC2 && lead <= 0xDF) {
        follow = 1;
        value = lead & 0x1Fu;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        follow = 2;
        value = lead & 0x0Fu;
        if (lead == 0xE0)
            low = 0xA0; /* below: overlong */
        else if (lead == 0xED)
            high = 0x9F; /* above: surrogates */
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        follow = 3;
        value = lead & 0x07u;
        if (lead == 0xF0)
            low = 0x90;
        else if (lead == 0xF4)
            high = 0x8F; /* above: past U+10FFFF */
    } else {
        return 1;
    }
    for (i = 1; i <= follow; i++) {
        if (i == n || s[i] < low || s[i] > high)
            return i;
        value = value << 6 | (s[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *code = value;
    return i;
}

gnomon__text gnomon__text_of(const char *at, size_t length)
{
    gnomon__text text = {at,
                         at && length == GNOMON_TO_NUL ? strlen(at) : length};
    return text;
}

int gnomon__utf8_valid(const char *text, size_t n)
{
    uint32_t code;
    size_t at = 0;
    while (at < n) {
        at += gnomon__utf8_next(text + at, n - at, &code);
        if (code == GNOMON__UTF8_BAD)
            return 0;
    }
    return 1;
}

size_t gnomon__utf8_clean(const char *in, size_t n, char *out, size_t capacity,
                          int *changed)
{
    size_t at = 0, length = 0;
    int differs = 0;

    while (at < n) {
        uint32_t code;
        size_t took = gnomon__utf8_next(in + at, n - at, &code);
        const char *from = in + at;
        size_t size = took;
        if (code == GNOMON__UTF8_BAD || !code) {
            from = "\xEF\xBF\xBD";
            size = 3;
            differs = 1;
        }
        if (length + size >= capacity) {
            differs = 1;
            break;
        }
        memcpy(out + length, from, size);
        length += size;
        at += took;
    }
    if (capacity > 0)
        out[length] = '\0';
    if (changed)
        *changed = differs;
    return length;
}
