/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Encodes UTF-8, for what reads escaped texts: the library itself reads none. */
#ifndef GNOMON_PLATFORM_UTF8_PUT_H
#define GNOMON_PLATFORM_UTF8_PUT_H

#include <stddef.h>
#include <stdint.h>

/* Encodes a code point, U+FFFD for what is none. Returns how many of the 4 bytes at `out`
 * it wrote. */
static inline size_t gnomon__utf8_put(char *out, uint32_t code)
{
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        code = 0xFFFD;
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(first[n] | code);
    return n;
}

#endif
