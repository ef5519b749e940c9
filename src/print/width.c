/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The width of a text, for all tables. Each code point counts as one column. */
#include "print/width.h"

#include <string.h>

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
