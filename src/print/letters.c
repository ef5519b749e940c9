/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "print/letters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool gnomon__print_same_word(const char *word, size_t size, const char *key)
{
    for (; size && *key; size--, word++, key++)
        if (*word != *key &&
            (*word < 'A' || *word > 'Z' || *word - 'A' + 'a' != *key))
            return false;
    return !size && !*key;
}

size_t gnomon__print_character(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
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

size_t gnomon__print_width(const char *text, size_t size)
{
    size_t width = 0;
    for (size_t i = 0; i < size; i++)
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    return width;
}

void gnomon__print_many(const gnomon_writer *out, char what, size_t count)
{
    char run[128];
    memset(run, what, sizeof run);
    for (; count > sizeof run; count -= sizeof run)
        out->write(out, run, sizeof run);
    out->write(out, run, count);
}

/* Copies the start of a name in capitals, as many whole characters as fit. Returns how
 * many bytes. */
static size_t letters_capitals(char *to, size_t room, const char *name)
{
    size_t n = 0, end;
    for (; n < room - 1 && name[n]; n++)
        to[n] = name[n] >= 'a' && name[n] <= 'z' ? (char)(name[n] - 'a' + 'A')
                                                 : name[n];
    for (end = n; end + 4 > n && end > 1 && (name[end] & 0xC0) == 0x80;)
        end--;
    to[end] = '\0';
    return end;
}

/* Capitals come before escapes, whose letters are not the name's: "NEW\nLINE". */
int gnomon__print_title(const gnomon_writer *out, const char *stage,
                        const char *title)
{
    char capitals[65];
    const bool is_bold = out->shows_bold != 0;
    const char *between = *stage ? " " : "";
    if (is_bold)
        out->print(out, "\033[1m");
    while (*stage) {
        stage += letters_capitals(capitals, sizeof capitals, stage);
        const char *shown = gnomon_shown(out, capitals);
        out->write(out, shown, strlen(shown));
    }
    out->write(out, between, strlen(between));
    out->write(out, title, strlen(title));
    return is_bold ? out->print(out, "\033[0m") : out->write(out, "", 0);
}

/* ---- Durations -------------------------------------------------------------------- */

/* Made of integers, as printf's decimal point depends on the host's locale. */

/* ns / unit with so many digits after the point, rounded half up; never overflows. */
static uint64_t scaled_half_up(uint64_t ns, uint64_t unit, uint64_t ten_power)
{
    uint64_t step = unit / ten_power;
    return ns / step + (ns % step >= step - step / 2);
}

/* With so many digits in all, as far as there are units; `is_short`: without zeroes at
 * the end of a fraction. */
static const char *print_digits(char text[GNOMON__DURATION], uint64_t ns,
                                int digits, bool is_short)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000};
    uint64_t unit = 1, value;
    int u = 0, places;
    for (;; unit *= 1000, u++) {
        places = u ? digits - 1 : 0;
        while ((value = scaled_half_up(ns, unit, tens[places])) >=
                   tens[digits] &&
               places)
            places--;
        if (places || value < 1000 || u == 3)
            break;
    }
    for (; is_short && places && value % 10 == 0; places--)
        value /= 10;
    if (places)
        (void)snprintf(text, GNOMON__DURATION, "%" PRIu64 ".%0*" PRIu64 " %s",
                       value / tens[places], places, value % tens[places],
                       units[u]);
    else
        (void)snprintf(text, GNOMON__DURATION, "%" PRIu64 " %s", value,
                       units[u]);
    return text;
}

const char *gnomon__print_duration(char text[GNOMON__DURATION], uint64_t ns)
{
    return print_digits(text, ns, 4, false);
}

const char *gnomon__short_duration(char text[GNOMON__DURATION], uint64_t ns)
{
    return ns ? print_digits(text, ns, 3, true) : "0";
}
