/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns the memory of one message at a time: as much as the longest takes. */
#include "export/perfetto_wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/text.h"

char *gnomon__wire_grow(gnomon__wire *w, size_t more)
{
    size_t room = 2 * (w->size + more) + 512;
    char *bytes = w->has_failed ? NULL : realloc(w->bytes, room);
    w->has_failed |= !bytes;
    if (!bytes)
        return NULL;
    w->bytes = bytes;
    w->room = room;
    return w->bytes + w->size;
}

void gnomon__wire_fixed(gnomon__wire *w, uint32_t field, uint64_t value)
{
    char *to = gnomon__wire_room(w, GNOMON__VARINT_ROOM + sizeof value);
    if (!to)
        return;
    size_t n =
        gnomon__wire_varint(to, (uint64_t)field << 3 | GNOMON__WIRE_FIXED);
    for (unsigned i = 0; i < sizeof value; i++)
        to[n + i] = (char)(value >> 8 * i);
    w->size += n + sizeof value;
}

void gnomon__wire_double(gnomon__wire *w, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    gnomon__wire_fixed(w, field, bits);
}

/* ---- What has a length ------------------------------------------------------- */

void gnomon__wire_close(gnomon__wire *w)
{
    char length[GNOMON__VARINT_ROOM];
    const size_t from = w->open[--w->depth], size = w->size - from;
    if (w->has_failed)
        return;
    size_t more = gnomon__wire_varint(length, size) - 1;
    if (!gnomon__wire_room(w, more))
        return;
    if (more)
        memmove(w->bytes + from + more, w->bytes + from, size);
    memcpy(w->bytes + from - 1, length, more + 1);
    w->size += more;
}

static void put_piece(gnomon__wire *w, const char *text)
{
    const char *from = text;
    while (*text) {
        size_t size = gnomon__print_character(text);
        text += size;
        if (size)
            continue;
        gnomon__wire_put(w, from, (size_t)(text - from));
        gnomon__wire_put(w, GNOMON__NO_CHARACTER, 3);
        from = ++text;
    }
    gnomon__wire_put(w, from, (size_t)(text - from));
}

void gnomon__wire_form(gnomon__wire *w, uint32_t field, const char *form, ...)
{
    va_list of;
    char text[24];
    if (field)
        gnomon__wire_open(w, field);
    va_start(of, form);
    for (; *form; form++) {
        if (*form != '%') {
            gnomon__wire_put(w, form, 1);
            continue;
        }
        const char *piece = text;
        if (*++form == 's')
            piece = va_arg(of, const char *);
        else if (*form == 'd')
            (void)snprintf(text, sizeof text, "%d", va_arg(of, int));
        else if (*form == 'u')
            (void)snprintf(text, sizeof text, "%u", va_arg(of, unsigned));
        else if (*++form == 'd')
            (void)snprintf(text, sizeof text, "%jd", va_arg(of, intmax_t));
        else
            (void)snprintf(text, sizeof text, "%ju", va_arg(of, uintmax_t));
        put_piece(w, piece);
    }
    va_end(of);
    if (field)
        gnomon__wire_close(w);
}

void gnomon__wire_text(gnomon__wire *w, uint32_t field, const char *text)
{
    gnomon__wire_open(w, field);
    put_piece(w, text);
    gnomon__wire_close(w);
}

void gnomon__wire_free(gnomon__wire *w)
{
    free(w->bytes);
    *w = (gnomon__wire){0};
}
