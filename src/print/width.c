/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The width of a text, for all tables. Each code point counts as one column. */
#include "print/width.h"

size_t gnomon__print_width(const char *text, size_t size)
{
    size_t width = 0;
    for (size_t i = 0; i < size; i++)
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    return width;
}
