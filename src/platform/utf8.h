/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* UTF-8, as Unicode's table 3-7 has it. Nothing here allocates, locks or
 * depends on the locale. */
#ifndef GNOMON_PLATFORM_UTF8_H
#define GNOMON_PLATFORM_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The code that gnomon__utf8_next gives for bytes that are no code point. */
#define GNOMON__UTF8_BAD 0xFFFFFFFFu

/* Bytes that need not end with NUL. */
typedef struct gnomon__text {
    const char *at;
    size_t length;
} gnomon__text;

/* The small letter of a capital one of ASCII; any other byte as it is. */
static inline char gnomon__lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The text of a call's arguments; the length may be GNOMON_TO_NUL. */
gnomon__text gnomon__text_of(const char *at, size_t length);

/* Decodes the start of the n >= 1 bytes at `text`. Returns how many it took:
 * those of one code point, or of one maximal ill-formed subpart, which is what
 * one U+FFFD stands for (as in Python's errors="replace"). */
size_t gnomon__utf8_next(const char *text, size_t n, uint32_t *code);

int gnomon__utf8_valid(const char *text, size_t n);

/* Copies to `out`, ill-formed subparts and NUL as U+FFFD, as many whole code
 * points as fit, and a final NUL. Returns the length without it. *changed (may be NULL):
 * whether `out` differs from the input, because replaced or cut. */
size_t gnomon__utf8_clean(const char *in, size_t n, char *out, size_t capacity,
                          int *changed);

#endif
