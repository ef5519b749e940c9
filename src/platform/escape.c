/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Escapes a text for a person: which code points are escaped, and how.
 * Called wherever text is printed for a person; only names take memory.
 * Invariant: the result has no code point of the table but those in `kept`,
 * so escaping it again changes nothing. */
#include "platform/escape.h"

#include <stdio.h>
#include <string.h>

#include "platform/memory.h"

/* First and last: controls (C0, DEL, C1), then marks, line ends and embeddings
 * of Unicode's bidirectional text, its isolates, and the byte order mark. */
static const uint16_t escaped[][2] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x061C, 0x061C}, {0x200E, 0x200F},
    {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF},
};

static int is_escaped(uint32_t code, const char *kept)
{
    if (code >= ' ' && code < 0x7F)
        return 0;
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++)
        if (code >= escaped[i][0] && code <= escaped[i][1])
            return !code || code > 0x7F || !strchr(kept, (int)code);
    return code == GNOMON__UTF8_BAD;
}

static size_t put_escape(uint32_t code, char escape[8])
{
    static const char letters[] = "\tt\nn\rr";
    const char *letter = code && code < ' ' ? strchr(letters, (int)code) : NULL;
    int n = code == GNOMON__UTF8_BAD ? snprintf(escape, 8, "\xEF\xBF\xBD")
            : letter                 ? snprintf(escape, 8, "\\%c", letter[1])
            : code < 0x100           ? snprintf(escape, 8, "\\x%02x", code)
                                     : snprintf(escape, 8, "\\u%04x", code);
    return (size_t)n;
}

gnomon__text gnomon__escape_next(gnomon__text *rest, const char *kept,
                                 char escape[8])
{
    gnomon__text piece = {rest->at, 0};
    while (piece.length < rest->length) {
        uint32_t code;
        size_t took = gnomon__utf8_next(rest->at + piece.length,
                                        rest->length - piece.length, &code);
        if (!is_escaped(code, kept)) {
            piece.length += took;
        } else if (piece.length) {
            break;
        } else {
            rest->at += took;
            rest->length -= took;
            piece.at = escape;
            piece.length = put_escape(code, escape);
            return piece;
        }
    }
    rest->at += piece.length;
    rest->length -= piece.length;
    return piece;
}

size_t gnomon__escape_copy(const char *text, char *out, size_t capacity)
{
    gnomon__text rest = {text, strlen(text)};
    size_t used = 0;
    char escape[8];
    *out = 0;
    while (rest.length && used + 1 < capacity) {
        gnomon__text piece = gnomon__escape_next(&rest, "", escape);
        used += gnomon__utf8_clean(piece.at, piece.length, out + used,
                                   capacity - used, NULL);
    }
    return used;
}

struct gnomon__escaped_names {
    struct gnomon__escaped_names *next;
    char text[];
};

const char *gnomon__escaped_name(gnomon__escaped_names **all, const char *name)
{
    const size_t most = 4; /* bytes for one byte: \x1b */
    gnomon__text rest = {name, strlen(name)};
    size_t room = most * rest.length + 1;
    char escape[8];
    if (!*name ||
        (gnomon__escape_next(&rest, "", escape).at == name && !rest.length))
        return name;
    gnomon__escaped_names *one = gnomon__alloc(sizeof *one + room);
    if (!one)
        return NULL;
    gnomon__escape_copy(name, one->text, room);
    one->next = *all;
    *all = one;
    return one->text;
}

void gnomon__escaped_names_free(gnomon__escaped_names **all)
{
    while (*all) {
        gnomon__escaped_names *one = *all;
        *all = one->next;
        gnomon__free(one);
    }
}
