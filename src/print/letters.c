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
    const char *between = *stage ? " " : "";
    while (*stage) {
        stage += letters_capitals(capitals, sizeof capitals, stage);
        const char *shown = gnomon_shown(out, capitals);
        out->write(out, shown, strlen(shown));
    }
    out->write(out, between, strlen(between));
    return out->write(out, title, strlen(title));
}
