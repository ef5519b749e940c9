/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "print/letters.h"

#include <string.h>

bool gnomon__print_same_word(const char *word, size_t size, const char *key)
{
    for (; size && *key; size--, word++, key++)
        if (*word != *key &&
            (*word < 'A' || *word > 'Z' || *word - 'A' + 'a' != *key))
            return false;
    return !size && !*key;
}

int gnomon__print_title(const gnomon_writer *out, const char *stage,
                        const char *title)
{
    const char *c = gnomon_shown(out, stage);
    const char *between = *c ? " " : "";
    for (; *c; c++) {
        char capital = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        out->write(out, &capital, 1);
    }
    out->write(out, between, strlen(between));
    return out->write(out, title, strlen(title));
}
