/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns the memory of one message at a time: as much as the longest takes. */
#include "export/perfetto_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/text.h"

#define VARINT_ROOM 10u
enum { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_BYTES = 2 };

/* Room for `more` bytes at the end; NULL: no memory, now or before. */
static char *wire_room(gnomon__wire *w, size_t more)
{
    if (more > w->room - w->size) {
        size_t room = 2 * (w->size + more) + 512;
        char *bytes = w->has_failed ? NULL : realloc(w->bytes, room);
        w->has_failed |= !bytes;
        if (!bytes)
            return NULL;
        w->bytes = bytes;
        w->room = room;
    }
    return w->bytes + w->size;
}

static void wire_put(gnomon__wire *w, const void *bytes, size_t size)
{
    char *to = wire_room(w, size);
    if (!to)
        return;
    memcpy(to, bytes, size);
    w->size += size;
}

size_t gnomon__wire_varint(char *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (char)(value | 0x80);
    to[n++] = (char)value;
    return n;
}

static void wire_tag(gnomon__wire *w, uint32_t field, unsigned type)
{
    char *to = wire_room(w, VARINT_ROOM);
    if (to)
        w->size += gnomon__wire_varint(to, (uint64_t)field << 3 | type);
}

void gnomon__wire_number(gnomon__wire *w, uint32_t field, uint64_t value)
{
    char *to = wire_room(w, 2 * (size_t)VARINT_ROOM);
    if (!to)
        return;
    size_t n = gnomon__wire_varint(to, (uint64_t)field << 3 | WIRE_VARINT);
    w->size += n + gnomon__wire_varint(to + n, value);
}

void gnomon__wire_fixed(gnomon__wire *w, uint32_t field, uint64_t value)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    wire_tag(w, field, WIRE_FIXED);
    wire_put(w, bytes, sizeof bytes);
}

void gnomon__wire_double(gnomon__wire *w, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    gnomon__wire_fixed(w, field, bits);
}

/* ---- What has a length ------------------------------------------------------- */

/* One byte for the length: nearly all are that short. */
size_t gnomon__wire_open(gnomon__wire *w, uint32_t field)
{
    wire_tag(w, field, WIRE_BYTES);
    wire_put(w, "", 1);
    return w->size;
}

void gnomon__wire_close(gnomon__wire *w, size_t from)
{
    char length[VARINT_ROOM];
    if (w->has_failed)
        return;
    size_t size = w->size - from;
    size_t more = gnomon__wire_varint(length, size) - 1;
    if (!wire_room(w, more))
        return;
    if (more)
        memmove(w->bytes + from + more, w->bytes + from, size);
    memcpy(w->bytes + from - 1, length, more + 1);
    w->size += more;
}

void gnomon__wire_piece(gnomon__wire *w, const char *text)
{
    const unsigned char *s = (const unsigned char *)text, *from = s;
    while (*s) {
        size_t size = gnomon__export_character(s);
        if (size) {
            s += size;
            continue;
        }
        wire_put(w, from, (size_t)(s - from));
        wire_put(w, "\xef\xbf\xbd", 3);
        from = ++s;
    }
    wire_put(w, from, (size_t)(s - from));
}

void gnomon__wire_decimal(gnomon__wire *w, int64_t value)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRId64, value);
    wire_put(w, text, (size_t)length);
}

void gnomon__wire_natural(gnomon__wire *w, uint64_t value)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRIu64, value);
    wire_put(w, text, (size_t)length);
}

void gnomon__wire_text(gnomon__wire *w, uint32_t field, const char *text)
{
    size_t from = gnomon__wire_open(w, field);
    gnomon__wire_piece(w, text);
    gnomon__wire_close(w, from);
}

void gnomon__wire_free(gnomon__wire *w)
{
    free(w->bytes);
    *w = (gnomon__wire){0};
}
